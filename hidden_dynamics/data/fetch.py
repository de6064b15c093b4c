"""Bring one file of a dataset from a local mirror or the network, and check its content.

What is checked is the content (size and SHA-256 once gzip is undone), not what carries it: mirrors compress the same
bytes differently. For the same reason a tar archive is known by its members. A SHA-256 that no source states is
recorded beside the file, `<name>.sha256`, at its first download; from then on the file is held to it.
"""

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import requests

from hidden_dynamics.configuration.schema import RemoteFile
from hidden_dynamics.data import archives
from hidden_dynamics.errors import UserError
from hidden_dynamics.system import files
from hidden_dynamics.system.locks import alone

CHUNK = 1 << 18  # bytes held in memory at a time
MAY_PASS = (408, 425, 429, 500, 502, 503, 504)  # HTTP errors after which the same address is asked again
ATTEMPTS = 3  # per URL
PAUSE = 1.0  # seconds before the second attempt; doubled before each further one
TIMEOUT = 30.0  # seconds to wait for a server that says nothing


def fetch(folder: str, name: str, file: RemoteFile, destination: str | Path, mirror: str | Path | None = None) -> None:
    """Bring a file to `destination`, decompressed; nothing is there before its content is verified.

    The mirror is tried first (`<mirror>/<folder>/<name>`, plain or with `.gz`), then each URL in turn. What arrives
    with the wrong content is thrown away; what breaks off is tried again, then the next source.

    Raises:
        UserError: no source gave the file (the message lists each with its reason), or the mirror is not a directory.
        OSError: the disk is full or cannot be written; no other source is asked then.
    """
    destination, label, tried = Path(destination), f"{folder}/{name}", []
    if mirror is not None and not Path(mirror).is_dir():
        text = f"the mirror {mirror} is not a directory. Set data.mirror in config.yaml to one, or leave it out."
        raise UserError(text, file=mirror, key="data.mirror")
    copies = [] if mirror is None else [Path(mirror, folder, name), Path(mirror, folder, f"{name}.gz")]
    with alone(destination.with_name(f".lock.{destination.name}"), label) as waited:
        if waited and destination.is_file():  # one was left of a workflow that was killed, and has brought it
            return
        files.sweep(destination.parent, [destination.name])
        file = _held_to(file, destination)
        for source in (*copies, *file.urls):
            print(f"{label}: from {source}", file=sys.stderr, flush=True)
            try:
                if isinstance(source, Path):
                    _unpack(source, file, destination)
                else:
                    _from_url(source, file, destination)
                return None if file.sha256 else _record(destination, label)
            except _Refused as refusal:
                tried.append(f"  - {source}: {refusal}")
                print(f"{label}: {refusal}", file=sys.stderr, flush=True)
    sources = "\n".join(tried if file.urls else [*tried, "  - no address has it: it comes from a mirror alone"])
    advice = f"Put the file at <directory>/{label} (or .gz) and set data.mirror in config.yaml to that <directory>."
    raise UserError(f"{label} could not be fetched:\n{sources}\n{advice}", file=destination)


def verify(path: str | Path, file: RemoteFile) -> str:
    """The SHA-256 of the content of `path`; a `UserError` where it is not that of `file`."""
    file = _held_to(file, Path(path))
    try:
        for _ in _verified(Path(path), file):
            pass
        if file.sha256 is None:
            raise _Refused("no SHA-256 of it is recorded")
    except _Refused as refusal:
        raise UserError(f"{path}: {refusal}. Delete it and fetch it again.", file=path) from None
    return file.sha256


def _recorded(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _held_to(file: RemoteFile, path: Path) -> RemoteFile:
    """The file with its SHA-256: the registry's, or what was recorded at the first download; None before it."""
    record = _recorded(path)
    if file.sha256 is not None or not record.is_file():
        return file
    return file.model_copy(update={"sha256": record.read_text(encoding="utf-8").split()[0]})


def _record(path: Path, label: str) -> None:
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    with files.atomic(_recorded(path)) as out:
        out.write(f"{digest}  {path.name}\n")  # as sha256sum reads it
    text = f"{label}: no source states its SHA-256. What came has {digest}, recorded in {_recorded(path)}"
    print(f"{text}: from now on it is held to that.", file=sys.stderr, flush=True)


class _Refused(Exception):
    """A source did not give the file; the message says why."""


class _MayPass(_Refused):
    """A refusal that may pass: the same address is asked again."""


def _from_url(url: str, file: RemoteFile, destination: Path) -> None:
    for attempt in range(ATTEMPTS):
        try:
            with tempfile.NamedTemporaryFile(dir=destination.parent, prefix=f".{destination.name}.") as part:
                with files.naming_the_disk(Path(part.name)):
                    _download(url, part.file)
                    part.flush()
                return _unpack(Path(part.name), file, destination)
        except _MayPass as trouble:
            if attempt == ATTEMPTS - 1:
                raise
            wait = PAUSE * 2**attempt
            print(f"{trouble}: asked again in {wait:g} s", file=sys.stderr, flush=True)
            time.sleep(wait)


def _download(url: str, part: IO[bytes]) -> None:
    try:
        with requests.get(url, stream=True, timeout=TIMEOUT) as response:
            if response.status_code in MAY_PASS:
                raise _MayPass(f"{response.status_code} {response.reason}")
            response.raise_for_status()
            for chunk in response.iter_content(CHUNK):
                part.write(chunk)
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise _MayPass(str(error)) from error
    except requests.RequestException as error:
        raise _Refused(str(error)) from error


def _unpack(source: Path, file: RemoteFile, destination: Path) -> None:
    with files.atomic(destination, "wb") as out:
        for chunk in _verified(source, file):
            out.write(chunk)


def _verified(source: Path, file: RemoteFile) -> Iterator[bytes]:
    """The bytes of `source`, decompressed; refused where they are not the content of `file`."""
    digest, size = hashlib.sha256(), 0
    try:
        if file.members is not None:
            digests = [
                (name, hashlib.sha256(data).hexdigest(), len(data))
                for name, data in archives.members(source, file.members)
            ]
            digest.update("".join(f"{sha256}  {name}\n" for name, sha256, _ in sorted(digests)).encode())
            size = sum(length for _, _, length in digests)
        with archives.decompressed(source) as stream:
            while chunk := stream.read(CHUNK):
                if not file.archive:
                    digest.update(chunk)
                    size += len(chunk)
                yield chunk
    except archives.DAMAGE as error:
        raise _Refused(f"the archive is broken off or damaged ({error})") from error
    except OSError as error:
        raise _Refused(f"cannot be read: {error.strerror or error}") from error
    _compare(file, size, digest.hexdigest())


def _compare(file: RemoteFile, size: int, digest: str) -> None:
    expected, stated = size if file.size is None else file.size, file.sha256 or digest
    if (size, digest) != (expected, stated):
        what = f"members {file.members!r} of the archive" if file.archive else "content"
        raise _Refused(f"the {what}: {size:,} bytes with SHA-256 {digest}; expected {expected:,} with {stated}")
