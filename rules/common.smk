# What the rules share: the configuration, typed and checked before the graph is built; the artifacts, which say what they are made of;
# where jobs run.

import functools
import gc
import json
import os
import re
import shlex
import sys
from pathlib import Path

gc.disable()  # until all is read: half a million nodes of syntax trees, none of which is garbage

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.sourcecache import LocalSourceFile

if not isinstance(workflow.current_basedir, LocalSourceFile):
    raise WorkflowError(
        "the rules come from elsewhere, and the library that they call does not come with them. Say git clone, and in the module "
        "snakefile: <checkout>/Snakefile"
    )
CHECKOUT = Path(str(workflow.current_basedir)).parent
# "." in the checkout; with --directory, or as a module of another workflow, the way there
HERE = Path(os.path.relpath(CHECKOUT))
sys.path[:0] = dict.fromkeys([str(CHECKOUT), os.getcwd()])  # the library, and modules of the user's own

from hidden_dynamics import floors
from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.artifacts.configured import configured
from hidden_dynamics.claims.needed import files_of, tasks_of_claims
from hidden_dynamics.configuration import load
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.entries import closest
from hidden_dynamics.configuration.jobs import TrainingJobs
from hidden_dynamics.configuration.runs import all_runs, outputs_of, runs_on
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import check as check_claims
from hidden_dynamics.results.run_files import is_to_grow
from hidden_dynamics.system import memory
from hidden_dynamics.system.digest import code_digest
from hidden_dynamics.system.shell import environment_of_jobs, has_nvidia_gpu, in_a_command

try:
    CONFIGURATION = load(config)
    ARTIFACTS = load_artifacts(CONFIGURATION)
    RUNS = {run.id: run for run in all_runs(CONFIGURATION)}
    IDENTITIES = sorted({run.identity for run in RUNS.values()})  # where a class is not defined, it is said here
    check_claims(CONFIGURATION)
    CLAIMED = files_of(CONFIGURATION)
    CONFIGURED = configured(CONFIGURATION)
    if workflow.is_main_process:
        check_runs(CONFIGURATION)
except UserError as error:
    raise WorkflowError(str(error)) from None

gc.freeze()  # nor will they be: they are not looked through again, neither while the graph is built nor at the end
gc.enable()

PATHS, SCALE, SETTINGS = CONFIGURATION.paths, CONFIGURATION.scale, CONFIGURATION.settings
FIGURES = sorted((a for a in ARTIFACTS.values() if a.form == "figure" and a.runs), key=lambda figure: len(figure.runs))
SEEN_FIRST = {task for figure in FIGURES[:1] for task in figure.tasks()}  # soon there is something to see
LIGHT = dict(mem_mb=1000, runtime=30)  # of a step that neither trains nor measures
SUMMARIES = [PATHS.all_runs, PATHS.statistics, PATHS.comparisons]
KINDS = sorted({f"{type(artifact).__module__}.{type(artifact).__name__}" for artifact in ARTIFACTS.values()})
PRINTED = sorted(path for path in (HERE / "published").rglob("*") if path.suffix in (".yaml", ".csv"))
PUBLISHED = [str(path) for path in PRINTED if path.stem != "claims"]  # what tables and figures show
PYTHON = in_a_command(f"python {shlex.quote(str(HERE / 'scripts'))}")  # of a script: f"{PYTHON}/render.py"
SOON = 50  # priority: as soon as it can be made; jobs that are ready and wait cost the scheduler time
TIME_LIMIT = min(SCALE.runtime, SETTINGS.time_limit or SCALE.runtime)
# A job that a scheduler runs for this workflow may queue itself again.
REQUEUE = "--requeue" if workflow.remote_exec else ""
# Where a download is looked for first changes nothing of what is downloaded: it is no parameter.
MIRROR = in_a_command(f"--mirror {shlex.quote(SETTINGS.data.mirror)}") if SETTINGS.data.mirror else ""

uses_conda = "conda" in {str(method) for method in workflow.deployment_settings.deployment_method}
environments = (workflow.deployment_settings.conda_prefix or ".snakemake/conda") if uses_conda else None
shell.prefix(in_a_command(environment_of_jobs(str(CHECKOUT), config, environments, assigned=workflow.remote_exec)))


def describe(name, text):
    """Give a rule that a loop names its docstring, for `snakemake --list`; a workflow that uses it may have renamed it."""
    workflow.get_rule(workflow.modifier.modify_rulename(name)).docstring = text


def names(known):
    """A wildcard's constraint to these names; (?!) matches nothing."""
    return "|".join(dict.fromkeys(known)) or "(?!)"


def sources_of(artifact):
    """The files that an artifact is made of, by name: of its runs, measurements and floors, and all that the papers print."""
    files = artifact.inputs() | {"runs": artifact.details(), "floors": [*artifact.floors().values()]}
    return files | {"published": PUBLISHED}


def data_of(runs):
    """The prepared data of runs of one task."""
    return PATHS.prepared(runs[0].spec["dataset"], runs[0].spec["data"])


def data_to_train_on(jobs, wildcards):
    """The data of a job's runs. Where one of them is to grow, the job is done again: Snakemake itself knows neither how long a run is, nor
    anything of one that was restored."""
    runs = jobs.runs(wildcards)
    workflow.dag.forcefiles.update(f"{run.directory}/run.json" for run in filter(is_to_grow, runs))
    return data_of(runs)


def raw_files(task):
    """The downloads that a task's data are prepared of."""
    return [PATHS.raw(task.dataset, file) for file in CONFIGURATION.datasets[task.dataset].files_for(task.data)]


