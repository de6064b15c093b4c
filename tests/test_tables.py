"""Tables: what they say of made-up runs, computed here by hand, and that every format can be read."""

import functools
import json
import math
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics import configuration as configurations
from hidden_dynamics.configuration import ROOT, read_yaml
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import readings_note
from hidden_dynamics.artifacts.kinds.hyperparameter_table.drawing import hyperparameter_table
from hidden_dynamics.artifacts.kinds.results_table.drawing import read_summary, results_table
from hidden_dynamics.artifacts.tables import latex_text, markdown, write_table

HYPERPARAMETER_ROWS = {6: 21, 7: 21, 8: 13, 9: 13, 10: 13}  # by table: models on their tasks and sizes
HYPERPARAMETER_TABLES = [f"momentumrnn_table{k}" for k in HYPERPARAMETER_ROWS]
ENDINGS = ("csv", "md", "tex", "html")


def configuration(scale: str, **changes):
    return configured_as(json.dumps({"scale": scale, **changes}))


@functools.cache
def configured_as(changes: str):
    return configurations.load(configurations.with_number_keys(read_yaml(ROOT / "config.yaml") | json.loads(changes)))


def run(model="lstm", task="mnist", reported=0.9, seed=0, metric="test_accuracy", rule="max", **changes) -> dict:
    """A row of a summary: a finished run on MNIST at the paper's N = 128."""
    diverged = reported is None
    measured = {"epoch": 3, metric: reported, **changes.pop("also_measured", {})}
    return {
        "artifact": "momentumrnn_table11",
        "scale": "paper",
        "task": task,
        "task_title": task.upper(),
        "model": model,
        "label": model.upper(),
        "size": 128,
        "paper_size": 128,
        "extra": "false",
        "seed": seed,
        "dataset": "mnist",
        "dataset_title": "MNIST",
        "stand_in_for": "",
        "parameters": 68362,
        "status": "diverged" if diverged else "finished",
        "diverged_at": 91 if diverged else "",
        "failure": "",
        "metric": "" if diverged else metric,
        "rule": "" if diverged else rule,
        "reported": "" if diverged else reported,
        "measured": "" if diverged else json.dumps(measured),
        "readings": json.dumps({"forget_fill": "published"}),
        "device": "cpu",
        "precision": "fp32",
        "directory": f"results/paper/runs/{task}/{model}-n128/seed{seed}",
        **changes,
    }


def stand_in(**changes) -> dict:
    digits = {"dataset": "digits", "dataset_title": "Digits 8x8", "stand_in_for": "mnist"}
    return run(scale="demo", size=32, **digits, **changes)


@pytest.fixture
def rendered(tmp_path):
    """Render made-up runs: through the CSV, as a real summary comes."""

    def render(runs, scale="paper", artifact="momentumrnn_table11", **settings):
        path = tmp_path / "summary.csv"
        pandas.DataFrame(runs).to_csv(path, index=False)
        return results_table(configuration(scale, **settings), artifact, read_summary(path))

    return render


def cell(table, label: str, name: str, group: str = "MNIST") -> str:
    rows = table.frame[table.frame[("", "Model")] == label]
    assert len(rows) == 1
    return rows[(group, name)].iloc[0]


def record(table, model: str, task: str = "mnist") -> pandas.Series:
    return table.data[(table.data["model"] == model) & (table.data["task"] == task)].iloc[0]


def test_mean_and_sample_standard_deviation(rendered):
    table = rendered([run(reported=value, seed=seed) for seed, value in enumerate((0.9, 0.92, 0.97))])
    # mean 93; deviations -3, -1, 4; sum of squares 26; 26 / 2 = 13
    assert record(table, "lstm")["mean"] == pytest.approx(93)
    assert record(table, "lstm")["std"] == pytest.approx(math.sqrt(13))
    assert record(table, "lstm")["n"] == 3
    assert cell(table, "LSTM", "ours") == "93.00 ± 3.61 (n = 3)"


def test_one_seed_has_no_standard_deviation(rendered):
    table = rendered([run(reported=0.9)])
    assert cell(table, "LSTM", "ours") == "90.00 ± – (n = 1)"
    assert math.isnan(record(table, "lstm")["std"])


def test_diverged_runs_are_counted_and_not_averaged(rendered):
    table = rendered([run(reported=0.9), run(reported=0.94, seed=1), run(reported=None, seed=2)])
    assert cell(table, "LSTM", "ours") == "92.00 ± 2.83 (n = 2; diverged 1 of 3)"
    assert any("diverged" in note for note in table.notes)


def test_a_run_that_diverged_late_is_not_averaged_either(rendered):
    table = rendered([run(reported=0.9), run(reported=0.1, seed=1, status="diverged")])
    assert record(table, "lstm")["mean"] == pytest.approx(90)


def test_only_diverged_runs(rendered):
    table = rendered([run(), run("sr_lstm", reported=None), run("sr_lstm", reported=None, seed=1)])
    assert cell(table, "SR_LSTM", "ours") == "diverged 2 of 2"
    assert cell(table, "SR_LSTM", "difference") == "–"
    assert cell(table, "SR_LSTM", "rank (published)") == "–"


def test_nothing_but_diverged_runs(rendered):
    table = rendered([run(reported=None)])
    assert cell(table, "LSTM", "ours") == "diverged 1 of 1"
    assert any(note.endswith("over n seeds of what a run reports.") for note in table.notes)


def test_difference_is_to_the_published_mean_or_the_best_of_the_literature(rendered):
    table = rendered([run(reported=0.99), run("momentum_lstm", reported=0.98)])
    assert cell(table, "LSTM", "published") == "98.70 [22]; 97.30 [60]"
    assert cell(table, "LSTM", "difference") == "+0.30"  # 99 - 98.70
    assert cell(table, "MOMENTUM_LSTM", "published") == "99.04 ± 0.04"
    assert cell(table, "MOMENTUM_LSTM", "difference") == "−1.04"
    assert any("[22] Helfrich" in note and "highest" in note for note in table.notes)


