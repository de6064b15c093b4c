"""Bring one file of a dataset from a local mirror or the network, and check its content.

What is checked is the content (size and SHA-256 once gzip is undone), not what carries it: mirrors compress the same
bytes differently. For the same reason a tar archive is known by its members.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from tqdm import tqdm
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
    progress: bool | None = None,
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
        progress: whether to draw a progress bar; None: only on a terminal.
        retries: attempts per URL (at least 1).
        pause: seconds before the third attempt; doubled before each further one.
        timeout: seconds to wait for a server that says nothing.

    Raises:
        UserError: no source gave the file (the message lists each with its reason), the mirror is not a directory, or
            `destination` cannot be written. A full or read-only disk is reported at once, not retried.
    """
    destination = Path(destination)
    label = f"{folder}/{name}"
    tried: list[tuple[str, str]] = []

    def failed(source: str, reason: str) -> None:
        tried.append((source, reason))
        _say(f"{label}: {reason}: {source}")

    copies = [] if mirror is None else _copies(Path(mirror), folder, name)
    if mirror is not None and not copies:
        failed(str(Path(mirror, folder, name)), "not in the mirror, neither plain nor with .gz")
    sources = [(str(copy), partial(_unpack, copy, file, destination)) for copy in copies]
    for url in file.urls:
        with_pauses = HTTPAdapter(max_retries=Retry(retries - 1, backoff_factor=pause, status_forcelist=MAY_PASS))
        sources.append((url, partial(_from_url, url, with_pauses, file, destination, progress, timeout)))
    try:
        # One may be left of a workflow that was killed: nothing is brought twice.
        with alone(destination.with_name(f".{destination.name}.lock"), label) as waited:
            if waited and _is_there(destination, file):
                return
            for source, bring in sources:
                _say(f"{label}: from {source}")
                try:
                    return bring()
                except _Refused as refusal:
                    failed(source, str(refusal))
    except OSError as error:
        # Only the disk gets here: a source's own errors have become _Refused.
        raise UserError(
            f"cannot write {destination}: {error.strerror or error}. "
            "Make room, or make its directory writable, and run again.",
            file=destination,
        ) from error
    raise UserError(_nothing_worked(label, file, tried), file=destination)


def _is_there(destination: Path, file: RemoteFile) -> bool:
    try:
        verify(destination, file)
    except UserError:
        return False
    return True


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


def _copies(mirror: Path, folder: str, name: str) -> list[Path]:
    if not mirror.is_dir():
        raise UserError(
            f"the mirror {mirror} is not a directory. Set data.mirror in config.yaml to one, or leave it out.",
            file=mirror,
            key="data.mirror",
        )
    candidates = [mirror / folder / name, mirror / folder / f"{name}.gz"]
    return [path for path in candidates if path.is_file()]


def _from_url(
    url: str, adapter: HTTPAdapter, file: RemoteFile, destination: Path, progress: bool | None, timeout: float
) -> None:
    part = destination.with_name(f"{destination.name}.part")
    try:
        with requests.Session() as session, files.naming_the_disk(part):
            session.mount("http://", adapter)
            session.mount("https://", adapter)
            _download(session, url, part, progress, timeout)
        _unpack(part, file, destination)
    except requests.RequestException as error:
        raise _Refused(str(error)) from error
    finally:
        part.unlink(missing_ok=True)


def _download(session: requests.Session, url: str, part: Path, progress: bool | None, timeout: float) -> None:
    # Sizes are those of the bytes as stored, so the server must not compress on the way.
    headers = {"Accept-Encoding": "identity"}
    with session.get(url, stream=True, timeout=timeout, headers=headers) as response:
        response.raise_for_status()
        total = int(response.headers.get("Content-Length", 0)) or None
        hidden = None if progress is None else not progress  # None: hidden where there is no terminal
        with open(part, "wb") as handle, tqdm(total=total, unit="B", unit_scale=True, disable=hidden) as bar:
            for chunk in response.iter_content(CHUNK):
                handle.write(chunk)
                bar.update(len(chunk))


