"""Verdicts from made-up runs whose truth is known: gate, bars, deviations, what stands beside them, explanations.

That each verdict follows from its numbers is what tests/test_verdicts_from_records.py asks.
"""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
import render
import render_claims
from judged import (
    NAIVE,
    PAIR,
    SPREAD,
    TABLE,
    against_lstm,
    asking,
    at,
    claimed,
    cost,
    evaluation,
    judged,
    run_of,
    seeds,
)
from made import as_text, make_run, row_of, write_floors
from scipy import stats

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.comparison import with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.epochs import with_epochs
from hidden_dynamics.claims.judge import counted_once, verdicts
from hidden_dynamics.claims.samples import Evidence
from hidden_dynamics.claims.verdict import (
    COLUMNS,
    FAILS,
    HOLDS,
    NOT_RUN,
    UNDECIDED,
    counts,
    word,
)
from hidden_dynamics.configuration.runs import Run
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import read_rows, write_rows
from hidden_dynamics.results.seeds import with_floors

VALUE = "table11:value:mnist:test_accuracy:momentum_lstm-128"
RANKED = {"lstm": 97.0, "sr_lstm": 97.5, "adam_lstm": 98.0, "momentum_lstm": 98.5, "rmsprop_lstm": 99.0}

BLOCKS = {"default": "published", "permutation": "released"}  # variants by which a seed has data of its own
PMNIST = "table11:better:pmnist:test_accuracy:momentum_lstm-128:lstm-128"


@pytest.fixture(scope="module")
def paper(configured) -> Callable[..., Artifact]:
    """Artifacts at the paper's scale, by name."""
    return lambda name=TABLE, **settings: at(configured, name, **settings)


@pytest.fixture(scope="module")
def demo(configured) -> Artifact:
    return at(configured, scale="demo")


# ---------------------------------------------------------------------------------------------------------- Two means


@pytest.mark.parametrize("mean, verdict", [(99.0, HOLDS), (97.0, FAILS), (98.02, UNDECIDED)])
def test_a_clear_difference_decides(paper, mean, verdict):
    table = paper()
    row = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", mean))
    assert (row["verdict"], row["test"], row["n_subject"], row["n_reference"]) == (verdict, "Welch's t", 5, 5)
    assert row["estimate"] == pytest.approx(mean - 98.0) and row["low"] < row["estimate"] < row["high"]
    assert row["effect_low"] < row["effect"] < row["effect_high"] and (row["effect"] > 0) == (mean > 98)
    assert (row["effect_low"] > 0) == (row["low"] > 0) and row["p"] <= row["p_adjusted"]
    assert row["runs"].split()[0] == "results/paper/runs/mnist/momentum_lstm-n128/seed0" and row["runs"].count(" ") == 9
    assert row["published"] == "99.04 ± 0.04 against 98.7 (quoted)"


def test_the_effect_is_hedges_g_in_the_claims_direction_beside_the_papers_own(paper):
    table = paper("momentumrnn_table2")
    rows = seeds(table, "lstm", 12.0, 158, "timit", "test_loss", naive={}) + seeds(
        table, "momentum_lstm", 11.0, 158, "timit", "test_loss", naive={}
    )
    row = next(row for row in judged(table, rows).values() if row["kind"] == "better" and row["test"])
    std = np.std(SPREAD, ddof=1)
    correction = math.gamma(4) / math.sqrt(4) / math.gamma(3.5)
    assert row["effect"] == pytest.approx(1 / std * correction)
    printed = [float(text.split(" ± ")[1]) for text in row["published"].split(" against ")]
    gap = np.subtract(*(float(text.split(" ± ")[0]) for text in row["published"].split(" against ")))
    pooled = math.sqrt((printed[0] ** 2 + printed[1] ** 2) / 2)
    assert row["published_effect"] == pytest.approx(-gap / pooled * correction)
    assert row["published_difference"] == pytest.approx(gap)


