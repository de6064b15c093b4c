"""`snakemake --use-conda`, in an environment that it creates from envs/ as it stands, against a run without conda.

Every Python that runs one of the project's scripts leaves a line in a journal (a sitecustomize.py beside the Snakefile
writes it): which Python it was and what it loaded. That each environment has what its steps import, and no more, is
tests/test_environments.py's.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conda_lab import lab_in, missing
from repository import SETTINGS, Workflow, copy_repository

from hidden_dynamics.configuration.paths import ENDINGS

pytestmark = [pytest.mark.slow, pytest.mark.conda, pytest.mark.skipif(missing() is not None, reason=missing() or "")]

TABLE_OF_NO_RUNS = "momentumrnn_table7"
JOURNAL = """
import atexit
import json
import os
import sys
from pathlib import Path


def write():
    loaded = {name: module.__file__ for name, module in sys.modules.items() if getattr(module, "__file__", None)}
    about = {"script": Path(sys.argv[0]).stem, "prefix": sys.prefix, "conda": os.environ.get("CONDA_PREFIX")}
    with open(Path(__file__).with_name("journal"), "a") as handle:
        handle.write(json.dumps(about | {"loaded": loaded}) + "\\n")


if any("scripts/" in argument for argument in sys.orig_argv):
    atexit.register(write)
"""


def repository(root: Path) -> Path:
    root.mkdir()
    copy_repository(root)
    (root / "sitecustomize.py").write_text(JOURNAL)
    return root


def snakemake(root: Path, environment: dict[str, str], *arguments: str) -> None:
    command = Workflow(root).command(*arguments, **SETTINGS)
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-6000:]


def journal(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / "journal").read_text(encoding="utf-8").splitlines()]


@pytest.mark.representative
def test_a_table_of_no_runs_is_the_same_from_an_environment_of_its_own(tmp_path):
    """The one step of such a table; its environment has no torch, so it is soon made."""
    shell = lab_in(tmp_path / "lab")
    without, with_conda = repository(tmp_path / "without"), repository(tmp_path / "with")
    snakemake(without, shell, TABLE_OF_NO_RUNS)
    snakemake(with_conda, shell, "--use-conda", TABLE_OF_NO_RUNS)
    made = sorted((without / "out/demo/tables").iterdir())
    assert len(made) == len(ENDINGS["table"])
    for path in made:
        assert (with_conda / path.relative_to(without)).read_bytes() == path.read_bytes(), path

    (environment,) = (path for path in (with_conda / ".snakemake/conda").iterdir() if path.is_dir())
    assert environment.with_name(f"{environment.name}.yaml").read_bytes() == (without / "envs/light.yaml").read_bytes()
    (line,), (plain,) = journal(with_conda), journal(without)
    assert (plain["script"], plain["prefix"]) == ("render", sys.prefix)
    assert (line["script"], line["prefix"], line["conda"]) == ("render", str(environment), str(environment))
    loaded = {file for file in line["loaded"].values() if Path(file).is_absolute()}
    assert {file for file in loaded if not any(map(Path(file).is_relative_to, (environment, with_conda)))} == set()
    assert "torch" not in line["loaded"]
