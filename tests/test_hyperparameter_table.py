"""Tables of hyperparameters: what is configured at a scale beside what is printed, and what is said of the rest."""

from typing import Any

import pytest
from approved import approved
from drawn import artifact_at

from hidden_dynamics.artifacts.kinds.hyperparameter_table import Row
from hidden_dynamics.artifacts.tables import Table, markdown

ROWS = {6: 24, 7: 21, 8: 13, 9: 13, 10: 13}  # by table: models on their tasks and sizes


def table_of(number: int, scale: str = "paper", **settings: Any) -> Table:
    artifact = artifact_at(scale, f"momentumrnn_table{number}", **settings)
    return artifact.draw(None)  # no sources: it is made of the configuration


@pytest.mark.parametrize("number", ROWS)
def test_at_scale_paper_nothing_differs_from_the_published_values(number):
    """The language model has a row in each table, and a note of its own; two of the paper's tables have none for it."""
    table = table_of(number)
    approved(f"momentumrnn_table{number}.md", markdown(table))
    assert list(table.data["differs"]) == [""] * ROWS[number]
    assert not [task for task in table.data["task"] if "ablation" in task]
    unpublished = (table.data["task"] == "ptb") & (number in (8, 9))  # Tables 8 and 9 have no row for it
    for name in ("optimiser", "learning_rate", "batch_size", "epochs"):
        assert list(table.data[f"published_{name}"].notna()) == list(~unpublished)
    orthogonal = table.data[table.data["model"].str.endswith("dtriv")]
    assert len(orthogonal) > 0
    for name in ("K", "initialisation", "orthogonal_optimiser", "orthogonal_learning_rate"):
        assert orthogonal[f"published_{name}"].notna().all()


def test_a_note_marks_what_deviates_and_whose_it_is():
    table = table_of(6, "demo")
    size = artifact_at("demo", "momentumrnn_table6").configuration.tasks["ptb"].hyperparameters["embedding_size"]
    (note,) = [note for note in table.notes if note.startswith("PTB, LSTM: ")]
    assert f"; embedding size {size} (published 400); layers" in note
    assert "embedding_size" in table.data[table.data["task"] == "ptb"]["differs"].iloc[0].split()
    changes = {"momentum_lstm": {"hyperparameters": {"layers": 2, "dropouts": {"input": 0.0}}}}
    notes = table_of(7, overrides={"tasks": {"ptb": {"training": {"averaging": None}, "models": changes}}}).notes
    (note,) = [note for note in notes if note.startswith("PTB, MomentumLSTM: ")]
    assert "layers 2 (published 3); dropouts, embedding 0.1; dropouts, input 0.0;" in note
    assert "averaging none" in note


def test_a_printed_row_that_is_not_configured_is_named():
    assert not [note for note in table_of(6).notes if "not configured" in note]
    fewer = {"dtriv": {"sizes": [170]}}
    notes = table_of(6, overrides={"tasks": {"mnist_dtriv": {"models": fewer}}}).notes
    assert "Printed, and not configured here: MNIST, DTRIV, N = 360; MNIST, DTRIV, N = 512." in notes


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


def of_forecasts(scale: str = "paper", **settings: Any) -> Table:
    return artifact_at(scale, "acenode_hyperparameters", **settings).draw(None)


def test_a_table_beside_a_text_and_scripts_is_as_approved():
    table = of_forecasts()
    approved("acenode_hyperparameters.md", markdown(table))
    assert set(table.data["differs"]) == {""} and len(table.frame) == 9
    data = table.data.set_index("model")
    ace_node = data.loc["ace_gru_ode_bayes"]
    assert (ace_node["penalty"], ace_node["published_penalty"], ace_node["released_penalty"]) == (0.01, 0.01, 0.1)
    assert data.loc["augmented_gru_ode_bayes", "published_augmented"] == 5
    assert (
        ace_node["delta"] == ace_node["released_delta"] == 0.25 and data.loc["gru_ode_bayes", "released_delta"] == 0.1
    )
    with_scripts = data["released_size"].notna()
    assert set(data.index[with_scripts]) == {"gru_ode_bayes", "ace_gru_ode_bayes"} and "published_size" not in data


def test_the_released_variant_is_as_the_scripts_and_otherwise_than_the_text():
    table = of_forecasts(variants={"default": "released"})
    data = table.data.set_index("model")
    assert data.loc["ace_gru_ode_bayes", "differs"] == "penalty attention"
    assert "0.1 (published 0.01)" in set(table.frame["", "λ"])
