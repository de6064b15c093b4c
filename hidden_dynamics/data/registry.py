"""The registry of datasets: config/datasets.yaml, checked entry by entry."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from hidden_dynamics.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class RemoteFile:
    """One file to download. `size` (bytes) and `sha256` are those of the content once decompressed."""

    name: str
    size: int
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Dataset:
    """One dataset: what it is, the module that prepares it, and its files by name (none if generated or embedded).

    `stand_in_for` names the dataset that this one replaces where that is not at hand; None for the real thing.
    """

    name: str
    title: str
    module: str
    stand_in_for: str | None
    licence: str
    citation: str
    files: dict[str, RemoteFile]


def load_registry(path: str | Path) -> dict[str, Dataset]:
    """Read the registry at `path`.

    Raises:
        UserError: the file is missing or not YAML, or an entry is malformed; the message names the file and the key.
    """
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such registry of datasets") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML: {error}") from error
    try:
        registry = {
            _text(name, "a dataset's name"): _dataset(name, entry) for name, entry in _mapping(content, "").items()
        }
        for name, dataset in registry.items():
            if dataset.stand_in_for is not None and dataset.stand_in_for not in registry:
                raise _Malformed(f"{name}.stand_in_for", f"{dataset.stand_in_for!r} is not a dataset of this file")
    except _Malformed as error:
        raise UserError(f"{path}: {error}") from None
    return registry


def lookup(entries: Mapping[str, T], name: str, what: str) -> T:
    """`entries[name]`; where there is none, a `UserError` that lists the known names and the closest one.

    Args:
        what: what is looked up, for the message, e.g. "dataset".
    """
    if name in entries:
        return entries[name]
    close = difflib.get_close_matches(name, entries, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise UserError(f"there is no {what} {name!r}.{hint} Known: {', '.join(entries) or 'none'}.")


class _Malformed(Exception):
    """The value at a key is not what it must be; `load_registry` adds the file's name."""

    def __init__(self, key: str, problem: str):
        super().__init__(f"{key}: {problem}" if key else problem)


def _dataset(name: str, entry: Any) -> Dataset:
    entry = _exactly(entry, name, Dataset)
    stand_in_for = entry["stand_in_for"]
    files = _mapping(entry["files"], f"{name}.files")
    return Dataset(
        name=name,
        title=_text(entry["title"], f"{name}.title"),
        module=_text(entry["module"], f"{name}.module"),
        stand_in_for=None if stand_in_for is None else _text(stand_in_for, f"{name}.stand_in_for"),
        licence=_text(entry["licence"], f"{name}.licence"),
        citation=_text(entry["citation"], f"{name}.citation"),
        files={file: _remote_file(file, value, f"{name}.files.{file}") for file, value in files.items()},
    )


def _remote_file(name: str, entry: Any, key: str) -> RemoteFile:
    # The name becomes a path below the download directory and below a mirror: it must not lead out of them.
    if not re.fullmatch(r"[\w-][\w.-]*", _text(name, key)):
        raise _Malformed(key, "a file's name holds letters, digits, '.', '_' and '-' only")
    entry = _exactly(entry, key, RemoteFile)
    size, sha256, urls = entry["size"], entry["sha256"], entry["urls"]
    if type(size) is not int or size < 1:
        raise _Malformed(f"{key}.size", f"expected a number of bytes, found {size!r}")
    if not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise _Malformed(f"{key}.sha256", f"expected 64 lower-case hexadecimal digits, found {sha256!r}")
    if not isinstance(urls, list) or not urls:
        raise _Malformed(f"{key}.urls", f"expected a list of addresses, found {urls!r}")
    for url in urls:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise _Malformed(f"{key}.urls", f"expected http:// or https:// addresses, found {url!r}")
    return RemoteFile(name, size, sha256, tuple(urls))


def _exactly(entry: Any, key: str, form: type) -> dict:
    """`entry` as a mapping that has the fields of the dataclass `form` (but its name), all of them and no others."""
    entry = _mapping(entry, key)
    wanted = [field.name for field in fields(form) if field.name != "name"]
    for name in wanted:
        if name not in entry:
            raise _Malformed(f"{key}.{name}", "is missing")
    for name in entry:
        if name not in wanted:
            raise _Malformed(f"{key}.{name}", f"is not a key of an entry; known: {', '.join(wanted)}")
    return entry


def _mapping(value: Any, key: str) -> dict:
    if not isinstance(value, dict):
        raise _Malformed(key, f"expected a mapping of names to entries, found {value!r}")
    return value


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _Malformed(key, f"expected text, found {value!r}")
    return value
