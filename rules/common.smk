# What the rules share: the configuration, typed and checked before the graph is built; the artifacts, which say what they are made of;
# where jobs run.

import functools
import json
import math
import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.meaning import meaning_of, meaning_of_all
from hidden_dynamics.artifacts.notes import caption
from hidden_dynamics.configuration import load
from hidden_dynamics.configuration.runs import all_runs, find, identity, outputs_of, seeds_of
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import artifacts_with_claims, stated
from hidden_dynamics.system.digest import code_digest
from hidden_dynamics.system.hardware import has_nvidia_gpu
from hidden_dynamics.system.locks import forget_a_killed_snakemake
from snakemake.exceptions import WorkflowError

try:
    CONFIGURATION = load(config)
    ARTIFACTS = load_artifacts(CONFIGURATION)
    RUNS = {run.id: run for run in all_runs(CONFIGURATION)}
    IDENTITIES = {run.id: identity(run) for run in RUNS.values()}
    CLAIMED = artifacts_with_claims(CONFIGURATION)
except UserError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    INVOCATION = forget_a_killed_snakemake(Path(".snakemake"))  # kept for the life of this process

PATHS, SCALE, SETTINGS = CONFIGURATION.paths, CONFIGURATION.scale, CONFIGURATION.settings
TABLES = [name for name, artifact in ARTIFACTS.items() if artifact.form == "table"]
FIGURES = [name for name, artifact in ARTIFACTS.items() if artifact.form == "figure"]
LIGHT = dict(mem_mb=1000, runtime=30)  # of a step that neither trains nor measures
SOON = 50  # priority: as soon as it can be made; jobs that are ready and wait cost the scheduler time
TIME_LIMIT = min(SCALE.runtime, SETTINGS.time_limit or SCALE.runtime)

# Every job finds the library here, in conda environments and on cluster nodes too, and the settings as they are after Snakemake's
# command line. Without conda, `python` is the one that runs Snakemake. With conda, it is that of the job's environment: a job is told
# where environments are, and stops if it finds itself elsewhere; packages of the user's own (~/.local) would come before theirs.
uses_conda = "conda" in {str(method) for method in workflow.deployment_settings.deployment_method}
environments = workflow.deployment_settings.conda_prefix or ".snakemake/conda"
job_environment = {
    "PYTHONPATH": str(workflow.basedir),
    "HIDDEN_DYNAMICS_CONFIG": json.dumps(config),
    "HIDDEN_DYNAMICS_ENVIRONMENTS": os.path.abspath(environments) if uses_conda else "",
}
if uses_conda:
    job_environment["PYTHONNOUSERSITE"] = "1"
else:
    job_environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in job_environment.items())
exports = exports.replace("{", "{{").replace("}", "}}")  # Snakemake formats the prefix
shell.prefix(f"export {exports}; ")


def names(artifacts):
    """A wildcard's constraint to these artifacts; (?!) matches nothing."""
    return "|".join(artifacts) or "(?!)"


def sources_of(wildcards):
    """The files that an artifact is made of, by name; verdicts and printed numbers, where it has any."""
    artifact = ARTIFACTS[wildcards.artifact]
    files = artifact.inputs() | {"details": artifact.details()}
    if artifact.settings.published:
        files["published"] = f"published/{artifact.settings.published}"
    return files


def verdicts_of(wildcards):
    return [PATHS.verdicts(wildcards.artifact)] if wildcards.artifact in CLAIMED else []


def runs_of(wildcards):
    return ARTIFACTS[wildcards.artifact].runs


def records_of(runs):
    """The files of runs that summaries are made of."""
    return [f"{run.directory}/{file}" for run in runs for file in ("run.json", "metrics.csv", "train_loss.npy")]


@functools.cache  # Snakemake asks several times for each job
def meaning(name, *code):
    return meaning_of(ARTIFACTS[name], code)


def labels_of(wildcards):
    """The columns of Snakemake's report by which an artifact is found."""
    artifact = ARTIFACTS[wildcards.artifact]
    kind = artifact.settings.kind.replace("_", " ")
    return {"artifact": artifact.name, "paper": artifact.paper_title, "kind": kind, "scale": SETTINGS.scale}


def paper_of(wildcards):
    return ARTIFACTS[wildcards.artifact].paper_title


def caption_of(wildcards):
    """What Snakemake's report says of an artifact, with what reStructuredText would read as markup escaped."""
    return re.sub(r"([\\*`|]|_(?!\w))", r"\\\1", caption(ARTIFACTS[wildcards.artifact]))


def gpus():
    """GPUs that a training asks for. What a cluster's login node has says nothing of its other nodes: there, it must be given."""
    if SETTINGS.device == "auto":
        if on_cluster():
            raise WorkflowError(
                "config.yaml: device: auto looks for a GPU on this machine, but the jobs run on others: "
                "say --config device=cuda, or device=cpu."
            )
        return int(has_nvidia_gpu())
    return int(SETTINGS.device == "cuda")


def on_cluster():
    """Whether jobs are submitted to a scheduler. A dry run shows it only by the account that profiles/slurm gives."""
    settings = workflow.resource_settings
    submits = settings.nodes is not None and settings.cores is None
    return submits or "slurm_account" in (settings.default_resources or {})


def all_cores():
    """All cores of this machine; on a cluster, where a job has its cores to itself, those of a training."""
    try:
        return workflow.cores
    except WorkflowError:
        return SCALE.threads
