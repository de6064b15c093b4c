# A rule for each table and figure, by its name.

for name, artifact in ARTIFACTS.items():

    rule:
        name:
            name
        input:
            unpack(lambda wildcards, artifact=artifact: sources_of(artifact)),
        output:
            with_marks(artifact),
        log:
            f"{PATHS.logs}/{name}.log",
        priority: SOON
        conda:
            "../envs/light.yaml"
        resources:
            **LIGHT,
        params:
            artifact=name,
            made_by=lambda wildcards, name=name: made_by(name),
        message:
            f"Rendering {name}: {' '.join(shown(artifact))}"
        shell:
            f"{PYTHON}/render.py --artifact {{params.artifact}} > {{log:q}} 2>&1"

    describe(name, artifact.settings.heading)


for name in sorted(CONFIGURATION.artifacts.keys() - ARTIFACTS.keys()):

    rule:
        name:
            name
        input:
            lambda wildcards, name=name: refuse(name),

    describe(name, "It has nothing to show at this scale")


# Snakemake takes for a file what is no rule's name. A word that is no file here, either, ends here, with the target that was
# probably meant.
rule no_such_target:
    """Says what a misspelt target may have meant"""
    input:
        lambda wildcards: refuse_unknown(wildcards.target),
    output:
        "{target}",
    wildcard_constraints:
        target=rf"(?!(?:{names(re.escape(path.name) for path in Path().iterdir())})$)\w+",
    localrule: True