def test_what_rounds_to_nothing_has_no_sign(rendered):
    assert cell(rendered([run(reported=0.98698)]), "LSTM", "difference") == "0.00"


def test_ordering_against_the_baseline(rendered):
    table = rendered(
        [
            run(reported=0.95),
            run("momentum_lstm", reported=0.96),
            run("adam_lstm", reported=0.94),
            run("rmsprop_lstm", reported=0.95),
        ]
    )
    # published: 99.04, 98.98 and 99.09 against the literature's best, 98.70
    assert cell(table, "MOMENTUM_LSTM", "against LSTM") == "holds +1.00 (+0.34)"
    assert cell(table, "ADAM_LSTM", "against LSTM") == "fails −1.00 (+0.28)"
    assert cell(table, "RMSPROP_LSTM", "against LSTM") == "tied 0.00 (+0.39)"
    assert cell(table, "LSTM", "against LSTM") == "–"


def test_rank_is_among_rows_that_have_both_numbers(rendered):
    table = rendered([run(reported=0.95), run("momentum_lstm", reported=0.96), run("rmsprop_lstm", reported=0.955)])
    # published: RMSProp 99.09, Momentum 99.04, LSTM 98.70; Adam and SR were not run
    assert cell(table, "MOMENTUM_LSTM", "rank (published)") == "1 (2) of 3"
    assert cell(table, "RMSPROP_LSTM", "rank (published)") == "2 (1) of 3"
    assert cell(table, "LSTM", "rank (published)") == "3 (3) of 3"
    assert cell(table, "AdamLSTM", "rank (published)") == "–"


def test_rows_of_another_size_are_not_compared(rendered):
    large = {"size": 256, "paper_size": 256, "artifact": "momentumrnn_table1"}
    small = {"artifact": "momentumrnn_table1"}
    runs = [run(reported=0.95, **small), run(reported=0.99, **large), run("adam_lstm", reported=0.97, **large)]
    table = rendered(runs, artifact="momentumrnn_table1")
    assert cell(table, "ADAM_LSTM", "against LSTM") == "fails −2.00 (+0.19)"  # 99.09 - 98.90
    assert cell(table, "ADAM_LSTM", "rank (published)") == "2 (1) of 2"


def test_rows_without_runs_stay_in_the_paper_s_order(rendered):
    table = rendered([run("sr_lstm", reported=0.9)])
    assert list(table.frame[("", "Model")]) == ["LSTM", "MomentumLSTM", "AdamLSTM", "RMSPropLSTM", "SR_LSTM"]
    assert cell(table, "MomentumLSTM", "ours") == "–"
    assert cell(table, "SR_LSTM", "against LSTM") == "–"
    assert cell(table, "SR_LSTM", "ours", "PMNIST") == "–"


def test_models_of_the_user_s_own_stand_below(rendered):
    table = rendered([run("my_lstm", reported=0.97, extra="true"), run(reported=0.95)])
    assert list(table.frame[("", "Model")])[-1] == "MY_LSTM"
    assert cell(table, "MY_LSTM", "published") == "–"
    assert cell(table, "MY_LSTM", "against LSTM") == "+2.00"
    assert cell(table, "MY_LSTM", "rank (published)") == "–"
    assert cell(table, "LSTM", "rank (published)") == "1 (1) of 1"
    assert any("MY_LSTM" in note for note in table.notes)


def test_stand_in_data_are_named_and_not_compared(rendered):
    table = rendered([stand_in(reported=0.95), stand_in(model="momentum_lstm", reported=0.96)], scale="demo")
    group = "Digits 8x8, standing in for MNIST (task MNIST)"
    assert group in table.frame.columns.get_level_values(0)
    assert "demo scale, stand-in data: not comparable with the published numbers" in table.title
    assert cell(table, "MOMENTUM_LSTM", "difference", group) == "–"
    assert cell(table, "MOMENTUM_LSTM", "against LSTM", group) == "holds +1.00 (+0.34)"
    assert table.data["difference"].isna().all()


def test_a_dataset_of_the_user_s_own_is_a_stand_in_too(rendered):
    table = rendered([run(dataset="fashion", dataset_title="Fashion")])
    assert "Fashion, standing in for MNIST (task MNIST)" in table.frame.columns.get_level_values(0)
    assert "not comparable" in table.title


def test_another_size_is_shown_and_not_compared(rendered):
    table = rendered([run(size=32, parameters=4938)])
    row = table.frame[table.frame[("", "Model")] == "LSTM"].iloc[0]
    assert row[("", "N")] == "32 (paper: 128)"
    assert row[("", "Parameters")] == "4,938"
    assert row[("", "Published parameters")] == "≈68K (N = 128)"
    assert cell(table, "LSTM", "difference") == "–"


def test_the_face_says_scale_data_seeds_readings_device_and_overrides(rendered):
    overrides = {"tasks": {"mnist": {"training": {"epochs": 2}}}}
    table = rendered([run(), run(seed=3, device="NVIDIA H200")], overrides=overrides)
    notes = " ".join(table.notes)
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
    "change, message",
    [
        ({"artifact": "momentumrnn_table1"}, "artifact"),
        ({"scale": "demo"}, "scale"),
        ({"metric": "train_loss"}, "metric is train_loss, and test_accuracy was expected"),
        ({"measured": ""}, "without a result .test_accuracy.: mnist/lstm/seed0"),
        ({"measured": '{"test_accuracy": null}'}, "without a result"),
        ({"measured": '{"test_accuracy": NaN}'}, "without a result"),
        ({"measured": "0.9 at epoch 3"}, "is not a summary"),
        ({"measured": "0.9"}, "measured is not a mapping"),
    ],
)
def test_a_summary_of_something_else_is_refused(rendered, change, message):
    with pytest.raises(UserError, match=message):
        rendered([run(**change)])


