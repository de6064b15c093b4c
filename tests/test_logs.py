"""The authors' logs: their reader, the runs that they speak to, and the tables of them."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawn import artifact_at
from hypothesis import given, settings
from hypothesis import strategies as st
from made import evidence_of, make_run
from scipy import stats

from hidden_dynamics.artifacts import left_out_note, load_artifacts
from hidden_dynamics.configuration import load, merge, read_yaml
from hidden_dynamics.configuration.entries import flat
from hidden_dynamics.configuration.runs import resolve, runs_on
from hidden_dynamics.papers.logs import Log, load_logs
from hidden_dynamics.system.files import ROOT

NAME, TABLE, FIVE = "momentumrnn/logs.yaml", "momentumrnn_course", [0, 1, 2, 3, 4]
RELEASED = {"default": "released"}
TASK, MOMENTUM = "pmnist_dtriv", "momentum_dtriv"
LOGS = load_logs(NAME)


def spoken(task: str = TASK, model: str = MOMENTUM, size: int = 512, **settings: Any) -> Log | None:
    configuration = load(read_yaml(ROOT / "config.yaml") | {"scale": "paper", "variants": RELEASED} | settings)
    return LOGS.of(configuration, resolve(configuration, task, model, size, 3))


def changed(task: str = TASK, **change: Any) -> dict[str, Any]:
    return {"overrides": {"tasks": {task: change}}}


def test_all_logs_but_four_are_of_the_papers_settings(configured):
    paper = configured(scale="paper", variants=RELEASED)
    runs = [run for task in LOGS.about.tasks for run in runs_on(paper, task, [0])]
    found = [log for log in (LOGS.of(paper, run) for run in runs) if log]
    assert len(found) == len(set(map(id, found)))
    others = [log[0] for log in LOGS.logs if log not in found]
    sr, adam = ("sr_lstm", 128, None, 8, False), ("adam_lstm", 128, 0.8, None, False)
    unclipped = [(model, 512, None, None, False) for model in ("dtriv", MOMENTUM)]
    assert {(one.model, one.size, one.beta, one.restart, one.clipped) for one in others} == {sr, adam, *unclipped}


@pytest.mark.parametrize(
    ("settings", "speaks"),
    [
        (changed(training={"epochs": 1}), True),
        (changed(training={"clip_norm": None}), False),
        ({"precision": "tf32"}, False),
        ({"scale": "pilot"}, True),
    ],
)
def test_a_log_speaks_to_runs_that_share_all_settings_but_the_number_of_epochs(settings, speaks):
    assert (spoken(**settings) is not None) == speaks


def test_a_log_of_other_settings_speaks_to_runs_that_share_them():
    assert spoken("mnist", "adam_lstm", 128) is None
    beta = {"models": {"adam_lstm": {"hyperparameters": {"beta": 0.8}}}}
    assert spoken("mnist", "adam_lstm", 128, **changed("mnist", **beta))[0].beta == 0.8
    assert not spoken(model="dtriv", **changed(training={"clip_norm": None}))[0].clipped


@settings(max_examples=settings.default.max_examples // 2)  # it takes long
@given(data=st.data())
def test_a_run_that_differs_in_whatever_one_setting_is_not_spoken_to(configured, data):
    paper = configured(scale="paper", variants=RELEASED)
    run = resolve(paper, TASK, MOMENTUM, 512, 0)
    free = ("seed", "training.epochs", "variants.")
    place = data.draw(st.sampled_from([one for one in flat(run.spec) if not one.startswith(free)]))
    change: Any = data.draw(st.sampled_from(["another", 0.123, 7]))
    for name in reversed(place.split(".")):
        change = {name: change}
    assert LOGS.of(paper, run) is not None
    assert LOGS.of(paper, replace(run, spec=merge(run.spec, change))) is None


def table_of(root: Path, factor=1.0, spread=0.01, epochs=1, task=TASK, **about: Any):
    """Of runs whose losses, after each epoch, are a log's first mean times a factor, with a deviation of `spread`
    times that; about: by (model, seed), keywords of a run, or its own number of epochs."""
    artifact = artifact_at("paper", TABLE, seeds=FIVE, variants=RELEASED, only=[task])
    for run in artifact.runs:
        loss = LOGS.of(artifact.configuration, run)[0].mean * factor * (1 + spread * (run.seed - 2) / math.sqrt(2.5))
        own = about.get(f"{run.model}_{run.seed}", {})
        course = range(1, 1 + own.pop("epochs", epochs))
        losses = dict.fromkeys(("test_loss", "validation_loss"), loss) | {"test_accuracy": 0.5}
        evaluations = [{"epoch": float(k), "iteration": k} | losses for k in course]
        make_run(root, artifact.configuration, run, **{"evaluations": evaluations} | own)
    return artifact.draw(artifact.evidence(root)).data.set_index("model")


def test_our_mean_and_deviation_stand_beside_the_authors(tmp_path):
    found = table_of(tmp_path, 1.02, 0.03).loc[MOMENTUM]
    numbers = (0.37064 * 1.02, 0.37064 * 1.02 * 0.03, 0.37064, 0.0122)
    assert tuple(found[["mean", "std", "published_mean", "published_sd"]]) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("task", "ours", "theirs"), [(TASK, 1, 1), (TASK, 17, 15), (TASK, 150, 100), ("ptb", 2, 2), ("ptb", 1, None)]
)
def test_the_last_epoch_that_both_have_is_compared(tmp_path, task, ours, theirs):
    """The logs of Penn Treebank start at the second epoch."""
    table = table_of(tmp_path, task=task, epochs=ours)
    assert set(table["epoch"].replace(math.nan, None)) == {theirs} and set(table["n"]) == {5 if theirs else 0}


def test_failed_and_shorter_runs_are_not_counted(tmp_path):
    lost, endless = {"evaluations": [], "diverged_at": 7}, {"epoch": 1.0, "iteration": 1, "test_loss": math.inf}
    about = {f"{MOMENTUM}_4": lost, "dtriv_0": {"evaluations": [endless]}, "sr_dtriv_0": {"epochs": 0}}
    table = table_of(tmp_path, **about)
    assert set(table["n"]) == {4, 5} and set(table.loc[[MOMENTUM, "dtriv", "sr_dtriv"], "n"]) == {4}
    assert set(table["runs"]) == {5}


def test_it_is_made_where_runs_are_at_the_papers_settings(configured):
    scales = {scale: configured(scale=scale) for scale in ("demo", "evening", "pilot", "paper")}
    assert [TABLE in load_artifacts(one) for one in scales.values()] == [False, False, True, True]
    assert {left_out_note(one) for one in scales.values()} == {""}
    artifact = load_artifacts(scales["paper"])[TABLE]
    assert ("mnist", "lstm", 128) in artifact.cases() and not {cell.task for cell in artifact.cases()} & {TASK, "ptb"}


@pytest.fixture(scope="module")
def cells():
    """The rows of the table of logs by cell; of two that differ in clipping, the clipped one is the last."""
    artifact = artifact_at("demo", "momentumrnn_logs")
    return artifact.draw(evidence_of(artifact)).data.set_index(["task", "model", "size"])


@pytest.mark.parametrize(
    ("cell", "at", "epochs", "difference", "low", "high"),  # LSTM has four seeds on PMNIST: three degrees of freedom
    [
        (("mnist", "momentum_lstm", 128), "last", (100, 100), 0.0006, -0.008, 0.009),
        (("mnist", "momentum_lstm", 128), "best", (75, 75), 0.0013, -0.005, 0.008),
        (("pmnist", "momentum_lstm", 256), "last", (100, 100), -0.0619, -0.142, 0.018),
        (("pmnist", MOMENTUM, 512), "last", (100, 100), -0.0235, -0.033, -0.014),
        (("pmnist", MOMENTUM, 512), "best", (100, 30), -0.0129, -0.021, -0.005),
        (("timit", "momentum_lstm", 158), "last", (700, 700), -3.5538, -3.771, -3.336),  # at 749 three seeds
        (("ptb", "sr_lstm", 1150), "best", (500, 500), -0.0137, -0.040, 0.012),
        (("mnist", "sr_lstm", 128), "last", (100, 100), 0.0029, math.nan, math.nan),  # one seed
    ],
)
def test_a_cell_is_held_to_its_baseline_at_the_last_and_the_best_epochs(cells, cell, at, epochs, difference, low, high):
    row = cells.loc[[cell]].iloc[-1]
    assert (row[f"{at}_epoch"], row[f"{at}_baseline_epoch"]) == epochs
    assert row[f"{at}_difference"] == pytest.approx(difference, abs=6e-5)
    assert (row[f"{at}_low"], row[f"{at}_high"]) == pytest.approx((low, high), abs=6e-4, nan_ok=True)


@pytest.mark.parametrize("at", ["last", "best"])
def test_p_says_what_the_interval_says_and_q_is_over_all_that_are_tested(cells, at):
    tested = cells[cells[f"{at}_p"].notna()]
    apart = (tested[f"{at}_low"] > 0) | (tested[f"{at}_high"] < 0)
    assert len(tested) == len(cells) - 1 == 27 and (apart == (tested[f"{at}_p"] < 0.05)).all()
    assert list(tested[f"{at}_q"]) == pytest.approx(stats.false_discovery_control(list(tested[f"{at}_p"])).tolist())
