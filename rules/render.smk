# Tables and figures, and a target for each by its name.


rule render_table:
    input:
        summary=summary_of,
        costs=costs_of,
        features=features_of,
        details=details_of,
        claims=verdicts_of,
        published=published,
    output:
        expand(f"{RESULTS}/tables/{{{{artifact}}}}.{{form}}", form=["csv", "md", "tex"]),
        report(
            f"{RESULTS}/tables/{{artifact}}.html",
            category="Tables",
            subcategory=paper_of,
            labels=labels_of,
            caption="../docs/report/table.rst",
        ),
    log:
        f"{RESULTS}/logs/render-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/render-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(TABLES),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/render.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        caption=caption_of,
        summary=lambda wildcards, input: option("summary", input.summary),
        costs=lambda wildcards, input: option("costs", input.costs),
        features=lambda wildcards, input: option("features", input.features),
        claims=lambda wildcards, input: option("claims", input.claims),
        stem=f"{RESULTS}/tables/{{artifact}}",
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.render_table.main"),
    message:
        "Rendering {wildcards.artifact}"
    shell:
        "python scripts/render_table.py --artifact {wildcards.artifact} {params.summary} {params.costs}"
        " {params.features} {params.claims} --output {params.stem:q} > {log:q} 2>&1"


rule render_figure:
    input:
        summary=summary_of,
        curves=curves_of,
        features=features_of,
        embeddings=embeddings_of,
        details=details_of,
        published=published,
    output:
        f"{RESULTS}/figures/{{artifact}}.pdf",
        report(
            f"{RESULTS}/figures/{{artifact}}.png",
            category="Figures",
            subcategory=paper_of,
            labels=labels_of,
            caption="../docs/report/figure.rst",
        ),
    log:
        f"{RESULTS}/logs/render-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/render-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(FIGURES),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/render.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        caption=caption_of,
        summary=lambda wildcards, input: option("summary", input.summary),
        curves=lambda wildcards, input: option("curves", input.curves),
        features=lambda wildcards, input: option("features", input.features),
        stem=f"{RESULTS}/figures/{{artifact}}",
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.render_figure.main"),
    message:
        "Rendering {wildcards.artifact}"
    shell:
        "python scripts/render_figure.py --artifact {wildcards.artifact} {params.summary} {params.curves}"
        " {params.features} --output {params.stem:q} > {log:q} 2>&1"


for name in CONFIGURATION.artifacts:

    rule:
        name:
            name
        input:
            artifact_files(name),
        localrule: True
