"""Verdicts from made-up runs whose truth is known, and what page, scripts and tables make of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import judge_claims
import numpy as np
import pytest
import render_claims
from approved import approved
from conftest import refused
from made import as_text, costs_of, make_run, row_of, write_inputs

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.row_verdicts import with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import write_table
from hidden_dynamics.claims.evidence import Evidence, gather
from hidden_dynamics.claims.expansion import claims_of
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.verdict import COLUMNS, NOT_RUN, VERDICTS, counts
from hidden_dynamics.configuration.paths import TABLE_FORMS
from hidden_dynamics.configuration.runs import Cell, Run, resolve
from hidden_dynamics.pages.claims_markdown import first_line, markdown
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import read_rows, write_rows

SPREAD = (-0.1, 0.05, 0.0, 0.1, -0.05)
TABLE = "momentumrnn_table11"
PAIR = "mnist:test_accuracy:momentum_lstm-128:lstm-128"
VALUE = "table11:value:mnist:test_accuracy:momentum_lstm-128"


@pytest.fixture(scope="module")
def paper(configured) -> Callable[[str], Artifact]:
    """Artifacts at the paper's scale, by name."""
    configuration = configured(scale="paper")
    return lambda name: artifact_named(configuration, name)


@pytest.fixture(scope="module")
def demo(configured) -> Callable[[str], Artifact]:
    configuration = configured(scale="demo")
    return lambda name: artifact_named(configuration, name)


def run_of(artifact: Artifact, model="lstm", task="mnist", size=128, seed=0) -> Run:
    return resolve(artifact.configuration, task, model, size, seed)


def evaluation(run: Run, **measured: float) -> list[dict[str, float]]:
    """One, at which the run has the given metrics, and some number of the one that it reports."""
    return [{"iteration": 10, "epoch": 1.0, run.spec["training"]["report"]["metric"]: 0.5} | measured]


def row(artifact: Artifact, run: Run, diverged=False, measured: dict | None = None) -> dict[str, str]:
    """The row of a summary."""
    about = {"evaluations": evaluation(run, **(measured or {})), "diverged_at": 5 if diverged else None}
    return row_of(artifact.configuration, run, artifact.name, **about)


def seeds(
    artifact: Artifact,
    model: str,
    mean: float,
    size=128,
    task="mnist",
    metric="test_accuracy",
    spread: Iterable[float] = SPREAD,
    diverged: Iterable[int] = (),
) -> list[dict[str, str]]:
    """Rows whose metric, in the unit that it is shown in, has a mean."""
    factor = artifact.configuration.metrics[metric].factor
    runs = [run_of(artifact, model, task, size, seed) for seed, _ in enumerate(spread)]
    numbers = [(mean + offset) / factor for offset in spread]
    return [
        row(artifact, run, run.seed in diverged, {metric: number}) for run, number in zip(runs, numbers, strict=True)
    ]


def judged(artifact: Artifact, rows=(), costs=(), root=None) -> dict[str, dict]:
    evidence = Evidence(rows, costs, root) if root else Evidence(rows, costs)
    return {row["id"]: row for row in verdicts(artifact, claims_of(artifact), evidence)}


def against_lstm(artifact: Artifact, *rows: list) -> dict:
    """The verdict on MomentumLSTM's accuracy on MNIST."""
    found = judged(artifact, [row for some in rows for row in some])
    return next(row for name, row in found.items() if row["kind"] == "better" and name.endswith(PAIR))


@pytest.mark.parametrize("mean, verdict", [(99.0, "reproduced"), (97.0, "contradicted"), (98.02, "inconclusive")])
def test_a_clear_difference_decides(paper, mean, verdict):
    table = paper(TABLE)
    row = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", mean))
    assert (row["verdict"], row["test"], row["n_subject"], row["n_reference"]) == (verdict, "Welch's t", 5, 5)
    assert row["estimate"] == pytest.approx(mean - 98.0) and row["low"] < row["estimate"] < row["high"]
    assert (row["effect"] > 0) == (mean > 98) and row["p"] <= row["p_adjusted"]
    runs = row["runs"].split()
    assert runs[0] == "results/paper/runs/mnist/momentum_lstm-n128/seed0" and len(runs) == 10
    assert row["published"] == "99.04 ± 0.04 against 98.7 (quoted)"


