# Verdicts on the papers' claims, table by table and figure by figure, and the page of all of them.


rule judge_claims:
    input:
        summary=summary_of,
        costs=costs_of,
        features=features_of,
        details=details_of,  # curves are read too: the summary is as new as they are
        published=published,
    output:
        f"{RESULTS}/claims/{{artifact}}.csv",
    log:
        f"{RESULTS}/logs/judge_claims-{{artifact}}.log",
    benchmark:
        f"{RESULTS}/logs/judge_claims-{{artifact}}.tsv"
    wildcard_constraints:
        artifact="|".join(CLAIMED),
    priority: 50  # as soon as it can be made: jobs that are ready and wait cost the scheduler time
    conda:
        "../envs/claims.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        summary=lambda wildcards, input: option("summary", input.summary),
        costs=lambda wildcards, input: option("costs", input.costs),
        features=lambda wildcards, input: option("features", input.features),
        claims=lambda wildcards: json.dumps(claim_entries.stated(wildcards.artifact)),
        meaning=lambda wildcards: meaning_of(wildcards.artifact, "scripts.judge_claims.main"),
    message:
        "Judging the claims that rest on {wildcards.artifact}"
    shell:
        "python scripts/judge_claims.py --artifact {wildcards.artifact} {params.summary} {params.costs}"
        " {params.features} --output {output:q} > {log:q} 2>&1"


rule render_claims:
    input:
        expand(f"{RESULTS}/claims/{{artifact}}.csv", artifact=CLAIMED),
    output:
        f"{RESULTS}/claims.csv",
        f"{RESULTS}/claims.md",
        report(
            f"{RESULTS}/claims.html",
            category="Claims",
            labels={"page": "verdicts", "scale": CONFIGURATION.scale_name},
            caption="../docs/report/claims.rst",
        ),
    log:
        f"{RESULTS}/logs/render_claims.log",
    benchmark:
        f"{RESULTS}/logs/render_claims.tsv"
    priority: 50
    conda:
        "../envs/claims.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        stem=lambda wildcards, output: output[0].removesuffix(".csv"),
        meaning=meaning_of("claims", "scripts.render_claims.main"),
    message:
        "Rendering the verdicts on all claims"
    shell:
        "python scripts/render_claims.py --claims {input:q} --output {params.stem:q} > {log:q} 2>&1"


rule claims:
    input:
        rules.render_claims.output,
    localrule: True
