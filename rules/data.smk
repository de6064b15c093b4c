# Downloads, and arrays made of them.

PREPARED = {
    Path(run_tables.data_file(CONFIGURATION, task["dataset"], task.get("data", {}))).stem: task
    for task in CONFIGURATION.tasks.values()
}
DATASET_FILES = {name: list(entry["files"]) for name, entry in CONFIGURATION.datasets.items()}


def raw_files(wildcards):
    dataset = PREPARED[wildcards.prepared]["dataset"]
    return [f"{DATA}/raw/{dataset}/{file}" for file in DATASET_FILES[dataset]]


def dataset_of(wildcards):
    return PREPARED[wildcards.prepared]["dataset"]


def data_settings(wildcards):
    return json.dumps(PREPARED[wildcards.prepared].get("data", {}), sort_keys=True)


def preparing_code(wildcards):
    source = CONFIGURATION.datasets[dataset_of(wildcards)]["module"]
    return code_digest([f"{source}.prepare", "hidden_dynamics.data.prepared.save"])


rule fetch:
    output:
        f"{DATA}/raw/{{dataset}}/{{file}}",
    log:
        "logs/fetch/{dataset}/{file}.log",
    benchmark:
        "logs/fetch/{dataset}/{file}.tsv"
    wildcard_constraints:
        file="|".join(sorted({file for files in DATASET_FILES.values() for file in files})),
    params:
        sha256=lambda wildcards: CONFIGURATION.datasets[wildcards.dataset]["files"][wildcards.file]["sha256"],
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    conda:
        "../envs/data.yaml"
    message:
        "Downloading {wildcards.file} of {wildcards.dataset}"
    shell:
        "python scripts/fetch.py --dataset {wildcards.dataset} --file {wildcards.file} --output {output:q} > {log:q} 2>&1"


rule prepare:
    input:
        raw_files,
    output:
        f"{DATA}/prepared/{{prepared}}.npz",
        f"{DATA}/prepared/{{prepared}}.json",
    log:
        "logs/prepare/{prepared}.log",
    benchmark:
        "logs/prepare/{prepared}.tsv"
    wildcard_constraints:
        prepared="|".join(PREPARED),
    params:
        dataset=dataset_of,
        settings=data_settings,
        raw=lambda wildcards: f"{DATA}/raw/{dataset_of(wildcards)}",
        code=preparing_code,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    conda:
        "../envs/data.yaml"
    message:
        "Preparing {wildcards.prepared}"
    shell:
        "python scripts/prepare.py --dataset {params.dataset} --settings {params.settings:q} --raw {params.raw:q}"
        " --output {output[0]:q} > {log:q} 2>&1"