def test_sides_that_change_places_change_the_verdict_and_nothing_else(paper):
    table = paper(TABLE)
    one = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", 99.0))
    other = against_lstm(table, seeds(table, "lstm", 99.0), seeds(table, "momentum_lstm", 98.0))
    assert (one["verdict"], other["verdict"]) == ("reproduced", "contradicted")
    assert one["p"] == pytest.approx(other["p"]) and one["effect"] == pytest.approx(-other["effect"])


@pytest.mark.parametrize("better, verdict", [("higher", "reproduced"), ("lower", "contradicted")])
def test_better_is_what_the_metric_s_entry_says(project, better, verdict):
    """An AUC is no accuracy and no loss: config/metrics.yaml alone says which direction is better, and the unit."""
    metrics = project.read("config/metrics.yaml")
    metrics["test_auc"] = {"title": "AUC", "unit": "percent", "better": better, "decimals": 1}
    project.write("config/metrics.yaml", metrics)
    table = artifact_named(project.load(scale="paper"), TABLE)
    claim = next(claim for claim in claims_of(table) if claim.kind == "better" and claim.id.endswith(PAIR))
    rows = [*seeds(table, "lstm", 70.0, metric="test_auc"), *seeds(table, "momentum_lstm", 80.0, metric="test_auc")]
    (row,) = verdicts(table, [replace(claim, metric="test_auc")], Evidence(rows))
    assert (row["verdict"], row["estimate"]) == (verdict, pytest.approx(10.0))


def test_what_is_clear_alone_is_not_among_many(paper):
    """Five tests of a family: p = 0.03 alone is no verdict, and the reason says so."""
    table = paper(TABLE)
    others = [row for name in ("adam", "rmsprop", "sr") for row in seeds(table, f"{name}_lstm", 98.0)]
    row = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", 98.15), others)
    assert row["verdict"] == "inconclusive" and row["p"] < 0.05 < row["p_adjusted"]
    assert "alone, but not among the" in row["reason"] and row["family"].startswith("momentumrnn_table11, better: ")


@pytest.mark.parametrize(
    "diverged, means, verdict, reason",
    [
        ("momentum_lstm", (98.0, 99.0), "inconclusive", "1 of 5 runs of MomentumLSTM diverged"),
        ("lstm", (98.0, 99.0), "reproduced", ""),
        ("lstm", (99.0, 98.0), "inconclusive", "1 of 5 runs of LSTM diverged"),
    ],
)
def test_a_failed_run_bars_the_verdict_in_its_model_s_favour_and_no_other(paper, diverged, means, verdict, reason):
    table = paper(TABLE)
    rows = [
        seeds(table, model, mean, diverged=[1] if model == diverged else [])
        for model, mean in zip(("lstm", "momentum_lstm"), means, strict=True)
    ]
    row = against_lstm(table, *rows)
    assert row["verdict"] == verdict and reason in row["reason"]


@pytest.mark.parametrize(
    "spread, diverged, verdict, reasons",
    [
        ((-0.001, 0.001), (), "reproduced", ()),  # two clear seeds decide alone
        ((0.0,), (), "inconclusive", ("n = 1 for MomentumLSTM, n = 1 for LSTM",)),
        (SPREAD, range(5), "inconclusive", ("n = 0 for MomentumLSTM", "5 of 5 runs of MomentumLSTM diverged")),
        ((0.0, 0.0), (), "inconclusive", ("no spread",)),
    ],
)
def test_few_seeds_can_decide_but_one_or_none_or_equal_ones_cannot(paper, spread, diverged, verdict, reasons):
    table = paper(TABLE)
    ours = seeds(table, "momentum_lstm", 99.0, spread=spread, diverged=diverged)
    row = against_lstm(table, seeds(table, "lstm", 98.0, spread=spread), ours)
    assert (row["verdict"], row["n_subject"]) == (verdict, len(spread) - len(diverged))
    assert all(reason in row["reason"] for reason in reasons)
    assert (row["p"] == "") == (verdict == "inconclusive")


