# All runs in one table; statistics over their seeds; each row of each table beside its baseline.


rule statistics:
    """All runs, statistics over their seeds, and comparisons with the tables' baselines"""
    input:
        records_of(RUNS.values()),
    output:
        SUMMARIES,
    log:
        f"{PATHS.logs}/summarise.log",
    priority: SOON
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.summarise.main", *KINDS)],
    message:
        "Summarising all runs: {output}"
    shell:
        f"{PYTHON}/summarise.py > {{log:q}} 2>&1"
