"""Tables of results: what they say of made-up runs, computed here by hand."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from drawn import artifact_at
from made import row_of, sources_of

from hidden_dynamics.artifacts.notes import readings_note
from hidden_dynamics.artifacts.tables import Table
from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.errors import UserError

MNIST = "momentumrnn_table11"


def row(
    model: str = "lstm", value: float | None = 0.9, artifact: Any = None, task: str = "", size: Any = None, **about
) -> dict[str, str]:
    """A run's row of a summary: by default of the artifact's first task, at the first size of its model.

    Args:
        value: of the metric that the run reports; None where it diverged before its first evaluation.
        about: a seed, columns of the row, and `also`: other metrics of the reported evaluation.
    """
    artifact = artifact or artifact_at("paper", MNIST)
    task = task or artifact.settings.tasks[0]
    size = size or next(cell.size for cell in artifact.shown() if (cell.task, cell.model) == (task, model))
    run = resolve(artifact.configuration, task, model, size, about.pop("seed", 0))
    measured = {run.spec["training"]["report"]["metric"]: value} | about.pop("also", {})
    evaluations = [] if value is None else [{"iteration": 10, "epoch": 1.0, **measured}]
    made = row_of(
        artifact.configuration, run, artifact.name, evaluations=evaluations, diverged_at=91 if value is None else None
    )
    return made | about


def drawn(rows: list[dict[str, str]], artifact: Any = None) -> Table:
    artifact = artifact or artifact_at("paper", MNIST)
    return artifact.draw(sources_of(artifact, summary=rows))


def cells(table: Table, label: str, group: str = "MNIST", size: str = "") -> dict[str, str]:
    """A row's cells in a group of columns and in the one without a name, by their names."""
    rows = [r for r in table.frame.to_dict("records") if r["", "Model"] == label and size in ("", r["", "N"])]
    assert len(rows) == 1
    return {name: text for (of, name), text in rows[0].items() if of in ("", group)}


def record(table: Table, model: str, task: str = "mnist") -> dict[str, Any]:
    return next(r for r in table.data.to_dict("records") if (r["model"], r["task"]) == (model, task))


def groups(table: Table) -> list[str]:
    return list(dict.fromkeys(group for group, _ in table.frame))


def test_mean_and_sample_standard_deviation():
    table = drawn([row(value=value, seed=seed) for seed, value in enumerate((0.9, 0.92, 0.97))])
    # mean 93; deviations -3, -1, 4; sum of squares 26; 26 / 2 = 13
    ours = record(table, "lstm")
    assert (ours["mean"], ours["std"], ours["n"]) == (pytest.approx(93), pytest.approx(math.sqrt(13)), 3)
    assert cells(table, "LSTM")["ours"] == "93.00 ± 3.61 (n = 3)"


def test_one_seed_has_no_standard_deviation():
    table = drawn([row()])
    assert cells(table, "LSTM")["ours"] == "90.00 ± – (n = 1)"
    assert math.isnan(record(table, "lstm")["std"])


def test_diverged_runs_are_counted_and_not_averaged():
    late = row(value=0.1, seed=3, status="diverged", diverged_at="91")
    table = drawn([row(), row(value=0.94, seed=1), row(value=None, seed=2), late, row("sr_lstm", None)])
    assert cells(table, "LSTM")["ours"] == "92.00 ± 2.83 (n = 2; diverged 2 of 4)"
    sr = cells(table, "SRLSTM")
    assert (sr["ours"], sr["difference"], sr["rank (published)"]) == ("diverged 1 of 1", "–", "–")
    assert "SRLSTM, seed 0: the loss was not finite at iteration 91" in " ".join(table.notes)


def test_nothing_but_diverged_runs():
    table = drawn([row(value=None)])
    assert cells(table, "LSTM")["ours"] == "diverged 1 of 1"
    assert any(note.endswith("over n seeds of what a run reports.") for note in table.notes)


