"""Tables of hyperparameters: what is configured at a scale beside what is printed, and what is said of the rest."""

from typing import Any

import pytest
from drawn import artifact_at

from hidden_dynamics.artifacts.tables import Table, markdown

ROWS = {6: 21, 7: 21, 8: 13, 9: 13, 10: 13}  # by table: models on their tasks and sizes


def table_of(number: int, scale: str = "paper", **settings: Any) -> Table:
    artifact = artifact_at(scale, f"momentumrnn_table{number}", **settings)
    return artifact.draw(None)  # no sources: it is made of the configuration


@pytest.mark.parametrize("number", ROWS)
def test_at_scale_paper_nothing_differs_from_the_published_values(number):
    table = table_of(number)
    assert list(table.data["differs"]) == [""] * ROWS[number]
    assert "(published" not in table.frame.to_string()
    unpublished = (table.data["task"] == "ptb") & (number in (8, 9))  # Tables 8 and 9 have no row for it
    for name in ("optimiser", "learning_rate", "batch_size", "epochs"):
        assert list(table.data[f"published_{name}"].notna()) == list(~unpublished)
    orthogonal = table.data[table.data["model"].str.endswith("dtriv")]
    assert len(orthogonal) > 0
    for name in ("K", "initialisation", "orthogonal_optimiser", "orthogonal_learning_rate"):
        assert orthogonal[f"published_{name}"].notna().all()


def test_sizes_have_their_own_values():
    data = table_of(7).data
    rows = data[data["task"] == "pmnist_dtriv"].set_index("size")
    assert rows["K"].to_dict() == {170: 1, 360: "∞", 512: "∞"}
    assert rows["mu"].to_dict() == {170: 0.6, 360: 0.3, 512: 0.3}
    assert rows["learning_rate"].to_dict() == {170: 7e-4, 360: 7e-4, 512: 3e-4}
    assert rows["orthogonal_learning_rate"].to_dict() == {170: 2e-4, 360: 5e-5, 512: 7e-5}


def test_grids_are_not_in_the_tables_and_rows_are_of_models_at_sizes():
    table = table_of(7)
    assert not [task for task in table.data["task"] if task.endswith("ablation")]
    assert ("momentum_dtriv", 360) in table.rows and len(table.rows) == len(table.frame)


@pytest.mark.parametrize(
    ("number", "model", "cells"),
    [
        (6, "LSTM", {}),
        (7, "MomentumLSTM", {"μ": "0.0", "s": "0.6"}),
        (8, "AdamLSTM", {"μ": "0.6", "s": "0.6", "β": "0.999"}),
        (9, "RMSPropLSTM", {"μ": "0.0", "s": "0.6", "β": "0.999"}),
        (10, "SRLSTM", {"s": "0.6", "F": "2"}),
    ],
)
def test_the_row_of_the_language_model(number, model, cells):
    table = table_of(number)
    (row,) = [row for row in table.frame[""].to_dict("records") if row["Task"].startswith("PTB")]
    training = {"Optimiser": "SGD", "Learning rate": "30", "Batch size": "20", "Epochs": "500", "Clip norm": "0.25"}
    expected = {"Model": model, "Data": "Penn Treebank", "N": "1150", **training, **cells}
    assert {name: row[name] for name in expected} == expected
    not_printed = number in (8, 9)
    assert row["Task"] == (f"PTB (not in Table {number})" if not_printed else "PTB")
    said = f"Not in the paper's table, which gives none of their values (ours are a choice): {model} on PTB (N = 1150)."
    assert (said in table.notes) == not_printed
    assert sum("(not in" in task for task in table.frame["", "Task"]) == not_printed