def test_what_was_not_run_is_said(paper):
    row = against_lstm(paper(TABLE), seeds(paper(TABLE), "lstm", 98.0))
    assert row["verdict"] == NOT_RUN and row["reason"] == "no runs of MomentumLSTM of size 128 on mnist"


@pytest.mark.parametrize("mean, verdict", [(99.04, "reproduced"), (98.5, "contradicted"), (98.96, "inconclusive")])
def test_a_value_is_held_to_the_printed_one(paper, mean, verdict):
    """The margin is a tenth of the errors that 99.04 % leaves."""
    spread = [offset / 3 for offset in SPREAD]
    row = judged(paper(TABLE), seeds(paper(TABLE), "momentum_lstm", mean, spread=spread))[VALUE]
    assert row["verdict"] == verdict and row["test"] == "equivalence within 0.096"
    assert row["estimate"] == pytest.approx(mean - 99.04)


@pytest.mark.parametrize(
    "overrides, change, reason",
    [
        ({}, {"stand_in_for": "mnist", "dataset_title": "Digits"}, "Digits in place of MNIST"),
        ({}, {"size": "32"}, "N = 32, not 128"),
        ({"tasks": {"mnist": {"training": {"epochs": 2}}}}, {}, "changed from the paper’s: training"),
    ],
)
def test_a_value_is_not_judged_on_other_data_sizes_or_training(configured, overrides, change, reason):
    table = artifact_named(configured(scale="paper", overrides={"tasks": {}, "artifacts": {}} | overrides), TABLE)
    row = judged(table, [row | change for row in seeds(table, "momentum_lstm", 99.04)])[VALUE]
    assert row["verdict"] == NOT_RUN and row["reason"] == reason
    assert row["stand_in"] == ("stand_in_for" in change)


def test_a_ranking_is_held_to_the_printed_one(paper):
    means = {"lstm": 97.0, "sr_lstm": 97.5, "adam_lstm": 98.0, "momentum_lstm": 98.5, "rmsprop_lstm": 99.0}
    rows = [row for model, mean in means.items() for row in seeds(paper(TABLE), model, mean)]
    row = judged(paper(TABLE), rows)["table11:ranking:mnist:test_accuracy"]
    assert (row["verdict"], row["estimate"], row["n_subject"]) == ("reproduced", 1.0, 5)
    assert row["p"] == pytest.approx(2 / math.factorial(5))


# Of the course of training


def made(root, artifact: Artifact, run: Run, evaluations=None, **files) -> dict[str, str]:
    """The row of a run whose files are written."""
    evaluations = evaluations or evaluation(run)
    make_run(root, artifact.configuration, run, evaluations, **files)
    return row_of(artifact.configuration, run, artifact.name, evaluations=evaluations)


def curves(root, artifact: Artifact, model: str, lasts: list[float], rate: float) -> list[dict]:
    """Runs whose train loss falls exponentially to `lasts`; a smaller rate is slower."""
    falls = [2 * np.exp(-np.arange(2000) * rate * (1 + 0.02 * seed)) for seed, _ in enumerate(lasts)]
    runs = [run_of(artifact, model, size=256, seed=seed) for seed, _ in enumerate(lasts)]
    return [made(root, artifact, run, losses=last + fall) for run, last, fall in zip(runs, lasts, falls, strict=True)]


def epochs(**metrics: Iterable[float]) -> list[dict[str, float]]:
    """An evaluation an epoch, every ten iterations, with these metrics."""
    rows = [dict(zip(metrics, values, strict=True)) for values in zip(*metrics.values(), strict=True)]
    return [{"iteration": 10 * epoch, "epoch": float(epoch)} | row for epoch, row in enumerate(rows, 1)]


