"""Tables of hyperparameters: what is configured at a scale beside what is printed, and what is said of the rest."""

from typing import Any

import pytest
from approved import approved
from drawn import artifact_at
from made import evidence_of

from hidden_dynamics.artifacts.kinds.hyperparameter_table import Row
from hidden_dynamics.artifacts.tables import Table, markdown

ROWS = {6: 24, 7: 21, 8: 13, 9: 13, 10: 13}  # by table: models on their tasks and sizes


def table_of(number: int | None, scale: str = "paper", **settings: Any) -> Table:
    """Of MomentumRNN's tables, or that of ACE-NODE's forecasts."""
    name = f"momentumrnn_table{number}" if number else "acenode_hyperparameters"
    artifact = artifact_at(scale, name, **settings)
    return artifact.draw(evidence_of(artifact))


@pytest.mark.parametrize("number", ROWS)
def test_at_scale_paper_nothing_differs_from_the_published_values(number):
    """The language model has a row in each table; two of the paper's tables have none for it."""
    table = table_of(number)
    if number == 7:
        approved("momentumrnn_table7.md", markdown(table))
    assert list(table.data["differs"]) == [""] * ROWS[number]
    assert not [task for task in table.data["task"] if "ablation" in task]
    unpublished = (table.data["task"] == "ptb") & (number in (8, 9))  # Tables 8 and 9 have no row for it
    for name in ("optimiser", "learning_rate", "batch_size", "epochs"):
        assert list(table.data[f"published_{name}"].notna()) == list(~unpublished)
    orthogonal = table.data[table.data["model"].str.endswith("dtriv")]
    assert len(orthogonal) > 0
    for name in ("K", "initialisation", "orthogonal_optimiser", "orthogonal_learning_rate"):
        assert orthogonal[f"published_{name}"].notna().all()


def other(table: Table, task: str) -> str:
    """What the first row of a task says of the settings that few tasks have."""
    return table.frame["", "Other"].iloc[list(table.data["task"]).index(task)]


def test_what_few_tasks_have_shares_a_column_and_marks_what_deviates():
    table = table_of(6, "demo")
    size = artifact_at("demo", "momentumrnn_table6").configuration.tasks["ptb"].hyperparameters["embedding_size"]
    assert f"; embedding size {size} (published 400); layers" in other(table, "ptb")
    assert "embedding_size" in table.data[table.data["task"] == "ptb"]["differs"].iloc[0].split()
    changes = {"momentum_lstm": {"hyperparameters": {"layers": 2, "dropouts": {"input": 0.0}}}}
    text = other(table_of(7, overrides={"tasks": {"ptb": {"training": {"averaging": None}, "models": changes}}}), "ptb")
    assert "layers 2 (published 3); dropouts embedding 0.1; dropouts input 0.0;" in text and "averaging none" in text


@pytest.mark.parametrize(("sizes", "lacking"), [([170], True), ([170, 360, 512], False)])
def test_a_printed_row_that_is_not_configured_is_named(sizes, lacking):
    notes = table_of(6, overrides={"tasks": {"mnist_dtriv": {"models": {"dtriv": {"sizes": sizes}}}}}).notes
    assert any("MNIST, DTRIV, N = 360; MNIST, DTRIV, N = 512." in note for note in notes) == lacking


def test_what_is_published_and_not_configured_differs():
    row = Row(None, {}, {"alpha": 0.9, "optimiser": "adam"}, {"alpha": 0.9, "beta": 0.1, "optimiser": "Adam"}, {})
    assert row.differing == ["beta"] and row.text("beta") == "– (published 0.1)" and row.text("optimiser") == "adam"


def test_a_released_variant_is_what_the_row_has_and_tasks_that_stand_for_one_have_the_same_rows():
    overrides = {"tasks": {"timit_recall": {"models": {"momentum_lstm": {"hyperparameters": {"s": 0.2}}}}}}
    table = table_of(7, variants={"orthogonal_speech_clipping": "released"}, overrides=overrides)
    clipped = [row["clip_norm"] for row in table.data.to_dict("records") if row["task"].startswith("timit_dtriv")]
    assert clipped == [1.0] * 4
    differs = {task: list(rows["differs"]) for task, rows in table.data.groupby("task")}
    assert (differs["timit_recall"], differs["timit"]) == (["s"] * 3, [""] * 3)  # tasks that stand for one


# The models of ACE-NODE's Table 6: what the text says, and what the authors' scripts alone do


def test_a_text_and_scripts_stand_beside_what_is_configured():
    table = table_of(None)
    assert set(table.data["differs"]) == {""} and len(table.frame) == 9
    data = table.data.set_index("model")
    ace_node = data.loc["ace_gru_ode_bayes"]
    assert (ace_node["penalty"], ace_node["published_penalty"], ace_node["released_penalty"]) == (0.01, 0.01, 0.1)
    assert data.loc["augmented_gru_ode_bayes", "published_augmented"] == 5
    assert ace_node["delta"] == ace_node["released_delta"] == 0.25
    assert data.loc["gru_ode_bayes", "released_delta"] == 0.1
    with_scripts = data["released_size"].notna()
    assert set(data.index[with_scripts]) == {"gru_ode_bayes", "ace_gru_ode_bayes"} and "published_size" not in data
    stated = data[with_scripts]
    assert all((stated[name] == stated[f"released_{name}"]).all() for name in ("size", "prep", "mixing"))
    for name in ("augmented", "penalty", "attention"):  # no other model has one
        assert (data[name].notna() == data[f"published_{name}"].notna()).all()


def test_the_released_variant_is_as_the_scripts_and_otherwise_than_the_text():
    table = table_of(None, variants={"default": "released"})
    data = table.data.set_index("model")
    assert data.loc["ace_gru_ode_bayes", "differs"] == "penalty attention"
    assert "0.1 (published 0.01)" in set(table.frame["", "λ"])
