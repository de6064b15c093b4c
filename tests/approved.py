"""Rendered output that was read and approved: plain text files in tests/approved/, with which tests compare theirs.

approved("momentumrnn_table11.md", markdown(table))

What a file holds must be the same on every machine: no dates, seconds, paths or versions.
"""

import difflib
import os
from pathlib import Path

DIRECTORY = Path(__file__).with_suffix("")
APPROVING = "APPROVE"


def approved(name: str, text: str) -> None:
    """Compare a text with the approved file of this name, or write it there where APPROVE=1 says so."""
    path, text = DIRECTORY / name, text.rstrip() + "\n"
    if os.environ.get(APPROVING):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(before.splitlines(), text.splitlines(), f"approved/{name}", "now", lineterm="")
    test = os.environ.get("PYTEST_CURRENT_TEST", "tests").split(" ")[0]
    approve = f"Read the difference; to approve what is now: {APPROVING}=1 pytest -n 0 '{test}'"
    assert before == text, "\n".join([f"{name} is not as approved.", *lines, approve])