def test_what_only_language_has_is_a_note_and_no_column():
    table = table_of(7)
    (note,) = [note for note in table.notes if note.startswith("PTB: embedding")]
    assert note == (
        "PTB: embedding 400; layers 3; dropout: embedding 0.1, input 0.4, layer 0.25, output 0.4, weight 0.5; steps of "
        "backpropagation 70; activation regularisation 2.0; temporal activation regularisation 1.0; weight decay "
        "0.0000012; averaging of the weights: metric validation_loss, nonmonotone 5; batch size of the evaluation: "
        "validation 10, test 1."
    )
    assert not {"embedding", "layers", "dropout"} & set(map(str.lower, table.frame[""]))
    row = table.data[table.data["task"] == "ptb"].iloc[0]
    assert row["details.embedding_size"] == row["published_details.embedding_size"] == 400
    assert row["details.dropouts.weight"] == 0.5 and row["details.averaging.nonmonotone"] == 5
    (unstated,) = [note for note in table.notes if note.startswith("Not stated")]
    assert "dropout, steps of backpropagation" in unstated and "layers" not in unstated


def test_a_note_marks_what_departs_and_whose_it_is():
    table = table_of(6, "demo")
    size = artifact_at("demo", "momentumrnn_table6").configuration.tasks["ptb"].hyperparameters["embedding_size"]
    assert any(f"PTB: embedding {size} (published 400); layers" in note for note in table.notes)
    assert "details.embedding_size" in table.data[table.data["task"] == "ptb"]["differs"].iloc[0].split()
    changes = {"momentum_lstm": {"hyperparameters": {"layers": 2, "dropouts": {"input": 0.0}}}}
    notes = table_of(7, overrides={"tasks": {"ptb": {"training": {"averaging": None}, "models": changes}}}).notes
    (note,) = [note for note in notes if note.startswith("PTB: embedding")]
    assert "layers 2 (published 3); dropout: embedding 0.1, input 0.0," in note
    assert "averaging of the weights none" in note


def test_models_that_differ_in_a_note_are_named():
    changes = {"ptb": {"models": {"momentum_lstm": {"hyperparameters": {"layers": 2}}}}}
    shown = {"momentumrnn_table7": {"models": ["lstm", "momentum_lstm", "sr_lstm"]}}
    notes = table_of(7, overrides={"tasks": changes, "artifacts": shown}).notes
    assert [note.partition(";")[0] for note in notes if note.startswith("PTB, ")] == [
        "PTB, LSTM, SRLSTM: embedding 400",
        "PTB, MomentumLSTM: embedding 400",
    ]


def test_tasks_that_stand_for_one_are_held_to_the_same_rows():
    overrides = {"tasks": {"timit_recall": {"models": {"momentum_lstm": {"hyperparameters": {"s": 0.2}}}}}}
    data = table_of(7, overrides=overrides).data
    assert list(data[data["task"] == "timit_recall"]["differs"]) == ["s"] * 3
    assert list(data[data["task"] == "timit"]["differs"]) == [""] * 3


def test_a_released_reading_is_what_the_row_has():
    table = table_of(7, readings={"orthogonal_speech_clipping": "released"})
    clipped = [row["clip_norm"] for row in table.data.to_dict("records") if row["task"].startswith("timit_dtriv")]
    assert clipped == [1.0] * 4


@pytest.mark.parametrize("number", ROWS)
def test_at_scale_demo_departures_are_marked(number):
    table, demo = table_of(number, "demo"), artifact_at("demo", f"momentumrnn_table{number}").configuration
    text = markdown(table)
    epochs = f"{demo.tasks['mnist'].training.epochs} (published 150)"
    for part in (epochs, "32 (published 128)", "blanks 20 (published 1000)", "length 50 (published 750)"):
        assert part in text
    assert "scikit-learn) (published MNIST)" in text and "departs" in table.title


def test_published_rows_that_are_not_configured_are_named():
    notes = " ".join(table_of(6).notes)
    assert "not configured yet: DTRIV on MNIST, N = 170 / MNIST, N = 360 / MNIST, N = 512." in notes


def test_a_changed_value_is_found_wherever_it_is():
    restart = {"sr_lstm": {"by_size": {128: {"hyperparameters": {"restart": 7}}}}}
    table = table_of(10, overrides={"tasks": {"pmnist": {"training": {"clip_norm": None}, "models": restart}}})
    assert list(table.data["differs"]) == ["", "", "restart clip_norm", "clip_norm"] + [""] * 9
    assert "7 (published 6)" in set(table.frame["", "F"])
    assert "none (published 1)" in set(table.frame["", "Clip norm"])
