# Tables and figures, and a target for each by its name.


rule render_table:
    input:
        unpack(sources_of),
        verdicts=verdicts_of,
    output:
        expand(PATHS.table("{{artifact}}", "{form}"), form=["csv", "md", "tex"]),
        report(
            PATHS.table("{artifact}", "html"),
            category="Tables",
            subcategory=paper_of,
            labels=labels_of,
            caption="../docs/report/table.rst",
        ),
    log:
        f"{PATHS.logs}/render-{{artifact}}.log",
    benchmark:
        f"{PATHS.logs}/render-{{artifact}}.tsv"
    wildcard_constraints:
        artifact=names(TABLES),
    priority: SOON
    conda:
        "../envs/render.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        caption=caption_of,
        meaning=lambda wildcards: meaning(wildcards.artifact, "scripts.render.main"),
    message:
        "Rendering {wildcards.artifact}"
    shell:
        "python scripts/render.py --artifact {wildcards.artifact} > {log:q} 2>&1"


use rule render_table as render_figure with:
    input:
        unpack(sources_of),
    output:
        PATHS.figure("{artifact}", "pdf"),
        report(
            PATHS.figure("{artifact}", "png"),
            category="Figures",
            subcategory=paper_of,
            labels=labels_of,
            caption="../docs/report/figure.rst",
        ),
    wildcard_constraints:
        artifact=names(FIGURES),


for name, artifact in ARTIFACTS.items():

    rule:
        name:
            name
        input:
            artifact.files(),
        localrule: True
