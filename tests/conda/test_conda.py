"""`snakemake --use-conda`, in environments that it creates from envs/ as they stand, against a run without conda.

Every Python that runs one of the project's scripts leaves a line in a journal (a sitecustomize.py beside the Snakefile
writes it): which Python it was and what it loaded. Only the summarising step, which takes a second, is run with a
conda that is broken in one way or another.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from conda_lab import HERE, Lab, missing
from conftest import ROOT
from packaging.markers import Marker
from packaging.requirements import Requirement
from repository import SETTINGS, copy_repository
from steps import imports_of, steps

from hidden_dynamics.configuration import load

sys.path.append(str(ROOT / "tests/slurm"))

from slurm_lab import missing as missing_for_slurm  # noqa: E402
from slurm_lab import slurm  # noqa: E402, F401  a fixture

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conda,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]

TABLE = "momentumrnn_table11"
TABLE_OF_NO_RUNS = "momentumrnn_table7"
SUMMARY = f"out/demo/summary/{TABLE}.csv"
SETTLED = load()
(SPEECH,) = {
    SETTLED.paths.prepared(task.dataset, task.data)
    for task in SETTLED.tasks.values()
    if task.dataset == "synthetic_speech"
}
NAMES = sorted(path.stem for path in (ROOT / "envs").glob("*.yaml"))
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


class Repository:
    """A copy of the repository, and `snakemake` in it as one types it."""

    def __init__(self, root: Path, lab: Lab):
        self.root, self.lab = root, lab

    def run(self, *arguments: str, code: int = 0, conda: Path | None = None, **variables: str) -> str:
        """What `snakemake --cores all` prints, where `conda` is installed (the lab's own if not given)."""
        settings = [
            f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in SETTINGS.items()
        ]
        command = ["snakemake", "--cores", "all", *arguments, "--config", *settings]
        environment = self.lab.environment(conda) | variables
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout[-4000:] + done.stderr[-6000:]
        return done.stdout + done.stderr

    def journal(self) -> list[dict]:
        return [json.loads(line) for line in (self.root / "journal").read_text(encoding="utf-8").splitlines()]

    def environments(self) -> dict[str, Path]:
        """The prefix of each environment that was created, by name: Snakemake puts a copy of its file beside it."""
        files = {path.read_bytes(): path.stem for path in (self.root / "envs").glob("*.yaml")}
        made = [path for path in (self.root / ".snakemake/conda").iterdir() if path.is_dir()]
        return {files[path.with_name(f"{path.name}.yaml").read_bytes()]: path for path in made}


def copied(name, tmp_path_factory, lab):
    root = tmp_path_factory.mktemp(name) / "repository"
    root.mkdir()
    copy_repository(root)
    (root / "sitecustomize.py").write_text(JOURNAL)
    return Repository(root, lab)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    yield Lab(root)
    shutil.rmtree(root)  # with torch's wheels, which are gigabytes


@pytest.fixture(scope="module")
def both(lab, tmp_path_factory):
    """A table and a prepared dataset of speech, made without conda and with it."""
    without, with_conda = (copied(name, tmp_path_factory, lab) for name in ("without", "with"))
    with ThreadPoolExecutor(2) as pool:
        plain = pool.submit(without.run, TABLE, SPEECH)
        said = with_conda.run("--use-conda", TABLE, SPEECH)
        plain.result()
    yield without, with_conda, said
    shutil.rmtree(with_conda.root / ".snakemake/conda")


@pytest.fixture(scope="module")
def made(both):
    """The repository in which a table was made with conda, and then the environments that it had not needed."""
    _, repository, _ = both
    repository.run("--use-conda", "--conda-create-envs-only")
    return repository


@pytest.fixture
def another(made, lab, tmp_path):
    """A copy with the results and not the environments: it takes those that are there."""
    shutil.copytree(made.root, tmp_path / "repository", ignore=shutil.ignore_patterns("conda"))
    repository = Repository(tmp_path / "repository", lab)
    (repository.root / "journal").unlink()
    return repository


def summarise(repository, *arguments, made=None, **options):
    """Make the summary again, in the environments of another copy of the repository or in ones of its own."""
    place = ["--conda-prefix", str(made.root / ".snakemake/conda")] if made else []
    only = ["--rerun-triggers", "mtime"]  # this step alone, although it is another directory
    return repository.run("--use-conda", *place, *only, *arguments, "--force", SUMMARY, **options)


@pytest.mark.representative
def test_a_table_of_no_runs_is_the_same_from_an_environment_of_its_own(lab, tmp_path_factory):
    """The one step of such a table; its environment has no torch, so it is soon made."""
    without, with_conda = (copied(name, tmp_path_factory, lab) for name in ("no_runs", "no_runs_with"))
    without.run(TABLE_OF_NO_RUNS)
    with_conda.run("--use-conda", TABLE_OF_NO_RUNS)
    made = sorted((without.root / "out/demo/tables").iterdir())
    assert len(made) == 4
    for path in made:
        assert (with_conda.root / path.relative_to(without.root)).read_bytes() == path.read_bytes(), path
    (environment,) = with_conda.environments().values()
    assert {(line["script"], line["prefix"]) for line in with_conda.journal()} == {("render", str(environment))}


def test_a_table_is_the_same_to_the_byte_with_conda_and_without(both):
    without, with_conda, _ = both
    compared = 0
    patterns = ["runs/*/*/seed0/metrics.csv", "runs/*/*/seed0/train_loss.npy", "runs/*/*/seed0/model.pt"]
    for pattern in [*patterns, "tables/*"]:  # a summary has the seconds of its runs
        for path in (without.root / "out/demo").glob(pattern):
            assert (with_conda.root / path.relative_to(without.root)).read_bytes() == path.read_bytes(), path
            compared += 1
    assert compared == 3 * 20 + 4
    for path in (without.root / "data/prepared").glob("*.npz"):
        assert (with_conda.root / path.relative_to(without.root)).read_bytes() == path.read_bytes(), path


def test_every_step_ran_in_its_own_environment_and_loaded_nothing_from_elsewhere(both):
    without, with_conda, _ = both
    named = {str(path): name for name, path in with_conda.environments().items()}
    ran = {(line["script"], named[line["prefix"]]) for line in with_conda.journal()}
    assert ran <= {(step.script, step.environment) for step in steps()}
    assert ran >= {("prepare", "data"), ("prepare", "speech"), ("train", "train"), ("summarise", "summarise")}
    assert ("render", "render") in ran
    assert {script for script, _ in ran} == {line["script"] for line in without.journal()}
    for line in with_conda.journal():
        assert line["conda"] == line["prefix"]
        loaded = {file for file in line["loaded"].values() if Path(file).is_absolute()}  # torch makes up some: _ops.py
        own = (line["prefix"], with_conda.root)
        assert {file for file in loaded if not any(map(Path(file).is_relative_to, own))} == set(), line["script"]
        assert ("torch" in line["loaded"]) == (line["script"] == "train" or named[line["prefix"]] == "speech")
    assert {line["prefix"] for line in without.journal()} == {sys.prefix}


def test_a_run_creates_just_the_environments_that_it_needs_each_once(both):
    _, with_conda, said = both
    created = re.findall(r"Creating conda environment \S*envs/(\w+)\.yaml", said)
    used = {line["prefix"] for line in with_conda.journal()}
    assert sorted(created) == sorted(name for name, path in with_conda.environments().items() if str(path) in used)
    assert "measure" not in created


LOOK = """
import importlib, importlib.metadata, json, sys
for module in json.loads(sys.argv[1]):
    importlib.import_module(module)
installed = {item.metadata["name"]: item.version for item in importlib.metadata.distributions(path=sys.argv[2:])}
print(json.dumps({"prefix": sys.prefix, "installed": installed}))
"""


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_holds_its_pins_and_what_its_steps_import_and_no_more(made, name):
    """Every environment of envs/ was created by now; each imports everything that its steps can import."""
    prefix = made.environments()[name]
    here = [step for step in steps() if step.environment == name]
    wanted = sorted(set().union(*(module for step in here for module in imports_of(step))))
    site = str(prefix / "lib" / f"python{'.'.join(map(str, sys.version_info[:2]))}" / "site-packages")
    command = f'source {made.lab.root}/bin/activate {prefix}; exec python -c "$LOOK" "$WANTED" "$SITE"'
    variables = {"LOOK": LOOK, "WANTED": json.dumps(wanted), "SITE": site, "PYTHONNOUSERSITE": "1"}
    variables |= {"PYTHONPATH": f"{made.root}:{made.root}/scripts", "HIDDEN_DYNAMICS_ENVIRONMENTS": str(prefix.parent)}
    environment = made.lab.environment() | variables
    done = subprocess.run(["bash", "-c", command], env=environment, cwd=made.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["prefix"] == str(prefix)
    content = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text(encoding="utf-8"))
    pins = [Requirement(text) for text in content["dependencies"][-1]["pip"]]
    here = {pin.name: str(pin.specifier)[2:] for pin in pins if not pin.marker or Marker(str(pin.marker)).evaluate()}
    installed = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found["installed"].items()}
    assert installed.pop("pip")
    assert installed == here