def test_runs_of_different_make_are_not_averaged(rendered):
    with pytest.raises(UserError, match="parameters"):
        rendered([run(), run(seed=1, parameters=1)])


def test_files_that_are_not_summaries_are_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    for name in ("other.csv", "empty.csv", "missing.csv"):
        with pytest.raises(UserError, match=name):
            read_summary(tmp_path / name)


# Several metrics, and two tasks for one of the paper's: speech


def speech(model="lstm", target="next frame", validation=30.0, test=31.0, size=84, seed=0, **changes) -> dict:
    """A finished run on TIMIT; the numbers of recalling are a tenth of those of predicting."""
    recall = target == "previous frame"
    factor = 0.1 if recall else 1
    return run(
        model,
        "timit_recall" if recall else "timit",
        validation * factor,
        seed,
        "validation_loss",
        "min",
        **{
            "also_measured": {"test_loss": test * factor},
            "artifact": "momentumrnn_table2",
            "task_title": f"TIMIT, {target}",
            "size": size,
            "paper_size": size,
            "dataset": "timit",
            "dataset_title": "TIMIT",
            "readings": json.dumps(
                {"forget_fill": "published", "speech_target": "released" if recall else "published"}
            ),
            **changes,
        },
    )


SPEECH = [
    speech(target=target, model=model, validation=validation + seed, test=validation + 2 * seed, seed=seed)
    for model, validation in (("lstm", 30.0), ("momentum_lstm", 20.0))
    for target in ("next frame", "previous frame")
    for seed in (0, 1)
]
VALIDATION, TEST = "TIMIT: Validation MSE", "TIMIT: Test MSE"


def speech_row(table, label: str, size: int = 84) -> pandas.Series:
    rows = table.frame[(table.frame[("", "Model")] == label) & (table.frame[("", "N")] == str(size))]
    assert len(rows) == 1
    return rows.iloc[0]


def test_both_tasks_stand_beside_the_published_number_of_each_metric(rendered):
    row = speech_row(rendered(SPEECH, artifact="momentumrnn_table2"), "LSTM")
    # validation 30, 31; test 30, 32; recalling: a tenth. Published: 14.87 and 14.94
    assert row[VALIDATION].to_dict() == {
        "ours, next frame": "30.50 ± 0.71 (n = 2)",
        "ours, previous frame": "3.05 ± 0.07 (n = 2)",
        "published": "14.87 ± 0.15 (15.42 [22, 34])",
        "difference, next frame": "+15.63",
        "difference, previous frame": "−11.82",
        "against LSTM, next frame": "–",
        "against LSTM, previous frame": "–",
    }
    assert row[(TEST, "ours, next frame")] == "31.00 ± 1.41 (n = 2)"
    assert row[(TEST, "published")] == "14.94 ± 0.15 (14.30 [22, 34])"
    assert row[(TEST, "difference, previous frame")] == "−11.84"


def test_lower_is_better_where_the_paper_says_so(rendered):
    table = rendered(SPEECH, artifact="momentumrnn_table2")
    row = speech_row(table, "MOMENTUM_LSTM")
    assert row[(VALIDATION, "against LSTM, next frame")] == "holds −10.00 (−3.97)"  # 10.90 - 14.87
    assert row[(TEST, "against LSTM, previous frame")] == "holds −1.00 (−3.96)"
    assert not [name for _, name in table.frame.columns if "rank" in name]
    ranks = table.data[(table.data["task"] == "timit") & (table.data["paper_size"] == 84)]
    assert list(ranks["metric"]) == ["validation_loss", "test_loss"] * 2
    assert list(ranks["rank"]) == list(ranks["published_rank"]) == [2, 2, 1, 1]


def test_the_csv_names_task_metric_and_where_the_published_number_is(rendered):
    data = rendered(SPEECH, artifact="momentumrnn_table2").data
    assert len(data) == 9 * 2 * 2  # the paper's rows, tasks, metrics
    recalled = data[(data["task"] == "timit_recall") & (data["model"] == "momentum_lstm") & (data["paper_size"] == 84)]
    assert list(recalled["published_task"]) == ["timit"] * 2
    assert list(recalled["mean"]) == pytest.approx([2.05, 2.1])
    assert list(recalled["published_mean"]) == [10.90, 10.98]


def test_the_face_says_why_there_are_two_tasks_and_which_reading_is_whose(rendered):
    notes = rendered(SPEECH, artifact="momentumrnn_table2").notes
    assert sum("only recalling can give them" in note for note in notes) == 1
    text = " ".join(notes)
    for part in (
        "published (forget_fill); speech_target: published in “TIMIT, next frame”, released in “TIMIT, previous frame”",
        "(validation_loss, the lowest of the run; test_loss of the same evaluation)",
        "[34] Lezcano-Casado and Martínez-Rubio 2019). Where the paper has a number of its own, that one is compared.",
    ):
        assert part in text
    assert "Rank" not in text and "several, the" not in text


def test_a_reading_that_differs_within_a_task_says_so():
    taken = [{"sr_cell": "published"}, {"sr_cell": "released"}, {"sr_cell": "published"}, {}]
    assert readings_note(taken) == "Readings taken: published and released (sr_cell)."
    assert readings_note(taken, ["A", "A", "B", "C"]) == (
        "Readings taken: sr_cell: published and released in “A”, published in “B”."
    )
    assert readings_note([{}], ["A"]) == "Readings taken: none apply."


def test_stand_in_speech_has_no_columns_of_differences(rendered):
    synthetic = {"scale": "demo", "stand_in_for": "timit", "dataset": "synthetic_speech", "dataset_title": "Synthetic"}
    table = rendered([{**each, **synthetic} for each in SPEECH], scale="demo", artifact="momentumrnn_table2")
    groups = list(dict.fromkeys(table.frame.columns.get_level_values(0)))
    assert groups == ["", *(f"Synthetic, standing in for TIMIT (task TIMIT): {m} MSE" for m in ("Validation", "Test"))]
    assert not [name for _, name in table.frame.columns if "difference" in name]
    assert table.data["difference"].isna().all()
    assert table.frame[groups[1], "published"].iloc[0] == "14.87 ± 0.15 (15.42 [22, 34])"


