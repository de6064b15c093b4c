"""Two processes after the same files, and downloads that are killed."""

import fcntl
import hashlib
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import ROOT, wait_until
from places import (
    PARITY,
    SHORTER,
    kill_all_in,
    new_workflow,
    outputs_of,
    start,
    train_command,
    trainings_in,
)
from test_fetch import CONTENT, remote, write_registry

from hidden_dynamics.data.fetch import PIECE
from hidden_dynamics.system.locks import forget_a_killed_snakemake

pytestmark = pytest.mark.faults

RECORD = f"{PARITY}/run.json"
BY_HAND = "demo/runs/parity/lstm-n3/seed0"
DOWNLOAD_KILLS = 5


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    workflow = new_workflow(tmp_path_factory.mktemp("two"))
    workflow.run("data/prepared/parity-length5-test_size8.npz")
    yield workflow
    kill_all_in(workflow.root)


@pytest.fixture(scope="module")
def alone(workflow):
    """What a training by hand leaves, and the evaluations that it makes."""
    outputs, evaluations, _ = Training(workflow, "alone").wait_for_all()
    return outputs, evaluations


class Training:
    """A training started by hand, its results and a count of its evaluations apart."""

    def __init__(self, workflow, results, evaluations=None):
        self.run, self.count = workflow.root / results / BY_HAND, workflow.root / (evaluations or results + ".count")
        environment = os.environ | {"EVALUATIONS": str(self.count)}
        command = train_command(results, "--threads", "1")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=workflow.root, env=environment, stdout=subprocess.DEVNULL, stderr=pipe, text=True
        )

    def wait_for_all(self):
        _, err = self.process.communicate()
        assert self.process.returncode == 0, err
        return outputs_of(self.run), self.count.stat().st_size, err


def test_of_two_trainings_of_one_run_the_second_waits_and_repeats_nothing(workflow, alone):
    first = Training(workflow, "both")
    wait_until(first.count.exists)
    first.process.send_signal(signal.SIGSTOP)  # it is still at work, however slowly the second one starts
    second = Training(workflow, "both")
    waits = second.process.stderr.readline()
    first.process.send_signal(signal.SIGCONT)
    assert waits.startswith("parity/lstm-n3/seed0: another process is at it")
    assert second.wait_for_all()[2] == ""
    assert (*first.wait_for_all()[:2],) == alone
    assert [path.name for path in first.run.glob(".*")] == []


def test_a_second_workflow_is_refused_and_one_after_a_kill_waits_for_what_was_left_at_work(workflow, alone):
    count = workflow.root / "evaluations"
    first = start(workflow, RECORD, **SHORTER)
    training = wait_until(lambda: trainings_in(workflow.root))
    wait_until(count.exists)
    os.kill(training[0], signal.SIGSTOP)  # it is still at work, however slowly the second one starts

    second = start(workflow, RECORD, **SHORTER)
    assert second.wait() == 1
    said = (workflow.root / "said").read_text()
    assert "cannot be locked" in said and "no other Snakemake process" in said and "Traceback" not in said
    assert first.poll() is None

    first.kill()
    first.wait()
    third = start(workflow, RECORD, **SHORTER)
    log = workflow.root / "out/demo/logs/train-parity-0.log"
    wait_until(lambda: log.exists() and "another process is at it" in log.read_text())
    assert "A Snakemake in this directory was killed, and none is alive" in (workflow.root / "said").read_text()
    os.kill(training[0], signal.SIGCONT)
    assert third.wait() == 0
    assert (outputs_of(workflow.root / PARITY), count.stat().st_size) == alone
    fourth = start(workflow, RECORD, **SHORTER)
    assert fourth.wait() == 0 and "Nothing to be done" in (workflow.root / "said").read_text()


HOST = socket.gethostname()


