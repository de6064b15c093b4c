# One training job per model, dataset and seed; a scale, or the user, may let runs of a task share a job (`together`): on a GPU
# `runs_per_gpu` of them are trained at a time, else one after another. A job of a cluster's goes on after its time limit.
#
# The checkpoint is not an output: Snakemake wipes outputs before every attempt. It lies in the run's directory, carries a fingerprint
# of the run's specification, code and data, and is ignored where that differs. A run that is complete and unchanged is not trained
# again when its job is: its checkpoint holds its end.

for task in [name for name in CONFIGURATION.tasks if name not in CONFIGURATION.left_out]:
    jobs, entry = TrainingJobs(CONFIGURATION, task), CONFIGURATION.tasks[task]
    place = PATHS.run(task, *("*" if key in jobs.shared else f"{{wildcards.{key}}}" for key in ("model", "seed")))
    at_once = min(CONFIGURATION.runs_per_gpu, jobs.runs_of_a_job) if gpus(task) else 1

    rule:
        name:
            f"train_{task}"
        input:
            functools.partial(data_to_train_on, jobs),
        output:
            expand(
                f"{PATHS.run(task, '{model}', '{seed}')}/{{file}}",
                file=outputs_of(CONFIGURATION, task),
                allow_missing=True,
                **jobs.shared,
            ),
        log:
            f"{PATHS.logs}/{jobs.name}.log",
        wildcard_constraints:
            model=names(map(re.escape, jobs.sized_models)),
            seed=r"\d+",
        priority: SOON if task in SEEN_FIRST else len(jobs.sized_models)  # then the longest: none is left alone at the end
        conda:
            "../envs/torch.yaml"
        threads: SCALE.threads * at_once
        resources:
            mem_mb=SCALE.mem_mb * at_once,
            runtime=TIME_LIMIT,
            gpu=gpus(task),
            at_once=at_once,  # here since the command is formatted when all rules have been read, and no reason to train again
        params:
            task=task,
            options=jobs.options,
            identity=jobs.identity,
            writing=code_digest("scripts.train.main"),
        message:
            f"Training {jobs.said('model')} on {task}, seed {jobs.said('seed')}: {place}{asked(SCALE.threads * at_once)}"
        shell:  # exec: a shell in between would end at the first SIGTERM, and its job before a checkpoint is written
            f"exec {PYTHON}/train_job.py --task {{params.task}} {{params.options}}"
            f" --threads {{threads}} --at-once {{resources.at_once}} {REQUEUE} > {{log:q}} 2>&1"

    describe(f"train_{task}", f"Train models on {entry.title}")
