# One training job per model, dataset and seed; a scale, or the user, may let runs of a task share a job (`together`): on a GPU
# `runs_per_gpu` of them are trained at a time, else one after another. A job of a cluster's goes on after its time limit.
#
# The checkpoint is not an output: Snakemake wipes outputs before every attempt. It lies in the run's directory, carries a fingerprint
# of the run's specification, code and data, and is ignored where that differs. A run that is complete and unchanged is not trained
# again when its job is: its checkpoint holds its end.

WRITING = code_digest(["scripts.train.main"])


def models_of(task):
    return list(dict.fromkeys(run.variant for run in RUNS.values() if run.task == task))


def job_of(task):
    """The models and the seeds that a job of the task trains, and their identities, as functions of its wildcards."""

    def models(wildcards):
        return models_of(task) if "model" in CONFIGURATION.together else [wildcards.model]

    def seeds(wildcards):
        return seeds_of(CONFIGURATION, task) if "seed" in CONFIGURATION.together else [int(wildcards.seed)]

    def identities(wildcards):
        def of(model, seed):  # of a seed that is not configured, it has to be made
            return IDENTITIES.get(f"{task}/{model}/seed{seed}") or identity(find(CONFIGURATION, task, model, seed))

        return [of(model, seed) for model in models(wildcards) for seed in seeds(wildcards)]

    return models, seeds, identities


def runs_at_once(shared):
    """How many of the runs that share a job are trained side by side: `runs_per_gpu`, where they have a GPU."""
    return min(SETTINGS.runs_per_gpu, math.prod(map(len, shared.values()))) if gpus() else 1


def requeue_option():
    """A job that a scheduler runs for this workflow may queue itself again."""
    return "--requeue" if workflow.remote_exec else ""


for task, entry in CONFIGURATION.tasks.items():
    together = {"model": models_of(task), "seed": seeds_of(CONFIGURATION, task)}
    shared = {key: values for key, values in together.items() if key in CONFIGURATION.together}
    job = "-".join(["train", task, *(f"{{{key}}}" for key in together if key not in shared)])
    models, seeds, identities = job_of(task)
    at_once = runs_at_once(shared)

    rule:
        name:
            f"train_{task}"
        input:
            PATHS.prepared(entry.dataset, entry.data),
        output:
            expand(
                f"{PATHS.run(task, '{model}', '{seed}')}/{{file}}",
                file=outputs_of(CONFIGURATION, task),
                allow_missing=True,
                **shared,
            ),
        log:
            f"{PATHS.logs}/{job}.log",
        benchmark:
            f"{PATHS.logs}/{job}.tsv"
        priority: len(models_of(task))  # the longest first, so that none is left alone at the end
        conda:
            "../envs/train.yaml"
        threads: SCALE.threads * at_once
        resources:
            mem_mb=SCALE.mem_mb * at_once,
            runtime=TIME_LIMIT,
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