def test_difference_is_to_the_published_mean_or_the_best_of_the_literature():
    table = drawn([row(value=0.99), row("momentum_lstm", 0.98)])
    lstm, momentum = cells(table, "LSTM"), cells(table, "MomentumLSTM")
    assert (lstm["published"], lstm["difference"]) == ("98.70 [22]; 97.30 [60]", "+0.30")  # 99 - 98.70
    assert (momentum["published"], momentum["difference"]) == ("99.04 ± 0.04", "−1.04")
    assert any("[22] Helfrich" in note and "highest" in note for note in table.notes)


def test_what_rounds_to_nothing_has_no_sign():
    assert cells(drawn([row(value=0.98698)]), "LSTM")["difference"] == "0.00"


def test_ordering_against_the_baseline():
    values = {"lstm": 0.95, "momentum_lstm": 0.96, "adam_lstm": 0.94, "rmsprop_lstm": 0.95}
    table = drawn([row(*pair) for pair in values.items()])
    # published: 99.04, 98.98 and 99.09 against the literature's best, 98.70
    assert {
        label: cells(table, label)["against LSTM"] for label in ("MomentumLSTM", "AdamLSTM", "RMSPropLSTM", "LSTM")
    } == {
        "MomentumLSTM": "holds +1.00 (+0.34)",
        "AdamLSTM": "fails −1.00 (+0.28)",
        "RMSPropLSTM": "tied 0.00 (+0.39)",
        "LSTM": "–",
    }


def test_rank_is_among_rows_that_have_both_numbers():
    table = drawn([row(value=0.95), row("momentum_lstm", 0.96), row("rmsprop_lstm", 0.955)])
    # published: RMSProp 99.09, Momentum 99.04, LSTM 98.70; Adam and SR were not run
    ranks = {label: cells(table, label)["rank (published)"] for label in table.frame["", "Model"]}
    assert ranks == {
        "LSTM": "3 (3) of 3",
        "MomentumLSTM": "1 (2) of 3",
        "AdamLSTM": "–",
        "RMSPropLSTM": "2 (1) of 3",
        "SRLSTM": "–",
    }


def test_rows_of_another_size_are_not_compared():
    artifact = artifact_at("paper", "momentumrnn_table1")
    runs = [("lstm", 0.95, 128), ("lstm", 0.99, 256), ("adam_lstm", 0.97, 256)]
    table = drawn([row(model, value, artifact, size=size) for model, value, size in runs], artifact)
    adam = cells(table, "AdamLSTM")
    assert adam["against LSTM"] == "fails −2.00 (+0.19)"  # 99.09 - 98.90
    assert adam["rank (published)"] == "2 (1) of 2"


def test_rows_without_runs_stay_in_the_papers_order():
    table = drawn([row("sr_lstm")])
    assert list(table.frame["", "Model"]) == ["LSTM", "MomentumLSTM", "AdamLSTM", "RMSPropLSTM", "SRLSTM"]
    assert [cells(table, label)["ours"] for label in ("MomentumLSTM", "SRLSTM")] == ["–", "90.00 ± – (n = 1)"]
    assert cells(table, "SRLSTM")["against LSTM"] == cells(table, "SRLSTM", "PMNIST")["ours"] == "–"


def test_models_of_the_users_own_stand_below():
    own = row(value=0.97, model="lstm") | {"model": "my_lstm", "label": "MyLSTM"}
    table = drawn([own, row(value=0.95)])
    mine = cells(table, "MyLSTM")
    assert list(table.frame["", "Model"])[-1] == "MyLSTM" and table.rows[-1] == ("my_lstm", 128)
    assert (mine["published"], mine["against LSTM"], mine["rank (published)"]) == ("–", "+2.00", "–")
    assert cells(table, "LSTM")["rank (published)"] == "1 (1) of 1"
    assert table.notes[-1].endswith("MyLSTM.")


