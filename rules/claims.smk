# Verdicts on the papers' claims, table by table and figure by figure, and all of them together.


rule judge_claims:
    input:
        unpack(sources_of),
    output:
        PATHS.verdicts("{artifact}"),
    log:
        f"{PATHS.logs}/judge_claims-{{artifact}}.log",
    benchmark:
        f"{PATHS.logs}/judge_claims-{{artifact}}.tsv"
    wildcard_constraints:
        artifact=names(CLAIMED),
    priority: SOON
    conda:
        "../envs/claims.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        claims=lambda wildcards: json.dumps(stated(wildcards.artifact)),
        meaning=lambda wildcards: meaning(wildcards.artifact, "scripts.judge_claims.main"),
    message:
        "Judging the claims that rest on {wildcards.artifact}"
    shell:
        "python scripts/judge_claims.py --artifact {wildcards.artifact} > {log:q} 2>&1"


rule render_claims:
    input:
        [PATHS.verdicts(name) for name in CLAIMED],
    output:
        PATHS.all_verdicts("csv"),
        report(
            PATHS.all_verdicts("md"),
            category="Claims",
            labels={"page": "verdicts", "scale": SETTINGS.scale},
            caption="../docs/report/claims.rst",
        ),
    log:
        f"{PATHS.logs}/render_claims.log",
    benchmark:
        f"{PATHS.logs}/render_claims.tsv"
    priority: SOON
    conda:
        "../envs/summarise.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        claims=json.dumps([entry.given() for entry in load_claims().of_others]),
        directions=SCALE.directions,
        meaning=meaning_of_all(CONFIGURATION, ["scripts.render_claims.main"]),
    message:
        "Gathering the verdicts on all claims"
    shell:
        "python scripts/render_claims.py > {log:q} 2>&1"


rule claims:
    input:
        rules.render_claims.output,
    localrule: True
