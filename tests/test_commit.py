"""The commit that a run names, as Git knows it."""

import subprocess

from hidden_dynamics.system.commit import commit_of


def test_the_commit_is_marked_where_a_tracked_file_differs_and_is_none_outside_of_git(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert commit_of(tmp_path) is None
    git("init")
    (tmp_path / "code").write_text("one")
    git("add", "code")
    git("commit", "--message", "one")
    git("tag", "--annotate", "v1", "--message", "v1")
    (tmp_path / "other").write_text("not tracked")
    assert commit_of(tmp_path) == git("rev-parse", "HEAD")
    (tmp_path / "code").write_text("two")
    assert commit_of(tmp_path) == git("rev-parse", "HEAD") + "+"
    (tmp_path / "within").mkdir()
    assert commit_of(tmp_path / "within") is None  # a copy within another repository