def test_two_tasks_on_different_data_stand_apart(rendered):
    digits = {"stand_in_for": "timit", "dataset": "fsdd", "dataset_title": "Digits"}
    runs = [{**each, **(digits if each["task"] == "timit_recall" else {})} for each in SPEECH]
    table = rendered(runs, artifact="momentumrnn_table2")
    own, other = "TIMIT, next frame: ", "Digits, standing in for TIMIT (task TIMIT, previous frame): "
    assert list(dict.fromkeys(table.frame.columns.get_level_values(0))) == [
        "",
        *(f"{own}Validation MSE", f"{own}Test MSE"),
        *(f"{other}Validation MSE", f"{other}Test MSE"),
    ]
    assert speech_row(table, "LSTM")[(f"{own}Validation MSE", "difference")] == "+15.63"
    assert "some columns" in table.title


def test_tasks_that_cannot_be_told_apart_are_refused(rendered):
    same = {"tasks": {"timit_recall": {"title": "TIMIT, next frame"}}}
    with pytest.raises(UserError, match="timit, timit_recall.*titles that differ"):
        rendered(SPEECH, artifact="momentumrnn_table2", overrides=same)


def test_titles_that_share_nothing_are_given_in_full(rendered):
    table = rendered(
        SPEECH, artifact="momentumrnn_table2", overrides={"tasks": {"timit_recall": {"title": "Recall of TIMIT"}}}
    )
    row = speech_row(table, "LSTM")["TIMIT, next frame / Recall of TIMIT: Test MSE"]
    assert row["ours, Recall of TIMIT"] == "3.10 ± 0.14 (n = 2)"


def test_a_finished_run_needs_every_metric(rendered):
    with pytest.raises(UserError, match="without a result .validation_loss, test_loss.: timit/lstm/seed0"):
        rendered([speech(also_measured={})], artifact="momentumrnn_table2")


def orthogonal(model="dtriv", reported=0.95, **changes) -> dict:
    about = {"artifact": "momentumrnn_table4", "task_title": "PMNIST", "size": 512, "paper_size": 512}
    return run(model, "pmnist_dtriv", reported, **{**about, **changes})


def test_orthogonal_rows_are_held_to_the_paper_s_own_run_of_dtriv(rendered):
    table = rendered([orthogonal(), orthogonal("momentum_dtriv", 0.96)], artifact="momentumrnn_table4")
    row = table.frame[(table.frame[("", "Model")] == "MOMENTUM_DTRIV")].iloc[0]
    # published: 96.89 against 96.62 of its own run, not the 96.80 that it quotes
    assert row[("PMNIST", "against DTRIV")] == "holds +1.00 (+0.27)"
    assert row[("PMNIST", "rank (published)")] == "1 (1) of 2"
    row = table.frame[(table.frame[("", "Model")] == "DTRIV") & (table.frame[("", "N")] == "512")].iloc[0]
    assert row[("PMNIST", "published")] == "96.62 ± 0.12 (96.80 [6])"
    assert row[("PMNIST", "difference")] == "−1.62"
    assert any("one row per N" in note for note in table.notes)


# Perplexities: chosen by the loss, tested once, and published in the table or in the text


def language(model="lstm", validation=60.0, test=58.0, seed=0, **changes) -> dict:
    """A finished run on Penn Treebank at the paper's sizes."""
    perplexities = {"validation_perplexity": validation, "test_perplexity": test}
    about = {"artifact": "momentumrnn_table3", "task_title": "PTB", "size": 1150, "paper_size": 1150}
    about |= {"dataset": "ptb", "dataset_title": "Penn Treebank", "parameters": 24221600}
    about |= {"also_measured": perplexities}
    return run(model, "ptb", math.log(validation), seed, "validation_loss", "min", **{**about, **changes})


VALIDATION_PERPLEXITY, TEST_PERPLEXITY = "PTB: Validation perplexity", "PTB: Test perplexity"


def language_row(table, label: str) -> pandas.Series:
    rows = table.frame[table.frame[("", "Model")] == label]
    assert len(rows) == 1
    return rows.iloc[0]


def test_perplexities_stand_beside_those_of_the_table(rendered):
    runs = [language(seed=seed, test=58.0 + seed) for seed in (0, 1)]
    row = language_row(rendered(runs, artifact="momentumrnn_table3"), "LSTM")
    assert row[("", "Parameters")] == "24,221,600" and row[("", "Published parameters")] == "≈24M"
    assert row[VALIDATION_PERPLEXITY].to_dict() == {
        "ours": "60.00 ± 0.00 (n = 2)",
        "published": "61.96 ± 0.83",
        "difference": "−1.96",
        "against LSTM": "–",
    }
    assert row[(TEST_PERPLEXITY, "ours")] == "58.50 ± 0.71 (n = 2)"
    assert row[(TEST_PERPLEXITY, "published")] == "59.71 ± 0.99 (58.80 [37])"
    assert row[(TEST_PERPLEXITY, "difference")] == "−1.21"  # from its own 59.71, not from the quoted 58.80


