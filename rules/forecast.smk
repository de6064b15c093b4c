# What a scale will cost, before anything is launched: snakemake --cores all forecast
#
# Nothing of the workflow is an input: no data is downloaded or prepared for it, nothing is trained.


rule calibrate:
    output:
        f"{RESULTS}/calibration.json",
    log:
        f"{RESULTS}/logs/calibrate.log",
    benchmark:
        f"{RESULTS}/logs/calibrate.tsv"
    conda:
        "../envs/train.yaml"
    threads: all_cores()
    resources:
        mem_mb=CONFIGURATION.scale["mem_mb"],
        runtime=60,
        gpu=gpus(),
    params:
        threads=CONFIGURATION.scale["threads"],  # those of a training, where the job has as many
        side_by_side=trainings_at_a_time(),
        device="cuda" if gpus() else "cpu",  # on another one, it is measured again
        seconds=forecasts.setting(CONFIGURATION, "seconds"),
        code=lambda wildcards: calibrations.code_of_all(forecasts.runs_to_forecast(CONFIGURATION)),
    message:
        "Calibrating: what trainings of the scale {CONFIGURATION.scale_name} take on this machine"
    shell:
        "python scripts/calibrate.py --side-by-side {params.side_by_side} --seconds {params.seconds}"
        " --threads $(( {threads} < {params.threads} ? {threads} : {params.threads} )) --output {output:q} 2> {log:q}"


# It declares no outputs, so that it is made and shown whenever it is asked for: runs that have finished since then count.
rule forecast:
    input:
        calibration=calibration_here(),
    log:
        f"{RESULTS}/logs/forecast.log",
    benchmark:
        f"{RESULTS}/logs/forecast.tsv"
    localrule: True
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        calibration=lambda wildcards, input: option("calibration", input.calibration),
        cores=all_cores(),
        stem=f"{RESULTS}/forecast",
    message:
        "Forecasting the cost of the scale {CONFIGURATION.scale_name}"
    shell:
        "python scripts/forecast.py {params.calibration} --cores {params.cores} --output {params.stem:q} 2> {log:q}"