def test_rows_and_columns_lead_to_runs():
    table = drawn([row()])
    assert table.rows[0] == ("lstm", 128) and len(table.rows) == len(table.frame)
    assert table.ours == {("MNIST", "ours"): "mnist", ("PMNIST", "ours"): "pmnist"}


def test_verdicts_stand_beside_the_sign_of_the_means_where_any_was_judged():
    artifact, rows = artifact_at("paper", MNIST), [row(value=0.9), row("momentum_lstm", 0.95)]
    about = {"kind": "better", "task": "mnist", "metric": "test_accuracy", "against_table": "false"}
    verdict = about | {"subject": "momentum_lstm-n128", "reference": "lstm-n128", "verdict": "inconclusive"}
    plain = drawn(rows, artifact)
    sources = replace(sources_of(artifact), verdicts=(verdict,))
    vars(sources)["summary"] = rows
    marked = artifact.draw(sources)
    assert cells(marked, "MomentumLSTM")["verdict"] == "inconclusive" and cells(marked, "LSTM")["verdict"] == "–"
    assert ("PMNIST", "verdict") not in marked.frame and ("MNIST", "verdict") not in plain.frame
    assert sum("a gap that holds can be inconclusive" in note for note in marked.notes) == 1


def test_stand_in_data_are_named_and_not_compared():
    demo = artifact_at("demo", MNIST)
    table = drawn([row(value=0.95, artifact=demo), row("momentum_lstm", 0.96, demo)], demo)
    group = next(name for name in groups(table) if name.endswith("standing in for MNIST (task MNIST)"))
    assert group.startswith("Digits 8x8") and "demo scale, stand-in data: not comparable" in table.title
    momentum = cells(table, "MomentumLSTM", group)
    assert (momentum["difference"], momentum["against LSTM"]) == ("–", "holds +1.00 (+0.34)")
    assert (momentum["N"], momentum["Published parameters"]) == ("32 (paper: 128)", "≈68K (N = 128)")


def test_a_dataset_of_the_users_own_is_a_stand_in_too():
    table = drawn([row(dataset="fashion", dataset_title="Fashion")])
    assert "Fashion, standing in for MNIST (task MNIST)" in groups(table) and "not comparable" in table.title


def test_another_size_is_shown_and_not_compared():
    lstm = cells(drawn([row(size=128) | {"size": "32", "parameters": "4938"}]), "LSTM")
    assert (lstm["N"], lstm["Parameters"], lstm["difference"]) == ("32 (paper: 128)", "4,938", "–")


def test_the_face_says_scale_data_seeds_readings_device_and_overrides():
    artifact = artifact_at("paper", MNIST, overrides={"tasks": {"mnist": {"training": {"epochs": 2}}}})
    notes = " ".join(drawn([row(), row(seed=3, device="NVIDIA H200")], artifact).notes)
    for part in (
        "Scale: paper",
        "MNIST: MNIST",
        "Seeds: 0, 3.",
        "NVIDIA H200; cpu",
        "published (forget_fill)",
        "epochs",
    ):
        assert part in notes


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"artifact": "momentumrnn_table1"}, "artifact"),
        ({"scale": "demo"}, "scale"),
        ({"metric": "train_loss"}, "metric"),
        ({"measured": ""}, "measured"),
        ({"measured": '{"test_accuracy": null}'}, "measured"),
        ({"measured": '{"test_accuracy": NaN}'}, "measured"),
    ],
)
def test_a_summary_of_something_else_is_refused(change, column):
    with pytest.raises(UserError) as error:
        drawn([row() | change])
    assert error.value.key == column and error.value.file.endswith("summary/momentumrnn_table11.csv")


def test_runs_of_different_make_are_not_averaged():
    with pytest.raises(UserError) as error:
        drawn([row(), row(seed=1, parameters="1")])
    assert error.value.key == "parameters"