def test_rows_that_only_the_text_has_are_marked(rendered):
    runs = [language(), language("adam_lstm", 61.0, 59.5), language("rmsprop_lstm", 59.0, 57.0)]
    table = rendered(runs, artifact="momentumrnn_table3")
    adam, rmsprop = (language_row(table, label) for label in ("ADAM_LSTM", "RMSPROP_LSTM"))
    assert adam[("", "Published parameters")] == "–"
    assert adam[(VALIDATION_PERPLEXITY, "published")] == adam[(VALIDATION_PERPLEXITY, "difference")] == "–"
    assert adam[(VALIDATION_PERPLEXITY, "against LSTM")] == "+1.00"
    assert adam[(TEST_PERPLEXITY, "published")] == "61.11 ± 0.31 (Section 3.5)"
    assert adam[(TEST_PERPLEXITY, "against LSTM")] == "holds +1.50 (+1.40)"  # 61.11 - 59.71: worse there too
    assert rmsprop[(TEST_PERPLEXITY, "against LSTM")] == "fails −1.00 (+4.82)"
    assert list(table.frame[("", "Model")])[:3] == ["LSTM", "MomentumLSTM", "SRLSTM"]
    data = table.data.drop_duplicates("model").set_index("model")
    assert data["published_only_in"].to_dict() == {
        **dict.fromkeys(["lstm", "momentum_lstm", "sr_lstm"], ""),
        **dict.fromkeys(["adam_lstm", "rmsprop_lstm"], "Section 3.5"),
    }
    assert not data["extra"].any()


def test_the_notes_on_perplexities(rendered):
    text = " ".join(rendered([language()], artifact="momentumrnn_table3").notes)
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


def test_a_perplexity_that_is_not_finite_is_counted_and_not_averaged(rendered):
    nothing = {"measured": "", "metric": "", "rule": "", "reported": ""}  # no validation loss was a finite number
    runs = [
        *(language(), language(seed=1, test=math.inf), language(seed=2) | nothing),
        *(language("sr_lstm") | nothing, language("sr_lstm", seed=1, status="diverged") | nothing),
    ]
    table = rendered(runs, artifact="momentumrnn_table3")
    row = language_row(table, "LSTM")
    assert row[(TEST_PERPLEXITY, "ours")] == "58.00 ± – (n = 1; not finite 2 of 3)"
    assert row[(VALIDATION_PERPLEXITY, "ours")] == "60.00 ± 0.00 (n = 2; not finite 1 of 3)"
    other = language_row(table, "SR_LSTM")
    assert other[(TEST_PERPLEXITY, "ours")] == "diverged 1 of 2; not finite 1 of 2"
    assert other[(TEST_PERPLEXITY, "against LSTM")] == "–"
    assert "Runs whose number is not finite are counted, and are not in the mean." in table.notes
    assert list(record(table, "lstm", "ptb")[["n", "diverged", "not_finite"]]) == [2, 0, 1]


def test_a_huge_perplexity_is_short(rendered):
    row = language_row(rendered([language(test=1.5e21)], artifact="momentumrnn_table3"), "LSTM")
    assert row[(TEST_PERPLEXITY, "ours")] == "1.50e+21 ± – (n = 1)"
    assert row[(TEST_PERPLEXITY, "difference")] == "+1.50e+21"


def test_a_table_of_perplexities_is_of_runs_that_chose_by_the_loss(rendered):
    chosen = language() | {"metric": "validation_perplexity"}
    with pytest.raises(UserError, match="metric is validation_perplexity, and validation_loss was expected"):
        rendered([chosen], artifact="momentumrnn_table3")
    with pytest.raises(UserError, match="without a result .validation_perplexity, test_perplexity.: ptb/lstm/seed0"):
        rendered([language(also_measured={"validation_perplexity": 60.0})], artifact="momentumrnn_table3")


def test_stand_in_text_is_named_and_not_compared(rendered):
    about = {"scale": "demo", "size": 64, "dataset": "python_topics", "dataset_title": "Topics", "stand_in_for": "ptb"}
    table = rendered([language(**about)], scale="demo", artifact="momentumrnn_table3")
    groups = list(dict.fromkeys(table.frame.columns.get_level_values(0)))
    assert groups[1:] == [
        f"Topics, standing in for Penn Treebank (task PTB): {split} perplexity" for split in ("Validation", "Test")
    ]
    assert "stand-in data: not comparable with the published numbers" in table.title
    assert not [name for _, name in table.frame.columns if "difference" in name]
    assert language_row(table, "LSTM")[("", "N")] == "64 (paper: 1150)"


# Images: chosen by the validation accuracy or, as released, on the test set; solvers that fail; sizes


def image(
    model="ode_net", test=0.99, seed=0, task="mnist_images", size=64, artifact="acenode_table2", **changes
) -> dict:
    """A finished run at the paper's size."""
    dataset = task.removesuffix("_images")
    about = {"artifact": artifact, "task_title": configuration("paper").tasks[task]["title"], "size": size}
    about |= {"paper_size": size, "dataset": dataset, "dataset_title": dataset, "parameters": 1000 * size}
    about |= {"also_measured": {"test_accuracy": test}, "readings": json.dumps({"reported_epoch": "published"})}
    return run(model, task, 0.98, seed, "validation_accuracy", **{**about, **changes})


def released(model="ode_net", test=0.99, **changes) -> dict:
    chosen = {"metric": "test_accuracy", "reported": test, "readings": json.dumps({"reported_epoch": "released"})}
    return image(model, test, **changes) | chosen


MARK = "best of all epochs"


def test_images_are_held_to_ode_net(rendered):
    table = rendered([image(), image("resnet", 0.98), image("ace_ode_net", 0.995)], artifact="acenode_table2")
    assert cell(table, "ODE_NET", "ours", "MNIST images") == "99.00 ± – (n = 1)"
    assert cell(table, "ODE_NET", "published", "MNIST images") == "99.61 ± 0.05"
    assert cell(table, "RESNET", "against ODE-Net", "MNIST images") == "fails −1.00 (+0.04)"
    assert cell(table, "ACE_ODE_NET", "against ODE-Net", "MNIST images") == "holds +0.50 (+0.07)"
    assert cell(table, "ACE_ODE_NET", "rank (published)", "MNIST images") == "1 (1) of 3"
    text = " ".join([table.title, *table.notes])
    assert "(validation_accuracy, the highest of the run; test_accuracy of the same evaluation)" in text
    assert MARK not in text and "Diverged" not in text


