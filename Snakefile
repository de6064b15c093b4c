# Hidden Dynamics: tables and figures of two papers, from one command.
#
#   snakemake --cores all                       everything, at the scale that config.yaml names
#   snakemake --cores all momentumrnn_table1    one artifact and what it needs

import os

from snakemake.utils import min_version

min_version("9.27")


# In another directory (--directory), a config.yaml there comes first; a module is given its `config`.
configfile:
    "config.yaml"
    if os.path.exists("config.yaml")
    else workflow.current_basedir.join("config.yaml").get_path_or_uri(secret_free=True)


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/floors.smk"
include: "rules/measure.smk"
include: "rules/artifacts.smk"
include: "rules/claims.smk"
include: "rules/summarise.smk"
include: "rules/index.smk"
include: "rules/forecast.smk"
include: "rules/evidence.smk"


onsuccess:
    say_where()
    if failed := failed_runs():
        raise WorkflowError(failed)


onerror:
    for text in filter(None, (failed_runs(), killed(log))):
        print(text, file=sys.stderr)


rule all:
    """Every table and figure, all claims, and the page that shows them"""
    default_target: True
    input:
        PATHS.index,
        [artifact.files() for artifact in ARTIFACTS.values()],
        rules.statistics.output,
        rules.claims.output,
        records_of(RUNS.values()),  # one that is missing is made again, although nothing may be made of it anew
    message:
        "Everything is made; all on one page: {PATHS.index}"
