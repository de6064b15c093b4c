"""The rules of the workflow as Snakemake reads them with given settings, and what each says."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

READ = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from snakemake.api import ConfigSettings, OutputSettings, ResourceSettings, SnakemakeApi
from snakemake.exceptions import WorkflowError
from snakemake.resources import Resources
from snakemake.settings.enums import Quietness


def about(rule):
    resources = {name: getattr(value, "_value", value) for name, value in rule.resources.items()}
    first = rule.wildcard_constraints.get("artifact", "(?!)").split("|")[0]
    if callable(resources.get("gpu")) and first != "(?!)":
        resources["gpu"] = resources["gpu"](SimpleNamespace(artifact=first))
    return {
        "command": rule.shellcmd,
        "docstring": rule.docstring,
        "memory": rule.workflow.global_resources.get("mem_mb").value,
        "environment": Path(str(rule.conda_env)).stem,
        "log": bool(rule.log),
        "message": rule.message,
        "resources": {name: value for name, value in resources.items() if isinstance(value, int)},
    }


with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    for config, defaults in json.loads(sys.argv[1]):
        resources = ResourceSettings(cores=8, default_resources=Resources.parse(defaults, allow_expressions=True))
        workflow = api.workflow(resources, ConfigSettings(config=config), snakefile=Path("Snakefile"))
        try:
            print(json.dumps({rule.name: about(rule) for rule in workflow._workflow.rules}))
        except WorkflowError as error:
            print(json.dumps(str(error)))
"""


def rules_with(root: Path, *given: tuple[Mapping[str, Any], Sequence[str]]) -> list[dict[str, dict[str, Any]] | str]:
    """By name, what each rule says with settings, or why Snakemake refuses them: an answer for each that is given.

    One process reads the workflow with one after the other: the first takes several times as long as the others.

    Args:
        root: of the repository, or of a copy of it.
        given: settings, and the default resources of a profile, such as ({"device": "cpu"}, ["slurm_account=mine"]).
    """
    command = [sys.executable, "-c", READ, json.dumps(given)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
