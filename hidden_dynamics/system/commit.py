"""The commit of the code, as Git knows it."""

import os
import subprocess
from pathlib import Path


def commit_of(repository: Path) -> str | None:
    """The commit that is checked out, with "+" behind it where a tracked file differs; None outside of Git."""
    command = ["git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+"]
    above = os.environ | {"GIT_CEILING_DIRECTORIES": str(repository.resolve().parent)}  # a repository around is another
    try:
        said = subprocess.run(command, cwd=repository, env=above, capture_output=True, check=False, text=True)
    except FileNotFoundError:
        return None
    return said.stdout.strip() if said.returncode == 0 else None
