# Downloads, and arrays made of them.


rule fetch:
    output:
        f"{DATA}/raw/{{dataset}}/{{file}}",
    log:
        "logs/fetch/{dataset}/{file}.log",
    benchmark:
        "logs/fetch/{dataset}/{file}.tsv"
    wildcard_constraints:
        file="|".join(sorted({re.escape(file) for files in DATASET_FILES.values() for file in files})),
    priority: 100  # trainings wait for it
    conda:
        "../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        sha256=lambda wildcards: CONFIGURATION.datasets[wildcards.dataset]["files"][wildcards.file]["sha256"],
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}"
    shell:
        "python scripts/fetch.py --dataset {wildcards.dataset} --file {wildcards.file} --output {output:q}"
        f" {mirror_option()} > {{log:q}} 2>&1"


# One rule for each environment, so that preparing images installs nothing that only speech needs.
for environment in sorted({entry.get("environment", "data") for entry in CONFIGURATION.datasets.values()}):
    prepared_there = [
        re.escape(name)
        for name, task in PREPARED.items()
        if CONFIGURATION.datasets[task["dataset"]].get("environment", "data") == environment
    ]

    rule:
        name:
            "prepare" if environment == "data" else f"prepare_{environment}"
        input:
            raw_files,
        output:
            arrays=f"{DATA}/prepared/{{prepared}}.npz",
            about=f"{DATA}/prepared/{{prepared}}.json",
        log:
            "logs/prepare/{prepared}.log",
        benchmark:
            "logs/prepare/{prepared}.tsv"
        wildcard_constraints:
            prepared="|".join(prepared_there) or "(?!)",  # (?!) matches nothing
        priority: 100  # trainings wait for it
        conda:
            f"../envs/{environment}.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            dataset=dataset_of,
            settings=data_settings,
            raw=raw_option,
            code=preparing_code,
        message:
            "Preparing {wildcards.prepared}"
        shell:
            "python scripts/prepare.py --dataset {params.dataset} --settings {params.settings:q} {params.raw}"
            " --output {output.arrays:q} > {log:q} 2>&1"
