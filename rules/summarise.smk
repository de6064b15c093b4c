# One table of all runs.


rule summarise:
    """A table of all runs"""
    input:
        records_of(RUNS.values()),
    output:
        PATHS.all_runs,
    log:
        f"{PATHS.logs}/summarise.log",
    priority: SOON
    conda:
        "../envs/light.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.summarise.main")],
    message:
        "Summarising all runs: {output}"
    shell:
        "python scripts/summarise.py > {log:q} 2>&1"