def test_a_summary_without_runs_is_refused():
    with pytest.raises(UserError, match="no runs"):
        drawn([])


# Several metrics, and two tasks for one of the paper's: speech

SPEECH = "momentumrnn_table2"
VALIDATION, TEST = "TIMIT: Validation MSE", "TIMIT: Test MSE"


def speech(artifact: Any, **changes: dict[str, str]) -> list[dict[str, str]]:
    """Finished runs on TIMIT, N = 84: MSEs of 30 and 20, more by the seed; those of recalling are a tenth.

    Args:
        changes: of columns, by task.
    """
    return [
        row(model, (value + seed) * factor, artifact, task, seed=seed, also={"test_loss": (value + 2 * seed) * factor})
        | changes.get(task, {})
        for model, value in (("lstm", 30.0), ("momentum_lstm", 20.0))
        for task, factor in (("timit", 1.0), ("timit_recall", 0.1))
        for seed in (0, 1)
    ]


def of_speech(scale: str = "paper", changes: dict[str, dict[str, str]] | None = None, **settings: Any) -> Table:
    artifact = artifact_at(scale, SPEECH, **settings)
    return drawn(speech(artifact, **(changes or {})), artifact)


def test_both_tasks_stand_beside_the_published_number_of_each_metric():
    table = of_speech()
    row = cells(table, "LSTM", VALIDATION, "84")
    # validation 30, 31; test 30, 32; recalling: a tenth. Published: 14.87 and 14.94
    assert {name: row[name] for name in row if name not in ("Model", "N", "Parameters", "Published parameters")} == {
        "ours, next frame": "30.50 ± 0.71 (n = 2)",
        "ours, previous frame": "3.05 ± 0.07 (n = 2)",
        "published": "14.87 ± 0.15 (15.42 [22, 34])",
        "difference, next frame": "+15.63",
        "difference, previous frame": "−11.82",
        "against LSTM, next frame": "–",
        "against LSTM, previous frame": "–",
    }
    row = cells(table, "LSTM", TEST, "84")
    assert row["ours, next frame"] == "31.00 ± 1.41 (n = 2)"
    assert (row["published"], row["difference, previous frame"]) == ("14.94 ± 0.15 (14.30 [22, 34])", "−11.84")
    assert table.ours[TEST, "ours, previous frame"] == "timit_recall"


def test_lower_is_better_where_the_metric_says_so():
    table = of_speech()
    validation, test = (cells(table, "MomentumLSTM", group, "84") for group in (VALIDATION, TEST))
    assert validation["against LSTM, next frame"] == "holds −10.00 (−3.97)"  # 10.90 - 14.87
    assert test["against LSTM, previous frame"] == "holds −1.00 (−3.96)"
    assert not [name for _, name in table.frame.columns if "rank" in name]
    ranks = table.data[(table.data["task"] == "timit") & (table.data["paper_size"] == 84)].head(4)
    assert list(ranks["metric"]) == ["validation_loss", "test_loss"] * 2
    assert list(ranks["rank"]) == list(ranks["published_rank"]) == [2, 2, 1, 1]


def test_the_csv_names_task_metric_and_where_the_published_number_is():
    data = of_speech().data
    assert len(data) == 9 * 2 * 2  # the paper's rows, tasks, metrics
    recalled = data[(data["task"] == "timit_recall") & (data["model"] == "momentum_lstm") & (data["paper_size"] == 84)]
    assert list(recalled["published_task"]) == ["timit"] * 2
    assert list(recalled["mean"]) == pytest.approx([2.05, 2.1])
    assert list(recalled["published_mean"]) == [10.90, 10.98]


