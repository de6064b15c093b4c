"""Prepared data on disk: the arrays in `<name>.npz`, their origin and digest in `<name>.json`."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hidden_dynamics.errors import UserError
from hidden_dynamics.system import files


@dataclass(frozen=True)
class Prepared:
    """Arrays by name, their provenance, and the SHA-256 that `digest` gives for them."""

    arrays: dict[str, np.ndarray]
    provenance: dict[str, Any]
    digest: str


def save(path: str | Path, arrays: Mapping[str, np.ndarray], provenance: Mapping[str, object]) -> None:
    """Write `arrays` to `path` (`<name>.npz`) and the provenance and digest to `<name>.json` beside it.

    The same arrays give the same bytes. The arrays are written last: where they are, all is.
    """
    path = Path(path)
    arrays = {name: np.asarray(arrays[name]) for name in sorted(arrays)}
    description = {
        "arrays": {name: {"dtype": array.dtype.str, "shape": list(array.shape)} for name, array in arrays.items()},
        "digest": digest(arrays),
        "provenance": dict(provenance),
    }
    with files.atomic(_about(path)) as handle:
        handle.write(json.dumps(description, indent=2, sort_keys=True) + "\n")
    with files.atomic(path, "wb") as handle:
        # Not compressed: every training reads it, and zlib's versions make different bytes of the same arrays.
        # numpy gives every member the same date (1980), so that the file depends on the arrays alone.
        np.savez(handle, **arrays)  # pyright: ignore[reportArgumentType]  # none is called `allow_pickle`


def load(path: str | Path) -> Prepared:
    """Read what `save` wrote, and verify the digest; a `UserError` where a file is missing, truncated or altered."""
    path = Path(path)
    try:
        description = json.loads(_about(path).read_text(encoding="utf-8"))
        expected, provenance = description["digest"], description["provenance"]
        with np.load(path, allow_pickle=False) as members:
            arrays = {name: members[name] for name in members.files}
        computed = digest(arrays)
    except FileNotFoundError as error:
        raise _unusable(path, f"{error.filename} is missing", "Run") from None
    except Exception as error:  # a damaged archive raises almost anything, according to where the damage is
        raise _unusable(path, f"it, or its .json, is truncated or altered ({error!r})") from error
    if computed != expected:
        raise _unusable(path, f"the digest of its arrays is {computed}, expected {expected}")
    return Prepared(arrays, provenance, expected)


def _unusable(path: Path, problem: str, first: str = "Delete it, and run") -> UserError:
    return UserError(f"{path} cannot be used: {problem}. {first} snakemake again, which makes it.", file=path)


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 (hexadecimal) over names, types, shapes and bytes of the arrays, in the order of their names."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.hasobject:
            raise TypeError(f"{name}: an array of Python objects has no stable bytes")
        # As JSON, so that no two different lists of arrays run together to the same text.
        total.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        total.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _about(path: Path) -> Path:
    return path.with_suffix(".json")
