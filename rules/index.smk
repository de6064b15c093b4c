# One page that shows everything of a scale.


rule render_index:
    input:
        artifacts=[file for name in CONFIGURATION.artifacts for file in artifact_files(name)],
        curves=expand(f"{RESULTS}/summary/{{artifact}}.curves.csv", artifact=CURVES),
        claims=f"{RESULTS}/claims.csv",
        runs=f"{RESULTS}/summary/runs.csv",
        records=[f"{run.directory}/run.json" for run in RUNS.values()],
        page=expand("hidden_dynamics/rendering/index/page.{part}", part=["html.j2", "css", "js"]),
    output:
        f"{RESULTS}/index.html",
    log:
        f"{RESULTS}/logs/render_index.log",
    benchmark:
        f"{RESULTS}/logs/render_index.tsv"
    conda:
        "../envs/render.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        meaning=meaning_of("index", "scripts.render_index.main"),
    message:
        "Rendering the page of everything"
    shell:
        "python scripts/render_index.py --claims {input.claims:q} --output {output:q} > {log:q} 2>&1"


rule index:
    input:
        f"{RESULTS}/index.html",
    localrule: True
