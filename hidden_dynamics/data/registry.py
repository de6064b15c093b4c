"""The registry of datasets: config/datasets.yaml, held to its schema."""

from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.configuration import known, listed, read_yaml, validate
from hidden_dynamics.errors import UserError


@dataclass(frozen=True)
class RemoteFile:
    """One file to download: `size` (bytes) and `sha256` are those of its content once decompressed.

    An archive is known by its members, because the same files are packed differently from place to place. `members` is
    a pattern on base names, `count` says how many files match it, `size` is the sum of their bytes, and `sha256` is
    that of the list which `sha256sum <members>` prints (a line "<SHA-256>  <base name>" each, in the order of names).

    Attributes:
        archive: "tar", or None for what is no archive; `members` and `count` are None with it.
    """

    name: str
    size: int
    sha256: str
    urls: tuple[str, ...]
    archive: str | None = None
    members: str | None = None
    count: int | None = None


@dataclass(frozen=True)
class Dataset:
    """One dataset: what it is, the module that prepares it, and its files by name (none if generated or embedded).

    `stand_in_for` names the datasets that this one may replace where they are not at hand; empty for the real thing.
    `own_copy` says that it may not be downloaded: the user names the directory of a copy. `environment` is the conda
    environment that prepares it.
    """

    name: str
    title: str
    module: str
    stand_in_for: tuple[str, ...]
    licence: str
    citation: str
    files: dict[str, RemoteFile]
    own_copy: bool = False
    environment: str = "data"


def load_registry(path: str | Path) -> dict[str, Dataset]:
    """Read the registry at `path`.

    Raises:
        UserError: the file is missing or not YAML, or an entry is malformed; the message names the file and the key.
    """
    if not Path(path).is_file():
        raise UserError(f"{path}: there is no such registry of datasets")
    content = read_yaml(Path(path))
    validate(content, "datasets", str(path))
    for name, entry in content.items():
        for original in listed(entry["stand_in_for"]):
            known(original, content, "dataset", f"{path}: {name}.stand_in_for")
    return {name: _dataset(name, entry) for name, entry in content.items()}


def _dataset(name: str, entry: dict) -> Dataset:
    files = {file: RemoteFile(file, **about | {"urls": tuple(about["urls"])}) for file, about in entry["files"].items()}
    return Dataset(name, **entry | {"files": files, "stand_in_for": listed(entry["stand_in_for"])})
