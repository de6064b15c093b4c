"""Locks: who waits for whom."""

import threading

from conftest import wait_until

from hidden_dynamics.system.locks import alone


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
