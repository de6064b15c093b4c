# Downloads, and arrays made of them.

FILES = {name: list(dataset.files) for name, dataset in CONFIGURATION.datasets.items()}
PREPARED = {Path(PATHS.prepared(task.dataset, task.data)).stem: task for task in CONFIGURATION.tasks.values()}


def task_of(wildcards):
    return PREPARED[wildcards.prepared]


def raw_option(wildcards):
    """Where the raw files are. A copy of the user's own is found in the settings: where it lies is no parameter."""
    dataset = task_of(wildcards).dataset
    return "" if CONFIGURATION.datasets[dataset].own_copy else f"--raw {shlex.quote(PATHS.raw(dataset))}"


def mirror_option():
    """Where a download is looked for first. It changes nothing of what is downloaded, so it is no parameter."""
    mirror = SETTINGS.data.mirror
    return f"--mirror {shlex.quote(mirror)}".replace("{", "{{").replace("}", "}}") if mirror else ""


def preparing_code(wildcards):
    place = CONFIGURATION.datasets[task_of(wildcards).dataset].module
    return code_digest([f"{place}.prepare", "hidden_dynamics.data.prepared.save"])


rule fetch:
    output:
        PATHS.raw("{dataset}", "{file}"),
    log:
        "logs/fetch/{dataset}/{file}.log",
    benchmark:
        "logs/fetch/{dataset}/{file}.tsv"
    wildcard_constraints:
        file="|".join(sorted({re.escape(file) for files in FILES.values() for file in files})),
    priority: 100  # trainings wait for it
    conda:
        "../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        sha256=lambda wildcards: CONFIGURATION.datasets[wildcards.dataset].files[wildcards.file].sha256,
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}"
    shell:
        "python scripts/fetch.py --dataset {wildcards.dataset} --file {wildcards.file} --output {output:q}"
        f" {mirror_option()} > {{log:q}} 2>&1"


# One rule for each environment, so that preparing images installs nothing that only speech needs.
for environment in sorted({dataset.environment for dataset in CONFIGURATION.datasets.values()}):
    prepared_there = [
        re.escape(name)
        for name, task in PREPARED.items()
        if CONFIGURATION.datasets[task.dataset].environment == environment
    ]

    rule:
        name:
            "prepare" if environment == "data" else f"prepare_{environment}"
        input:
            lambda wildcards: [
                PATHS.raw(task_of(wildcards).dataset, file) for file in FILES[task_of(wildcards).dataset]
            ],
        output:
            arrays=f"{PATHS.data}/prepared/{{prepared}}.npz",
            about=f"{PATHS.data}/prepared/{{prepared}}.json",
        log:
            "logs/prepare/{prepared}.log",
        benchmark:
            "logs/prepare/{prepared}.tsv"
        wildcard_constraints:
            prepared=names(prepared_there),
        priority: 100  # trainings wait for it
        conda:
            f"../envs/{environment}.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            dataset=lambda wildcards: task_of(wildcards).dataset,
            settings=lambda wildcards: json.dumps(task_of(wildcards).data, sort_keys=True),
            raw=raw_option,
            code=preparing_code,
        message:
            "Preparing {wildcards.prepared}"
        shell:
            "python scripts/prepare.py --dataset {params.dataset} --settings {params.settings:q} {params.raw}"
            " --output {output.arrays:q} > {log:q} 2>&1"
