# What the rules share: the configuration, validated before the graph is built, and where things are.

import functools
import hashlib
import json
import math
import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

from hidden_dynamics import configuration as configurations
from hidden_dynamics.measurements import costs
from hidden_dynamics.measurements import features
from hidden_dynamics.configuration import runs as run_tables
from hidden_dynamics.claims import entries as claim_entries
from hidden_dynamics.system.digest import code_digest
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.forecast import calibration as calibrations
from hidden_dynamics.measurements.forecast import settings as forecasts
from hidden_dynamics.system.hardware import has_nvidia_gpu
from hidden_dynamics.rendering import face
from hidden_dynamics.system.locks import forget_a_killed_snakemake
from snakemake.exceptions import WorkflowError

try:
    CONFIGURATION = configurations.load(config)
    RUNS = {run.id: run for run in run_tables.all_runs(CONFIGURATION)}
    IDENTITIES = {run.id: run_tables.identity(run) for run in RUNS.values()}
    WRITING = code_digest(["scripts.train.main"])
    CLAIMED = claim_entries.artifacts_with_claims(CONFIGURATION)
except UserError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    INVOCATION = forget_a_killed_snakemake(Path(".snakemake"))  # kept for the life of this process

RESULTS = CONFIGURATION.results
DATA, MIRROR = (CONFIGURATION.settings["data"][key] for key in ("directory", "mirror"))
TABLES = [name for name, artifact in CONFIGURATION.artifacts.items() if artifact["kind"].endswith("_table")]
FIGURES = [name for name in CONFIGURATION.artifacts if name not in TABLES]
CURVES = [name for name in FIGURES if CONFIGURATION.artifacts[name]["kind"] == "curves"]
SUMMARISED = [
    name
    for name, artifact in CONFIGURATION.artifacts.items()
    if artifact["kind"]
    in ("results_table", "time_to_accuracy_table", "gradient_norms", "ablation", "function_evaluations")
]
FEATURED = [name for name, artifact in CONFIGURATION.artifacts.items() if artifact["kind"] in features.KINDS]
MEASURED = [name for name, artifact in CONFIGURATION.artifacts.items() if artifact["kind"] in costs.KINDS]
PREPARED = {
    Path(run_tables.data_file(CONFIGURATION, task["dataset"], task.get("data", {}))).stem: task
    for task in CONFIGURATION.tasks.values()
}
DATASET_FILES = {name: list(entry["files"]) for name, entry in CONFIGURATION.datasets.items()}
TOGETHER = CONFIGURATION.together
RUNTIME = min(
    CONFIGURATION.scale["runtime"], CONFIGURATION.settings.get("time_limit") or CONFIGURATION.scale["runtime"]
)

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


def artifact_files(name):
    """The files of a table or a figure."""
    if name in TABLES:
        return expand(f"{RESULTS}/tables/{name}.{{form}}", form=["csv", "md", "tex", "html"])
    return expand(f"{RESULTS}/figures/{name}.{{form}}", form=["pdf", "png"])


def records_of(runs):
    """The files of runs that summaries are made of."""
    return [f"{run.directory}/{file}" for run in runs for file in ("run.json", "metrics.csv", "train_loss.npy")]


@functools.cache  # Snakemake asks several times for each job
def meaning_of(name, *code):
    """What an artifact shows and how it is made, as a digest: it is made again where this changes.

    Titles, labels and colours count, and so do the definitions that `code` reaches; the other artifacts do not.
    """
    shown = [
        CONFIGURATION.artifacts.get(name),
        CONFIGURATION.scale,
        CONFIGURATION.seeds,
        CONFIGURATION.models,
        CONFIGURATION.tasks,
        config["readings"],
    ]
    text = json.dumps(configurations.with_text_keys(shown), sort_keys=True) + code_digest(code)
    return hashlib.sha256(text.encode()).hexdigest()


def raw_files(wildcards):
    dataset = PREPARED[wildcards.prepared]["dataset"]
    return [f"{DATA}/raw/{dataset}/{file}" for file in DATASET_FILES[dataset]]


def raw_option(wildcards):
    """Where the raw files are. A copy of the user's own is found in the settings: where it lies is no parameter."""
    dataset = dataset_of(wildcards)
    own_copy = CONFIGURATION.datasets[dataset].get("own_copy", False)
    return "" if own_copy else f"--raw {shlex.quote(f'{DATA}/raw/{dataset}')}"


def mirror_option():
    """Where a download is looked for first. It changes nothing of what is downloaded, so it is no parameter."""
    return f"--mirror {shlex.quote(MIRROR)}".replace("{", "{{").replace("}", "}}") if MIRROR else ""


def dataset_of(wildcards):
    return PREPARED[wildcards.prepared]["dataset"]


def data_settings(wildcards):
    return json.dumps(PREPARED[wildcards.prepared].get("data", {}), sort_keys=True)


def preparing_code(wildcards):
    source = CONFIGURATION.datasets[dataset_of(wildcards)]["module"]
    return code_digest([f"{source}.prepare", "hidden_dynamics.data.prepared.save"])


def gpus():
    """GPUs that a training asks for. What a cluster's login node has says nothing of its other nodes: there, it must be given."""
    if config["device"] == "auto":
        if on_cluster():
            raise WorkflowError(
                "config.yaml: device: auto looks for a GPU on this machine, but the jobs run on others: "
                "say --config device=cuda, or device=cpu."
            )
        return int(has_nvidia_gpu())
    return int(config["device"] == "cuda")