def test_what_the_lab_installs_through_uv_is_what_pip_installs(made, lab, tmp_path):
    """As conda does; uv, because it keeps torch's 5 GB once for all environments."""
    prefix, arguments = tmp_path / "by_pip", ["--file", str(ROOT / "envs/summarise.yaml"), "--prefix"]
    environment = lab.environment() | {"CONDA_LAB_INSTALLER": "pip"}
    subprocess.run([lab.root / "bin/conda", "env", "create", *arguments, prefix], env=environment, check=True)

    def files(root):
        found = {path.relative_to(root): path for path in (root / "lib").rglob("*") if path.is_file()}
        ours = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}
        return {
            str(name): path.read_bytes() for name, path in found.items() if not {"__pycache__", *ours} & set(name.parts)
        }

    by_uv, by_pip = files(made.environments()["summarise"]), files(prefix)
    assert set(by_uv) == set(by_pip)
    differing = [name for name in by_pip if by_uv[name] != by_pip[name]]
    assert [name for name in differing if not re.search("_sysconfigdata|/config-3", name)] == []  # they name the prefix


BROKEN = {
    "does nothing": ("true", r"Python of {venv}, not in one of {place} \(CONDA_PREFIX is not set\)"),
    "leaves another python first": (
        'export CONDA_PREFIX="$1"',
        r"Python of {venv}, not in one of {place} \(CONDA_PREFIX is {place}/\w+\)",
    ),
    "finds another step's python first": (
        'export CONDA_PREFIX="$1" PATH="$OTHER/bin:$PATH"',
        r"Python of {other}, not in one of {place} \(CONDA_PREFIX is {place}/\w+\)",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_step_whose_environment_is_not_activated_stops_and_says_so(made, another, lab, tmp_path, what):
    script, expected = BROKEN[what]
    conda = lab.install(tmp_path / "conda")
    (conda / "bin/activate").write_text(script + "\n")
    place, other = str(made.root / ".snakemake/conda"), str(made.environments()["data"])
    said = " ".join(summarise(another, made=made, code=1, conda=conda, OTHER=other).split())
    names = {"venv": re.escape(sys.prefix), "place": re.escape(place), "other": re.escape(other)}
    assert "error: the conda environment of this step was not activated" in said
    assert re.search(expected.format(**names), said), said[-3000:]
    assert "Traceback" not in said
    assert not (another.root / SUMMARY).exists()  # Snakemake removes the outputs of a job that failed


def test_an_environment_that_is_unfinished_deleted_or_damaged_is_made_again_as_the_messages_say(another, lab, tmp_path):
    before, creating = (another.root / SUMMARY).read_bytes(), "Creating conda environment envs/summarise.yaml"
    no_packages = {
        "CONDA_LAB_INSTALLER": "pip",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
    }
    said = summarise(another, code=1, **no_packages)
    assert "Could not create conda environment" in said and "No matching distribution found" in said

    deleting = lab.install(tmp_path / "conda")  # at the last moment
    (deleting / "bin/activate").write_text(f'rm -rf "$1"\nsource {HERE}/activate "$1"\n')
    said = summarise(another, code=1, conda=deleting)
    assert creating in said
    assert re.search("EnvironmentLocationNotFound(?s:.*)was not activated", said), said[-3000:]

    assert creating in summarise(another)
    prefix = another.environments()["summarise"]
    for python in (prefix / "bin").glob("python*"):
        python.unlink()
    said = " ".join(summarise(another, code=1).split())
    assert "was not activated" in said and "delete what is left of it there and run again" in said
    shutil.rmtree(prefix)
    assert creating in summarise(another)
    assert (another.root / SUMMARY).read_bytes() == before
    assert another.journal()[-1]["prefix"] == str(prefix)


def test_without_a_conda_that_will_do_snakemake_says_so(another, lab, tmp_path):
    folders = [Path(sys.executable).parent, *map(Path, os.environ["PATH"].split(":"))]
    without = ":".join(str(folder) for folder in folders if not (folder / "conda").exists())
    said = summarise(another, code=1, PATH=without)
    assert "conda: command not found" in said and "Is conda installed and accessible?" in said
    said = summarise(another, code=1, CONDA_LAB_VERSION="24.7.0")
    assert "Conda must be version 24.7.1 or later, found version 24.7.0" in said


def test_the_users_own_packages_are_not_found_before_the_environments(made, another, tmp_path):
    """Neither those in ~/.local nor those that PYTHONPATH names."""
    poison = (  # for a script; Snakemake, which PYTHONPATH reaches, gets the real one
        "import importlib, os, sys\n"
        "if any('scripts/' in argument for argument in sys.orig_argv):\n    sys.exit('not this one')\n"
        "sys.path.remove(os.path.dirname(__file__))\ndel sys.modules[__name__]\nimportlib.import_module(__name__)\n"
    )
    version = ".".join(map(str, sys.version_info[:2]))
    for folder in (tmp_path / f"user/lib/python{version}/site-packages", tmp_path / "path"):
        folder.mkdir(parents=True)
        (folder / "numpy.py").write_text(poison)
    leaks = {"PYTHONUSERBASE": str(tmp_path / "user"), "PYTHONPATH": str(tmp_path / "path")}
    script = tmp_path / "scripts/script.py"
    script.parent.mkdir()
    script.write_text("import numpy\n")
    python = made.environments()["summarise"] / "bin/python"
    for name, value in leaks.items():
        done = subprocess.run([python, script], env=os.environ | {name: value}, capture_output=True, text=True)
        assert done.stderr == "not this one\n", name
    summarise(another, made=made, **leaks)
    (line,) = another.journal()
    assert Path(line["loaded"]["numpy"]).is_relative_to(line["prefix"])


@pytest.mark.slurm
@pytest.mark.skipif(missing_for_slurm() is not None, reason=missing_for_slurm() or "")
def test_on_slurm_every_job_activates_the_environment_of_its_step(made, lab, slurm, tmp_path_factory):  # noqa: F811
    """The environments are those of the run on this machine; Snakemake finds them by --conda-prefix."""
    repository = copied("on_slurm", tmp_path_factory, lab)
    profile = repository.root / "profiles/slurm/config.yaml"
    profile.write_text(profile.read_text().replace("slurm_account=default", "slurm_account=lab"))
    soon = ["--latency-wait", "5", "--slurm-init-seconds-before-status-checks", "2"]  # of 40
    place = ["--use-conda", "--conda-prefix", str(made.root / ".snakemake/conda")]
    said = repository.run("--profile", "profiles/slurm", *soon, *place, TABLE)
    assert "Creating conda environment" not in said
    assert len(set(re.findall(r"SLURM jobid (\d+)", said))) == 4  # prepare, two trainings, render
    named = {str(path): name for name, path in made.environments().items()}
    ran = {(line["script"], named[line["prefix"]]) for line in repository.journal()}
    assert ran - {("train_job", "train")} == {("prepare", "data"), ("train", "train"), ("render", "render")}
    for pattern in ("runs/*/*/seed0/metrics.csv", "runs/*/*/seed0/model.pt", "tables/*"):
        made_here = sorted((made.root / "out/demo").glob(pattern))
        assert len(made_here) in (4, 22)
        for path in made_here:
            assert (repository.root / path.relative_to(made.root)).read_bytes() == path.read_bytes(), path
