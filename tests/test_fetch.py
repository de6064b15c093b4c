"""Fetching: sources in order, verification, and what a user reads when it fails. The server is a real one."""

import contextlib
import errno
import fcntl
import gzip
import hashlib
import os
import socket
import subprocess
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fetch as script
import numpy as np
import pytest
from conftest import file_size_limit, refused
from raw import pack, with_dataset

from hidden_dynamics.configuration.schema import RemoteFile
from hidden_dynamics.data import fetch as fetching
from hidden_dynamics.data.fetch import fetch, verify

CONTENT = np.random.default_rng(0).bytes(600_000)  # does not compress: an archive of it is as long
PACKED = gzip.compress(CONTENT, mtime=0)
NOWHERE = ("http://nowhere.invalid",)


def remote(*urls: str, content: bytes = CONTENT) -> RemoteFile:
    return RemoteFile(size=len(content), sha256=hashlib.sha256(content).hexdigest(), urls=list(urls or NOWHERE))


class Server(ThreadingHTTPServer):
    """Answers each path with what is given for it, (status, headers, body); keeps the paths of all requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests, self.url = {}, [], f"http://127.0.0.1:{self.server_port}"

    def serve(self, path: str, answer: Callable[[], tuple[int, dict[str, str], bytes]]) -> str:
        self.answers[path] = answer
        return self.url + path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.requests.append(self.path)  # before the client can know of it
        code, headers, body = self.server.answers[self.path]()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client has left
            self.wfile.write(body)

    def log_message(self, *_args) -> None:
        pass


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PAUSE", 0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def whole(body: bytes, sent: int | None = None):
    """An answer with `body`; it breaks the connection off after `sent` bytes."""
    return lambda: (200, {"Content-Length": str(len(body))}, body[:sent])


def status(code: int):
    return lambda: (code, {"Content-Length": "0"}, b"")


def unreachable() -> str:
    """An address where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/data.bin"


