# What a training and an evaluation of each model cost on this machine. Tables that show the same models on the same task share one
# measurement. It takes all cores, so that nothing runs beside it, and waits until everything else is done.


rule measure_cost:
    input:
        lambda wildcards: run_tables.data_file(
            CONFIGURATION, *(measured(wildcards.artifact)[0].spec[key] for key in ("dataset", "data"))
        ),
    output:
        f"{RESULTS}/costs/{{artifact}}.csv",
    log:
        f"{RESULTS}/logs/measure_cost-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/measure_cost-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(MEASURED),
    priority: -1
    conda:
        "../envs/train.yaml"
    threads: all_cores()
    resources:
        mem_mb=CONFIGURATION.scale["mem_mb"],
        runtime=60,
        gpu=gpus(),
    params:
        threads=CONFIGURATION.scale["threads"],  # those of a training
        identities=lambda wildcards: [run_tables.identity(run) for run in measured(wildcards.artifact)],
        measuring=code_digest(["scripts.measure_cost.main"]),
    message:
        "Measuring the costs that {wildcards.artifact} shows"
    shell:
        "python scripts/measure_cost.py --artifact {wildcards.artifact} --threads {params.threads} --output {output:q}"
        " > {log:q} 2>&1"
