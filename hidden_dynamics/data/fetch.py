"""Bring one file of a dataset from a local mirror or the network, and check its content.

What is checked is the content (size and SHA-256 once gzip is undone), not what carries it: mirrors compress the same
bytes differently. For the same reason a tar archive is known by its members.
"""

import hashlib
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from hidden_dynamics.configuration.schema import RemoteFile
from hidden_dynamics.data import archives
from hidden_dynamics.errors import UserError
from hidden_dynamics.system import files
from hidden_dynamics.system.locks import alone

CHUNK = 1 << 18  # bytes held in memory at a time
MAY_PASS = (408, 425, 429, 500, 502, 503, 504)  # HTTP errors after which the same address is asked again


def fetch(
    folder: str,
    name: str,
    file: RemoteFile,
    destination: str | Path,
    mirror: str | Path | None = None,
    retries: int = 3,
    pause: float = 1.0,
    timeout: float = 30.0,
) -> None:
    """Bring a file to `destination`, decompressed and verified.

    The mirror is tried first (`<mirror>/<folder>/<name>`, plain or with `.gz`), then each URL in turn. What arrives
    broken off or with the wrong content is thrown away and the next source is tried.

    Args:
        folder: the directory within the mirror: the dataset's name.
        name: the file's.
        file: what to bring, with the size and SHA-256 of its decompressed content or, for an archive, of its members.
        destination: the file's final name. Nothing is there before the content is verified.
        mirror: a directory laid out `<folder>/<file>`, or None.
        retries: attempts per URL (at least 1).
        pause: seconds before the third attempt; doubled before each further one.
        timeout: seconds to wait for a server that says nothing.

    Raises:
        UserError: no source gave the file (the message lists each with its reason), the mirror is not a directory, or
            `destination` cannot be written. A full or read-only disk is reported at once, not retried.
    """
    destination, label, tried = Path(destination), f"{folder}/{name}", []
    if mirror is not None and not Path(mirror).is_dir():
        text = f"the mirror {mirror} is not a directory. Set data.mirror in config.yaml to one, or leave it out."
        raise UserError(text, file=mirror, key="data.mirror")
    copies = [] if mirror is None else [Path(mirror, folder, name), Path(mirror, folder, f"{name}.gz")]
    adapter = HTTPAdapter(max_retries=Retry(retries - 1, backoff_factor=pause, status_forcelist=MAY_PASS))
    try:
        with alone(destination.with_name(f".{destination.name}.lock"), label) as waited:
            if waited and destination.is_file():  # one was left of a workflow that was killed, and has brought it
                return
            for source in (*copies, *file.urls):
                print(f"{label}: from {source}", file=sys.stderr, flush=True)
                try:
                    if isinstance(source, Path):
                        return _unpack(source, file, destination)
                    return _from_url(source, adapter, file, destination, timeout)
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


def verify(path: str | Path, file: RemoteFile) -> None:
    """Check that the content of `path` is that of `file`.

    Raises:
        UserError: it is missing, unreadable, truncated or altered; the message names it and says what was expected.
    """
    try:
        for _ in _verified(Path(path), file):
            pass
    except _Refused as refusal:
        raise UserError(f"{path}: {refusal}. Delete it and fetch it again.", file=path) from None


class _Refused(Exception):
    """A source did not give the file; the message says why."""


def _from_url(url: str, adapter: HTTPAdapter, file: RemoteFile, destination: Path, timeout: float) -> None:
    # Sizes are those of the bytes as stored, so the server must not compress on the way.
    headers = {"Accept-Encoding": "identity"}
    with tempfile.NamedTemporaryFile(dir=destination.parent, prefix=f".{destination.name}.", suffix=".part") as part:
        try:
            with requests.Session() as session, files.naming_the_disk(Path(part.name)):
                session.mount("http://", adapter)
                session.mount("https://", adapter)
                with session.get(url, stream=True, timeout=timeout, headers=headers) as response:
                    response.raise_for_status()
                    for chunk in response.iter_content(CHUNK):
                        part.write(chunk)
                part.flush()
        except requests.RequestException as error:
            raise _Refused(str(error)) from error
        _unpack(Path(part.name), file, destination)


def _unpack(source: Path, file: RemoteFile, destination: Path) -> None:
    with files.atomic(destination, "wb") as out:
        for chunk in _verified(source, file):
            out.write(chunk)


def _verified(source: Path, file: RemoteFile) -> Iterator[bytes]:
    """The bytes of `source`, decompressed; refused where they are not the content of `file`."""
    digest, size = hashlib.sha256(), 0
    try:
        if file.members is not None:
            found = [
                (name, hashlib.sha256(data).hexdigest(), len(data))
                for name, data in archives.members(source, file.members)
            ]
            digest.update("".join(f"{sha256}  {name}\n" for name, sha256, _ in sorted(found)).encode())
            size = sum(length for _, _, length in found)
        with archives.decompressed(source) as stream:
            while chunk := stream.read(CHUNK):
                if not file.archive:
                    digest.update(chunk)
                    size += len(chunk)
                    if size > (file.size or math.inf):  # no need to read, or to write, the rest
                        break
                yield chunk
    except archives.DAMAGE as error:
        raise _Refused(f"the archive is broken off or damaged ({error})") from error
    except OSError as error:
        raise _Refused(f"cannot be read: {error.strerror or error}") from error
    _compare(file, size, digest.hexdigest())


def _compare(file: RemoteFile, size: int, digest: str) -> None:
    expected = size if file.size is None else file.size
    if (size, digest) != (expected, file.sha256):
        what = f"members {file.members!r} of the archive" if file.archive else "content"
        raise _Refused(f"the {what}: {size:,} bytes with SHA-256 {digest}; expected {expected:,} with {file.sha256}")
