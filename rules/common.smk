# What the rules share: the configuration, validated before the graph is built, and where things are.

import hashlib
import json
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(workflow.basedir))

from hidden_dynamics import configuration as configurations
from hidden_dynamics import runs as run_tables
from hidden_dynamics.digest import code_digest
from hidden_dynamics.errors import UserError
from snakemake.exceptions import WorkflowError

try:
    CONFIGURATION = configurations.load(config)
    RUNS = {run.id: run for run in run_tables.all_runs(CONFIGURATION)}
    IDENTITIES = {run.id: run_tables.identity(run) for run in RUNS.values()}
except UserError as error:
    raise WorkflowError(str(error)) from None

RESULTS = CONFIGURATION.results
DATA = config["data"]["directory"]
TABLES = [name for name, artifact in CONFIGURATION.artifacts.items() if artifact["kind"].endswith("_table")]
FIGURES = [name for name in CONFIGURATION.artifacts if name not in TABLES]
CURVES = [name for name in FIGURES if CONFIGURATION.artifacts[name]["kind"] == "curves"]
RESULTS_TABLES = [name for name in TABLES if CONFIGURATION.artifacts[name]["kind"] == "results_table"]

# Every job finds the library here, in conda environments and on cluster nodes too, and the settings as they are after Snakemake's
# command line. With conda, a job whose environment was not activated would run in this Python without a word: it is told not to.
uses_conda = "conda" in {str(method) for method in workflow.deployment_settings.deployment_method}
job_environment = {
    "PYTHONPATH": str(workflow.basedir),
    "HIDDEN_DYNAMICS_CONFIG": json.dumps(config),
    "HIDDEN_DYNAMICS_NOT_IN": sys.prefix if uses_conda else "",
}
exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in job_environment.items())
shell.prefix("export " + exports.replace("{", "{{").replace("}", "}}") + "; ")  # Snakemake formats the prefix


wildcard_constraints:
    task="|".join(CONFIGURATION.tasks),
    model="|".join(sorted({run.variant for run in RUNS.values()})),
    seed=r"\d+",
    dataset="|".join(CONFIGURATION.datasets),


def artifact_files(name):
    """The files of a table or a figure."""
    if name in TABLES:
        return expand(f"{RESULTS}/tables/{name}.{{form}}", form=["csv", "md", "tex", "html"])
    return expand(f"{RESULTS}/figures/{name}.{{form}}", form=["pdf", "png"])


def records_of(runs):
    """The files of runs that summaries are made of."""
    return [f"{run.directory}/{file}" for run in runs for file in ("run.json", "metrics.csv", "train_loss.npy")]


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
