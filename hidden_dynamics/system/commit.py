"""The commit of the code, as Git knows it."""

import os
import subprocess
from pathlib import Path


def commit_of(repository: Path) -> str | None:
    """The commit that is checked out, with "+" behind it where a tracked file differs; None outside of Git."""
    describe = ["git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+"]
    above = os.environ | {"GIT_CEILING_DIRECTORIES": str(repository.resolve().parent)}  # a repository around is another
    try:
        done = subprocess.run(describe, cwd=repository, env=above, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
