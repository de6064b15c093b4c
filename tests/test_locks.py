"""Locks: who waits for whom, and those that a killed Snakemake left."""

import fcntl
import socket
import threading

import pytest
from conftest import wait_until

from hidden_dynamics.system.locks import alone, forget_a_killed_snakemake

HOST = socket.gethostname()


def test_who_comes_second_says_so_and_waits(tmp_path, capsys):
    entered = []

    def second():
        with alone(tmp_path / "data.lock", "the data") as waited:
            entered.append(waited)

    thread = threading.Thread(target=second)
    with alone(tmp_path / "data.lock", "the data") as waited:
        assert not waited
        thread.start()
        wait_until(lambda: "the data: another process" in capsys.readouterr().err or not thread.is_alive())
        assert not entered
    thread.join()
    assert entered == [True] and not list(tmp_path.iterdir())


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