def test_the_face_says_why_there_are_two_tasks_and_which_reading_is_whose():
    notes = of_speech().notes
    assert sum("only recalling can give them" in note for note in notes) == 1
    text = " ".join(notes)
    for part in (
        "speech_target: published in “TIMIT, next frame”, released in “TIMIT, previous frame”",
        "(validation_loss, the lowest of the run; test_loss of the same evaluation)",
        "[34] Lezcano-Casado and Martínez-Rubio 2019). Where the paper has a number of its own, that one is compared.",
    ):
        assert part in text
    assert "Rank" not in text and "several, the" not in text


def test_a_reading_that_differs_within_a_task_says_so():
    of_a = [("A", {"sr_cell": "published"}), ("A", {"sr_cell": "released"})]
    assert readings_note(of_a) == "Readings taken: published and released (sr_cell)."
    assert readings_note([*of_a, ("B", {"sr_cell": "published"}), ("C", {})]) == (
        "Readings taken: sr_cell: published and released in “A”, published in “B”."
    )
    assert readings_note([("A", {})]) == "Readings taken: none apply."


def test_stand_in_speech_has_no_columns_of_differences():
    synthetic = {"stand_in_for": "timit", "dataset": "synthetic_speech", "dataset_title": "Synthetic"}
    table = of_speech(changes={"timit": synthetic, "timit_recall": synthetic})
    place = "Synthetic, standing in for TIMIT (task TIMIT)"
    assert groups(table) == ["", f"{place}: Validation MSE", f"{place}: Test MSE"]
    assert not [name for _, name in table.frame.columns if "difference" in name]
    assert table.data["difference"].isna().all()
    assert table.frame[f"{place}: Validation MSE", "published"].iloc[0] == "14.87 ± 0.15 (15.42 [22, 34])"


def test_two_tasks_on_different_data_stand_apart():
    digits = {"stand_in_for": "timit", "dataset": "fsdd", "dataset_title": "Digits"}
    table = of_speech(changes={"timit_recall": digits})
    own, other = "TIMIT, next frame: ", "Digits, standing in for TIMIT (task TIMIT, previous frame): "
    assert groups(table) == [
        "",
        *(f"{place}{metric} MSE" for place in (own, other) for metric in ("Validation", "Test")),
    ]
    assert cells(table, "LSTM", f"{own}Validation MSE", "84")["difference"] == "+15.63"
    assert "some columns" in table.title


def test_tasks_that_cannot_be_told_apart_are_refused():
    with pytest.raises(UserError) as error:
        of_speech(overrides={"tasks": {"timit_recall": {"title": "TIMIT, next frame"}}})
    assert (error.value.file, error.value.key) == ("config/tasks.yaml", "timit_recall.title")


def test_titles_that_share_nothing_are_given_in_full():
    table = of_speech(overrides={"tasks": {"timit_recall": {"title": "Recall of TIMIT"}}})
    lstm = cells(table, "LSTM", "TIMIT, next frame / Recall of TIMIT: Test MSE", "84")
    assert lstm["ours, Recall of TIMIT"] == "3.10 ± 0.14 (n = 2)"


def test_a_finished_run_needs_every_metric():
    artifact = artifact_at("paper", SPEECH)
    with pytest.raises(UserError, match="test_loss"):
        drawn([row(value=30.0, artifact=artifact)], artifact)


def test_orthogonal_rows_are_held_to_the_papers_own_run_of_dtriv():
    artifact = artifact_at("paper", "momentumrnn_table4")
    table = drawn(
        [row(model, value, artifact, size=512) for model, value in (("dtriv", 0.95), ("momentum_dtriv", 0.96))],
        artifact,
    )
    # published: 96.89 against 96.62 of its own run, not the 96.80 that it quotes
    momentum, dtriv = (cells(table, label, "PMNIST", "512") for label in ("MomentumDTRIV", "DTRIV"))
    assert (momentum["against DTRIV"], momentum["rank (published)"]) == ("holds +1.00 (+0.27)", "1 (1) of 2")
    assert (dtriv["published"], dtriv["difference"]) == ("96.62 ± 0.12 (96.80 [6])", "−1.62")
    assert any("one row per N" in note for note in table.notes)


