"""Made-up raw data: a configured dataset, and tar archives of files that are given."""

import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hidden_dynamics.configuration import Configuration, load
from hidden_dynamics.configuration.schema import Dataset

TOY = {"title": "Toy", "module": "toy", "stand_in_for": None, "licence": "none", "citation": "nobody", "files": {}}


def with_dataset(name: str = "toy", **changes: Any) -> Configuration:
    """The shipped configuration with one dataset, whose entry has these changes."""
    return replace(load(), datasets={name: Dataset.model_validate(TOY | changes)})


def pack(members: Mapping[str, bytes], mode: str = "w", links: Iterable[str] = (), **options: Any) -> bytes:
    """A tar archive with these files, then with links of these names to a file elsewhere.

    Args:
        mode, options: as for `tarfile.open`.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode, **options) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    return content.getvalue()
