# The results of a scale as a small directory that is kept with the code: snakemake --cores all evidence --config scale=evening
#
# Like the forecast, evidence declares no output: Snakemake would delete the publication before it is made anew, and it is made, whenever
# it is asked for, in one piece. The article is of what is published, whatever the scale.


rule evidence:
    """Publish a scale's results in a directory that is kept with the code"""
    input:
        [artifact.files() for artifact in ARTIFACTS.values()],
        rules.claims.output,
        rules.statistics.output,
        [f"{run.directory}/{file}" for run in RUNS.values() for file in outputs_of(CONFIGURATION, run.task)],
    log:
        f"{PATHS.logs}/publish_evidence.log",
    localrule: True
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    message:
        "Publishing the results of the scale {SETTINGS.scale} in {CONFIGURATION.published_in}"
    shell:
        f"{PYTHON}/publish_evidence.py 2> {{log:q}}"


rule article:
    """What the publications in docs/evidence found, as a manuscript: LaTeX and PDF, with pandoc and XeLaTeX"""
    input:
        [HERE / f"docs/evidence/{place}/ro-crate-metadata.json" for place in ("paper", "dtriv/paper", "evening")],
        [HERE / f"docs/evidence/{name}.md" for name in ("README", "PLAN", "CHANGES")],
        HERE / "CITATION.cff",
        map(str, PRINTED),
        HERE / "hidden_dynamics/publication/templates/article.md.j2",
    output:
        multiext(f"{SETTINGS.results}/article/article", ".tex", ".pdf"),
        f"{SETTINGS.results}/article/metadata.yaml",
    log:
        f"{SETTINGS.results}/article/made.log",
    localrule: True
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    params:
        made_by=code_digest("scripts.write_article.main"),
    message:
        "Writing the article: {output}"
    shell:
        f"{PYTHON}/write_article.py {shlex.quote(SETTINGS.results)}/article > {{log:q}} 2>&1"