@pytest.mark.parametrize(
    "seeds_a_model, test", [(5, "bootstrap-t over seeds, of logarithms"), (3, "Welch's t of logarithms")]
)
def test_the_faster_model_reaches_the_level_both_reach_first(tmp_path, paper, seeds_a_model, test):
    table = paper("momentumrnn_table1")
    rows = curves(tmp_path, table, "momentum_lstm", [0.1] * seeds_a_model, 0.02)
    rows += curves(tmp_path, table, "lstm", [0.1] * seeds_a_model, 0.005)
    found = judged(table, rows, root=tmp_path)
    row = found["pixels-momentum-faster:mnist:train_loss:momentum_lstm-256:lstm-256"]
    assert (row["verdict"], row["test"]) == ("reproduced", test)
    assert row["estimate"] == pytest.approx(0.25, rel=0.05) and row["low"] < row["effect"] < row["high"] < 1
    assert row["found"].endswith("iterations to a loss of 0.1001")


def test_the_level_is_the_same_whichever_model_is_the_subject(tmp_path, paper):
    table = paper("momentumrnn_table1")
    rows = curves(tmp_path, table, "momentum_lstm", [0.1, 0.3], 0.02)
    rows += curves(tmp_path, table, "lstm", [0.2, 0.2], 0.01)
    evidence, cells = Evidence(rows, root=tmp_path), [Cell("mnist", name, 256) for name in ("momentum_lstm", "lstm")]
    one, other, level = evidence.iterations(*cells, 0.02)
    *turned, same = evidence.iterations(*cells[::-1], 0.02)
    assert [side.values for side in turned] == [other.values, one.values] and same == level
    assert level == pytest.approx(0.3, abs=1e-3) and one.values[0] < one.values[1] <= 2000


@pytest.mark.parametrize(
    "decays, verdict, reason",
    [
        ((0.999, 0.9), "reproduced", "one run each"),
        ((0.9, 0.999), "contradicted", "one run each"),
        ((0.9999, 0.99), "inconclusive", "DTRIV’s gradients do not vanish here"),
    ],
)
def test_gradients_that_reach_the_first_steps(tmp_path, paper, decays, verdict, reason):
    figure, rows = paper("momentumrnn_figure2"), []
    for model, decay in zip(("momentum_dtriv", "dtriv"), decays, strict=True):
        noise = np.random.default_rng(len(model)).lognormal(0, 0.1, (100, 64))
        norms = decay ** np.arange(63, -1, -1) * noise
        rows.append(made(tmp_path, figure, run_of(figure, model, "pmnist_gradients", 170), gradients=norms))
    (row,) = judged(figure, rows, root=tmp_path).values()
    assert (row["verdict"], row["test"], row["n_subject"]) == (verdict, "bootstrap over blocks of iterations", 1)
    assert row["estimate"] == pytest.approx((decays[0] / decays[1]) ** 48, rel=0.1)
    assert reason in row["reason"]


def test_a_damaged_recording_is_named(tmp_path, paper):
    figure = paper("momentumrnn_figure2")
    runs = [run_of(figure, model, "pmnist_gradients", 170) for model in ("momentum_dtriv", "dtriv")]
    rows = [made(tmp_path, figure, run, gradients=np.ones((30, 8))) for run in runs]
    damaged = tmp_path / runs[0].directory / "hidden_gradients.npz"
    damaged.write_bytes(b"no archive")
    with refused(file=damaged):
        judged(figure, rows, root=tmp_path)


def test_overfitting_is_the_rise_of_the_test_loss(tmp_path, paper):
    figure, rows = paper("momentumrnn_figure6"), []
    for model, rise in (("momentum_dtriv", 0.01), ("dtriv", 0.3)):
        for seed, offset in enumerate(SPREAD):
            run = run_of(figure, model, "pmnist_dtriv", 512, seed)
            evaluations = epochs(test_accuracy=[0.9] * 3, test_loss=[1.0, 0.5, 0.5 + rise + offset / 50])
            rows.append(made(tmp_path, figure, run, evaluations, losses=np.linspace(2, 1, 100) + seed / 100))
    found = judged(figure, rows, root=tmp_path)
    row = found["orthogonal-overfitting:pmnist_dtriv:test_loss:momentum_dtriv-512:dtriv-512"]
    assert row["verdict"] == "reproduced" and row["estimate"] == pytest.approx(-0.29, abs=0.005)


