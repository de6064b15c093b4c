# Tables and figures, and a target for each by its name.


def table_input(wildcards):
    """A table of results is made from its summary, one of hyperparameters from the configuration alone."""
    return [f"{RESULTS}/summary/{wildcards.artifact}.csv"] if wildcards.artifact in RESULTS_TABLES else []


def figure_input(wildcards):
    """A figure of curves is made from its summary; the example of the copying task from the configuration alone."""
    if wildcards.artifact not in CURVES:
        return []
    return expand(f"{RESULTS}/summary/{wildcards.artifact}.{{part}}", part=["csv", "curves.csv"])


def published(wildcards):
    """The paper's numbers that an artifact shows beside ours."""
    name = CONFIGURATION.artifacts[wildcards.artifact].get("published")
    return [f"published/{name}"] if name else []


rule render_table:
    input:
        summary=table_input,
        published=published,
    output:
        expand(f"{RESULTS}/tables/{{{{artifact}}}}.{{form}}", form=["csv", "md", "tex"]),
        report(
            f"{RESULTS}/tables/{{artifact}}.html",
            category="Tables",
            labels={"table": "{artifact}", "scale": CONFIGURATION.scale_name},
            caption="../docs/report/table.rst",
        ),
    log:
        f"{RESULTS}/logs/render-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/render-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(TABLES),
    params:
        summary=lambda wildcards, input: f"--summary {input.summary}" if input.summary else "",
        stem=f"{RESULTS}/tables/{{artifact}}",
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.render_table.main"),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    conda:
        "../envs/render.yaml"
    message:
        "Rendering {wildcards.artifact}"
    shell:
        "python scripts/render_table.py --artifact {wildcards.artifact} {params.summary} --output {params.stem:q}"
        " > {log:q} 2>&1"


rule render_figure:
    input:
        summary=figure_input,
        published=published,
    output:
        f"{RESULTS}/figures/{{artifact}}.pdf",
        report(
            f"{RESULTS}/figures/{{artifact}}.png",
            category="Figures",
            labels={"figure": "{artifact}", "scale": CONFIGURATION.scale_name},
            caption="../docs/report/figure.rst",
        ),
    log:
        f"{RESULTS}/logs/render-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/render-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(FIGURES),
    params:
        data=lambda wildcards, input: "--summary {} --curves {}".format(*input.summary) if input.summary else "",
        stem=f"{RESULTS}/figures/{{artifact}}",
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.render_figure.main"),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    conda:
        "../envs/render.yaml"
    message:
        "Rendering {wildcards.artifact}"
    shell:
        "python scripts/render_figure.py --artifact {wildcards.artifact} {params.data} --output {params.stem:q}"
        " > {log:q} 2>&1"


for name in CONFIGURATION.artifacts:

    rule:
        name:
            name
        localrule: True
        input:
            artifact_files(name),