def on_cluster():
    """Whether jobs are submitted to a scheduler. A dry run shows it only by the account that profiles/slurm gives."""
    settings = workflow.resource_settings
    submits = settings.nodes is not None and settings.cores is None
    return submits or "slurm_account" in (settings.default_resources or {})


def runs_at_once(shared):
    """How many of the runs that share a job are trained side by side: `runs_per_gpu`, where they have a GPU."""
    return min(config["runs_per_gpu"], math.prod(map(len, shared.values()))) if gpus() else 1


def requeue_option():
    """A job that a scheduler runs for this workflow may queue itself again."""
    return "--requeue" if workflow.remote_exec else ""


def models_of(task):
    return list(dict.fromkeys(run.variant for run in RUNS.values() if run.task == task))


def job_of(task):
    """The models and the seeds that a job of the task trains, and their identities, as functions of its wildcards."""

    def models(wildcards):
        return models_of(task) if "model" in TOGETHER else [wildcards.model]

    def seeds(wildcards):
        return run_tables.seeds_of(CONFIGURATION, task) if "seed" in TOGETHER else [int(wildcards.seed)]

    def identities(wildcards):
        def identity(model, seed):  # of a seed that is not configured, it has to be made
            found = IDENTITIES.get(f"{task}/{model}/seed{seed}")
            return found or run_tables.identity(run_tables.find(CONFIGURATION, task, model, seed))

        return [identity(model, seed) for model in models(wildcards) for seed in seeds(wildcards)]

    return models, seeds, identities


def summary_of(wildcards):
    """The summary of the runs that an artifact shows; some are made from the configuration or a measurement alone."""
    shown = wildcards.artifact in SUMMARISED or wildcards.artifact in CURVES
    return [f"{RESULTS}/summary/{wildcards.artifact}.csv"] if shown else []


def curves_of(wildcards):
    return [f"{RESULTS}/summary/{wildcards.artifact}.curves.csv"] if wildcards.artifact in CURVES else []


def details_of(wildcards):
    """Files of the runs that an artifact reads besides its summary."""
    kind = CONFIGURATION.artifacts[wildcards.artifact]["kind"]
    files = {
        "gradient_norms": [run_tables.GRADIENTS],
        "time_to_accuracy_table": ["metrics.csv", "clock.csv"],
        "function_evaluations": ["metrics.csv"],
    }
    runs = run_tables.runs_of(CONFIGURATION, wildcards.artifact)
    return [f"{run.directory}/{file}" for run in runs for file in files.get(kind, [])]


def verdicts_of(wildcards):
    """The verdicts that mark the rows of a table; some have none."""
    return [f"{RESULTS}/claims/{wildcards.artifact}.csv"] if wildcards.artifact in CLAIMED else []


def costs_of(wildcards):
    """The measured costs that an artifact shows; artifacts of the same models on the same task share them."""
    if wildcards.artifact not in MEASURED:
        return []
    return [f"{RESULTS}/costs/{costs.measurement_of(CONFIGURATION, wildcards.artifact)}.csv"]


def features_of(wildcards):
    """The measured features that an artifact shows; artifacts of the same features of the same models share them."""
    if wildcards.artifact not in FEATURED:
        return []
    return [f"{RESULTS}/features/{features.measurement_of(CONFIGURATION, wildcards.artifact)}.csv"]


def embeddings_of(wildcards):
    return [f"{path.removesuffix('.csv')}.npz" for path in features_of(wildcards)]


def measured(artifact):
    return costs.measured_runs(CONFIGURATION, artifact)


def featured(artifact):
    return run_tables.runs_of(CONFIGURATION, artifact)


def all_cores():
    """All cores of this machine; on a cluster, where a job has its cores to itself, those of a training."""
    try:
        return workflow.cores
    except WorkflowError:
        return CONFIGURATION.scale["threads"]


def calibration_here():
    """The calibration that is measured on this machine, unless the settings name a stored one."""
    return [] if forecasts.setting(CONFIGURATION, "calibration") else [f"{RESULTS}/calibration.json"]


def trainings_at_a_time():
    """As many as will run here side by side, and slow each other down."""
    return config["runs_per_gpu"] if gpus() else max(1, all_cores() // CONFIGURATION.scale["threads"])


def option(name, files):
    """`--name file` for a shell command, or nothing where there is no such file."""
    return f"--{name} {files}" if files else ""


def published(wildcards):
    """The paper's numbers that an artifact shows beside ours."""
    name = CONFIGURATION.artifacts[wildcards.artifact].get("published")
    return [f"published/{name}"] if name else []


def paper_of(wildcards):
    """The paper that an artifact belongs to, as Snakemake's report files it."""
    return CONFIGURATION.artifacts[wildcards.artifact]["source"].split(", ")[0]


def labels_of(wildcards):
    """The columns of Snakemake's report by which an artifact is found."""
    kind = CONFIGURATION.artifacts[wildcards.artifact]["kind"]
    return {
        "artifact": wildcards.artifact,
        "paper": paper_of(wildcards),
        "kind": kind.replace("_", " "),
        "scale": CONFIGURATION.scale_name,
    }


def caption_of(wildcards):
    """What Snakemake's report says of an artifact, with what reStructuredText would read as markup escaped."""
    runs = run_tables.runs_of(CONFIGURATION, wildcards.artifact)
    return re.sub(r"([\\*`|]|_(?!\w))", r"\\\1", face.caption(CONFIGURATION, wildcards.artifact, runs))