# Of costs


def cost(artifact: Artifact, model: str, quantity: str, ratio: float, low="", high="", **changes) -> dict[str, str]:
    about = {"ratio": str(ratio), "ratio_low": str(low), "ratio_high": str(high), "rounds": "20" if low else "1"}
    rows = costs_of(artifact)
    return next(row for row in rows if (row["model"], row["quantity"]) == (model, quantity)) | about | changes


@pytest.mark.parametrize(
    "low, high, direction, value",
    [
        (1.15, 1.25, "reproduced", "reproduced"),
        (1.30, 1.60, "reproduced", "contradicted"),
        (1.00, 1.04, "contradicted", "contradicted"),
        (0.80, 0.90, "contradicted", "contradicted"),
        (1.02, 1.30, "inconclusive", "inconclusive"),
    ],
)
def test_costs_lie_on_the_printed_side_with_all_rounds(paper, low, high, direction, value):
    """Printed: 7.43 / 6.18 = 1.20 times the LSTM's."""
    table = paper("momentumrnn_table14")
    ours = cost(table, "momentum_lstm", "training_time", (low + high) / 2, low, high)
    found = judged(table, costs=[ours, cost(table, "lstm", "training_time", 1, 1, 1)])
    name = "pmnist:training_time:momentum_lstm-256:lstm-256"
    assert found[f"table14:{name}"]["verdict"] == direction
    assert found[f"table14:value:{name}"]["verdict"] == value
    assert found["table14:pmnist:training_time:adam_lstm-256:lstm-256"]["verdict"] == NOT_RUN


@pytest.mark.parametrize(
    "device, verdict, reason",
    [
        ("NVIDIA H200", "reproduced", ""),
        ("cpu", "inconclusive", "resident memory, measured once: its error is not known"),
    ],
)
def test_costs_on_stand_in_data_have_a_side_and_no_value(paper, device, verdict, reason):
    """Memory is measured once: a GPU's allocator counts it, a CPU's resident memory has an error."""
    table = paper("momentumrnn_table15")
    stand_in = {"stand_in_for": "mnist", "dataset_title": "Digits", "device": device}
    ratios = {"adam_lstm": 1.5, "lstm": 1}
    rows = [cost(table, model, "training_memory", ratio, **stand_in) for model, ratio in ratios.items()]
    found = judged(table, costs=rows)
    row = found["table15:pmnist:training_memory:adam_lstm-256:lstm-256"]
    assert (row["verdict"], row["reason"], row["stand_in"]) == (verdict, reason, True)
    value = found["table15:value:pmnist:training_memory:adam_lstm-256:lstm-256"]
    assert (value["verdict"], value["reason"]) == (NOT_RUN, "Digits in place of MNIST")


def timed(root, artifact: Artifact, model: str, minutes: list[float | None]) -> list[dict]:
    """Runs that reach the accuracy after so many minutes, or not within ten."""
    rows = []
    for seed, time in enumerate(minutes):
        evaluations = epochs(test_accuracy=(0.1, 0.93 if time else 0.5))
        run = run_of(artifact, model, "pmnist", 256, seed)
        rows.append(made(root, artifact, run, evaluations, clock=[1, 60 * (time or 10)]))
    return rows