def test_runs_that_chose_on_the_test_set_say_so(rendered):
    table = rendered([image(), released("resnet"), released("resnet", 0.98, seed=1)], artifact="acenode_table2")
    assert cell(table, "RESNET", "ours", "MNIST images") == f"98.50 ± 0.71 (n = 2; {MARK})"
    assert MARK not in cell(table, "ODE_NET", "ours", "MNIST images")
    assert table.title.endswith(f"paper scale, {MARK} where marked")
    text = " ".join(table.notes)
    assert "chose their evaluation by the number that is shown, on the test set" in text
    assert "(validation_accuracy, the highest of the run; test_accuracy of the same evaluation)" in text
    assert "reported_epoch" in text and "published and released (reported_epoch)" in text
    assert list(table.data[table.data["runs"] > 0]["chosen_by"]) == ["test_accuracy", "validation_accuracy"]
    (ours,) = [note for note in rendered([released()], artifact="acenode_table2").notes if note.startswith("Ours")]
    assert ours.endswith("what a run reports (test_accuracy, the highest of the run).")


def test_the_test_set_chooses_in_the_released_reading_only(rendered):
    with pytest.raises(UserError, match="metric is test_accuracy, and validation_accuracy was expected"):
        rendered([image() | {"metric": "test_accuracy"}], artifact="acenode_table2")


def failed(cause="step budget exceeded", during="forward", **changes) -> dict:
    failure = {"cause": cause, "time": 0.31, "step": 1000, "during": during}
    nothing = {"status": "diverged", "diverged_at": 812, "metric": "", "rule": "", "reported": "", "measured": ""}
    return image(**changes) | nothing | {"failure": json.dumps(failure)}


def test_why_runs_failed_is_a_note(rendered):
    runs = [
        *(image(), failed(seed=1), failed("state not finite", "evaluation", seed=2)),
        failed(model="resnet") | {"failure": "", "diverged_at": 91},
    ]
    table = rendered(runs, artifact="acenode_table2")
    assert cell(table, "ODE_NET", "ours", "MNIST images") == "99.00 ± – (n = 1; diverged 2 of 3)"
    assert (
        "Diverged: ODE_NET, seed 1: solver failed at iteration 812 (step budget exceeded at t = 0.31, step 1000, "
        "forward); ODE_NET, seed 2: solver failed after iteration 812 (state not finite at t = 0.31, step 1000, "
        "evaluation); RESNET, seed 0: the loss was not finite at iteration 91."
    ) in table.notes


def of_size(model="ace_ode_net", test=0.9, size=64, task="cifar10_images", **changes) -> dict:
    return image(model, test, task=task, size=size, artifact="acenode_table10", **changes)


def test_a_size_is_held_to_another(rendered):
    large = {"model": "ace_ode_net_large", "size": 128}
    runs = [of_size(), of_size(test=0.91, **large), of_size(task="mnist_images"), of_size(task="mnist_images", **large)]
    table = rendered(runs, artifact="acenode_table10")
    row = "ACE_ODE_NET_LARGE"
    assert cell(table, row, "against ACE-ODE-Net", "CIFAR-10") == "holds +1.00 (+2.13)"  # 88.12 - 85.99
    assert cell(table, row, "rank (published)", "CIFAR-10") == "1 (1) of 2"
    assert cell(table, row, "published", "CIFAR-10") == "88.12"
    assert cell(table, row, "against ACE-ODE-Net", "MNIST images") == "tied 0.00 (−0.10)"
    assert cell(table, row, "against ACE-ODE-Net", "SVHN") == "–"
    text = " ".join(table.notes)
    assert "our mean less our ACE-ODE-Net's, in brackets" in text and "of the same size" not in text
    assert "it is the best of the five seeds in the authors' README, whose mean is 87.722" in text


def test_parameters_may_differ_between_tasks(rendered):
    counts = {"cifar10_images": 359050, "svhn_images": 321418, "mnist_images": 283338}
    runs = [of_size(task=task, parameters=count) for task, count in counts.items()]
    table = rendered([*runs, of_size(size=16, paper_size=128, model="ace_ode_net_large")], artifact="acenode_table10")
    assert list(table.frame[("", "Parameters")]) == ["359,050 / 321,418 / 283,338", "16,000"]
    assert list(table.frame[("", "Published parameters")]) == [
        "0.36M / 0.32M / 0.28M",
        "1.27M / 1.42M / 1.27M (N = 128)",
    ]
    stroke = "Parameters with a stroke between them are those of the tasks, in the order of their columns."
    assert stroke in table.notes and stroke not in rendered([run()]).notes
    assert list(table.data["published_parameters"]) == ["0.36M", "0.32M", "0.28M", "1.27M", "1.42M", "1.27M"]


# Hyperparameters


@pytest.mark.parametrize("number", HYPERPARAMETER_ROWS)
def test_at_scale_paper_nothing_differs_from_the_published_values(number):
    table = hyperparameter_table(configuration("paper"), f"momentumrnn_table{number}")
    assert list(table.data["differs"]) == [""] * HYPERPARAMETER_ROWS[number]
    assert "(published" not in table.frame.to_string()
    unpublished = (table.data["task"] == "ptb") & (number in (8, 9))  # Tables 8 and 9 have no row for it
    for name in ("optimiser", "learning_rate", "batch_size", "epochs"):
        assert list(table.data[f"published_{name}"].notna()) == list(~unpublished)
    orthogonal_rows = table.data[table.data["model"].str.endswith("dtriv")]
    assert len(orthogonal_rows) > 0
    for name in ("K", "initialisation", "orthogonal_optimiser", "orthogonal_learning_rate"):
        assert orthogonal_rows[f"published_{name}"].notna().all()