# Perplexities: chosen by the loss, tested once, and published in the table or in the text

LANGUAGE = "momentumrnn_table3"
VALIDATION_PERPLEXITY, TEST_PERPLEXITY = "PTB: Validation perplexity", "PTB: Test perplexity"


def language(model: str = "lstm", validation: float = 60.0, test: float = 58.0, **about) -> dict[str, str]:
    """A finished run on Penn Treebank."""
    also = {"validation_perplexity": validation, "test_perplexity": test}
    return row(model, math.log(validation), artifact_at("paper", LANGUAGE), also=about.pop("also", also), **about)


def of_language(*rows: dict[str, str]) -> Table:
    return drawn(list(rows), artifact_at("paper", LANGUAGE))


def test_perplexities_stand_beside_those_of_the_table():
    table = of_language(*(language(seed=seed, test=58.0 + seed, parameters="24221600") for seed in (0, 1)))
    validation, test = (cells(table, "LSTM", group) for group in (VALIDATION_PERPLEXITY, TEST_PERPLEXITY))
    assert (validation["Parameters"], validation["Published parameters"]) == ("24,221,600", "≈24M")
    assert (validation["ours"], validation["published"]) == ("60.00 ± 0.00 (n = 2)", "61.96 ± 0.83")
    assert validation["difference"] == "−1.96"
    assert (test["ours"], test["published"]) == ("58.50 ± 0.71 (n = 2)", "59.71 ± 0.99 (58.80 [37])")
    assert test["difference"] == "−1.21"  # from its own 59.71, not from the quoted 58.80


def test_rows_that_only_the_text_has_are_marked():
    table = of_language(language(), language("adam_lstm", 61.0, 59.5), language("rmsprop_lstm", 59.0, 57.0))
    adam, tested = (cells(table, "AdamLSTM", group) for group in (VALIDATION_PERPLEXITY, TEST_PERPLEXITY))
    assert adam["Published parameters"] == adam["published"] == adam["difference"] == "–"
    assert adam["against LSTM"] == "+1.00"
    assert tested["published"] == "61.11 ± 0.31 (Section 3.5)"
    assert tested["against LSTM"] == "holds +1.50 (+1.40)"  # 61.11 - 59.71: worse there too
    assert cells(table, "RMSPropLSTM", TEST_PERPLEXITY)["against LSTM"] == "fails −1.00 (+4.82)"
    data = table.data.drop_duplicates("model").set_index("model")
    assert data["published_only_in"].to_dict() == {
        **dict.fromkeys(["lstm", "momentum_lstm", "sr_lstm"], ""),
        **dict.fromkeys(["adam_lstm", "rmsprop_lstm"], "Section 3.5"),
    }
    assert not data["extra"].any()


def test_the_notes_on_perplexities():
    text = " ".join(of_language(language()).notes)
    for part in (
        "(validation_loss, the lowest of the run; validation_perplexity, test_perplexity of the same evaluation)",
        "Not in the paper's Table 3: AdamLSTM, RMSPropLSTM. Their published numbers are those of Section 3.5 (test "
        "perplexity); – where there is none.",
        "[37] Merity, Keskar and Socher 2018",
        "no momentum at all",
        "sample standard deviation over seeds in the authors' logs: over 0, 2, 3, 4 and 5, of SRLSTM over four seeds",
        "the best validation is that of the last epoch",
        "24,221,600",
        "stated nowhere",
    ):
        assert part in text
    assert "several" not in text and "not finite" not in text