@pytest.mark.parametrize(
    "ours, lstm, verdict",
    [
        ([5.0, 5.1, 4.9], [9.0, 9.2, 8.8], "reproduced"),
        ([9.0, 9.2, 8.8], [5.0, 5.1, 4.9], "contradicted"),
        ([5.0, 5.1, 4.9], [9.0, 9.2, None], "reproduced"),  # one that misses it took longer still
        ([5.0, 5.1, None], [9.0, 9.2, 8.8], "inconclusive"),
        ([None] * 3, [None] * 3, "inconclusive"),
    ],
)
def test_times_to_an_accuracy(tmp_path, paper, ours, lstm, verdict):
    table = paper("momentumrnn_table16")
    rows = timed(tmp_path, table, "momentum_lstm", ours) + timed(tmp_path, table, "lstm", lstm)
    rows = [row | {"training_seconds": "600"} for row in rows]
    found = judged(table, rows, root=tmp_path)
    assert found["table16:pmnist:time_to_accuracy:momentum_lstm-256:lstm-256"]["verdict"] == verdict


# Of losses


@pytest.mark.parametrize("mean, verdict", [(0.162, "reproduced"), (0.3, "contradicted")])
def test_similar_losses(tmp_path, paper, mean, verdict):
    figure, rows = paper("momentumrnn_figure4"), []
    for model, loss in (("lstm", 0.162), ("momentum_lstm", mean)):
        for seed, offset in enumerate(SPREAD):
            run = run_of(figure, model, "adding", 128, seed)
            rows.append(made(tmp_path, figure, run, evaluation(run, train_loss=loss + offset / 100)))
    found = judged(figure, rows, root=tmp_path)
    name = "adding:train_loss:momentum_lstm-128"
    assert found[f"adding-momentum-similar:{name}:lstm-128"]["verdict"] == verdict
    assert found[f"figure4-losses:{name}"]["verdict"] == verdict


def test_both_readings_are_judged_and_labelled(paper):
    table, rows = paper("momentumrnn_table12"), []
    for task, ahead in (("timit", -1.0), ("timit_recall", 1.0)):
        for model, mean in (("lstm", 11.8), ("momentum_lstm", 11.8 + ahead)):
            for seed, offset in enumerate(SPREAD):
                measured = {"validation_loss": mean + offset, "test_loss": 1.0 + seed}
                rows.append(row(table, run_of(table, model, task, 120, seed), measured=measured))
    found = judged(table, rows)
    pair = "validation_loss:momentum_lstm-120:lstm-120"
    next_frame, previous = (found[f"small-speech-best:{task}:{pair}"] for task in ("timit", "timit_recall"))
    assert (next_frame["verdict"], previous["verdict"]) == ("reproduced", "contradicted")
    assert "next frame" in next_frame["statement"] and "previous frame" in previous["statement"]


# What is made of verdicts


def rows_on_stand_ins(demo) -> list[dict[str, str]]:
    table = demo(TABLE)
    rows = seeds(table, "lstm", 60.0, spread=(-1, 1)) + seeds(table, "momentum_lstm", 61.0, spread=(-1, 2))
    return [row | {"dataset_title": "Digits"} for row in rows]


def as_read(found) -> list[dict[str, str]]:
    return [as_text(row) for row in found.values()]


def test_the_list_counts_every_claim_and_first_says_what_data_it_is(demo, paper):
    rows = as_read(judged(demo(TABLE), rows_on_stand_ins(demo)))
    approved("claims_demo.md", markdown("demo", {TABLE: demo(TABLE)}, rows))
    table = paper(TABLE)
    rows = as_read(judged(table, seeds(table, "lstm", 98.0) + seeds(table, "momentum_lstm", 99.0)))
    assert first_line("paper", rows) == "Verdicts at the paper scale. Data: MNIST: as in the papers."


def test_every_verdict_is_counted():
    counted = counts({"verdict": verdict} for verdict in ("contradicted", NOT_RUN, "contradicted"))
    assert tuple(counted) == VERDICTS
    assert counted == {"reproduced": 0, "contradicted": 2, "inconclusive": 0, NOT_RUN: 1}