@pytest.mark.parametrize(
    "n, diverged, spread, reasons",
    [
        (2, (), 0.001, ["n = 2 for MomentumLSTM", "fewer than 3 seeds are not tested"]),
        (5, range(5), 0.1, ["n = 0 for MomentumLSTM", "5 of 5 runs of MomentumLSTM diverged"]),
        (3, (), 0.0, ["no spread"]),
    ],
)
def test_two_seeds_are_not_tested_nor_are_equal_ones(paper, n, diverged, spread, reasons):
    table, spreads = paper(), [spread * offset for offset in range(n)]
    ours = seeds(table, "momentum_lstm", 99.0, spread=spreads, diverged=diverged)
    row = against_lstm(table, seeds(table, "lstm", 98.0, spread=spreads), ours)
    assert row["verdict"] == UNDECIDED and row["p"] == "" and all(reason in row["reason"] for reason in reasons)


def test_what_was_not_run_is_said(paper):
    row = against_lstm(paper(), seeds(paper(), "lstm", 98.0))
    assert (row["verdict"], row["reason"]) == (NOT_RUN, "no runs of MomentumLSTM of size 128 on mnist")


def test_a_seed_with_data_of_its_own_is_a_block_and_where_the_other_test_says_otherwise_it_is_named(paper):
    """Numbers that go up and down together: seed by seed the difference is clear, by Welch's t it is not."""
    wide = np.arange(5.0)
    for variants, test, verdict, other in (
        ({"default": "published"}, "Welch's t", UNDECIDED, "reproduced by paired t (p = "),
        (BLOCKS, "paired t", HOLDS, "inconclusive by Welch's t (p = "),
    ):
        table = paper(variants=variants)
        rows = seeds(table, "lstm", 90.0, task="pmnist", spread=wide)
        rows += seeds(table, "momentum_lstm", 91.0, task="pmnist", spread=wide + np.array(SPREAD) / 10)
        row = judged(table, rows)[PMNIST]
        assert (row["test"], row["verdict"]) == (test, verdict) and row["other_test"].startswith(other)
    low, high = stats.ttest_rel(wide + 1 + np.array(SPREAD) / 10, wide).confidence_interval()
    assert (row["low"], row["high"]) == pytest.approx((low, high))


def test_whoever_chooses_among_the_runs_makes_no_fewer_tests(paper):
    table, name = paper(), "table11:better:mnist:test_accuracy:sr_lstm-128:lstm-128"
    rows = {model: seeds(table, model, 97.0 + index, spread=np.arange(5.0)) for index, model in enumerate(RANKED)}
    alone = judged(table, rows["lstm"] + rows["sr_lstm"])[name]
    among = judged(table, [row for own in rows.values() for row in own])[name]
    assert alone["p"] == among["p"] and alone["tests"] == among["tests"] > 8
    assert alone["p_adjusted"] == pytest.approx(min(1.0, alone["tests"] * alone["p"])) and among["p_adjusted"] <= 1
    ahead = judged(table, rows["lstm"] + seeds(table, "sr_lstm", 99.9, spread=np.arange(5.0)))[name]
    assert f"{ahead['tests'] - 1} of them not made" in ahead["reason"]


# ------------------------------------------------------------------------------------------------------------ Margins


def test_a_value_is_not_judged_where_the_papers_test_set_may_be_another(paper):
    table, number = paper("acenode_table7"), "table-mortality:value:physionet:test_auc:ace_latent_ode-20"
    runs = seeds(table, "ace_latent_ode", 0.5, 20, "physionet", "test_auc", [s / 100 for s in SPREAD], naive={})
    row = judged(table, runs)[number]
    assert (row["verdict"], row["test"], row["p"]) == (UNDECIDED, "", "") and "test set" in row["reason"]
    as_theirs = paper("acenode_table7", variants={"default": "published", "patient_order": "released"})
    assert judged(as_theirs, runs)[number]["test"]


def losses(figure: Artifact, means: dict[str, float], naive: float, metric="train_loss") -> list[dict[str, str]]:
    known = {"train_loss": {"best constant": naive}, "test_loss": {"best constant": naive}}
    task, size = ("adding", 128) if figure.name == "momentumrnn_figure4" else ("copying_1k", 190)
    rows = [
        seeds(figure, model, mean, size, task, metric, [s / 100 for s in SPREAD], naive=known)
        for model, mean in means.items()
    ]
    return [row for some in rows for row in some]


