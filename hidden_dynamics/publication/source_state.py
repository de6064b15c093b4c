"""The commit of the code that published, as Git knows it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

CODE = ("Snakefile", "rules", "scripts", "hidden_dynamics", "config", "config.yaml", "published", "requirements.txt")


@dataclass(frozen=True)
class SourceState:
    """
    Attributes:
        commit: the last one that changed what decides results; "" where Git knows of none.
        changed: whether there are changes that are not committed: what the code gives is then no commit's.
    """

    commit: str
    changed: bool


def source_state(repository: Path) -> SourceState:
    """The publication itself is no part of it: committing it changes nothing of it."""
    commit = _git(repository, "log", "-1", "--format=%H", "--", *CODE)
    return SourceState(commit, bool(commit and _git(repository, "status", "--porcelain", "--", *CODE)))


def _git(repository: Path, *arguments: str) -> str:
    """What Git says; nothing where there is no Git, or no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
