# One training job per model, dataset and seed; a scale may let runs of a task share a process (`together`).
#
# The checkpoint is not an output: Snakemake wipes outputs before every attempt. It lies in the run's directory, carries a fingerprint
# of the run's specification, code and data, and is ignored where that differs. A run that is complete and unchanged is not trained
# again when its job is: its checkpoint holds its end.

TOGETHER = CONFIGURATION.scale["together"]
WRITING = code_digest(["scripts.train.main"])


def gpus():
    """GPUs that a training asks for. A cluster's login node may have none where its nodes do: say device=cuda there."""
    if config["device"] == "auto":
        return int(Path("/proc/driver/nvidia/version").exists())
    return int(config["device"] == "cuda")


def models_of(task):
    return list(dict.fromkeys(run.variant for run in RUNS.values() if run.task == task))


def job_of(task):
    """Functions of a job's wildcards for the rule of a task: the models and the seeds that it trains, and their identities."""

    def models(wildcards):
        return models_of(task) if "model" in TOGETHER else [wildcards.model]

    def seeds(wildcards):
        return CONFIGURATION.seeds if "seed" in TOGETHER else [int(wildcards.seed)]

    def identities(wildcards):
        found = [run_tables.find(CONFIGURATION, task, model, seed) for model in models(wildcards) for seed in seeds(wildcards)]
        return [IDENTITIES.get(run.id) or run_tables.identity(run) for run in found]

    return models, seeds, identities


for task, entry in CONFIGURATION.tasks.items():
    together = {"model": models_of(task), "seed": CONFIGURATION.seeds}
    shared = {key: values for key, values in together.items() if key in TOGETHER}
    job = "-".join(["train", task, *(f"{{{key}}}" for key in together if key not in TOGETHER)])
    models, seeds, identities = job_of(task)

    rule:
        name:
            f"train_{task}"
        input:
            run_tables.data_file(CONFIGURATION, entry["dataset"], entry.get("data", {})),
        output:
            expand(
                f"{RESULTS}/runs/{task}/{{model}}/seed{{seed}}/{{file}}",
                file=run_tables.OUTPUTS,
                allow_missing=True,
                **shared,
            ),
        log:
            f"{RESULTS}/logs/{job}.log",
        benchmark:
            f"{RESULTS}/logs/{job}.tsv"
        params:
            task=task,
            models=models,
            seeds=seeds,
            identities=identities,
            writing=WRITING,
        threads: CONFIGURATION.scale["threads"]
        resources:
            mem_mb=CONFIGURATION.scale["mem_mb"],
            runtime=CONFIGURATION.scale["runtime"],
            gpu=gpus(),
        conda:
            "../envs/train.yaml"
        message:
            "Training {params.models} on {params.task}, seed {params.seeds}"
        shell:
            "python scripts/train.py --task {params.task} --model {params.models} --seed {params.seeds}"
            " --threads {threads} > {log:q} 2>&1"