def left_behind(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def run(ended, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the script for a dataset with one file."""

    def fetched(file: RemoteFile, *arguments: object) -> Any:
        monkeypatch.setattr(script, "load", lambda settings: with_dataset(files={"data.bin": file.given()}))
        return ended(script.main, "--dataset", "toy", *arguments)

    return fetched


@pytest.fixture
def bring(tmp_path: Path) -> Callable[..., bytes]:
    """Fetches the file from these addresses, into `tmp_path` or another directory, and gives what is there then."""

    def bring(*urls: str, into: Path = tmp_path, mirror: Path | None = None, content=CONTENT) -> bytes:
        fetch("toy", "data.bin", remote(*urls, content=content), into / "data.bin", mirror)
        return (into / "data.bin").read_bytes()

    return bring


@pytest.mark.parametrize("body", [CONTENT, PACKED], ids=["plain", "gzip"])
def test_a_download_is_stored_decompressed_and_leaves_nothing_else(server: Server, tmp_path, bring, run, body: bytes):
    url = server.serve("/a", whole(body))
    assert bring(url, into=tmp_path / "deep") == CONTENT and left_behind(tmp_path / "deep") == ["data.bin"]
    output = tmp_path / "raw" / "data.bin"
    done = run(remote(url), "--file", "data.bin", "--output", output)
    assert done.code == 0 and output.read_bytes() == CONTENT


def test_the_next_address_is_tried_after_each_kind_of_failure(server: Server, bring):
    urls = [
        unreachable(),
        server.serve("/missing", status(404)),
        server.serve("/error", status(500)),
        server.serve("/altered", whole(CONTENT[:-1] + b"?")),
        server.serve("/short", whole(CONTENT[:-1])),
        server.serve("/long", whole(CONTENT + b"?")),
        server.serve("/damaged", whole(PACKED[:300_000] + b"?" * 10 + PACKED[300_010:])),
        server.serve("/cut", whole(PACKED[:-100])),
        server.serve("/broken_off", whole(CONTENT, sent=400_000)),
        server.serve("/page", whole(b"<html>Please log in</html>")),
        server.serve("/good", whole(PACKED)),
    ]
    assert bring(*urls) == CONTENT
    asked = Counter(server.requests)
    assert (asked.pop("/error"), asked.pop("/broken_off")) == (3, 3), "a server's own error may pass, a lost line, too"
    assert asked == {url.removeprefix(server.url): 1 for url in urls[1:] if not url.endswith(("error", "off"))}


@pytest.mark.parametrize(("code", "asked"), [(404, 1), (410, 1), (429, 3), (408, 3), (502, 3)])
def test_only_what_may_pass_is_asked_again(server: Server, tmp_path: Path, bring, monkeypatch, code: int, asked: int):
    waits = []
    monkeypatch.setattr(fetching, "PAUSE", 7)
    monkeypatch.setattr(time, "sleep", waits.append)
    with refused(str(code), file=tmp_path / "data.bin"):
        bring(server.serve("/a", status(code)))
    assert len(server.requests) == asked
    server.requests.clear()
    answers = iter([status(503), whole(CONTENT, sent=400_000), whole(CONTENT)])
    assert bring(server.serve("/a", lambda: next(answers)())) == CONTENT and len(server.requests) == 3
    assert waits[-2:] == [7, 14]


def test_what_a_killed_download_left_is_swept_and_no_more(server: Server, tmp_path: Path, bring):
    for name in (".data.bin.abcdefg1", ".other.bin.abcdefg2", "other"):
        (tmp_path / name).touch()
    bring(server.serve("/a", whole(CONTENT)))
    assert left_behind(tmp_path) == [".other.bin.abcdefg2", "data.bin", "other"]


def test_altered_content_is_refused_and_an_earlier_file_is_as_it_was(server: Server, tmp_path: Path, bring):
    (tmp_path / "data.bin").write_bytes(b"earlier")
    altered = CONTENT[:1000] + b"?" + CONTENT[1001:]
    url, digest = server.serve("/a", whole(altered)), hashlib.sha256(altered).hexdigest()
    with refused(f"(?s)toy/data.bin .*{url}: .* 600,000 bytes with SHA-256 {digest}; .* {remote().sha256}"):
        bring(url)
    assert left_behind(tmp_path) == ["data.bin"] and (tmp_path / "data.bin").read_bytes() == b"earlier"
    sizeless = remote(url, server.serve("/b", whole(PACKED))).model_copy(update={"size": None})
    fetch("toy", "data.bin", sizeless, tmp_path / "data.bin")  # the sum alone decides
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_without_a_network_the_message_names_every_source_and_what_to_do(tmp_path: Path, bring):
    one, other = unreachable(), unreachable()
    with refused(f"(?s){one}: .*refused.*{other}: .*refused.*<directory>/toy/data.bin .*data.mirror"):
        bring(one, other)
    assert left_behind(tmp_path) == []


def test_a_file_that_no_address_has_comes_from_a_mirror(tmp_path: Path):
    file, mirror, target = remote().model_copy(update={"urls": []}), tmp_path / "mirror", tmp_path / "here/data.bin"
    for given in (None, mirror):
        mirror.mkdir(exist_ok=True)
        with refused("(?s)no address has it.*Put the file at <directory>/toy/data.bin", file=target):
            fetch("toy", "data.bin", file, target, given)
    (mirror / "toy").mkdir()
    (mirror / "toy/data.bin.gz").write_bytes(PACKED)
    fetch("toy", "data.bin", file, target, mirror)
    assert target.read_bytes() == CONTENT


def test_what_another_process_brings_meanwhile_is_not_brought_again(tmp_path: Path, bring):
    other = open(tmp_path / ".lock.data.bin", "w")  # noqa: SIM115  (it is closed where the file has been brought)
    fcntl.flock(other, fcntl.LOCK_EX)

    def brought() -> None:
        (tmp_path / "data.bin").write_bytes(CONTENT)
        other.close()

    threading.Timer(0.3, brought).start()
    assert bring(unreachable()) == CONTENT


def test_a_silent_server_is_given_up(server: Server, bring, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching, "TIMEOUT", 0.1)
    given_up = threading.Event()
    url = server.serve("/a", lambda: given_up.wait(60) and status(200)())
    with refused("timed out"):
        bring(url)
    given_up.set()


@pytest.mark.parametrize(("name", "body"), [("data.bin", CONTENT), ("data.bin.gz", PACKED)])
def test_the_mirror_comes_first_unless_its_copy_is_missing_or_wrong(server, tmp_path, bring, capsys, name, body):
    url, mirror = server.serve("/a", whole(CONTENT)), tmp_path / "mirror"
    copy = mirror / "toy" / name
    copy.parent.mkdir(parents=True)
    assert bring(url, mirror=mirror) == CONTENT
    assert f"{copy.parent}/data.bin.gz\ntoy/data.bin: cannot be read" in capsys.readouterr().err
    copy.write_bytes(body[:-7])
    assert bring(url, mirror=mirror) == CONTENT and server.requests == ["/a", "/a"]
    assert left_behind(copy.parent) == [name] and copy.read_bytes() == body[:-7], "a user's mirror is never changed"
    copy.write_bytes(body)
    assert bring(url, mirror=mirror) == CONTENT and server.requests == ["/a", "/a"]


def test_a_mirror_that_is_no_directory_is_an_error(tmp_path: Path, bring):
    with refused("not a directory", file=tmp_path / "elsewhere", key="data.mirror"):
        bring(unreachable(), mirror=tmp_path / "elsewhere")


def test_a_sum_that_no_source_states_is_recorded_at_the_first_download_and_holds(
    server: Server, tmp_path: Path, capsys
):
    first, other = (remote(server.serve(*answer)) for answer in (("/a", whole(PACKED)), ("/b", whole(b"another"))))
    first, other = (file.model_copy(update={"size": None, "sha256": None}) for file in (first, other))
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    with refused("no SHA-256", file=path):
        verify(path, first)
    with refused("cannot be read: No such file", file=tmp_path / "none"):
        verify(tmp_path / "none", first)
    fetch("toy", "data.bin", first, path)
    assert verify(path, first) == remote().sha256 and remote().sha256 in capsys.readouterr().err
    assert left_behind(tmp_path) == ["data.bin", "data.bin.sha256"]
    with refused(f"expected .* {remote().sha256}", file=path):
        fetch("toy", "data.bin", other, path)
    path.write_bytes(b"another")
    with refused(f"expected .* {remote().sha256}", file=path):
        verify(path, other)


MEMBERS = {f"part_{index}.bin": np.random.default_rng(index).bytes(2000 + index) for index in range(8)}
OTHERS = {"README": b"about", "notes.txt": b"more", "old/parts.txt": bytes(700)}


def in_folder(folder: str, members: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in members.items()}


def packed_remote(*urls: str) -> RemoteFile:
    lines = "".join(f"{hashlib.sha256(MEMBERS[name]).hexdigest()}  {name}\n" for name in sorted(MEMBERS))
    size = sum(map(len, MEMBERS.values()))
    digest = hashlib.sha256(lines.encode()).hexdigest()
    about = {"archive": "tar", "members": "part_*.bin", "count": 8}
    return RemoteFile(size=size, sha256=digest, urls=list(urls or NOWHERE), **about)


ARCHIVE = pack(MEMBERS)
SAME_MEMBERS = {
    "plain": ARCHIVE,
    "gzip": gzip.compress(ARCHIVE),
    "in another order": pack(dict(reversed(MEMBERS.items()))),
    "in a folder, among other files": gzip.compress(
        pack(in_folder("release-1.0", OTHERS | MEMBERS), format=tarfile.GNU_FORMAT)
    ),
    "with a link of a member's name": pack(in_folder("a", MEMBERS), links=["b/part_0.bin"]),
}


@pytest.mark.parametrize("form", SAME_MEMBERS)
def test_an_archive_is_known_by_its_members_however_they_are_packed(server: Server, tmp_path: Path, form: str):
    target = tmp_path / "parts.tar"
    fetch("toy", "parts.tar", packed_remote(server.serve("/a", whole(SAME_MEMBERS[form]))), target)
    verify(target, packed_remote())
    with tarfile.open(target, "r:") as archive:  # as decompressed as every other file
        names = {member.name.rsplit("/", 1)[-1] for member in archive if member.isreg()}
    assert set(MEMBERS) <= names
    assert left_behind(tmp_path) == ["parts.tar"]


def test_the_digest_of_an_archive_is_what_sha256sum_says(tmp_path: Path):
    for name, content in MEMBERS.items():
        (tmp_path / name).write_bytes(content)
    command = "LC_ALL=C; export LC_ALL; sha256sum part_*.bin | sha256sum"
    printed = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed.split()[0] == packed_remote().sha256


ALTERED = MEMBERS | {"part_3.bin": b"x" + MEMBERS["part_3.bin"][1:]}
FEWER = {name: content for name, content in MEMBERS.items() if name != "part_7.bin"}
TWICE = ARCHIVE[: ARCHIVE.index(b"part_1.bin")] + ARCHIVE
DAMAGED = {
    "altered": (pack(ALTERED), "16,028 bytes with SHA-256 [0-9a-f]{64}; expected 16,028"),
    "one missing": (pack(FEWER), "14,021 bytes .*; expected 16,028"),
    "one twice": (TWICE, "18,028 bytes .*; expected 16,028"),
    "broken off in a member": (ARCHIVE[:6000], "broken off or damaged"),
    "broken off between members": (ARCHIVE[: ARCHIVE.index(b"part_2.bin")], "4,001 bytes .*; expected 16,028"),
    "foreign": (pack(OTHERS), "members 'part_.*' of the archive: 0 bytes"),
    "no archive": (CONTENT, "broken off or damaged"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_an_archive_with_other_members_is_refused(server: Server, tmp_path: Path, case: str):
    content, message = DAMAGED[case]
    url = server.serve("/a", whole(content))
    with refused(message, file=tmp_path / "parts.tar"):
        fetch("toy", "parts.tar", packed_remote(url), tmp_path / "parts.tar")
    assert left_behind(tmp_path) == []
    (tmp_path / "parts.tar").write_bytes(content)
    with refused(message, file=tmp_path / "parts.tar"):
        verify(tmp_path / "parts.tar", packed_remote())


def test_a_file_in_place_of_the_directory_is_reported(server: Server, tmp_path: Path, bring):
    (tmp_path / "raw").write_text("not a directory")
    with pytest.raises(OSError, match=str(tmp_path / "raw")):
        bring(server.serve("/a", whole(CONTENT)), into=tmp_path / "raw")


@pytest.mark.parametrize("content", [CONTENT, bytes(2_000_000)], ids=["plain", "while unpacking"])
def test_a_disk_that_refuses_is_reported_and_no_other_address_is_asked(server, tmp_path, bring, content):
    """By a limit on the size of files: a refusal in mid-write that needs no mount."""
    body = content if content is CONTENT else gzip.compress(content)
    urls = [server.serve(path, whole(body)) for path in ("/a", "/b")]
    with file_size_limit(100_000), pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        bring(*urls, content=content)
    assert len(server.requests) == 1 and left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "said"), [("data.bin", "toy/data.bin could not be fetched"), ("date.bin", "Did you mean 'data.bin'?")]
)
def test_script_says_what_failed_in_plain_words(tmp_path: Path, run, file: str, said: str):
    done = run(remote(unreachable()), "--output", tmp_path / "data.bin", "--file", file)
    assert done.code == 1 and "error: " in done.err and said in done.err