def test_where_nothing_is_printed_the_margin_is_a_share_of_the_naive_answers(paper):
    figure = paper("momentumrnn_figure10")
    found = judged(figure, losses(figure, {"lstm": 0.01, "momentum_lstm": 0.01}, 0.2))
    row = found["both-copying-momentum-similar:copying_1k:train_loss:momentum_lstm-190:lstm-190"]
    assert row["test"].startswith("equivalence within 0.002, ")
    without = [each | {"naive": "{}"} for each in losses(figure, {"lstm": 0.01, "momentum_lstm": 0.01}, 0.2)]
    row = judged(figure, without)[row["id"]]
    assert (row["verdict"], row["p"]) == (UNDECIDED, "") and "no number" in row["reason"]


# ----------------------------------------------------------------------------------------------------------- The gate


@pytest.mark.parametrize(
    "lstm, momentum, verdict, nothing",
    [
        (50.0, 60.0, HOLDS, ""),
        (11.3, 60.0, HOLDS, "reference"),  # what is behind is not shown to have learned: the words say so
        (60.0, 11.3, FAILS, "subject"),
        (10.0, 11.3, UNDECIDED, "both"),
        (10.0, 11.42, UNDECIDED, "both"),  # ahead of 11.35, but not by more than the seeds' spread
    ],
)
def test_no_verdict_where_the_side_that_is_ahead_has_not_learned(paper, lstm, momentum, verdict, nothing):
    table = paper()
    row = against_lstm(table, seeds(table, "lstm", lstm), seeds(table, "momentum_lstm", momentum))
    assert (row["verdict"], row["nothing_learned"], row["naive"]) == (verdict, nothing, "majority class: 11.35")
    assert ("shown" in row["reason"]) == bool(nothing) and row["p_adjusted"] < 0.05
    assert row["reason"].startswith("no learning shown") == (nothing == "both")


@pytest.mark.parametrize(
    ("lstm", "momentum", "better", "value", "ranking"),
    [
        (50.0, 51.0, "both behind", "behind", "5 of 5 behind"),
        (50.0, 60.0, "LSTM behind, MomentumLSTM ahead of", "ahead of", "4 of 5 behind"),
        (60.0, 61.0, "both ahead of", "ahead of", "3 of 5 behind"),
    ],
)
def test_the_best_classical_baseline_stands_beside_a_verdict(paper, lstm, momentum, better, value, ranking):
    table, scores = paper(), {"logistic regression": "0.5", "3 nearest neighbours": "0.5512", "ridge": "0.4"}
    floors = [{"seed": "", "metric": "test_accuracy", "name": name, "score": score} for name, score in scores.items()]
    means = dict.fromkeys(RANKED, 40.0) | {"lstm": lstm, "momentum_lstm": momentum}
    rows = [row for model, mean in means.items() for row in seeds(table, model, mean)]
    without, found = judged(table, rows), judged(table, [with_floors(row, floors) for row in rows])
    assert {row["classical"] for row in without.values()} == {""}
    assert {row["classical"] for row in found.values()} == {"", "3 nearest neighbours: 55.12"}
    sides = [("momentum_lstm-n128", "lstm-n128"), ("momentum_lstm-n128", ""), ("", "")]
    own = [row for row in found.values() if row["classical"] and (row["subject"], row["reference"]) in sides]
    said = {row["kind"]: row["beside_classical"] for row in own}
    assert said == {"better": better, "value": value, "ranking": ranking}
    assert all(row[name] == without[key][name] for key, row in found.items() for name in ("verdict", "reason"))


