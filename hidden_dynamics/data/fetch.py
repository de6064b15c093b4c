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
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from hidden_dynamics.configuration.schema import RemoteFile
from hidden_dynamics.data import archives
from hidden_dynamics.errors import UserError
from hidden_dynamics.system import files
from hidden_dynamics.system.locks import alone

CHUNK = 1 << 18  # bytes held in memory at a time
MAY_PASS = (408, 425, 429, 500, 502, 503, 504)  # HTTP errors after which the same address is asked again
SLOWEST = 1000  # bytes per second
LONGEST = 60  # seconds that a server may ask to wait
UNKNOWN = 2**30  # bytes of a file of which no source states the size, at most


def fetch(
    folder: str,
    name: str,
    file: RemoteFile,
    destination: str | Path,
    mirror: str | Path | None = None,
    retries: int = 3,
    pause: float = 1.0,
    timeout: float = 30.0,
    patience: float = 60.0,
) -> None:
    """Bring a file to `destination`, decompressed; nothing is there before its content is verified.

    The mirror is tried first (`<mirror>/<folder>/<name>`, plain or with `.gz`), then each URL in turn. What arrives
    with the wrong content is thrown away; what breaks off is tried again, then the next source.

    Args:
        retries: attempts per URL (at least 1).
        pause: seconds before the second attempt; doubled before each further one. A server may ask for a minute.
        timeout: seconds to wait for a server that says nothing.
        patience: seconds in which at least 1 kB/s must come.

    Raises:
        UserError: no source gave the file (the message lists each with its reason), the mirror is not a directory, or
            `destination` cannot be written. A full or read-only disk is reported at once, not retried.
    """
    destination, label, tried = Path(destination), f"{folder}/{name}", []
    if mirror is not None and not Path(mirror).is_dir():
        text = f"the mirror {mirror} is not a directory. Set data.mirror in config.yaml to one, or leave it out."
        raise UserError(text, file=mirror, key="data.mirror")
    copies = [] if mirror is None else [Path(mirror, folder, name), Path(mirror, folder, f"{name}.gz")]
    try:
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
                        _from_url(source, file, destination, retries, pause, timeout, patience)
                    return None if file.sha256 else _record(destination, label)
                except _Refused as refusal:
                    tried.append(f"  - {source}: {refusal}")
                    print(f"{label}: {refusal}", file=sys.stderr, flush=True)
    except OSError as error:
        # Only the disk gets here: a source's own errors have become _Refused.
        raise UserError(
            f"cannot write {destination}: {error.strerror or error}. "
            "Make room, or make its directory writable, and run again.",
            file=destination,
        ) from error
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
    """A refusal that may pass: the same address is asked again, after `wait` seconds at least."""

    def __init__(self, text: str, wait: float = 0.0):
        super().__init__(text)
        self.wait = wait


def _from_url(
    url: str, file: RemoteFile, destination: Path, retries: int, pause: float, timeout: float, patience: float
) -> None:
    for attempt in range(retries):
        try:
            with tempfile.NamedTemporaryFile(dir=destination.parent, prefix=f".{destination.name}.") as part:
                with files.naming_the_disk(Path(part.name)):
                    _download(url, part.file, _largest(file), timeout, patience)
                    part.flush()
                return _unpack(Path(part.name), file, destination)
        except _MayPass as trouble:
            if attempt == retries - 1:
                raise
            wait = max(pause * 2**attempt, trouble.wait)
            print(f"{trouble}: asked again in {wait:g} s", file=sys.stderr, flush=True)
            time.sleep(wait)


def _download(url: str, part: IO[bytes], largest: int, timeout: float, patience: float) -> None:
    """Write the body as it is stored, whatever its encoding: to decode it may make any number of bytes of it."""
    headers = {"Accept-Encoding": "identity"}
    try:
        with requests.get(url, stream=True, timeout=timeout, headers=headers) as response:
            if response.status_code in MAY_PASS:
                raise _MayPass(f"{response.status_code} {response.reason}", _asked_to_wait(response))
            response.raise_for_status()
            size, since, before = 0, time.monotonic(), 0
            while chunk := response.raw.read1(CHUNK, decode_content=False):
                part.write(chunk)
                size += len(chunk)
                if size > largest:
                    raise _Refused(f"it sends more than {largest:,} bytes, and the file cannot have as many")
                if (seconds := time.monotonic() - since) > patience:
                    if size - before < SLOWEST * seconds:
                        raise _Refused(f"too slow: {size - before:,} bytes in {seconds:.0f} s")
                    since, before = time.monotonic(), size
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise _MayPass(str(error)) from error
    except requests.RequestException as error:
        raise _Refused(str(error)) from error


def _asked_to_wait(response: requests.Response) -> float:
    """The seconds of Retry-After; refused where they are too many."""
    try:
        wait = Retry().parse_retry_after(response.headers.get("Retry-After", "0"))
    except HTTPError:  # it is no time
        wait = 0.0
    if wait > LONGEST:
        raise _Refused(f"{response.status_code} {response.reason}: it asks to wait {wait:.0f} s")
    return wait


def _largest(file: RemoteFile) -> int:
    """More bytes than any encoding of the file has; of an archive, with its headers and other members."""
    if file.size is None:
        return UNKNOWN
    return file.size * 2 + 10_000 * (file.count or 0) + 2**20 if file.archive else file.size + file.size // 100 + 2**16


def _unpack(source: Path, file: RemoteFile, destination: Path) -> None:
    with files.atomic(destination, "wb") as out:
        for chunk in _verified(source, file):
            out.write(chunk)


def _verified(source: Path, file: RemoteFile) -> Iterator[bytes]:
    """The bytes of `source`, decompressed; refused where they are not the content of `file`."""
    digest, size, largest = hashlib.sha256(), 0, _largest(file)
    try:
        if file.members is not None:
            digests = [
                (name, hashlib.sha256(data).hexdigest(), len(data))
                for name, data in archives.members(source, file.members, file.size, largest)
            ]
            digest.update("".join(f"{sha256}  {name}\n" for name, sha256, _ in sorted(digests)).encode())
            size = sum(length for _, _, length in digests)
        with archives.decompressed(source, largest) as stream:
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
