"""The digests that say which tables and figures a change of the configuration makes again."""

from dataclasses import replace

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.configured import configured as digest


def digests(configuration):
    return {name: digest(configuration, artifact) for name, artifact in load_artifacts(configuration).items()}


def differing(configuration, changed):
    """The artifacts that are made again; everything together always is."""
    assert digest(configuration) != digest(changed)
    before, after = digests(configuration), digests(changed)
    return {name for name in before if before[name] != after[name]}


def test_a_change_makes_again_what_shows_it(configured):
    demo = configured(scale="demo", overrides={})
    shown = {name: {(cell.task, cell.model) for cell in one.cases()} for name, one in load_artifacts(demo).items()}
    without = {name for name, cells in shown.items() if not cells}  # of settings, of claims: they may show any model
    assert differing(demo, configured(scale="demo", overrides={}, seeds=[0, 7])) == set(shown)
    variants = demo.variants | {"mine": demo.variants["series_folds"]}
    assert differing(demo, replace(demo, variants=variants)) == set(shown)
    models = demo.models | {"mine": demo.models["lstm"].model_copy(update={"label": "Mine"})}
    assert differing(demo, replace(demo, models=models)) == without
    tasks = demo.tasks | {"adding": demo.tasks["adding"].model_copy(update={"title": "Sums"})}
    of_adding = {name for name, cells in shown.items() if "adding" in {task for task, _ in cells}}
    of_all = {name for name, one in load_artifacts(demo).items() if not one.tasks()}
    assert differing(demo, replace(demo, tasks=tasks)) == of_adding | of_all
    place, table = demo.artifact_layers["momentumrnn_table1"][-1]
    layers = demo.artifact_layers | {"momentumrnn_table1": [(place, table | {"title": "Another"})]}
    assert differing(demo, replace(demo, artifact_layers=layers)) == {"momentumrnn_table1"}
