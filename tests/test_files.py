"""Files are whole at their final name, and errors become one line and an exit code."""

import os
from unittest.mock import Mock

import pytest

from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system import files
from hidden_dynamics.system.files import atomic


def test_a_file_appears_only_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "directory" / "file.txt"
    with atomic(path) as handle:
        handle.write("ä\nb\r\n")
        handle.flush()
        assert not path.exists()
    assert path.read_bytes() == "ä\nb\r\n".encode()  # line endings are written as given
    assert os.listdir(path.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path, error):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    for path in (old, new):
        with pytest.raises(error), atomic(path, "wb") as handle:
            handle.write(b"half")
            raise error
    assert os.listdir(tmp_path) == ["old"]
    assert old.read_text() == "old"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_refusal_of_the_system_keeps_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(files.os, step, Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"), atomic(path) as handle:
        handle.write("new")
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with atomic(tmp_path / "file") as handle:
            handle.write("x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        *((result, result or 0, "") for result in (None, 0, 3, 130)),
        (UserError("config.yaml: scale: wrong"), 1, "error: config.yaml: scale: wrong\n"),
        (
            OSError(28, "No space left on device", "/some/file"),
            1,
            "error: No space left on device (/some/file). Check that the disk has room and can be written.\n",
        ),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "error: No such file or directory (a.csv).\n"),
        (OSError("odd"), 1, "error: odd.\n"),
    ],
)
def test_the_exit_code_is_what_main_returns_or_1_with_a_line_on_what_a_user_can_mend(ended, end, code, message):
    assert ended(Mock(side_effect=[end])) == (code, "", message)


def test_a_mistake_of_ours_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        run_main(Mock(side_effect=ZeroDivisionError()))
