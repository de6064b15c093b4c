"""The members of a tar archive, read one after another in memory: nothing is unpacked to the disk."""

import contextlib
import fnmatch
import gzip
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

GZIP_MAGIC = b"\x1f\x8b"
DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError)  # what reading a broken archive raises


@contextlib.contextmanager
def decompressed(path: str | Path) -> Iterator[IO[bytes]]:
    """The content of `path` as a stream, without gzip where it is compressed so."""
    with open(path, "rb") as raw:
        packed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        raw.seek(0)
        with gzip.open(raw) if packed else contextlib.nullcontext(raw) as stream:
            yield cast(IO[bytes], stream)


def members(path: str | Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Base name and content of every file in a tar archive whose base name matches `pattern`, in the archive's order.

    DAMAGE is raised where it is no tar archive, is broken off or damaged. A damaged header in the middle may also end
    the archive silently: compare the members with what is expected.
    """
    with decompressed(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            if member.isreg() and fnmatch.fnmatchcase(name, pattern) and (content := archive.extractfile(member)):
                yield name, content.read()
