"""The commit that a run names, as Git knows it, and what is not committed."""

import lzma
import subprocess

from hidden_dynamics.system.commit import commit_of, uncommitted


def git_in(directory):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *arguments], cwd=directory, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return git


def test_the_commit_is_marked_where_a_tracked_file_differs_and_is_none_outside_of_git(tmp_path):
    git = git_in(tmp_path)
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


def test_what_is_not_committed_is_the_difference_of_the_code_and_not_of_the_users_settings(tmp_path):
    git, files = git_in(tmp_path), ["mine.py", "config/tasks.yaml", "config.yaml"]
    (tmp_path / "config").mkdir()
    assert uncommitted(tmp_path) == b""
    git("init")
    for content in ("before\n", "after\n"):
        for file in files:
            (tmp_path / file).write_text(content)
        git("add", ".")
        if content == "before\n":
            git("commit", "--message", "one")
            uncommitted.cache_clear()
            assert uncommitted(tmp_path) == b""
    uncommitted.cache_clear()
    text = lzma.decompress(uncommitted(tmp_path)).decode()
    assert [f"b/{file}" in text for file in files] == [True, True, False] and "+after" in text
    names = lzma.decompress(uncommitted(tmp_path, largest=150)).decode()
    assert names == "1\t1\tconfig/tasks.yaml\n1\t1\tmine.py\n"