def _unpack(source: Path, file: RemoteFile, destination: Path) -> None:
    with files.atomic(destination, "wb") as out:
        for chunk in _verified(source, file):
            out.write(chunk)


def _verified(source: Path, file: RemoteFile) -> Iterator[bytes]:
    """The bytes of `source`, decompressed; refused where they are not the content of `file`."""
    if file.archive:
        _check_members(source, file)
        return _content(source)
    return _checked(_content(source), file)


def _content(source: Path) -> Iterator[bytes]:
    """The bytes of `source`, decompressed if they are gzip."""
    try:
        with archives.decompressed(source) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except archives.DAMAGE as error:
        raise _Refused(f"the gzip archive is broken off or damaged ({error})") from error
    except OSError as error:
        raise _Refused(f"cannot be read: {error.strerror or error}") from error


def _check_members(source: Path, file: RemoteFile) -> None:
    """Refuse an archive whose members are not those of `file`, whatever else it holds and however it is packed."""
    sums: dict[str, str] = {}
    size = 0
    try:
        for name, content in archives.members(source, file.members):
            size += len(content)
            if name in sums:
                raise _Refused(f"the archive has two members {name}")
            if size > file.size:  # no need to read the rest
                raise _Refused(
                    f"with {name}, the archive's members {file.members!r} are longer than the {file.size:,} bytes "
                    "expected"
                )
            sums[name] = hashlib.sha256(content).hexdigest()
    except archives.DAMAGE as error:
        where = f"after the member {list(sums)[-1]}" if sums else f"before the first member {file.members!r}"
        raise _Refused(f"the archive is broken off or damaged {where} ({error})") from error
    except OSError as error:
        raise _Refused(f"cannot be read: {error.strerror or error}") from error
    if (len(sums), size) != (file.count, file.size):
        last = f", the last of them {list(sums)[-1]}" if sums else ""
        raise _Refused(
            f"the archive has {len(sums):,} members {file.members!r} with {size:,} bytes{last}; "
            f"expected {file.count:,} with {file.size:,}"
        )
    digest = hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()
    if digest != file.sha256:
        raise _Refused(f"the archive's members {file.members!r} have SHA-256 {digest}, expected {file.sha256}")


def _checked(chunks: Iterable[bytes], file: RemoteFile) -> Iterator[bytes]:
    """Pass `chunks` on; refuse them where they are not the content of `file`."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        size += len(chunk)
        if file.size is not None and size > file.size:  # no need to read (or to write) the rest
            raise _Refused(f"the content is longer than the {file.size:,} bytes expected")
        digest.update(chunk)
        yield chunk
    if file.size is not None and size != file.size:
        raise _Refused(f"the content has {size:,} bytes, expected {file.size:,}")
    if digest.hexdigest() != file.sha256:
        raise _Refused(f"the content has SHA-256 {digest.hexdigest()}, expected {file.sha256}")


def _nothing_worked(label: str, file: RemoteFile, tried: list[tuple[str, str]]) -> str:
    lines = [f"  - {source}: {reason}" for source, reason in tried]
    sources = "\n".join(lines if file.urls else [*lines, "  - no address has it: it comes from a mirror alone"])
    advice = "Check the network and run again; or put" if file.urls else "Put"
    return (
        f"{label} could not be fetched:\n{sources}\n"
        f"Expected: {_expected(file)}.\n"
        f"{advice} the file at <directory>/{label} (or .gz) "
        "and set data.mirror in config.yaml to that <directory>."
    )


def _expected(file: RemoteFile) -> str:
    if file.archive:
        return (
            f"a {file.archive} archive with {file.count:,} members {file.members!r} of {file.size:,} bytes together, "
            f"whose list of SHA-256 sums has SHA-256 {file.sha256}"
        )
    size = "content" if file.size is None else f"{file.size:,} bytes"
    return f"{size} with SHA-256 {file.sha256} (once decompressed)"


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
