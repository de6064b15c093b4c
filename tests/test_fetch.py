"""Fetching: sources in order, resuming, verification, and what a user reads when it fails. The server is a real one."""

import errno
import gzip
import hashlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import yaml

from hidden_dynamics.data.fetch import PIECE, fetch, verify
from hidden_dynamics.data.registry import RemoteFile, load_registry, lookup
from hidden_dynamics.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
CONTENT = np.random.default_rng(0).bytes(600_000)  # does not compress: an archive of it is as long
PACKED = gzip.compress(CONTENT, mtime=0)


def remote(*urls: str, content: bytes = CONTENT) -> RemoteFile:
    return RemoteFile("data.bin", len(content), hashlib.sha256(content).hexdigest(), urls)


# ----------------------------------------------------------------------------------------------------------- the server


Answer = tuple[int, dict[str, str], bytes]  # status, headers, body


class Server:
    """Answers each path with a function of the range asked for; keeps every request's path, range and bytes sent."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[str | None], Answer]] = {}
        self.requests: list[tuple[str, str | None, int]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers.get("Range")
                code, headers, body = outer.answers[self.path](asked)
                outer.requests.append((self.path, asked, len(body)))  # before the client can know of it
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def serve(self, path: str, answer: Callable[[str | None], Answer]) -> str:
        self.answers[path] = answer
        return self.url + path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


def whole(body: bytes, honour_range: bool = True, stop_after: int | None = None):
    """An answer with `body`, from where the request asks; it breaks the connection off after `stop_after` bytes."""

    def answer(asked: str | None) -> Answer:
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and honour_range else 0
        if start >= len(body):
            return 416, {"Content-Length": "0"}, b""
        headers = {"Content-Length": str(len(body) - start)}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        sent = body[start:] if stop_after is None else body[start : start + stop_after]
        return 206 if start else 200, headers, sent

    return answer


def status(code: int):
    return lambda asked: (code, {"Content-Length": "0"}, b"")


def in_turn(*answers):
    """The first answer to the first request, the second to the second, and the last to all others."""
    left = list(answers)
    return lambda asked: (left.pop(0) if len(left) > 1 else left[0])(asked)


def unreachable() -> str:
    """An address where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/data.bin"


