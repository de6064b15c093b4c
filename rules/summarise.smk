# All runs in one table; statistics over their seeds; each row of each table beside its baseline.


rule summarise:
    """What statistics asks for"""
    input:
        records_of(RUNS.values()),
    output:
        SUMMARIES,
    log:
        f"{PATHS.logs}/summarise.log",
    priority: SOON
    conda:
        "../envs/light.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.summarise.main", *KINDS)],
    message:
        "Summarising all runs: {output}"
    shell:
        f"{PYTHON}/summarise.py > {{log:q}} 2>&1"


rule statistics:
    """All runs, statistics over their seeds, and comparisons with the tables' baselines"""
    input:
        rules.summarise.output,
    localrule: True