def test_sizes_have_their_own_values():
    data = hyperparameter_table(configuration("paper"), "momentumrnn_table7").data
    rows = data[data["task"] == "pmnist_dtriv"].set_index("size")
    assert rows["K"].to_dict() == {170: 1, 360: "∞", 512: "∞"}
    assert rows["mu"].to_dict() == {170: 0.6, 360: 0.3, 512: 0.3}
    assert rows["learning_rate"].to_dict() == {170: 7e-4, 360: 7e-4, 512: 3e-4}
    assert rows["orthogonal_learning_rate"].to_dict() == {170: 2e-4, 360: 5e-5, 512: 7e-5}


def test_an_ablation_s_grid_is_not_in_the_tables():
    paper = configuration("paper")
    assert "grid" in paper.tasks["mnist_ablation"]["models"]["momentum_lstm"]
    tasks = set(hyperparameter_table(paper, "momentumrnn_table7").data["task"])
    assert not [task for task in tasks if task.endswith("ablation")]


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
    table = hyperparameter_table(configuration("paper"), f"momentumrnn_table{number}")
    (row,) = [row for row in table.frame.to_dict("records") if row["Task"].startswith("PTB")]
    training = {"Optimiser": "SGD", "Learning rate": "30", "Batch size": "20", "Epochs": "500", "Clip norm": "0.25"}
    expected = {"Model": model, "Data": "Penn Treebank", "N": "1150", **training, **cells}
    assert {name: row[name] for name in expected} == expected
    not_printed = number in (8, 9)
    assert row["Task"] == (f"PTB (not in Table {number})" if not_printed else "PTB")
    said = f"Not in the paper's table, which gives none of their values (ours are a choice): {model} on PTB (N = 1150)."
    assert (said in table.notes) == not_printed
    assert sum("(not in" in task for task in table.frame["Task"]) == not_printed


def test_what_only_language_has_is_a_note_and_no_column():
    table = hyperparameter_table(configuration("paper"), "momentumrnn_table7")
    (note,) = [note for note in table.notes if note.startswith("PTB: embedding")]
    assert note == (
        "PTB: embedding 400; layers 3; dropout: embedding 0.1, input 0.4, layer 0.25, output 0.4, weight 0.5; steps of "
        "backpropagation 70; activation regularisation 2.0; temporal activation regularisation 1.0; weight decay "
        "0.0000012; averaging of the weights: metric validation_loss, nonmonotone 5; batch size of the evaluation: "
        "validation 10, test 1."
    )
    assert not {"embedding", "layers", "dropout"} & set(map(str.lower, table.frame))
    row = table.data[table.data["task"] == "ptb"].iloc[0]
    assert row["details.embedding_size"] == row["published_details.embedding_size"] == 400
    assert row["details.dropouts.weight"] == 0.5 and row["details.averaging.nonmonotone"] == 5
    (unstated,) = [note for note in table.notes if note.startswith("Not stated")]
    assert "dropout, steps of backpropagation" in unstated and "layers" not in unstated


def test_a_note_marks_what_departs_and_whose_it_is():
    table = hyperparameter_table(configuration("demo"), "momentumrnn_table6")
    size = configuration("demo").tasks["ptb"]["hyperparameters"]["embedding_size"]
    assert any(f"PTB: embedding {size} (published 400); layers" in note for note in table.notes)
    assert "details.embedding_size" in table.data[table.data["task"] == "ptb"]["differs"].iloc[0].split()
    changes = {"momentum_lstm": {"hyperparameters": {"layers": 2, "dropouts": {"input": 0.0}}}}
    override = {"tasks": {"ptb": {"training": {"averaging": None}, "models": changes}}}
    notes = hyperparameter_table(configuration("paper", overrides=override), "momentumrnn_table7").notes
    (note,) = [note for note in notes if note.startswith("PTB: embedding")]
    assert "layers 2 (published 3); dropout: embedding 0.1, input 0.0," in note
    assert "averaging of the weights none" in note


def test_models_that_differ_in_a_note_are_named(monkeypatch):
    override = {"tasks": {"ptb": {"models": {"momentum_lstm": {"hyperparameters": {"layers": 2}}}}}}
    changed = configuration("paper", overrides=override)
    both = changed.artifacts["momentumrnn_table7"] | {"models": ["lstm", "momentum_lstm", "sr_lstm"]}
    monkeypatch.setitem(changed.artifacts, "momentumrnn_table7", both)
    notes = hyperparameter_table(changed, "momentumrnn_table7").notes
    assert [note.partition(";")[0] for note in notes if note.startswith("PTB, ")] == [
        "PTB, LSTM, SRLSTM: embedding 400",
        "PTB, MomentumLSTM: embedding 400",
    ]


def test_tasks_that_stand_for_one_are_held_to_the_same_rows():
    overrides = {"tasks": {"timit_recall": {"models": {"momentum_lstm": {"hyperparameters": {"s": 0.2}}}}}}
    data = hyperparameter_table(configuration("paper", overrides=overrides), "momentumrnn_table7").data
    assert list(data[data["task"] == "timit_recall"]["differs"]) == ["s"] * 3
    assert list(data[data["task"] == "timit"]["differs"]) == [""] * 3


def test_a_released_reading_of_the_paper_s_values_is_marked():
    table = hyperparameter_table(
        configuration("paper", readings={"orthogonal_speech_clipping": "released"}), "momentumrnn_table7"
    )
    clipped = [row for row in table.data.to_dict("records") if row["task"].startswith("timit_dtriv")]
    assert len(clipped) == 4 and {row["clip_norm"] for row in clipped} == {1.0}


@pytest.mark.parametrize("artifact", HYPERPARAMETER_TABLES)
def test_at_scale_demo_departures_are_marked(artifact):
    demo = configuration("demo")
    table = hyperparameter_table(demo, artifact)
    text = markdown(table.frame, table.title, table.notes)
    epochs = f"{demo.tasks['mnist']['training']['epochs']} (published 150)"
    for part in (epochs, "32 (published 128)", "blanks 20 (published 1000)", "length 50 (published 750)"):
        assert part in text
    assert "scikit-learn) (published MNIST)" in text
    assert "departs" in table.title


