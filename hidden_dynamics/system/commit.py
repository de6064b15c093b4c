"""The commit of the code, as Git knows it, and what is not committed of it."""

import functools
import lzma
import os
import subprocess
from pathlib import Path

LARGEST = 50_000  # bytes of a compressed difference
# Of a settings file of the user's own, config.yaml, nothing is kept: it says where data is on this machine.
CODE = ("*.py", "config")


def commit_of(repository: Path) -> str | None:
    """The commit that is checked out, with "+" behind it where a tracked file differs; None outside of Git."""
    said = _git(repository, "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+")
    return None if said is None else said.decode().strip()


@functools.cache  # of the code as this process has imported it
def uncommitted(repository: Path, largest: int = LARGEST) -> bytes:
    """The difference of tracked code to its commit, as `git diff` gives it, compressed (xz). Where that takes more than
    `largest` bytes: the names of the files, with the numbers of their lines that differ. Nothing without Git."""
    for form in ("--patch", "--numstat"):
        said = _git(repository, "diff", "--no-ext-diff", "--no-color", form, "HEAD", "--", *CODE)
        if len(packed := lzma.compress(said or b"")) <= largest:
            break
    return packed if said else b""


def _git(repository: Path, *command: str) -> bytes | None:
    """The output of a command of Git's; None where it fails, or there is no Git."""
    above = os.environ | {"GIT_CEILING_DIRECTORIES": str(repository.resolve().parent)}  # a repository around is another
    try:
        done = subprocess.run(["git", *command], cwd=repository, env=above, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
