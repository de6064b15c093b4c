# Downloads, and arrays made of them.

PREPARED = {Path(PATHS.prepared(task.dataset, task.data)).stem: task for task in CONFIGURATION.tasks.values()}
FILES = {file for dataset in CONFIGURATION.datasets.values() for file in dataset.files}
RECORDED = "not known beforehand, recorded beside it"  # what is said of a sum that no source states


rule fetch:
    """Download a file of a dataset"""
    output:
        PATHS.raw("{dataset}", "{file}"),
    log:
        "logs/fetch/{dataset}/{file}.log",
    wildcard_constraints:
        dataset=names(CONFIGURATION.datasets),
        file="|".join(sorted(map(re.escape, FILES))),
    priority: 100  # runs wait for it
    conda:
        "../envs/light.yaml"
    resources:
        mem_mb=500,
        runtime=60,
    params:
        sha256=lambda wildcards: CONFIGURATION.datasets[wildcards.dataset].files[wildcards.file].sha256 or RECORDED,
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}: {output} (SHA-256 {params.sha256})"
    shell:
        f"{PYTHON}/fetch.py --dataset {{wildcards.dataset}} --file {{wildcards.file}} --output {{output:q}}"
        f" {MIRROR} > {{log:q}} 2>&1"


# One rule for each environment: torch is large, and few datasets need it.
for environment in sorted({dataset.environment for dataset in CONFIGURATION.datasets.values()}):
    prepared_there = [
        re.escape(name)
        for name, task in PREPARED.items()
        if CONFIGURATION.datasets[task.dataset].environment == environment
    ]

    name = "prepare" if environment == "light" else f"prepare_with_{environment}"

    rule:
        name:
            name
        input:
            lambda wildcards: raw_files(PREPARED[wildcards.prepared]),
        output:
            arrays=f"{PATHS.data}/prepared/{{prepared}}.npz",
            about=f"{PATHS.data}/prepared/{{prepared}}.json",
        log:
            "logs/prepare/{prepared}.log",
        wildcard_constraints:
            prepared=names(prepared_there),
        priority: 100  # runs wait for it
        conda:
            f"../envs/{environment}.yaml"
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            dataset=lambda wildcards: PREPARED[wildcards.prepared].dataset,
            settings=lambda wildcards: json.dumps(PREPARED[wildcards.prepared].data, sort_keys=True),
            raw=lambda wildcards: raw_option(PREPARED[wildcards.prepared].dataset),
            code=lambda wildcards: preparing_code(PREPARED[wildcards.prepared].dataset),
        message:
            "Preparing {wildcards.prepared}: {output.arrays}"
        shell:
            f"{PYTHON}/prepare.py --dataset {{params.dataset}} --settings {{params.settings:q}} {{params.raw}}"
            " --output {output.arrays:q} > {log:q} 2>&1"

    describe(name, f"Make arrays of a dataset, in the environment {environment}")