def test_a_perplexity_that_is_not_finite_is_counted_and_not_averaged():
    nothing = {"measured": "", "metric": "", "rule": "", "reported": ""}  # no validation loss was a finite number
    table = of_language(
        *(language(), language(seed=1, test=math.inf), language(seed=2) | nothing),
        *(language("sr_lstm") | nothing, language("sr_lstm", seed=1, status="diverged", diverged_at="3") | nothing),
    )
    lstm, sr = cells(table, "LSTM", TEST_PERPLEXITY), cells(table, "SRLSTM", TEST_PERPLEXITY)
    assert lstm["ours"] == "58.00 ± – (n = 1; not finite 2 of 3)"
    assert cells(table, "LSTM", VALIDATION_PERPLEXITY)["ours"] == "60.00 ± 0.00 (n = 2; not finite 1 of 3)"
    assert (sr["ours"], sr["against LSTM"]) == ("diverged 1 of 2; not finite 1 of 2", "–")
    assert "Runs whose number is not finite are counted, and are not in the mean." in table.notes
    assert [record(table, "lstm", "ptb")[column] for column in ("n", "diverged", "not_finite")] == [2, 0, 1]


def test_a_huge_perplexity_is_short():
    lstm = cells(of_language(language(test=1.5e21)), "LSTM", TEST_PERPLEXITY)
    assert (lstm["ours"], lstm["difference"]) == ("1.50e+21 ± – (n = 1)", "+1.50e+21")


@pytest.mark.parametrize(
    ("about", "column"),
    [({"metric": "validation_perplexity"}, "metric"), ({"also": {"validation_perplexity": 60.0}}, "measured")],
)
def test_a_table_of_perplexities_is_of_runs_that_chose_by_the_loss_and_measured_both(about, column):
    with pytest.raises(UserError) as error:
        of_language(language(**about))
    assert error.value.key == column


# Images: chosen by the validation accuracy or, as released, on the test set; solvers that fail; sizes

IMAGES, SIZES = "acenode_table2", "acenode_table10"
MARK = "best of all epochs"


def image(model: str = "ode_net", test: float = 0.99, artifact: str = IMAGES, **about) -> dict[str, str]:
    """A finished run whose evaluation the validation accuracy chose."""
    return row(model, 0.98, artifact_at("paper", artifact), also={"test_accuracy": test}, **about)


def released(model: str = "ode_net", test: float = 0.99, **about) -> dict[str, str]:
    chosen = {"metric": "test_accuracy", "reported": str(test), "readings": json.dumps({"reported_epoch": "released"})}
    return image(model, test, **about) | chosen


def of_images(*rows: dict[str, str], artifact: str = IMAGES) -> Table:
    return drawn(list(rows), artifact_at("paper", artifact))


def test_images_are_held_to_ode_net():
    table = of_images(image(), image("resnet", 0.98), image("ace_ode_net", 0.995))
    ode, resnet, ace = (cells(table, label, "MNIST images") for label in ("ODE-Net", "ResNet", "ACE-ODE-Net"))
    assert (ode["ours"], ode["published"]) == ("99.00 ± – (n = 1)", "99.61 ± 0.05")
    assert resnet["against ODE-Net"] == "fails −1.00 (+0.04)"
    assert (ace["against ODE-Net"], ace["rank (published)"]) == ("holds +0.50 (+0.07)", "1 (1) of 3")
    text = " ".join([table.title, *table.notes])
    assert "(validation_accuracy, the highest of the run; test_accuracy of the same evaluation)" in text
    assert MARK not in text and "Diverged" not in text


def test_runs_that_chose_on_the_test_set_say_so():
    table = of_images(image(), released("resnet"), released("resnet", 0.98, seed=1))
    assert cells(table, "ResNet", "MNIST images")["ours"] == f"98.50 ± 0.71 (n = 2; {MARK})"
    assert MARK not in cells(table, "ODE-Net", "MNIST images")["ours"]
    assert table.title.endswith(f"paper scale, {MARK} where marked")
    text = " ".join(table.notes)
    assert "chose their evaluation by the number that is shown, on the test set" in text
    assert "(validation_accuracy, the highest of the run; test_accuracy of the same evaluation)" in text
    assert "published and released (reported_epoch)" in text
    assert list(table.data[table.data["runs"] > 0]["chosen_by"]) == ["test_accuracy", "validation_accuracy"]
    (ours,) = [note for note in of_images(released()).notes if note.startswith("Ours")]
    assert ours.endswith("what a run reports (test_accuracy, the highest of the run).")


