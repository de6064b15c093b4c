# What a scale will cost, before anything is launched: snakemake --cores all forecast
#
# Nothing of the workflow is an input: no data is downloaded or prepared for it, nothing is trained.

TASKS = sorted({run.task for run in RUNS.values()})


rule calibrate:
    """Measure what the runs of a scale cost on this machine"""
    output:
        PATHS.calibration,
    log:
        f"{PATHS.logs}/calibrate.log",
    conda:
        "../envs/torch.yaml"
    threads: all_cores()
    resources:
        mem_mb=SCALE.mem_mb,
        runtime=60,
        gpu=gpus(*TASKS),
    params:
        threads=min(all_cores(), SCALE.threads),  # those of a run, where the job has as many
        on_gpu=list(filter(gpus, TASKS)),  # on another device, all is measured again
        identities=IDENTITIES,
        artifacts=CONFIGURATION.settings.forecast.artifacts,  # whose runs alone are measured
        measuring=code_digest("scripts.calibrate.main"),
    message:
        "Calibrating the runs of the scale {SETTINGS.scale} on this machine: {output}"
    shell:
        f"{PYTHON}/calibrate.py --threads {{params.threads}} --cores {{threads}} --output {{output:q}} 2> {{log:q}}"


# It declares no outputs, so that it is made and shown whenever it is asked for: runs that have finished since then count.
rule forecast:
    """Say what a scale will cost: hours and memory"""
    input:
        PATHS.calibration,
    log:
        f"{PATHS.logs}/forecast.log",
    localrule: True
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    params:
        cores=all_cores(),
    message:
        "Forecasting the cost of the scale {SETTINGS.scale}: {CONFIGURATION.results}/forecast.md"
    shell:
        f"{PYTHON}/forecast.py --cores {{params.cores}} 2> {{log:q}}"
