# The verdicts on all the papers' claims together; each is judged where the table or figure that it rests on is made.


rule render_claims:
    """What claims asks for"""
    input:
        [PATHS.verdicts(name) for name in CLAIMED],
        "published/claims.yaml",
    output:
        PATHS.all_verdicts,
    log:
        f"{PATHS.logs}/render_claims.log",
    priority: SOON
    conda:
        "../envs/light.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.render_claims.main")],
    message:
        "Gathering the verdicts on all claims: {output}"
    shell:
        "python scripts/render_claims.py > {log:q} 2>&1"


rule claims:
    """The verdicts on all claims, as one table"""
    input:
        rules.render_claims.output,
    localrule: True