def raw_option(dataset):
    """Where the raw files are. A copy of the user's own is found in the settings: where it lies is no parameter."""
    return "" if CONFIGURATION.datasets[dataset].own_copy else f"--raw {shlex.quote(PATHS.raw(dataset))}"


def preparing_code(dataset):
    return code_digest(f"{CONFIGURATION.datasets[dataset].module}.prepare", "hidden_dynamics.data.prepared.save")


def runs_of(wildcards):
    return ARTIFACTS[wildcards.artifact].runs


def records_of(runs):
    """The records of runs, each of which holds the digests of its other files."""
    return [f"{run.directory}/run.json" for run in runs]


@functools.cache  # Snakemake asks several times for each job
def made_by(name):
    """Digests of what is configured of an artifact, and of the code that draws it."""
    kind = type(ARTIFACTS[name])
    code = code_digest("scripts.render.main", *(f"{kind.__module__}.{part}" for part in (kind.__name__, "draw")))
    return [configured(CONFIGURATION, ARTIFACTS[name]), code]


def shown(artifact):
    """Those of its files that a reader opens: the page of a table, the picture of a figure; where it has none, the text."""
    files = artifact.files()
    return [file for file in files if file.endswith((".html", ".png"))] or [
        file for file in files if file.endswith(".md")
    ]


def with_marks(artifact):
    """Its files, those that are shown marked for `snakemake --report`."""
    place = dict(category=artifact.paper_title, subcategory=artifact.form, caption="caption.rst")
    labels, marked = {"target": artifact.name, "title": artifact.settings.title}, shown(artifact)
    return [report(file, labels=labels, **place) if file in marked else file for file in artifact.files()]


def say_where():
    """Name the files that this invocation was asked for, if by name: of artifacts, the page, the verdicts."""
    places = {name: shown(artifact) for name, artifact in ARTIFACTS.items()}
    places |= {"all": [PATHS.index], "index": [PATHS.index], "claims": [PATHS.verdicts], "statistics": SUMMARIES}
    if files := [file for target in workflow.dag_settings.targets or ["all"] for file in places.get(target, [])]:
        logger.info(f"Made: {' '.join(files)}")


def gpus(*tasks):
    """GPUs that a job of these tasks asks for. On a cluster the device must be given: the login node says nothing of the other nodes."""
    given = {CONFIGURATION.device_of(task) for task in tasks}
    if "auto" in given and on_cluster():
        raise WorkflowError(
            "config.yaml: device: auto looks for a GPU on this machine, but the jobs run on others: "
            "say --config device=cuda, or device=cpu; in a mapping, its default."
        )
    return int("cuda" in given or ("auto" in given and has_nvidia_gpu()))


def gpus_to_measure(wildcards):
    """GPUs that a measurement asks for, by the one task of its artifact."""
    return gpus(*ARTIFACTS[wildcards.artifact].tasks())


def on_cluster():
    """Whether jobs are submitted to a scheduler. A dry run shows it only by the account that profiles/slurm gives."""
    settings = workflow.resource_settings
    submits = settings.nodes is not None and settings.cores is None
    return submits or "slurm_account" in (settings.default_resources or {})


def asked(threads):
    """What a job asks a scheduler for, in its message: a dry run shows it."""
    text = "{resources.mem_mb} MB, {resources.runtime} min, GPUs: {resources.gpu}"
    return f" ({threads} threads, {text})" if on_cluster() else ""


# On this machine no more jobs start than its memory has room for, as each says what it takes (mem_mb). Snakemake gives a job that asks
# for more what there is: it runs alone. --resources mem_mb=... says otherwise.
if workflow.is_main_process and not on_cluster() and "mem_mb" not in workflow.global_resources:
    workflow.register_resource("mem_mb", memory.of_this_machine())


def killed(logs):
    """What is to be said where a job was killed, by the logs of this invocation; "" where none was."""
    if not any("SIGKILL" in Path(log).read_text(encoding="utf-8", errors="replace") for log in logs):
        return ""
    return (
        "A job was killed (SIGKILL): most likely it took more memory than there was. A training says in its log how much it had taken "
        "(peak memory). Run fewer at a time: --resources mem_mb=... is what all jobs share, config/scales.yaml (mem_mb) what one takes."
    )


def all_cores():
    """All cores of this machine; on a cluster, where a job has its cores to itself, those of a run."""
    try:
        return workflow.cores
    except WorkflowError:
        return SCALE.threads


def failed_runs():
    """The runs that failed in this invocation, each with its error and log; "" where none did. Their jobs succeed: Snakemake would
    remove what a failed job has made, the other runs in it too, and make no table of them."""
    said = [
        f"  {record['run']}: {record['failure']['error']} ({job.log[0]})"
        for job in workflow.dag.needrun_jobs(exclude_finished=False)
        for file in map(Path, job.output)
        if file.name == "run.json" and file.exists()
        for record in [json.loads(file.read_bytes())]
        if record.get("status") == "failed"
    ]
    after = "What is made of them says so. Mend the cause and give the same command: it trains them again, and no other run."
    return "\n".join([f"Runs that failed ({len(said)}):", *said, after]) if said else ""


def refuse(name):
    """Raises what an artifact that has nothing to show at this scale needs."""
    needed = artifact_named(CONFIGURATION, name).needed
    raise WorkflowError(f"{name} has nothing to show at scale {CONFIGURATION.scale_name}: it needs {needed}.")


def refuse_unknown(target):
    """Raises that nothing makes it, with the target that was probably meant."""
    targets = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
    alike = [name for name in targets if name.endswith(f"_{target}")]
    meant = f" Did you mean {' or '.join(alike)}?" if alike else closest(target, targets)
    raise WorkflowError(f"there is no target '{target}'.{meant} All targets: snakemake --list-target-rules")