def test_the_scripts_from_a_summary_to_the_list(tmp_path, demo, ended):
    table = demo(TABLE)
    write_inputs(tmp_path, table, summary=rows_on_stand_ins(demo))
    assert "inconclusive: " in ended(judge_claims.main, "--artifact", TABLE, "--root", tmp_path).out
    paths = table.configuration.paths
    rows = read_rows(tmp_path / paths.verdicts(TABLE), COLUMNS)
    row = next(row for row in rows if row["id"].endswith(f":{PAIR}"))
    assert (row["subject"], row["reference"], row["verdict"]) == ("momentum_lstm-n32", "lstm-n32", "inconclusive")
    for name in artifacts_with_claims(table.configuration):
        if name != TABLE:
            write_rows(tmp_path / paths.verdicts(name), COLUMNS, [dict.fromkeys(COLUMNS, "") | {"artifact": name}])
    assert ended(render_claims.main, "--root", tmp_path).code == 0
    gathered = read_rows(tmp_path / paths.all_verdicts("csv"), COLUMNS)
    assert [row for row in gathered if row["artifact"] == TABLE] == rows
    assert list(dict.fromkeys(row["artifact"] for row in gathered)) == artifacts_with_claims(table.configuration)
    assert (tmp_path / paths.all_verdicts("md")).read_text().startswith("Stand-in data cannot speak for the papers.")


def test_evidence_of_another_scale_or_without_a_column_is_refused(tmp_path, demo, paper):
    table = demo(TABLE)
    path = tmp_path / table.inputs()["summary"]
    write_inputs(tmp_path, table, summary=seeds(paper(TABLE), "lstm", 98.0))
    with refused("scale paper, not of demo", file=path):
        gather(table, tmp_path)
    write_inputs(tmp_path, table, summary=[{"task": "mnist"}])
    with refused("scale", file=path):
        gather(table, tmp_path)


def test_marks_take_the_printed_direction_and_the_value():
    def verdict(kind, subject, reference, verdict, against="false", p="0.1"):
        names = ("kind", "task", "metric", "subject", "reference", "verdict", "against_table", "p_adjusted")
        return dict(zip(names, (kind, "t", "m", subject, reference, verdict, against, p), strict=True))

    rows = [
        verdict("better", "a-n8", "lstm-n8", "contradicted", against="true"),
        verdict("better", "lstm-n8", "a-n8", "reproduced"),
        verdict("better", "a-n8", "b-n8", "inconclusive"),
        verdict("value", "a-n8", "", "contradicted"),
        verdict("value", "b-n8", "", NOT_RUN, p=""),
    ]
    places = (("t", "a"), ("t", "b"), ("u", "a"))
    records = [{"task": task, "metric": "m", "model": model, "size": 8} for task, model in places]
    marked = with_verdicts(records, rows, "lstm")
    assert [record["verdict"] for record in marked] == ["reproduced", None, None]
    assert [record["value_verdict"] for record in marked] == ["contradicted", None, None]


def test_a_table_marks_its_rows_and_only_where_there_are_verdicts(tmp_path, demo):
    """With the test's verdict beside the sign of the means, in all four forms."""
    table = demo(TABLE)
    runs = table.cell_runs
    means = {"lstm": 0.60, "momentum_lstm": 0.61}
    rows = [row(table, run, measured={"test_accuracy": means.get(run.model, 0.5) + run.seed / 100}) for run in runs]
    write_inputs(tmp_path, table, summary=rows)
    found = tuple(as_read(judged(table, rows)))
    plain, marked = (table.draw(Sources(table, tmp_path, verdicts)) for verdicts in ((), found))
    assert "verdict" not in plain.data and "verdict" not in plain.frame.columns.get_level_values(1)
    group = next(group for group, name in marked.frame.columns if name == "verdict")
    line = marked.frame[marked.frame[("", "Model")] == "MomentumLSTM"].iloc[0]
    assert line[(group, "verdict")] == "inconclusive" and line[(group, "against LSTM")].startswith("holds")
    assert sum("a gap that holds can be inconclusive" in note for note in marked.notes) == 1
    files = [tmp_path / f"table.{form}" for form in TABLE_FORMS]
    write_table(marked, files)
    assert all("inconclusive" in file.read_text(encoding="utf-8") for file in files)
