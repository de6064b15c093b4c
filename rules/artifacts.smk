# A rule for each table and figure, by its name: it judges the claims and draws, in one process.

for name, artifact in ARTIFACTS.items():

    rule:
        name:
            name
        input:
            unpack(lambda wildcards, artifact=artifact: sources_of(artifact)),
        output:
            [PATHS.verdicts(name)] if name in CLAIMED else [],
            artifact.files()[:-1],
            report(
                artifact.files()[-1],
                category=f"{artifact.form.title()}s",
                subcategory=artifact.paper_title,
                labels=labels_of(artifact),
                caption=f"../docs/report/{artifact.form}.rst",
            ),
        log:
            f"{PATHS.logs}/{name}.log",
        benchmark:
            f"{PATHS.logs}/{name}.tsv"
        priority: SOON
        conda:
            "../envs/render.yaml"
        threads: 1
        resources:
            **LIGHT,
        params:
            artifact=name,
            caption=lambda wildcards, artifact=artifact: caption_of(artifact),
            meaning=lambda wildcards, name=name: meaning(name),
        message:
            "Rendering {params.artifact}"
        shell:
            "python scripts/render.py --artifact {params.artifact} > {log:q} 2>&1"