def test_the_gate_asks_those_of_a_test_of_blocks_also_where_a_seed_failed(paper):
    """Of blocks: a seed that one model lacks is dropped of both, and is a failed run of that one alone."""
    table = paper("acenode_table9", variants={"default": "published", "activity_resampling": "released"})
    metric, spread = "test_time_point_accuracy", np.array((*SPREAD, 0.0)) / 100
    about = {"size": 15, "task": "human_activity", "metric": metric, "naive": {metric: {"majority class": 0.502}}}
    rows = seeds(table, "augmented_latent_ode", 0.505, spread=spread, diverged=[5], **about)
    rows += seeds(table, "latent_ode", 0.499, spread=-spread, **about)
    name = f"activity-augmented-no-better:human_activity:{metric}:augmented_latent_ode-15:latent_ode-15"
    row = judged(table, rows)[name]
    assert row["reason"].startswith("no learning shown: Latent-ODE (ODE Enc.) not shown to beat majority class")
    few = judged(table, rows[:2] + rows[5:8] + rows[-1:])[name]  # two seeds that both have
    assert "runs of Augmented" in few["reason"] and "runs of Latent-ODE" not in few["reason"]


def test_a_verdict_that_the_gate_takes_away_has_no_other_test(paper):
    table, wide = paper(), np.array([-4.0, -2.0, 0.0, 2.0, 4.0])
    ours = seeds(table, "momentum_lstm", 10.5, spread=wide + 0.01 * np.array(SPREAD))
    row = against_lstm(table, seeds(table, "lstm", 10.0, spread=wide), ours)
    assert (row["verdict"], row["other_test"][:5]) == (UNDECIDED, "")


def test_where_momentum_is_0_in_all_runs_the_reason_says_so(paper):
    table = paper("momentumrnn_table3")
    rows = []
    for model, mean in (("lstm", 300.0), ("momentum_lstm", 330.0)):
        rows += seeds(table, model, mean, 1150, "ptb", "test_perplexity", naive={})
    for said in ("MomentumLSTM has no momentum here (μ = 0)", ""):
        row = next(row for row in judged(table, rows).values() if row["verdict"] == FAILS)
        assert row["reason"] == said
        rows[-1] = rows[-1] | {"hyperparameters": '{"mu": 0.1}'}


@pytest.mark.parametrize(
    "ridge, fitted, beaten", [({}, {}, None), (20.0, {}, False), (26.0, {"": 28.0}, True), (26.0, {"0": 20.0}, False)]
)
def test_a_classical_baseline_takes_no_verdict_away_and_it_is_told_whether_it_is_beaten(paper, ridge, fitted, beaten):
    """MomentumLSTM's losses are 25; a run may have recorded one, and some are fitted apart: for a seed, or for all."""
    table, naive = paper("momentumrnn_table2"), {"repeating the frame": 29.0}
    naive |= {"ridge on three frames": ridge} if ridge else {}
    about = {"size": 158, "task": "timit", "metric": "test_loss", "naive": {"test_loss": naive}}
    rows = seeds(table, "lstm", 30.0, **about) + seeds(table, "momentum_lstm", 25.0, **about)
    floor = {"task": "timit", "metric": "test_loss", "name": "gradient boosting"}
    floors = [floor | {"seed": seed, "score": str(score)} for seed, score in fitted.items()]
    claims = [claim for claim in claimed(table) if claim.id.endswith("timit:test_loss:momentum_lstm-158:lstm-158")]
    (row, *_) = verdicts(Evidence(table, [with_floors(row, floors) for row in rows]), claims)
    assert (row["verdict"], row["naive"]) == (HOLDS, "repeating the frame: 29")
    assert (row["nothing_learned"], row["classical_beaten"]) == ("reference", beaten)


def test_a_claim_of_the_plan_names_it_where_its_own_runs_were_made(paper):
    """Over random splits, which are blocks that overlap."""
    for scale, plan in (("paper", "A1, 482fee51"), ("demo", "")):
        splits = paper("acenode_splits", scale=scale)
        about = {"size": 20, "task": "physionet_splits", "metric": "test_auc", "naive": {"test_auc": {"chance": 0.5}}}
        rows = seeds(splits, "latent_ode", 0.80, spread=np.array(SPREAD) / 20, **about)
        rows += seeds(splits, "ace_latent_ode", 0.84, spread=-np.array(SPREAD) / 20, **about)
        row = judged(splits, rows)["splits-attention-better:physionet_splits:test_auc:ace_latent_ode-20:latent_ode-20"]
        assert (row["plan"], row["verdict"]) == (plan, HOLDS if plan else NOT_RUN)
    assert judged(splits)[row["id"]]["plan"] == "A1, 482fee51"