def test_published_rows_that_are_not_configured_are_named():
    notes = " ".join(hyperparameter_table(configuration("paper"), "momentumrnn_table6").notes)
    assert "not configured yet: DTRIV on MNIST, N = 170 / MNIST, N = 360 / MNIST, N = 512." in notes


def test_a_changed_value_is_found_wherever_it_is():
    overrides = {"tasks": {"pmnist": {"training": {"clip_norm": None}, "models": {"sr_lstm": {"by_size": {128: {}}}}}}}
    overrides["tasks"]["pmnist"]["models"]["sr_lstm"]["by_size"][128] = {"hyperparameters": {"restart": 7}}
    table = hyperparameter_table(configuration("paper", overrides=overrides), "momentumrnn_table10")
    assert list(table.data["differs"]) == ["", "", "restart clip_norm", "clip_norm"] + [""] * 9
    assert "7 (published 6)" in set(table.frame["F"])
    assert "none (published 1)" in set(table.frame["Clip norm"])


# Formats


class Cells(HTMLParser):
    """The cells of a page's table, and whether every element that needs it is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.outside = [], [], []

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture
def table(rendered):
    runs = [run(reported=v, seed=s) for s, v in enumerate((0.9, 0.93))]
    return rendered([*runs, run("momentum_lstm", reported=0.95), run("we<i>rd_&|%\\", reported=0.9, extra="true")])


def test_four_files_and_nothing_else(table, tmp_path):
    stem = tmp_path / "tables" / "momentumrnn_table1.1"
    paths = write_table(table.frame, stem, table.title, table.notes, table.data)
    assert [path.name for path in paths] == [f"momentumrnn_table1.1.{ending}" for ending in ENDINGS]
    assert sorted(path.name for path in stem.parent.iterdir()) == sorted(path.name for path in paths)


def test_csv_keeps_every_number(table, tmp_path):
    csv, *_ = write_table(table.frame, tmp_path / "t", table.title, table.notes, table.data)
    again = pandas.read_csv(csv)
    assert list(again.columns) == list(table.data.columns)
    for name in ("mean", "std", "n", "published_mean", "published_std", "gap", "rank"):
        assert again[name].to_list() == pytest.approx(table.data[name].astype(float).to_list(), nan_ok=True)


def test_html_is_one_closed_page_that_loads_nothing(table, tmp_path):
    path = write_table(table.frame, tmp_path / "t", table.title, table.notes)[3]
    page = Cells()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == [] or page.open == ["!doctype"]
    assert page.outside == []
    assert page.rows[-1] == [str(value) for value in table.frame.iloc[-1]]
    assert "WE<I>RD_&|%\\" in page.rows[-1]
    assert "viewport" in path.read_text(encoding="utf-8")


def test_markdown_has_as_many_cells_in_every_row(table):
    lines = [line for line in markdown(table.frame, table.title, table.notes).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_latex_text_by_hand():
    assert latex_text("≈68K ± 5% of a_b & {c} #1 $x") == r"$\approx$68K $\pm$ 5\% of a\_b \& \{c\} \#1 \$x"
    assert latex_text("a\\b~c^d\n\ne") == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d e"
    assert latex_text("[22] – ✓ ö") == r"{[}22{]} -- {[}U+2713{]} ö"


@given(st.text())
def test_latex_text_leaves_nothing_that_acts(text):
    plain = re.sub(r"\\[a-z]+(\{\})?|\\[&%$#_{}]|\$\\[a-z]+\$|\$-\$", "", latex_text(text))
    assert not re.search(r"[\\&%$#_^]", plain)
    assert plain.count("{") == plain.count("}")


def test_latex_compiles(table, rendered, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    spoken = rendered(SPEECH, artifact="momentumrnn_table2")
    spoken = [spoken, rendered([language(), language("adam_lstm", seed=1)], artifact="momentumrnn_table3")]
    tables = [table, *spoken, *(hyperparameter_table(configuration("demo"), name) for name in HYPERPARAMETER_TABLES)]
    inputs = []
    for index, each in enumerate(tables):
        write_table(each.frame, tmp_path / f"t{index}", each.title, each.notes, each.data)
        inputs.append(rf"\input{{t{index}}}")
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *inputs, r"\end{document}"]
    (tmp_path / "document.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_plain_frame_is_its_own_csv(tmp_path):
    frame = pandas.DataFrame({"Claim": ["a"], "Value": [0.5], "Other": [None]})
    csv, md, *_ = write_table(frame, tmp_path / "claims", "Claims", [])
    assert csv.read_text() == "Claim,Value,Other\na,0.5,\n"
    assert "| a " in md.read_text() and "| – " in md.read_text()


# The script


def render(*arguments):
    command = [sys.executable, str(ROOT / "scripts" / "render_table.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_script_renders_results(tmp_path):
    pandas.DataFrame([stand_in(), stand_in(seed=1, reported=0.8)]).to_csv(tmp_path / "summary.csv", index=False)
    settings = {**read_yaml(ROOT / "config.yaml"), "scale": "demo"}
    settings["overrides"] = {"tasks": {"mnist": {"sizes": {128: 32}}}}
    output = tmp_path / "out" / "momentumrnn_table11"
    options = ["--summary", tmp_path / "summary.csv", "--config", json.dumps(settings), "--output", output]
    done = render("--artifact", "momentumrnn_table11", *options)
    assert done.returncode == 0, done.stderr
    assert sorted(path.suffix for path in output.parent.iterdir()) == [".csv", ".html", ".md", ".tex"]


def test_the_script_says_what_is_wrong(tmp_path):
    for artifact, message in (
        ("momentumrnn_table12345", "unknown artifact"),
        ("momentumrnn_figure3", "is not a table"),
        ("momentumrnn_table1", "--summary is needed"),
    ):
        done = render("--artifact", artifact, "--output", tmp_path / "t")
        assert done.returncode == 1
        assert message in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
