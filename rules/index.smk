# One page that shows everything of a scale: tables and figures as they were rendered.


rule index:
    """The page with all tables, figures and claims"""
    input:
        rendered=[file for artifact in ARTIFACTS.values() for file in artifact.files()],
        claims=PATHS.verdicts,
        summaries=SUMMARIES,
        templates=sorted(map(str, (HERE / "hidden_dynamics/pages/templates").iterdir())),
    output:
        report(PATHS.index, category="Everything", labels={"target": "index", "title": "All on one page"}),
    log:
        f"{PATHS.logs}/render_index.log",
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.render_index.main")],
    message:
        "Rendering the page of everything: {output}"
    shell:
        f"{PYTHON}/render_index.py > {{log:q}} 2>&1"