def test_a_verdict_says_at_which_epochs_it_would_have_been_the_same(tmp_path, paper):
    """MomentumLSTM is behind the LSTM for two epochs, then alike, then ahead for two; the others are not run."""
    table, leads, rows = paper(), (-2.0, -2.0, 0.0, 3.0, 3.0), []
    for model, way in (("lstm", 0), ("momentum_lstm", 1)):
        for seed, offset in enumerate(SPREAD):
            course = [(95 + way * lead + offset) / 100 for lead in leads]
            evaluations = [{"iteration": i, "epoch": float(i), "test_accuracy": one} for i, one in enumerate(course, 1)]
            rows.append(made(tmp_path, table, run_of(table, model, seed=seed), evaluations))
    evidence, claims = Evidence(table, rows, root=tmp_path), [one for one in claimed(table) if one.kind != "faster"]
    rows = with_epochs(evidence, claims, verdicts(evidence, claims))
    row = next(row for row in rows if row["kind"] == "better" and row["id"].endswith(PAIR))
    assert row["verdict"] == HOLDS and row["decided_at"] == "4–5 of 1–5"
    assert not any(row["decided_at"] for row in rows if row["verdict"] not in (HOLDS, FAILS))


# -------------------------------------------------------------------------------------------------- Bars and deviations


DEVIATING = [
    ({}, {"stand_in_for": "mnist", "dataset_title": "Digits"}, "Digits in place of MNIST"),
    ({}, {"size": "32"}, "N = 32, not 128"),
    ({"tasks": {"mnist": {"training": {"epochs": 2}}}}, {}, "after 2 of 150 epochs"),
]


@pytest.mark.parametrize("overrides, change, reason", DEVIATING)
@pytest.mark.parametrize("asked", [True, False])
def test_runs_that_deviate_answer_where_a_scale_asks_and_never_of_a_value(configured, overrides, change, reason, asked):
    configuration = configured(scale="paper", overrides={"tasks": {}, "artifacts": {}} | overrides)
    table = artifact_named(asking(configuration) if asked else configuration, TABLE)
    rows = [row | change for model, mean in RANKED.items() for row in seeds(table, model, mean)]
    found = judged(table, rows)
    pair = next(row for row in found.values() if row["id"].endswith(f"better:{PAIR}"))
    for row in (pair, found["table11:ranking:mnist:test_accuracy"]):
        assert row["deviations"] == reason
        assert (row["verdict"], word(row)) == ((HOLDS, "holds") if asked else (NOT_RUN, "not run"))
        assert (row["reason"], row["p"]) == (reason, "") or asked
    assert (found[VALUE]["verdict"], found[VALUE]["p"]) == (NOT_RUN, "")


def test_words_are_the_papers_own_where_nothing_deviates():
    rows = [
        {"verdict": verdict, "deviations": text}
        for verdict in (HOLDS, FAILS, UNDECIDED, NOT_RUN)
        for text in ("", "so")
    ]
    assert [word(row) for row in rows] == [
        *("reproduced", "holds", "contradicted", "fails", "inconclusive", "undecided", "not run", "not run")
    ]
    assert counts([*rows, rows[1]]) == dict.fromkeys(map(word, rows), 1) | {"holds": 2, "not run": 2}


@pytest.mark.parametrize("dataset, replaced", [("digits", "mnist"), ("svhn", None)])
def test_a_task_that_itself_has_other_data_deviates(project, dataset, replaced):
    """Whether or not they stand in for the paper's by their own entry."""
    project.set("config/tasks.yaml", "mnist.dataset", dataset)
    table = artifact_named(project.load(scale="paper"), TABLE)
    assert table.configuration.replaced("mnist") == replaced
    row = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", 99.0))
    assert row["verdict"] == NOT_RUN and row["deviations"].endswith("in place of MNIST")


# --------------------------------------------------------------------------------------------- Orders, times and costs