def left_behind(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# ------------------------------------------------------------------------------------------------------------ downloads


@pytest.mark.parametrize("body", [CONTENT, PACKED], ids=["plain", "gzip"])
def test_download_is_stored_decompressed_and_leaves_nothing_else(server: Server, tmp_path: Path, body: bytes):
    target = tmp_path / "deep" / "data.bin"
    fetch("toy", remote(server.serve("/a", whole(body))), target)
    assert target.read_bytes() == CONTENT
    assert left_behind(target.parent) == ["data.bin"]


@pytest.mark.parametrize("body", [CONTENT, PACKED], ids=["plain", "gzip"])
def test_a_broken_download_is_continued_and_only_the_rest_is_sent(server: Server, tmp_path: Path, body: bytes):
    url = server.serve("/a", in_turn(whole(body, stop_after=400_000), whole(body)))
    fetch("toy", remote(url), tmp_path / "data.bin", pause=0)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    kept = 400_000 // PIECE * PIECE
    assert server.requests == [("/a", None, 400_000), ("/a", f"bytes={kept}-", len(body) - kept)]


def test_a_later_run_continues_what_an_earlier_one_left(server: Server, tmp_path: Path):
    broken = server.serve("/a", whole(CONTENT, stop_after=250_000))
    with pytest.raises(UserError):
        fetch("toy", remote(broken), tmp_path / "data.bin", retries=1)
    assert left_behind(tmp_path) == ["data.bin.part"]
    server.serve("/a", whole(CONTENT))
    fetch("toy", remote(broken), tmp_path / "data.bin")
    kept = 250_000 // PIECE * PIECE
    assert server.requests[1] == ("/a", f"bytes={kept}-", len(CONTENT) - kept)
    assert left_behind(tmp_path) == ["data.bin"]


def test_a_server_that_ignores_the_range_is_read_from_the_start(server: Server, tmp_path: Path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT[:1000])
    fetch("toy", remote(server.serve("/a", whole(CONTENT, honour_range=False))), tmp_path / "data.bin")
    assert server.requests == [("/a", "bytes=1000-", len(CONTENT))]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_discarded(server: Server, tmp_path: Path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT + b"more")
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin", retries=1)
    assert [asked for _, asked, _ in server.requests] == [f"bytes={len(CONTENT) + 4}-", None]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_part_of_something_else_is_discarded(server: Server, tmp_path: Path):
    (tmp_path / "data.bin.part").write_bytes(b"x" * 1000)
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin", retries=1)
    assert [asked for _, asked, _ in server.requests] == ["bytes=1000-", None]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_the_next_address_is_tried_after_each_kind_of_failure(server: Server, tmp_path: Path):
    urls = [
        unreachable(),
        server.serve("/missing", status(404)),
        server.serve("/broken", status(500)),
        server.serve("/altered", whole(CONTENT[:-1] + b"?")),
        server.serve("/short", whole(CONTENT[:-1])),
        server.serve("/long", whole(CONTENT + b"?")),
        server.serve("/damaged", whole(PACKED[:300_000] + b"?" * 10 + PACKED[300_010:])),
        server.serve("/cut", whole(PACKED[:-100])),
        server.serve("/page", whole(b"<html>Please log in</html>")),
        server.serve("/good", whole(PACKED)),
    ]
    fetch("toy", remote(*urls), tmp_path / "data.bin", pause=0)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    paths = [path for path, _, _ in server.requests]
    assert paths.count("/broken") == 3, "a server's own error may pass"
    assert all(
        paths.count(f"/{name}") == 1 for name in ("missing", "altered", "short", "long", "damaged", "cut", "page")
    )


@pytest.mark.parametrize(("code", "asked"), [(404, 1), (410, 1), (429, 3), (408, 3), (502, 3)])
def test_only_what_may_pass_is_asked_again(server: Server, tmp_path: Path, code: int, asked: int):
    with pytest.raises(UserError, match=f"HTTP {code}"):
        fetch("toy", remote(server.serve("/a", status(code))), tmp_path / "data.bin", pause=0)
    assert len(server.requests) == asked


def test_content_that_unpacks_to_more_than_expected_is_not_unpacked_to_its_end(server: Server, tmp_path: Path):
    url = server.serve("/a", whole(gzip.compress(bytes(2_000_000))))
    with pytest.raises(UserError, match="the content is longer than the 600,000 bytes expected"):
        fetch("toy", remote(url), tmp_path / "data.bin")


def test_retries_pause_longer_each_time(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pauses: list[float] = []
    monkeypatch.setattr("hidden_dynamics.data.fetch.time.sleep", pauses.append)
    with pytest.raises(UserError):
        fetch("toy", remote(server.serve("/a", status(503))), tmp_path / "data.bin", retries=4, pause=0.5)
    assert pauses == [0.5, 1.0, 2.0]


def test_altered_content_is_refused_and_nothing_is_kept(server: Server, tmp_path: Path):
    altered = CONTENT[:1000] + b"?" + CONTENT[1001:]
    url = server.serve("/a", whole(altered))
    with pytest.raises(UserError) as caught:
        fetch("toy", remote(url), tmp_path / "data.bin")
    message = str(caught.value)
    for part in (url, hashlib.sha256(altered).hexdigest(), remote().sha256, "600,000 bytes", "toy/data.bin"):
        assert part in message
    assert left_behind(tmp_path) == []


def test_a_failed_fetch_leaves_an_earlier_file_as_it_was(server: Server, tmp_path: Path):
    (tmp_path / "data.bin").write_bytes(b"earlier")
    with pytest.raises(UserError):
        fetch("toy", remote(server.serve("/a", whole(b"wrong"))), tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == b"earlier"


def test_without_a_network_the_message_names_every_source_and_what_to_do(tmp_path: Path):
    urls = unreachable(), unreachable()
    with pytest.raises(UserError) as caught:
        fetch("toy", remote(*urls), tmp_path / "data.bin", pause=0, retries=2)
    message = str(caught.value)
    for part in (*urls, "refused", "2 attempts", remote().sha256, "<directory>/toy/data.bin", "data.mirror"):
        assert part in message
    assert left_behind(tmp_path) == []


def test_a_silent_server_is_given_up(server: Server, tmp_path: Path):
    given_up = threading.Event()
    url = server.serve("/a", lambda asked: given_up.wait(5) and status(200)(asked))
    with pytest.raises(UserError, match="no answer within 0.1 s"):
        fetch("toy", remote(url), tmp_path / "data.bin", retries=1, timeout=0.1)
    given_up.set()


@pytest.mark.parametrize("progress", [True, False])
def test_progress_bar_on_request(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture, progress: bool):
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin", progress=progress)
    assert ("100%" in capsys.readouterr().err) == progress


def test_no_progress_bar_without_a_terminal(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture):
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin")
    assert "%" not in capsys.readouterr().err


# --------------------------------------------------------------------------------------------------------------- mirror


@pytest.mark.parametrize(("name", "body"), [("data.bin", CONTENT), ("data.bin.gz", PACKED)])
def test_the_mirror_comes_first(server: Server, tmp_path: Path, name: str, body: bytes):
    copy = tmp_path / "mirror" / "toy" / name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(body)
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "out" / "data.bin", tmp_path / "mirror")
    assert (tmp_path / "out" / "data.bin").read_bytes() == CONTENT
    assert server.requests == []


def test_a_mirror_without_the_file_says_so_and_the_network_is_used(server: Server, tmp_path: Path, capsys):
    (tmp_path / "mirror").mkdir()
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin", tmp_path / "mirror")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert f"not in the mirror, neither plain nor with .gz: {tmp_path}/mirror/toy/data.bin" in capsys.readouterr().err


def test_a_wrong_copy_in_the_mirror_is_passed_over(server: Server, tmp_path: Path):
    copies = tmp_path / "mirror" / "toy"
    copies.mkdir(parents=True)
    (copies / "data.bin").write_bytes(CONTENT[:-7])
    (copies / "data.bin.gz").write_bytes(PACKED[:-7])
    fetch("toy", remote(server.serve("/a", whole(CONTENT))), tmp_path / "data.bin", tmp_path / "mirror")
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert left_behind(copies) == ["data.bin", "data.bin.gz"], "a user's mirror is never changed"


def test_a_mirror_that_is_no_directory_is_an_error(tmp_path: Path):
    with pytest.raises(UserError, match="elsewhere is not a directory.*data.mirror"):
        fetch("toy", remote(unreachable()), tmp_path / "data.bin", tmp_path / "elsewhere")


def test_verify(tmp_path: Path):
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    verify(path, remote())
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match="data.bin: the content has 599,999 bytes, expected 600,000"):
        verify(path, remote())
    path.unlink()
    with pytest.raises(UserError, match="data.bin: cannot be read: No such file"):
        verify(path, remote())


# ------------------------------------------------------------------------------------------------------------- the disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system of 512 KiB with further options, where the machine allows it."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        point = tmp_path / "disk"
        point.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size=512k{options}", "tmpfs", str(point)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("a small file system cannot be mounted here (that takes root)")
        mounted.append(point)
        return point

    yield mount
    for point in mounted:
        subprocess.run(["umount", str(point)], check=True)


def test_a_full_disk_is_reported_once_and_leaves_no_file(server: Server, small_disk):
    disk = small_disk("")
    urls = [server.serve("/a", whole(CONTENT)), server.serve("/b", whole(CONTENT))]
    with pytest.raises(UserError, match=f"cannot write {disk}/data.bin: {os.strerror(errno.ENOSPC)}"):
        fetch("toy", remote(*urls), disk / "data.bin", pause=0)
    assert len(server.requests) <= 1, "a disk's error is no reason to ask again"
    assert left_behind(disk) == ["data.bin.part"]


def test_a_disk_that_fills_while_unpacking_leaves_no_file(server: Server, small_disk):
    disk, zeros = small_disk(""), bytes(2_000_000)
    url = server.serve("/a", whole(gzip.compress(zeros)))
    with pytest.raises(UserError, match=f"cannot write {disk}/data.bin: {os.strerror(errno.ENOSPC)}"):
        fetch("toy", remote(url, content=zeros), disk / "data.bin")
    assert left_behind(disk) == ["data.bin.part"]


def test_a_read_only_disk_is_reported(server: Server, small_disk):
    disk = small_disk(",ro")
    url = server.serve("/a", whole(CONTENT))
    with pytest.raises(UserError, match=f"cannot write {disk}/data.bin: {os.strerror(errno.EROFS)}"):
        fetch("toy", remote(url), disk / "data.bin")
    assert server.requests == []


def test_a_file_in_place_of_the_directory_is_reported(server: Server, tmp_path: Path):
    (tmp_path / "raw").write_text("not a directory")
    url = server.serve("/a", whole(CONTENT))
    with pytest.raises(UserError, match=f"cannot write {tmp_path}/raw/data.bin: "):
        fetch("toy", remote(url), tmp_path / "raw" / "data.bin")


def test_a_limit_on_the_size_of_files_is_reported(tmp_path: Path):
    # A refusal of the operating system in mid-write that needs no mount.
    copy = tmp_path / "mirror" / "toy" / "data.bin"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    registry = write_registry(tmp_path, remote(unreachable()))
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    arguments = ("--dataset", "toy", "--file", "data.bin", "--registry", registry, "--mirror", tmp_path / "mirror")
    done = script(*arguments, "--output", tmp_path / "out" / "data.bin", preexec_fn=limit)
    assert done.returncode == 1
    assert f"error: cannot write {tmp_path}/out/data.bin: {os.strerror(errno.EFBIG)}" in done.stderr
    assert left_behind(tmp_path / "out") == []


# ---------------------------------------------------------------------------------------------- the registry and script


def write_registry(directory: Path, *files: RemoteFile, **changes) -> Path:
    listed = {file.name: {"size": file.size, "sha256": file.sha256, "urls": list(file.urls)} for file in files}
    entry = {"title": "Toy", "module": "toy", "stand_in_for": None, "licence": "none", "citation": "nobody"}
    path = directory / "datasets.yaml"
    path.write_text(yaml.safe_dump({"toy": entry | {"files": listed} | changes}))
    return path


def script(*arguments, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "scripts" / "fetch.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def test_the_projects_registry_is_whole():
    registry = load_registry(ROOT / "config" / "datasets.yaml")
    assert {"mnist", "digits", "copying", "adding"} <= set(registry)
    assert registry["digits"].stand_in_for == "mnist"
    images = registry["mnist"].files["train-images-idx3-ubyte"]
    assert images.size == 16 + 60_000 * 784
    assert all(url.endswith(f"{file.name}.gz") for file in registry["mnist"].files.values() for url in file.urls)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "toy.title: expected text, found None"),
        ({"licence": 3}, "toy.licence: expected text, found 3"),
        ({"stand_in_for": "mnist"}, "toy.stand_in_for: 'mnist' is not a dataset"),
        ({"source": "x"}, "toy.source: is not a key of an entry"),
        ({"files": ["data.bin"]}, "toy.files: expected a mapping"),
        ({"files": {"../data.bin": {}}}, "toy.files.../data.bin: a file's name holds"),
        ({"files": {"x": {"size": 1, "urls": ["http://x"]}}}, "toy.files.x.sha256: is missing"),
        (
            {"files": {"x": {"size": "1", "sha256": "0" * 64, "urls": ["http://x"]}}},
            "toy.files.x.size: expected a number",
        ),
        ({"files": {"x": {"size": 1, "sha256": "0" * 63, "urls": ["http://x"]}}}, "toy.files.x.sha256: expected 64"),
        ({"files": {"x": {"size": 1, "sha256": "0" * 64, "urls": []}}}, "toy.files.x.urls: expected a list"),
        ({"files": {"x": {"size": 1, "sha256": "0" * 64, "urls": ["/x"]}}}, "toy.files.x.urls: expected http://"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path: Path, changes: dict, message: str):
    path = write_registry(tmp_path, **changes)
    with pytest.raises(UserError) as caught:
        load_registry(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("text", "message"), [("[", "not valid YAML"), ("- a", "expected a mapping"), ("toy: 3", "toy: expected a mapping")]
)
def test_a_malformed_registry_is_named(tmp_path: Path, text: str, message: str):
    (tmp_path / "datasets.yaml").write_text(text)
    with pytest.raises(UserError, match=f"{tmp_path}/datasets.yaml: {message}"):
        load_registry(tmp_path / "datasets.yaml")
    with pytest.raises(UserError, match="there is no such registry"):
        load_registry(tmp_path / "other.yaml")


def test_lookup_suggests_the_closest_name():
    with pytest.raises(UserError, match="no dataset 'mnits'. Did you mean 'mnist'. Known: mnist, adding."):
        lookup({"mnist": 1, "adding": 2}, "mnits", "dataset")


def test_script_fetches(server: Server, tmp_path: Path):
    registry = write_registry(tmp_path, remote(server.serve("/a", whole(PACKED))))
    output = tmp_path / "raw" / "data.bin"
    done = script("--dataset", "toy", "--file", "data.bin", "--registry", registry, "--output", output)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == CONTENT


def test_script_says_what_failed_in_plain_words(tmp_path: Path):
    registry = write_registry(tmp_path, remote(unreachable()))
    output = tmp_path / "raw" / "data.bin"
    arguments = ("--dataset", "toy", "--registry", registry, "--output", output, "--retries", "1")
    done = script(*arguments, "--file", "data.bin")
    assert done.returncode == 1
    assert "error: toy/data.bin could not be fetched" in done.stderr
    assert "Traceback" not in done.stderr
    done = script(*arguments, "--file", "date.bin")
    assert done.returncode == 1
    assert "Did you mean 'data.bin'?" in done.stderr


def test_script_lists_the_registry():
    done = script("--list")
    assert done.returncode == 0
    assert "mnist: MNIST" in done.stdout
    assert "digits: Digits 8x8 (UCI, embedded in scikit-learn) (stand-in for mnist)" in done.stdout
