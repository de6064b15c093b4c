"""Snakemake invoked several times in one process: it loads itself and the library once, and reads the workflow anew.

with OneProcess(workflow) as process:
    said = process.run("--dry-run", "momentumrnn_table7", scale="pilot")

A change of hidden_dynamics/ between two invocations is not seen: that wants a process of its own.
"""

import json
import subprocess
import sys
from typing import Any

from repository import SETTINGS, Workflow

END = "this invocation ended with "
DRIVER = f"""
import json, sys
from snakemake.cli import main

for line in sys.stdin:
    try:
        main(json.loads(line))
    except SystemExit as end:
        print("\\n{END}" + str(end.code or 0), file=sys.stderr, flush=True)
"""


class OneProcess:
    """Runs Snakemake in a copy of the repository, as `Workflow.run` does."""

    def __init__(self, workflow: Workflow):
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.workflow = workflow
        self.process = subprocess.Popen([sys.executable, "-c", DRIVER], cwd=workflow.root, text=True, **streams)

    def __enter__(self) -> "OneProcess":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.communicate()

    def run(self, *arguments: str, code: int = 0, **settings: Any) -> str:
        """What snakemake prints; it must end with this exit code."""
        _python, _m, _snakemake, *command = self.workflow.command(*arguments, **(SETTINGS | settings))
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith(END):
                break
        assert said[-1:] == [f"{END}{code}\n"], "".join(said)[-6000:]
        return "".join(said)