@pytest.mark.parametrize(
    ("hosts", "alive", "removed"),
    [
        ([HOST], False, True),
        ([HOST], True, False),
        ([], False, False),  # made before invocations were noted down
        (["elsewhere"], False, False),
        ([HOST, "elsewhere"], False, False),
    ],
)
def test_locks_are_removed_only_where_no_snakemake_can_be_alive(tmp_path, hosts, alive, removed):
    lock, noted = tmp_path / "locks/0.input.lock", tmp_path / "invocations"
    lock.parent.mkdir()
    lock.touch()
    noted.write_text("".join(f"{host}\n" for host in hosts))
    with open(noted) as other:
        if alive:
            fcntl.flock(other, fcntl.LOCK_SH)
        mine = forget_a_killed_snakemake(tmp_path)
        assert lock.exists() != removed
        assert noted.read_text().split() == list(dict.fromkeys([*hosts, HOST]))
        with pytest.raises(BlockingIOError):  # the next one learns that this one is alive
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    mine.close()


def test_where_nothing_can_be_written_no_lock_is_taken(tmp_path):
    (tmp_path / "file").touch()
    assert forget_a_killed_snakemake(tmp_path / "file") is None


# Downloads


@pytest.fixture
def slow_server(monkeypatch):
    """Gives CONTENT in small pieces, from where it is asked; the starts asked for, and the address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    starts = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            starts.append(begin)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(CONTENT) - begin))
            if asked:
                self.send_header("Content-Range", f"bytes {begin}-{len(CONTENT) - 1}/{len(CONTENT)}")
            self.end_headers()
            for at in range(begin, len(CONTENT), PIECE):
                try:
                    self.wfile.write(CONTENT[at : at + PIECE])
                except OSError:
                    return  # the client was killed
                time.sleep(0.05)

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield starts, f"http://127.0.0.1:{server.server_port}/data.bin"
    server.shutdown()
    thread.join()
    server.server_close()


def fetching(registry, output):
    arguments = ["--dataset", "toy", "--file", "data.bin", "--registry", str(registry), "--output", str(output)]
    command = [sys.executable, str(ROOT / "scripts/fetch.py"), *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_a_download_killed_at_random_is_continued(slow_server, tmp_path):
    seed = secrets.randbits(32)
    print(f"the places are those of random.Random({seed})")
    dice = random.Random(seed)
    starts, url = slow_server
    registry, output = write_registry(tmp_path, files={"data.bin": remote(url).given()}), tmp_path / "out/data.bin"
    part = tmp_path / "out/data.bin.part"
    for place in sorted(dice.sample(range(PIECE, len(CONTENT) - 8 * PIECE, 3 * PIECE), DOWNLOAD_KILLS)):
        process = fetching(registry, output)
        wait_until(lambda place=place: part.exists() and part.stat().st_size >= place)
        process.kill()
        process.communicate()
        assert not output.exists()
    process = fetching(registry, output)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert hashlib.sha256(output.read_bytes()).digest() == hashlib.sha256(CONTENT).digest()
    assert sorted(path.name for path in output.parent.iterdir()) == ["data.bin"]
    assert 3 <= len(starts) <= DOWNLOAD_KILLS + 1  # one may be killed before it asks for anything
    assert starts == sorted(set(starts)) and starts[0] == 0  # nothing is sent twice


def test_of_two_downloads_of_one_file_the_second_waits_and_repeats_nothing(slow_server, tmp_path):
    starts, url = slow_server
    registry, output = write_registry(tmp_path, files={"data.bin": remote(url).given()}), tmp_path / "out/data.bin"
    first = fetching(registry, output)
    wait_until(lambda: starts)
    os.kill(first.pid, signal.SIGSTOP)
    second = fetching(registry, output)
    said = second.stderr.readline()
    assert said.startswith("toy/data.bin: another process is at it"), said
    os.kill(first.pid, signal.SIGCONT)
    for process in (first, second):
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert output.read_bytes() == CONTENT and starts == [0]
