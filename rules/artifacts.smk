# A rule for each table and figure, by its name: it judges the claims and draws, in one process.

for name, artifact in ARTIFACTS.items():

    rule:
        name:
            name
        input:
            unpack(lambda wildcards, artifact=artifact: sources_of(artifact)),
        output:
            [PATHS.verdicts(name)] if name in CLAIMED else [],
            artifact.files(),
        log:
            f"{PATHS.logs}/{name}.log",
        priority: SOON
        conda:
            "../envs/light.yaml"
        threads: 1
        resources:
            **LIGHT,
        params:
            artifact=name,
            made_by=lambda wildcards, name=name: made_by(name),
        message:
            "Rendering {params.artifact}"
        shell:
            "python scripts/render.py --artifact {params.artifact} > {log:q} 2>&1"


for name in sorted(CONFIGURATION.artifacts.keys() - ARTIFACTS.keys()):

    rule:
        name:
            name
        input:
            lambda wildcards, name=name: refuse(name),
