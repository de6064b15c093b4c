# One row per run for each artifact, the curves of the figures averaged over seeds, and one table of all runs.


rule summarise:
    input:
        lambda wildcards: records_of(run_tables.runs_of(CONFIGURATION, wildcards.artifact)),
    output:
        f"{RESULTS}/summary/{{artifact}}.csv",
    log:
        f"{RESULTS}/logs/summarise-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/summarise-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(SUMMARISED),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.summarise.main"),
    message:
        "Summarising the runs of {wildcards.artifact}"
    shell:
        "python scripts/summarise.py --artifact {wildcards.artifact} --output {output:q} > {log:q} 2>&1"


rule summarise_curves:
    input:
        lambda wildcards: records_of(run_tables.runs_of(CONFIGURATION, wildcards.artifact)),
    output:
        runs=f"{RESULTS}/summary/{{artifact}}.csv",
        curves=f"{RESULTS}/summary/{{artifact}}.curves.csv",
    log:
        f"{RESULTS}/logs/summarise-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/summarise-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(CURVES),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.summarise.main"),
    message:
        "Averaging the curves of {wildcards.artifact}"
    shell:
        "python scripts/summarise.py --artifact {wildcards.artifact} --output {output.runs:q} --curves {output.curves:q}"
        " > {log:q} 2>&1"


rule summarise_all:
    input:
        records_of(RUNS.values()),
    output:
        f"{RESULTS}/summary/runs.csv",
    log:
        f"{RESULTS}/logs/summarise-all.log",
    benchmark:
        f"{RESULTS}/logs/summarise-all.tsv"
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        meaning=meaning_of("all", "scripts.summarise.main"),
    message:
        "Summarising all runs"
    shell:
        "python scripts/summarise.py --artifact all --output {output:q} > {log:q} 2>&1"