def made(root, artifact: Artifact, run: Run, evaluations=None, **files) -> dict[str, str]:
    """The row of a run whose files are written."""
    evaluations = evaluations or evaluation(run)
    make_run(root, artifact.configuration, run, evaluations, **files)
    return row_of(artifact.configuration, run, evaluations=evaluations, naive=NAIVE)


@pytest.mark.parametrize(
    "ratios, direction, value",
    [
        ((1.19, 1.20, 1.21), HOLDS, HOLDS),
        ((1.44, 1.45, 1.46), HOLDS, FAILS),
        ((1.019, 1.02, 1.021), FAILS, FAILS),
        ((0.84, 0.85, 0.86), FAILS, FAILS),
        ((1.0, 1.2, 1.5), UNDECIDED, UNDECIDED),
        ((1.2, 1.2), UNDECIDED, UNDECIDED),  # of two processes nothing is tested
        ((1.2, 1.2, 0.0), UNDECIDED, UNDECIDED),  # a memory too small to be seen has no ratio
        ((1.2, 1.2, 1.2), HOLDS, HOLDS),  # counted, as what torch allocates on a GPU
        ((1.0, 1.0, 1.0), FAILS, FAILS),
    ],
)
def test_costs_of_processes_lie_on_the_printed_side(paper, ratios, direction, value):
    """Printed: 7.43 / 6.18 = 1.20 times the LSTM's."""
    table = paper("momentumrnn_table14")
    rows = cost(table, "momentum_lstm", "training_time", ratios) + cost(table, "lstm", "training_time", [1.0] * 3)
    found = judged(table, costs=rows)
    name = "pmnist:training_time:momentum_lstm-256:lstm-256"
    assert (found[f"table14:{name}"]["verdict"], found[f"table14:value:{name}"]["verdict"]) == (direction, value)
    assert "MomentumLSTM against" in found[f"table14:{name}"]["found"]  # the implementations that were timed
    assert found["table14:pmnist:training_time:adam_lstm-256:lstm-256"]["verdict"] == NOT_RUN


@pytest.mark.parametrize(
    "change, deviates",
    [
        ({"dataset": "digits"}, "in place of MNIST"),
        ({"settings": {"permutation": "none"}}, "the paper’s: the task"),
        ({"models": {"lstm": {"hyperparameters": {"forget_bias": 3.0}}}}, "the models’ own settings"),
        ({"training": {"epochs": 2}}, ""),
        ({"settings": {"permutation": "fixed"}, "training": {"epochs": 150}}, ""),
    ],
)
def test_a_measured_cost_deviates_by_all_but_the_training(paper, change, deviates):
    table = paper("momentumrnn_table14", overrides={"tasks": {"pmnist": change}, "artifacts": {}})
    rows = cost(table, "momentum_lstm", "training_time", (1.19, 1.2, 1.21)) + cost(
        table, "lstm", "training_time", [1.0] * 3
    )
    found = judged(table, costs=rows)["table14:pmnist:training_time:momentum_lstm-256:lstm-256"]
    assert found["verdict"] == (NOT_RUN if deviates else HOLDS)
    assert found["deviations"].endswith(deviates) and bool(found["deviations"]) == bool(deviates)


# ---------------------------------------------------------------------------------------------- What stands beside it


def test_the_error_of_the_one_test_set_stands_beside(paper):
    """10,000 images, 98 %: by hand. An AUC of 110 deaths among 800: Hanley and McNeil (1982), by hand."""
    row = against_lstm(paper(), seeds(paper(), "lstm", 97.0), seeds(paper(), "momentum_lstm", 98.0))
    assert row["test_error"] == pytest.approx(100 * math.sqrt(0.98 * 0.02 / 10000))
    table = paper("acenode_table7")
    rows = [
        row | {"test_set": json.dumps({"size": 800, "positive": 110})}
        for model in ("latent_ode", "ace_latent_ode")
        for row in seeds(table, model, 0.8, 20, "physionet", "test_auc", [0.01 * s for s in SPREAD], naive={})
    ]
    found = [row for row in judged(table, rows).values() if row["test_error"]]
    assert found and found[0]["test_error"] == pytest.approx(0.0262, abs=5e-5)


