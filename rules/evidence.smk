# The results of a scale as a small directory that is kept with the code: snakemake --cores all evidence --config scale=evening
#
# Like the forecast, it declares no output: Snakemake would delete the publication before it is made anew, and it is made, whenever it is
# asked for, in one piece.


rule evidence:
    """Publish a scale's results in a directory that is kept with the code"""
    input:
        [artifact.files() for artifact in ARTIFACTS.values()],
        rules.render_claims.output,
        rules.summarise.output,
        [f"{run.directory}/{file}" for run in RUNS.values() for file in outputs_of(CONFIGURATION, run.task)],
    log:
        f"{PATHS.logs}/publish_evidence.log",
    localrule: True
    conda:
        "../envs/light.yaml"
    threads: 1
    resources:
        **LIGHT,
    message:
        "Publishing the results of the scale {SETTINGS.scale} in {CONFIGURATION.published_in}"
    shell:
        f"{PYTHON}/publish_evidence.py 2> {{log:q}}"
