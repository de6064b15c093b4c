"""Files that are whole once they are at their final name."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

NEUTRAL = "where and how a file is kept changes no result"

ROOT = Path(__file__).resolve().parents[2]  # the repository
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file ("w", UTF-8 text, or "wb") beside `path`, whose directory is made; move it there only if
    the block ends without an error. An `OSError` names the disk where that is full or read-only."""
    path = Path(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
    with naming_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, mode, encoding=encoding, newline=newline) as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            os.umask(mask := os.umask(0))
            os.chmod(name, 0o666 & ~mask)  # mkstemp made it private to this user
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


@contextlib.contextmanager
def naming_the_disk(path: Path) -> Iterator[None]:
    """Name the disk in the error of a full or read-only one: the system names at most the file, here `path`."""
    try:
        yield
    except OSError as error:
        if error.errno not in (*FULL, errno.EROFS):
            raise
        disk = next(parent for parent in path.resolve().parents if parent.is_mount())
        raise OSError(error.errno, f"{os.strerror(error.errno)}: the disk at {disk}", str(path)) from error


def sweep(directory: Path, names: Iterable[str]) -> None:
    """Remove what killed processes left of `names` on the way to their final names; no other process may write them."""
    for name in names:
        for path in directory.glob(f".{name}.*"):
            path.unlink()
