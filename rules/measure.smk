# What is measured beside the runs. Artifacts that show the same share one measurement, under the name of the first of them.


# The costs of training and evaluating each model on this machine. It takes all the cores that Snakemake has, so that no other job
# of this workflow runs beside it, and waits until everything else is done. On a cluster, where that would not keep other jobs off the
# node, profiles/slurm asks for a node to itself.
rule measure_cost:
    """Measure the time and memory of training and evaluating models"""
    input:
        data=lambda wildcards: data_of(ARTIFACTS[wildcards.artifact].measured_runs()),
        published=lambda wildcards: HERE / f"published/{ARTIFACTS[wildcards.artifact].settings.published}",  # names the baseline
    output:
        PATHS.measured("costs", "{artifact}"),
    log:
        f"{PATHS.logs}/measure_cost-{{artifact}}.log",
    wildcard_constraints:
        artifact=names(a.measurement for a in ARTIFACTS.values() if a.measured == "costs"),
    priority: -1
    conda:
        "../envs/torch.yaml"
    threads: all_cores()
    resources:
        mem_mb=SCALE.mem_mb,
        runtime=60,
        gpu=gpus_to_measure,
    params:
        threads=SCALE.threads,  # those of a run, where the job has as many
        device=lambda wildcards: "cuda" if gpus_to_measure(wildcards) else "cpu",  # on another one, it is measured again
        processes=SCALE.processes,
        identities=lambda wildcards: [run.identity for run in ARTIFACTS[wildcards.artifact].measured_runs()],
        measuring=code_digest("scripts.measure_cost.main"),
    message:
        "Measuring the costs that {wildcards.artifact} shows: {output}"
    shell:
        f"{PYTHON}/measure_cost.py --artifact {{wildcards.artifact}}"
        " --threads $(( {threads} < {params.threads} ? {threads} : {params.threads} )) > {log:q} 2>&1"


# The gradients of cells that are not trained: the same at every scale, and done in seconds.
rule measure_jacobian:
    """Differentiate untrained cells, and multiply what the paper says that this gives"""
    output:
        PATHS.measured("jacobian", "{artifact}"),
    log:
        f"{PATHS.logs}/measure_jacobian-{{artifact}}.log",
    wildcard_constraints:
        artifact=names(a.name for a in ARTIFACTS.values() if a.measured == "jacobian"),
    priority: SOON
    conda:
        "../envs/torch.yaml"
    resources:
        **LIGHT,
    params:
        measuring=code_digest("scripts.measure_jacobian.main"),
    message:
        "Differentiating the cells that {wildcards.artifact} shows: {output}"
    shell:
        f"{PYTHON}/measure_jacobian.py --artifact {{wildcards.artifact}} > {{log:q}} 2>&1"


# The features of the images that tables and figures show, of all their models and seeds in one job: its libraries take seconds to
# import.
rule measure_features:
    """Measure the features of images, and their maps in the plane"""
    input:
        runs=lambda wildcards: records_of(runs_of(wildcards)),  # and their weights, which restored runs do not have
        data=lambda wildcards: data_of(runs_of(wildcards)),
    output:
        PATHS.measured("features", "{artifact}"),
        PATHS.maps("{artifact}"),
    log:
        f"{PATHS.logs}/measure_features-{{artifact}}.log",
    wildcard_constraints:
        artifact=names(a.measurement for a in ARTIFACTS.values() if a.measured == "features"),
    priority: SOON
    conda:
        "../envs/torch.yaml"
    threads: SCALE.threads
    resources:
        mem_mb=SCALE.mem_mb,
        runtime=TIME_LIMIT,
        gpu=gpus_to_measure,
    params:
        settings=lambda wildcards: json.dumps(ARTIFACTS[wildcards.artifact].settings.features.given(), sort_keys=True),
        identities=lambda wildcards: [run.identity for run in runs_of(wildcards)],
        measuring=code_digest("scripts.measure_features.main"),
    message:
        "Measuring the image features that {wildcards.artifact} shows: {output}"
    shell:
        f"{PYTHON}/measure_features.py --artifact {{wildcards.artifact}} --threads {{threads}} > {{log:q}} 2>&1"
