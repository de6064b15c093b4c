# One training job per model, dataset and seed; a scale, or the user, may let runs of a task share a job (`together`): on a GPU
# `runs_per_gpu` of them are trained at a time, else one after another. A job of a cluster's goes on after its time limit.
#
# The checkpoint is not an output: Snakemake wipes outputs before every attempt. It lies in the run's directory, carries a fingerprint
# of the run's specification, code and data, and is ignored where that differs. A run that is complete and unchanged is not trained
# again when its job is: its checkpoint holds its end.

for task, entry in CONFIGURATION.tasks.items():
    together = {"model": models_of(task), "seed": run_tables.seeds_of(CONFIGURATION, task)}
    shared = {key: values for key, values in together.items() if key in TOGETHER}
    job = "-".join(["train", task, *(f"{{{key}}}" for key in together if key not in TOGETHER)])
    models, seeds, identities = job_of(task)
    at_once = runs_at_once(shared)

    rule:
        name:
            f"train_{task}"
        input:
            run_tables.data_file(CONFIGURATION, entry["dataset"], entry.get("data", {})),
        output:
            expand(
                f"{RESULTS}/runs/{task}/{{model}}/seed{{seed}}/{{file}}",
                file=run_tables.outputs_of(CONFIGURATION, task),
                allow_missing=True,
                **shared,
            ),
        log:
            f"{RESULTS}/logs/{job}.log",
        benchmark:
            f"{RESULTS}/logs/{job}.tsv"
        priority: len(models_of(task))  # the longest first, so that none is left alone at the end
        conda:
            "../envs/train.yaml"
        threads: CONFIGURATION.scale["threads"] * at_once
        resources:
            mem_mb=CONFIGURATION.scale["mem_mb"] * at_once,
            runtime=RUNTIME,
            gpu=gpus(),
        params:
            task=task,
            models=models,
            seeds=seeds,
            identities=identities,
            writing=WRITING,
        message:
            "Training {params.models} on {params.task}, seed {params.seeds}"
        shell:  # exec: a shell in between would end at the first SIGTERM, and its job before a checkpoint is written
            "exec python scripts/train_job.py --task {params.task} --model {params.models} --seed {params.seeds}"
            f" --threads {{threads}} --at-once {at_once} {requeue_option()} > {{log:q}} 2>&1"