def test_the_test_set_chooses_in_the_released_reading_only():
    with pytest.raises(UserError) as error:
        of_images(image() | {"metric": "test_accuracy"})
    assert error.value.key == "metric"


def failed(cause: str = "step budget exceeded", during: str = "forward", **about) -> dict[str, str]:
    failure = json.dumps({"cause": cause, "time": 0.31, "step": 1000, "during": during})
    nothing = {"status": "diverged", "diverged_at": "812", "metric": "", "rule": "", "reported": "", "measured": ""}
    return image(**about) | nothing | {"failure": failure}


def test_why_runs_failed_is_a_note():
    others = failed(seed=1), failed("state not finite", "evaluation", seed=2)
    table = of_images(image(), *others, failed(model="resnet") | {"failure": "", "diverged_at": "91"})
    assert cells(table, "ODE-Net", "MNIST images")["ours"] == "99.00 ± – (n = 1; diverged 2 of 3)"
    assert (
        "Diverged: ODE-Net, seed 1: solver failed at iteration 812 (step budget exceeded at t = 0.31, step 1000, "
        "forward); ODE-Net, seed 2: solver failed after iteration 812 (state not finite at t = 0.31, step 1000, "
        "evaluation); ResNet, seed 0: the loss was not finite at iteration 91."
    ) in table.notes


def test_a_size_is_held_to_another():
    cifar, mnist = {"artifact": SIZES, "task": "cifar10_images"}, {"artifact": SIZES, "task": "mnist_images"}
    large = "ace_ode_net_large"
    values = [("ace_ode_net", 0.9, cifar), (large, 0.91, cifar), ("ace_ode_net", 0.9, mnist), (large, 0.9, mnist)]
    table = of_images(*(image(model, test, **about) for model, test, about in values), artifact=SIZES)
    on_cifar, on_mnist = (cells(table, "ACE-ODE-Net (Large)", group) for group in ("CIFAR-10", "MNIST images"))
    assert on_cifar["against ACE-ODE-Net"] == "holds +1.00 (+2.13)"  # 88.12 - 85.99
    assert (on_cifar["rank (published)"], on_cifar["published"]) == ("1 (1) of 2", "88.12")
    assert on_mnist["against ACE-ODE-Net"] == "tied 0.00 (−0.10)"
    assert cells(table, "ACE-ODE-Net (Large)", "SVHN")["against ACE-ODE-Net"] == "–"
    text = " ".join(table.notes)
    assert "our mean less our ACE-ODE-Net's, in brackets" in text and "of the same size" not in text
    assert "it is the best of the five seeds in the authors' README, whose mean is 87.722" in text


def test_parameters_may_differ_between_tasks():
    counts = {"cifar10_images": "359050", "svhn_images": "321418", "mnist_images": "283338"}
    small = [image("ace_ode_net", artifact=SIZES, task=task, parameters=count) for task, count in counts.items()]
    table = of_images(*small, image("ace_ode_net_large", artifact=SIZES, size=128, parameters="16000"), artifact=SIZES)
    assert list(table.frame["", "Parameters"]) == ["359,050 / 321,418 / 283,338", "16,000"]
    assert list(table.frame["", "Published parameters"]) == ["0.36M / 0.32M / 0.28M", "1.27M / 1.42M / 1.27M"]
    stroke = "Parameters with a stroke between them are those of the tasks, in the order of their columns."
    assert stroke in table.notes and stroke not in drawn([row()]).notes
    assert list(table.data["published_parameters"]) == ["0.36M", "0.32M", "0.28M", "1.27M", "1.42M", "1.27M"]
