# The verdicts on the papers' headline claims.


rule claims:
    """The verdicts on the papers' headline claims"""
    input:
        CLAIMED,
        map(str, PRINTED),
    output:
        PATHS.verdicts,
    log:
        f"{PATHS.logs}/render_claims.log",
    priority: SOON
    conda:
        "../envs/light.yaml"
    resources:
        **LIGHT,
    params:
        made_by=[CONFIGURED, code_digest("scripts.render_claims.main")],
    message:
        "Judging the papers' claims: {output}"
    shell:
        f"{PYTHON}/render_claims.py > {{log:q}} 2>&1"
