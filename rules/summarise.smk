# One row per run for each artifact, the curves of the figures averaged over seeds, and one table of all runs.


rule summarise:
    input:
        lambda wildcards: records_of(runs_of(wildcards)),
    output:
        PATHS.summary("{artifact}"),
    log:
        f"{PATHS.logs}/summarise-{{artifact}}.log",
    benchmark:
        f"{PATHS.logs}/summarise-{{artifact}}.tsv"
    wildcard_constraints:
        artifact=names(name for name, artifact in ARTIFACTS.items() if artifact.summarised and not artifact.averaged),
    priority: SOON
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        artifact=lambda wildcards: wildcards.artifact,
        meaning=lambda wildcards: meaning(wildcards.artifact, "scripts.summarise.main"),
    message:
        "Summarising the runs of {params.artifact}"
    shell:
        "python scripts/summarise.py --artifact {params.artifact} > {log:q} 2>&1"


use rule summarise as summarise_curves with:
    output:
        PATHS.summary("{artifact}"),
        PATHS.curves("{artifact}"),
    wildcard_constraints:
        artifact=names(name for name, artifact in ARTIFACTS.items() if artifact.averaged),
    message:
        "Averaging the curves of {params.artifact}"


use rule summarise as summarise_all with:
    input:
        records_of(RUNS.values()),
    output:
        PATHS.summary("all"),
    log:
        f"{PATHS.logs}/summarise-all.log",
    benchmark:
        f"{PATHS.logs}/summarise-all.tsv"
    params:
        artifact="all",
        meaning=meaning_of_all(CONFIGURATION, ["scripts.summarise.main"]),
    message:
        "Summarising all runs"
