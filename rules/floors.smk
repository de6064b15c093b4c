# Classical baselines of the tasks that tables, figures and claims are of. Each task has a job; where a scale trains runs of all models and
# seeds in one, all tasks of a paper share theirs: start-up would take longer than fitting.

papers = {}  # that first shows a task's floors, or claims something of it
for artifact in ARTIFACTS.values():
    for task in artifact.floors():
        papers.setdefault(task, artifact.paper)
papers = tasks_of_claims(CONFIGURATION) | papers
shared = {"model", "seed"} <= {*CONFIGURATION.together}

for group in dict.fromkeys(papers.values() if shared else papers):
    tasks = [task for task, paper in papers.items() if group in (task, paper)]

    rule:
        name:
            f"floors_{group}"
        input:
            sorted({data_of(runs_on(CONFIGURATION, task)) for task in tasks}),
        output:
            [PATHS.measured("floors", task) for task in tasks],
        log:
            f"{PATHS.logs}/floors-{group}.log",
        priority: SOON
        conda:
            "../envs/torch.yaml"
        resources:
            mem_mb=min(SCALE.mem_mb, 6000),
            runtime=60,
        params:
            tasks=tasks,
            made_by=lambda wildcards, tasks=tasks: json.dumps([floors.made_by(CONFIGURATION, task) for task in tasks]),
            writing=code_digest("scripts.fit_floors.main"),
        message:
            f"Fitting the classical baselines of {' '.join(tasks)}: {PATHS.results}/floors"
        shell:
            f"{PYTHON}/fit_floors.py --task {{params.tasks}} > {{log:q}} 2>&1"

    describe(f"floors_{group}", f"Fit classical baselines of {group}")