def test_one_row_of_a_test_counts_and_validation_is_no_second_answer(paper):
    table = paper("momentumrnn_table2")
    rows = []
    for model, mean in (("lstm", 12.0), ("momentum_lstm", 11.0)):
        for offset, row in zip(SPREAD, seeds(table, model, mean, 158, "timit", "test_loss", naive={}), strict=True):
            both = {"test_loss": mean + offset, "validation_loss": mean + offset}
            rows.append(row | {"measured": json.dumps(both)})
    every = as_read(judged(table, rows))
    counted_once(every, list(table.configuration.metrics))
    found = [row for row in every if row["kind"] == "better" and row["verdict"] == HOLDS]
    assert {row["metric"]: row["counted"] for row in found} == {"test_loss": "true", "validation_loss": "false"}
    twice = [dict(row) for row in [*every, *every]]
    counted_once(twice, list(table.configuration.metrics))
    assert [row["counted"] for row in twice[len(every) :]] == ["false"] * len(every)


# --------------------------------------------------------------------------------------------- What is made of verdicts


def as_read(found) -> list[dict[str, str]]:
    return [as_text(row) for row in found.values()]


MEANS = {"lstm": 0.60, "momentum_lstm": 0.61, "adam_lstm": 0.5, "rmsprop_lstm": 0.5, "sr_lstm": 0.5}


def all_runs(root, table: Artifact, means: dict[str, float]) -> None:
    """The runs of a table: accuracies about these means, as fractions; a train loss that falls."""
    for run in table.runs:
        offset = np.random.default_rng([run.seed, *run.sized_model.encode()]).normal() / 100
        evaluations = evaluation(run, test_accuracy=means[run.model] + offset)
        made(root, table, run, evaluations, losses=np.linspace(2, 1, 50) + run.seed / 100)


def test_the_scripts_from_a_summary_to_the_list(tmp_path, demo, ended):
    """A comparison that another table has is judged with that one alone."""
    all_runs(tmp_path, demo, MEANS)
    write_floors(tmp_path, demo)
    render.judge(Sources(demo, tmp_path))
    paths = demo.configuration.paths
    rows = read_rows(tmp_path / paths.verdicts(TABLE))
    own = next(row for row in rows if row["id"] == "table11:better:mnist:test_accuracy:adam_lstm-128:lstm-128")
    assert (own["subject"], own["reference"], own["verdict"]) == ("adam_lstm-n32", "lstm-n32", NOT_RUN)
    assert not [row for row in rows if row["id"].endswith(f":{PAIR}")]
    blank = dict.fromkeys(COLUMNS, "") | {"verdict": NOT_RUN}
    for name in artifacts_with_claims(demo.configuration):
        if name != TABLE:
            write_rows(tmp_path / paths.verdicts(name), COLUMNS, [blank | {"artifact": name}])
    assert ended(render_claims.main, "--root", tmp_path).code == 0
    gathered = read_rows(tmp_path / paths.all_verdicts)
    assert [row | {"counted": ""} for row in gathered if row["artifact"] == TABLE] == rows


def test_marks_take_the_printed_direction_and_the_value(paper):
    names = ("kind", "subject", "reference", "verdict", "against_table", "p_adjusted")
    about = {"task": "t", "metric": "m", "deviations": "so"}
    rows = [
        about | dict(zip(names, values, strict=True))
        for values in (
            ("better", "a-8", "lstm-8", FAILS, "true", "0.1"),
            ("better", "lstm-8", "a-8", HOLDS, "false", "0.1"),
            ("better", "a-8", "b-8", UNDECIDED, "false", "0.1"),
            ("value", "a-8", "", FAILS, "false", "0.1"),
            ("value", "b-8", "", NOT_RUN, "false", ""),
        )
    ]
    records = [{"task": task, "metric": "m", "model": model, "paper_size": 8} for task, model in ("ta", "tb", "ua")]
    marked = with_verdicts(paper(), records, rows)  # its baseline is lstm
    assert [record["verdict"] for record in marked] == ["holds", None, None]
    assert [record["value_verdict"] for record in marked] == ["fails", None, None]
