"""Made-up raw data: a registry with one dataset, and tar archives of files that are given."""

import io
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

TOY = {"title": "Toy", "module": "toy", "stand_in_for": None, "licence": "none", "citation": "nobody", "files": {}}


def write_registry(directory: Path, name: str = "toy", **changes: Any) -> Path:
    """Write a registry (as config/datasets.yaml is) of one dataset, whose entry has these changes; its path."""
    path = directory / "datasets.yaml"
    path.write_text(yaml.safe_dump({name: TOY | changes}), encoding="utf-8")
    return path


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
