"""Made-up data: a configured dataset, images of noise, and tar archives of files that are given."""

import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hidden_dynamics.configuration import Configuration, load
from hidden_dynamics.configuration.schema import Dataset

TOY = {"title": "Toy", "module": "toy", "stand_in_for": None, "licence": "none", "citation": "nobody", "files": {}}


def with_dataset(name: str = "toy", **changes: Any) -> Configuration:
    """The shipped configuration with one dataset, whose entry has these changes."""
    return replace(load(), datasets={name: Dataset.model_validate(TOY | changes)})


def noise_images(*shape: int, levels: int = 255, **sizes: int) -> dict[str, np.ndarray]:
    """Arrays of images of noise, so many in each split, whose labels take turns."""
    rng, arrays = np.random.default_rng(0), {"levels": np.array(levels, np.float32)}
    for split, size in sizes.items():
        arrays[f"{split}_images"] = rng.integers(0, levels + 1, (size, *shape), np.uint8)
        arrays[f"{split}_labels"] = (np.arange(size) % 10).astype(np.uint8)
    return arrays


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
