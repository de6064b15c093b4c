# What a training and an evaluation of each model cost on this machine. Tables that show the same models on the same task share one
# measurement. It takes all the cores that Snakemake has, so that no other job of this workflow runs beside it, and waits until
# everything else is done. On a cluster, where that would not keep other jobs off the node, profiles/slurm asks for a node to itself.


rule measure_cost:
    input:
        data=lambda wildcards: run_tables.data_file(
            CONFIGURATION, *(measured(wildcards.artifact)[0].spec[key] for key in ("dataset", "data"))
        ),
        published=published,  # names the baseline
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
        threads=CONFIGURATION.scale["threads"],  # those of a training, where the job has as many
        device="cuda" if gpus() else "cpu",  # on another one, it is measured again
        identities=lambda wildcards: [run_tables.identity(run) for run in measured(wildcards.artifact)],
        measuring=code_digest(["scripts.measure_cost.main"]),
    message:
        "Measuring the costs that {wildcards.artifact} shows"
    shell:
        "python scripts/measure_cost.py --artifact {wildcards.artifact}"
        " --threads $(( {threads} < {params.threads} ? {threads} : {params.threads} )) --output {output:q} > {log:q} 2>&1"


# The features of the images that tables and figures show, of all their models and seeds in one job: its libraries take seconds to
# import. Artifacts with the same features of the same models share one measurement.
rule measure_features:
    input:
        runs=lambda wildcards: [
            f"{run.directory}/{file}" for run in featured(wildcards.artifact) for file in ("run.json", "model.pt")
        ],
        data=lambda wildcards: run_tables.data_file(
            CONFIGURATION, *(featured(wildcards.artifact)[0].spec[key] for key in ("dataset", "data"))
        ),
    output:
        features=f"{RESULTS}/features/{{artifact}}.csv",
        embeddings=f"{RESULTS}/features/{{artifact}}.npz",
    log:
        f"{RESULTS}/logs/measure_features-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/measure_features-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(FEATURED),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/features.yaml"
    threads: CONFIGURATION.scale["threads"]
    resources:
        mem_mb=CONFIGURATION.scale["mem_mb"],
        runtime=RUNTIME,
        gpu=gpus(),
    params:
        settings=lambda wildcards: json.dumps(CONFIGURATION.artifacts[wildcards.artifact]["features"], sort_keys=True),
        identities=lambda wildcards: [IDENTITIES[run.id] for run in featured(wildcards.artifact)],
        measuring=code_digest(["scripts.measure_features.main"]),
    message:
        "Measuring the image features that {wildcards.artifact} shows"
    shell:
        "python scripts/measure_features.py --artifact {wildcards.artifact} --threads {threads} --output {output.features:q}"
        " > {log:q} 2>&1"
