"""Verdicts from made-up runs whose truth is known, and what page, scripts and tables make of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace

import judge_claims
import numpy as np
import pytest
import render
import render_claims
from approved import approved
from conftest import refused
from hidden_dynamics.claims.comparisons import Claimed
from hidden_dynamics.claims.evidence import Evidence, gather
from hidden_dynamics.claims.means import Sample, welch
from hidden_dynamics.claims.of_others import verdicts_of_others
from hidden_dynamics.claims.power import detectable
from hidden_dynamics.pages.claims_markdown import first_line, markdown
from judged import SPREAD, claimed, cost, evaluation, judged, run_of, seeds, summary_row
from made import as_text, make_run, row_of, write_inputs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.row_verdicts import with_verdicts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import write_table
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.verdict import COLUMNS, NOT_RUN, VERDICTS, counts
from hidden_dynamics.configuration.paths import TABLE_FORMS
from hidden_dynamics.configuration.runs import Cell, Run
from hidden_dynamics.papers.claims import ClaimEntry, artifacts_with_claims, load_claims
from hidden_dynamics.results.rows import read_rows, write_rows

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
    claim = next(claim for claim in claimed(table).here if claim.kind == "better" and claim.id.endswith(PAIR))
    rows = [*seeds(table, "lstm", 70.0, metric="test_auc"), *seeds(table, "momentum_lstm", 80.0, metric="test_auc")]
    (row,) = verdicts(table, Claimed([replace(claim, metric="test_auc")], []), Evidence(rows))
    assert (row["verdict"], row["estimate"]) == (verdict, pytest.approx(10.0))


def test_what_is_clear_alone_is_not_among_many(paper):
    """Five tests of a family: p = 0.03 alone is no verdict, and the reason says so."""
    table = paper(TABLE)
    others = [row for name in ("adam", "rmsprop", "sr") for row in seeds(table, f"{name}_lstm", 98.0)]
    row = against_lstm(table, seeds(table, "lstm", 98.0), seeds(table, "momentum_lstm", 98.15), others)
    assert row["verdict"] == "inconclusive" and row["p"] < 0.05 < row["p_adjusted"]
    assert "alone, but not among the 7 tests" in row["reason"] and row["tests"] == 7
    assert row["family"] == "momentumrnn_table11, better, test_accuracy"


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
    """The margin is a tenth of the errors that 99.04 % leaves, less than half of the gap to the LSTM's 98.7."""
    spread = [offset / 3 for offset in SPREAD]
    row = judged(paper(TABLE), seeds(paper(TABLE), "momentum_lstm", mean, spread=spread))[VALUE]
    assert row["verdict"] == verdict and row["test"] == "equivalence within 0.096"
    assert row["estimate"] == pytest.approx(mean - 99.04)


@pytest.mark.parametrize(
    "model, task, margin",
    [("momentum_lstm", "pmnist", 0.39), ("sr_lstm", "pmnist", 0.515), ("lstm", "mnist", None)],
)
def test_a_margin_hides_no_published_gap(paper, model, task, margin):
    """On PMNIST a tenth of the errors is 0.66, half of the gap to the LSTM's 92.62 is 0.39; that one is quoted."""
    name = f"table11:value:{task}:test_accuracy:{model}-128"
    row = judged(paper(TABLE), seeds(paper(TABLE), model, 93.4, task=task)).get(name)
    assert row is None if margin is None else row["test"] == f"equivalence within {margin:g}"


@pytest.mark.parametrize(
    "overrides, change, reason",
    [
        ({}, {"stand_in_for": "mnist", "dataset_title": "Digits"}, "Digits in place of MNIST"),
        ({}, {"size": "32"}, "N = 32, not 128"),
        ({"tasks": {"mnist": {"training": {"epochs": 2}}}}, {}, "changed from the paper’s: training"),
    ],
)
def test_nothing_is_judged_on_other_data_sizes_or_training(configured, overrides, change, reason):
    """Whatever its kind; what the runs show of one another stays in the row."""
    table = artifact_named(configured(scale="paper", overrides={"tasks": {}, "artifacts": {}} | overrides), TABLE)
    means = {"lstm": 97.0, "sr_lstm": 97.5, "adam_lstm": 98.0, "momentum_lstm": 98.5, "rmsprop_lstm": 99.0}
    rows = [row | change for model, mean in means.items() for row in seeds(table, model, mean)]
    found = judged(table, rows)
    for name in (f"table11:better:{PAIR}", VALUE, "table11:ranking:mnist:test_accuracy"):
        assert (found[name]["verdict"], found[name]["reason"]) == (NOT_RUN, reason), name
        assert found[name]["p"] != "" and found[name]["seeds_needed"] == ""
        assert found[name]["stand_in"] == ("stand_in_for" in change)


RANKED = {"lstm": 97.0, "sr_lstm": 97.5, "adam_lstm": 98.0, "momentum_lstm": 98.5, "rmsprop_lstm": 99.0}


@pytest.mark.parametrize(
    "failed, tau, verdict",
    [({}, 1.0, "reproduced"), ({"rmsprop_lstm": 5}, 0.2, "inconclusive"), ({"rmsprop_lstm": 1}, 0.2, "inconclusive")],
)
def test_a_ranking_is_held_to_the_printed_one_and_what_failed_ranks_last(paper, failed, tau, verdict):
    """MNIST, N = 128: the printed order is that of `RANKED`; the best model's runs that diverge put it last."""
    table = paper(TABLE)
    rows = [
        row for model, mean in RANKED.items() for row in seeds(table, model, mean, diverged=range(failed.get(model, 0)))
    ]
    row = judged(table, rows)["table11:ranking:mnist:test_accuracy"]
    assert (row["verdict"], row["n_subject"]) == (verdict, 5) and row["estimate"] == pytest.approx(tau)
    assert ("rank last" in row["reason"]) == bool(failed)
    if not failed:
        assert row["p"] == pytest.approx(2 / math.factorial(5)) and row["found"] == "10 of 10 pairs as printed"


def test_a_ranking_is_within_each_size(paper):
    """That the larger networks are all better is no agreement: N = 128 has one pair, N = 256 the other ten."""
    table, rows = paper("momentumrnn_table1"), []
    for offset, (model, mean) in enumerate(reversed(RANKED.items())):
        rows += seeds(table, model, mean + offset, size=256, task="pmnist")
    for model in ("lstm", "momentum_lstm"):
        rows += seeds(table, model, RANKED[model] - 50, size=128, task="pmnist")
    row = judged(table, rows)["table1:ranking:pmnist:test_accuracy"]
    assert row["found"].endswith("of 11 pairs as printed") and row["verdict"] == "inconclusive"


# What stands beside a verdict


def test_a_verdict_says_what_it_could_have_found_and_how_many_seeds_would_decide(paper):
    """PMNIST, N = 128: printed 93.4 and 92.62. Twice the spread finds twice the difference."""
    table, found = paper(TABLE), []
    for factor in (1, 2):
        spread = [factor * offset for offset in SPREAD]
        rows = [*seeds(table, "lstm", 92.0, task="pmnist", spread=spread)]
        rows += seeds(table, "momentum_lstm", 92.0 + 0.01, task="pmnist", spread=spread[::-1])
        found.append(judged(table, rows)["table11:better:pmnist:test_accuracy:momentum_lstm-128:lstm-128"])
    assert found[1]["detectable"] == pytest.approx(2 * found[0]["detectable"])
    assert found[0]["detectable"] == pytest.approx(detectable(welch(*samples(found[0])).cautious(), 0.05), rel=1e-3)
    assert [row["verdict"] for row in found] == ["inconclusive"] * 2
    assert 2 <= int(found[0]["seeds_needed"]) <= int(found[1]["seeds_needed"]) < 10


def samples(row: dict) -> list[Sample]:
    """Both sides, of the text of what was found."""
    texts = [text.split(" ± ") for text in row["found"].split(" against ")]
    return [Sample(float(mean), float(np.std(SPREAD, ddof=1)), row["n_subject"]) for mean, _ in texts]


def test_runs_of_one_seed_are_compared_beside_the_test_and_in_it_where_a_seed_is_a_block(configured):
    """Numbers that go up and down together: seed by seed the difference is clear, by Welch's t it is not."""
    for readings, test, verdict in (
        ({"default": "published"}, "Welch's t", "inconclusive"),
        ({"default": "published", "permutation": "released"}, "paired t", "reproduced"),
    ):
        table, wide = artifact_named(configured(scale="paper", readings=readings), TABLE), np.arange(5.0)
        rows = seeds(table, "lstm", 90.0, task="pmnist", spread=wide)
        rows += seeds(table, "momentum_lstm", 91.0, task="pmnist", spread=wide + np.array(SPREAD) / 10)
        row = judged(table, rows)["table11:better:pmnist:test_accuracy:momentum_lstm-128:lstm-128"]
        assert (row["test"], row["verdict"]) == (test, verdict)
        interval = stats.ttest_rel(wide + 1 + np.array(SPREAD) / 10, wide).confidence_interval()
        assert (row["paired_low"], row["paired_high"]) == pytest.approx(tuple(interval))


def test_splits_of_the_same_series_are_held_to_the_corrected_resampled_t(configured):
    """By hand, over five splits: s^2 (1/5 + 0.14), of differences and of a single mean; not over seeds of one split."""
    subject, reference = np.array([0.30, 0.36, 0.41, 0.47, 0.36]), np.array([0.36, 0.41, 0.47, 0.52, 0.39])
    difference, error = (subject - reference).mean(), np.std(subject - reference, ddof=1) * math.sqrt(0.34)
    for folds, test in (("published", "corrected resampled t"), ("released", "Welch's t")):
        readings = {"default": "published", "series_folds": folds}
        table = artifact_named(configured(scale="paper", readings=readings), "acenode_table6")
        rows = []
        for model, numbers in (("ace_gru_ode_bayes", subject), ("gru_ode_bayes", reference)):
            rows += seeds(table, model, 0.0, 50, "ushcn", "test_mse", spread=numbers)
        found = judged(table, rows)
        row = found["ushcn-attention-better:ushcn:test_mse:ace_gru_ode_bayes-50:gru_ode_bayes-50"]
        assert (row["test"], row["estimate"]) == (test, pytest.approx(difference))
        half = stats.t.isf(0.025, 4) * (error if folds == "published" else error * math.sqrt(0.2 / 0.34))
        assert (row["paired_low"], row["paired_high"]) == pytest.approx((difference - half, difference + half))
        value = found["table-ushcn:value:ushcn:test_mse:gru_ode_bayes-50"]
        share = 0.34 if folds == "published" else 0.2
        spread = math.sqrt(share * (np.var(reference, ddof=1) + 0.04**2))  # 0.42 ± 0.04, of five too
        degrees = math.floor(4 * spread**4 / share**2 / (np.var(reference, ddof=1) ** 2 + 0.04**4))
        assert (value["high"] - value["low"]) / 2 == pytest.approx(stats.t.isf(0.025, degrees) * spread)
        if folds == "published":
            assert (row["low"], row["high"]) == (row["paired_low"], row["paired_high"])
            assert row["p"] == pytest.approx(2 * stats.t.sf(abs(difference) / error, 4))


def test_a_larger_lead_is_a_difference_of_two_differences(paper):
    table, rows = paper("momentumrnn_table1"), []
    for task, lead in (("mnist", 0.2), ("pmnist", 2.4)):
        rows += seeds(table, "lstm", 92.0, 256, task) + seeds(table, "momentum_lstm", 92.0 + lead, 256, task)
    row = judged(table, rows)["pixels-larger-gain:pmnist:test_accuracy:momentum_lstm-256:lstm-256"]
    assert (row["verdict"], row["found"]) == ("reproduced", "2.4 against 0.2")
    assert row["estimate"] == pytest.approx(2.2)


@pytest.mark.parametrize("lead, verdict", [(-0.3, "reproduced"), (0.0, "inconclusive"), (0.5, "contradicted")])
def test_not_better_is_ahead_by_less_than_the_margin(paper, lead, verdict):
    table, rows = paper("acenode_table10"), []
    for model, size, mean in (("ace_ode_net", 64, 99.0), ("ace_ode_net_large", 128, 99.0 + lead)):
        rows += seeds(table, model, mean, size, "mnist_images")
    name = "larger-attention-mnist:mnist_images:test_accuracy:ace_ode_net_large-128:ace_ode_net-64"
    assert judged(table, rows)[name]["verdict"] == verdict


def test_spreads_are_told_apart_by_five_seeds_or_more(paper):
    table = paper("acenode_table2")
    name = "mnist-solver-unsteady:mnist_images:test_accuracy:ode_net-64:rknet-64"
    for n, verdict in ((10, "reproduced"), (4, "inconclusive")):
        wide = np.random.default_rng(0).normal(size=n)
        rows = seeds(table, "ode_net", 99.0, 64, "mnist_images", spread=wide / 100)
        rows += seeds(table, "rknet", 98.0, 64, "mnist_images", spread=wide)
        row = judged(table, rows)[name]
        assert row["verdict"] == verdict
        assert row["effect"] == pytest.approx(0.01) if n == 10 else "fewer than 5 seeds" in row["reason"]


def test_parameters_are_fewer_by_as_much_as_is_said(paper):
    """ "Almost twice as large" takes half as many again."""
    table, name = (
        paper("acenode_table4"),
        "cifar10-attention-smaller:cifar10_images:parameters:ace_ode_net-64:resnet-64",
    )
    for many, verdict in ((1600, "reproduced"), (1400, "contradicted")):
        counts_of = {"ace_ode_net": 1000, "resnet": many}
        rows = [
            row | {"parameters": str(count)}
            for model, count in counts_of.items()
            for row in seeds(table, model, 85.0, 64, "cifar10_images")
        ]
        assert judged(table, rows)[name]["verdict"] == verdict


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


def test_the_faster_model_reaches_the_level_both_reach_first(tmp_path, paper):
    table = paper("momentumrnn_table1")
    rows = curves(tmp_path, table, "momentum_lstm", [0.1] * 5, 0.02)
    rows += curves(tmp_path, table, "lstm", [0.1] * 5, 0.005)
    found = judged(table, rows, root=tmp_path)
    row = found["pixels-momentum-faster:mnist:train_loss:momentum_lstm-256:lstm-256"]
    assert (row["verdict"], row["test"]) == ("reproduced", "Welch's t of logarithms")
    assert row["estimate"] == pytest.approx(0.25, rel=0.05) and row["low"] < row["effect"] < row["high"] < 1
    assert row["found"].endswith("iterations to a loss of 0.1001")
    assert 0.9 < row["detectable"] < 1 and row["published"] == row["seeds_needed"] == ""


def test_the_level_is_the_same_whichever_model_is_the_subject(tmp_path, paper):
    table = paper("momentumrnn_table1")
    rows = curves(tmp_path, table, "momentum_lstm", [0.1, 0.3], 0.02)
    rows += curves(tmp_path, table, "lstm", [0.2, 0.2], 0.01)
    evidence, cells = Evidence(rows, root=tmp_path), [Cell("mnist", name, 256) for name in ("momentum_lstm", "lstm")]
    one, other, level = evidence.iterations(*cells, 0.02)
    *turned, same = evidence.iterations(*cells[::-1], 0.02)
    assert [side.values for side in turned] == [other.values, one.values] and same == level
    assert level == pytest.approx(0.3, abs=1e-3) and one.values[0] < one.values[1] <= 2000


def recordings(root, figure: Artifact, decays: tuple[float, float], runs: int) -> list[dict]:
    """Runs of MomentumDTRIV and DTRIV whose gradients decay by a factor a step, backwards through 64 of them."""
    rows = []
    for model, decay in zip(("momentum_dtriv", "dtriv"), decays, strict=True):
        for seed in range(runs):
            noise = np.random.default_rng([seed, len(model)]).lognormal(0, 0.1, (100, 64))
            norms = decay ** np.arange(63, -1, -1) * noise
            rows.append(made(root, figure, run_of(figure, model, "pmnist_gradients", 170, seed), gradients=norms))
    return rows


@pytest.mark.parametrize(
    "decays, verdict, reason",
    [
        ((0.999, 0.9), "reproduced", ""),
        ((0.9, 0.999), "contradicted", ""),
        ((0.9999, 0.99), "inconclusive", "DTRIV’s gradients do not vanish here"),
        ((0.7, 0.6), "inconclusive", "MomentumDTRIV’s own gradients vanish here"),
    ],
)
def test_gradients_that_reach_the_first_steps(tmp_path, paper, decays, verdict, reason):
    figure = paper("momentumrnn_figure2")
    found = judged(figure, recordings(tmp_path, figure, decays, 3), root=tmp_path)
    row = next(row for row in found.values() if row["kind"] == "gradients")
    assert (row["verdict"], row["test"], row["n_subject"]) == (verdict, "Welch's t of logarithms", 3)
    assert row["estimate"] == pytest.approx((decays[0] / decays[1]) ** 48, rel=0.1)
    assert reason in row["reason"]
    own = next(row for row in found.values() if row["kind"] == "reaches")
    assert own["verdict"] == ("reproduced" if decays[0] > 0.99 else "contradicted")


def test_one_run_of_each_gives_a_ratio_and_no_verdict(tmp_path, paper):
    figure = paper("momentumrnn_figure2")
    found = judged(figure, recordings(tmp_path, figure, (0.999, 0.9), 1), root=tmp_path)
    for row in found.values():
        assert row["verdict"] == "inconclusive" and "n = 1" in row["reason"] and row["found"].startswith("first over")
        assert row["p"] == row["low"] == ""
    assert next(iter(found.values()))["estimate"] == pytest.approx((0.999 / 0.9) ** 48, rel=0.1)


def test_a_damaged_recording_is_named(tmp_path, paper):
    figure = paper("momentumrnn_figure2")
    runs = [run_of(figure, model, "pmnist_gradients", 170) for model in ("momentum_dtriv", "dtriv")]
    rows = [made(tmp_path, figure, run, gradients=np.ones((30, 8))) for run in runs]
    damaged = tmp_path / runs[0].directory / "hidden_gradients.npz"
    damaged.write_bytes(b"no archive")
    with refused(file=damaged):
        judged(figure, rows, root=tmp_path)


@pytest.mark.parametrize(
    "rises, verdict, reason",
    [
        ((0.01, 0.3), "reproduced", ""),
        ((0.005, 0.02), "inconclusive", "DTRIV does not overfit here (its loss ends 4.0% above its lowest)"),
    ],
)
def test_overfitting_is_the_rise_of_the_test_loss(tmp_path, paper, rises, verdict, reason):
    figure, rows = paper("momentumrnn_figure6"), []
    for model, rise in zip(("momentum_dtriv", "dtriv"), rises, strict=True):
        for seed, offset in enumerate(SPREAD):
            run = run_of(figure, model, "pmnist_dtriv", 512, seed)
            evaluations = epochs(test_accuracy=[0.9] * 3, test_loss=[1.0, 0.5, 0.5 + rise + offset / 50])
            rows.append(made(tmp_path, figure, run, evaluations, losses=np.linspace(2, 1, 100) + seed / 100))
    found = judged(figure, rows, root=tmp_path)
    row = found["orthogonal-overfitting:pmnist_dtriv:test_loss:momentum_dtriv-512:dtriv-512"]
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    assert row["estimate"] == pytest.approx(rises[0] - rises[1], abs=0.005)


def test_a_rise_takes_two_evaluations(tmp_path, paper):
    figure, rows = paper("momentumrnn_figure6"), []
    for model in ("momentum_dtriv", "dtriv"):
        for seed in range(len(SPREAD)):
            run = run_of(figure, model, "pmnist_dtriv", 512, seed)
            once = epochs(test_accuracy=[0.9], test_loss=[0.5 + seed / 100])
            rows.append(made(tmp_path, figure, run, once, losses=np.linspace(2, 1, 100) + seed / 100))
    found = judged(figure, rows, root=tmp_path)
    row = found["orthogonal-overfitting:pmnist_dtriv:test_loss:momentum_dtriv-512:dtriv-512"]
    assert (row["verdict"], row["estimate"]) == ("inconclusive", "") and "evaluated once" in row["reason"]


# Of costs


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
def test_memory_measured_once_is_judged_on_a_gpu_alone(paper, device, verdict, reason):
    """A GPU's allocator counts it, a CPU's resident memory has an error; on a stand-in it says nothing of the paper."""
    table, name = paper("momentumrnn_table15"), "pmnist:training_memory:adam_lstm-256:lstm-256"
    ratios = {"adam_lstm": 1.5, "lstm": 1}
    rows = [cost(table, model, "training_memory", ratio, device=device) for model, ratio in ratios.items()]
    row = judged(table, costs=rows)[f"table15:{name}"]
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    stand_in = {"stand_in_for": "mnist", "dataset_title": "Digits"}
    found = judged(table, costs=[row | stand_in for row in rows])
    for own in (found[f"table15:{name}"], found[f"table15:value:{name}"]):
        assert (own["verdict"], own["reason"]) == (NOT_RUN, "Digits in place of MNIST")


def test_twenty_rounds_are_needed(paper):
    table = paper("momentumrnn_table14")
    times = {"momentum_lstm": (1.2, 1.15, 1.25), "lstm": (1, 1, 1)}
    rows = [cost(table, model, "training_time", *ratios, rounds="19") for model, ratios in times.items()]
    row = judged(table, costs=rows)["table14:pmnist:training_time:momentum_lstm-256:lstm-256"]
    assert (row["verdict"], row["reason"]) == ("inconclusive", "19 rounds are fewer than 20")


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


def test_both_readings_are_judged_and_labelled(paper):
    table, rows = paper("momentumrnn_table12"), []
    for task, ahead in (("timit", -1.0), ("timit_recall", 1.0)):
        for model, mean in (("lstm", 11.8), ("momentum_lstm", 11.8 + ahead)):
            for seed, offset in enumerate(SPREAD):
                measured = {"validation_loss": mean + offset, "test_loss": 1.0 + seed}
                rows.append(summary_row(table, run_of(table, model, task, 120, seed), measured=measured))
    found = judged(table, rows)
    pair = "validation_loss:momentum_lstm-120:lstm-120"
    next_frame, previous = (found[f"small-speech-best:{task}:{pair}"] for task in ("timit", "timit_recall"))
    assert (next_frame["verdict"], previous["verdict"]) == ("reproduced", "contradicted")
    assert "next frame" in next_frame["statement"] and "previous frame" in previous["statement"]


# What is made of verdicts


def as_read(found) -> list[dict[str, str]]:
    return [as_text(row) for row in found.values()]


def all_runs(root, table: Artifact, means: dict[str, float]) -> None:
    """The summary of a table, and its runs: accuracies about these means, as fractions; a train loss that falls."""
    rows = []
    for run in table.runs:
        offset = np.random.default_rng([run.seed, *run.variant.encode()]).normal() / 100
        evaluations = evaluation(run, test_accuracy=means[run.model] + offset)
        rows.append(made(root, table, run, evaluations, losses=np.linspace(2, 1, 50) + run.seed / 100))
    write_inputs(root, table, summary=rows)


MEANS = {"lstm": 0.60, "momentum_lstm": 0.61, "adam_lstm": 0.5, "rmsprop_lstm": 0.5, "sr_lstm": 0.5}


def test_the_list_counts_every_claim_and_first_says_what_data_it_is(tmp_path, demo, paper):
    table = demo(TABLE)
    all_runs(tmp_path, table, MEANS)
    rows = as_read({row["id"]: row for row in verdicts(table, claimed(table), gather(table, tmp_path))})
    assert {row["verdict"] for row in rows} == {NOT_RUN} and any(row["estimate"] for row in rows)
    approved("claims_demo.md", markdown("demo", {TABLE: table}, rows))
    table = paper(TABLE)
    rows = as_read(judged(table, seeds(table, "lstm", 98.0) + seeds(table, "momentum_lstm", 99.0)))
    assert first_line("paper", rows) == "Verdicts at the paper scale. Data: MNIST: as in the papers."


def test_every_verdict_is_counted():
    counted = counts({"verdict": verdict} for verdict in ("contradicted", NOT_RUN, "contradicted"))
    assert tuple(counted) == VERDICTS
    assert counted == {"reproduced": 0, "contradicted": 2, "inconclusive": 0, NOT_RUN: 1}


def test_the_scripts_from_a_summary_to_the_list(tmp_path, demo, ended):
    """A comparison that another table has is named in the artifact's file, and is not in the list."""
    table = demo(TABLE)
    all_runs(tmp_path, table, MEANS)
    render.judge(table, tmp_path)
    paths = table.configuration.paths
    rows = read_rows(tmp_path / paths.verdicts(TABLE), COLUMNS)
    own = next(row for row in rows if row["id"] == "table11:better:mnist:test_accuracy:adam_lstm-128:lstm-128")
    assert (own["subject"], own["reference"], own["verdict"]) == ("adam_lstm-n32", "lstm-n32", NOT_RUN)
    again = next(row for row in rows if row["id"].endswith(f":{PAIR}"))
    assert (again["judged_with"], again["verdict"]) == ("momentumrnn_table1", NOT_RUN)
    for name in artifacts_with_claims(table.configuration):
        if name != TABLE:
            write_rows(tmp_path / paths.verdicts(name), COLUMNS, [dict.fromkeys(COLUMNS, "") | {"artifact": name}])
    assert ended(render_claims.main, "--root", tmp_path).code == 0
    gathered = read_rows(tmp_path / paths.all_verdicts("csv"), COLUMNS)
    here = [row for row in rows if not row["judged_with"]]
    assert [row for row in gathered if row["artifact"] == TABLE] == here and len(here) < len(rows)
    of_others = [row for row in gathered if row["kind"] == "all"]
    assert [row["id"] for row in of_others] == [entry.id for entry in load_claims().of_others]
    assert {row["verdict"] for row in of_others} == {NOT_RUN}
    told = ended(judge_claims.main, "--explain", "no-model-wins", "--root", tmp_path).out
    assert "pixels-rmsprop-best: not run at this scale" in told and told.splitlines()[-2] == "Verdict"
    assert (tmp_path / paths.all_verdicts("md")).read_text().startswith("Stand-in data cannot speak for the papers.")


@pytest.mark.parametrize(
    "found, verdict",
    [
        (("reproduced", "reproduced", "reproduced"), "reproduced"),
        (("reproduced", "inconclusive", "reproduced"), "inconclusive"),
        (("reproduced", "inconclusive", "contradicted"), "contradicted"),
        (("reproduced", NOT_RUN, "inconclusive"), NOT_RUN),
    ],
)
def test_all_hold_where_each_part_holds_in_each_comparison(found, verdict):
    blank = dict.fromkeys(COLUMNS, "")
    of = ("first table1", "first", "table2 second")
    rows = [blank | {"entries": names, "verdict": one} for names, one in zip(of, found, strict=True)]
    about = {
        "id": "both",
        "artifact": TABLE,
        "source": "here",
        "says": "both",
        "kind": "all",
        "of": ["first", "second"],
    }
    (row,) = verdicts_of_others([ClaimEntry(**about)], rows)
    assert row["verdict"] == verdict and tuple(row) == COLUMNS
    (row,) = verdicts_of_others([ClaimEntry(**about, lacking="the third")], rows)
    assert row["verdict"] == ("inconclusive" if verdict == "reproduced" else verdict)
    (row,) = verdicts_of_others([ClaimEntry(**about, but=1)], rows)
    assert row["verdict"] == ("reproduced" if verdict in ("inconclusive", "reproduced") else row["verdict"])


@pytest.mark.parametrize(
    "answers, verdict",
    [(("contradicted", "contradicted"), "contradicted"), (("contradicted", "reproduced"), "inconclusive")],
)
def test_a_part_that_two_readings_answer_otherwise_is_open_and_evidence_alone_contradicts_nothing(answers, verdict):
    rows = [
        dict.fromkeys(COLUMNS, "") | {"entries": "first", "verdict": one, "reading": reading, "stand_in": "true"}
        for one, reading in zip(answers, ("timit", "timit_recall"), strict=True)
    ]
    about = {"id": "one", "artifact": TABLE, "source": "here", "says": "one", "kind": "all", "of": ["first"]}
    (row,) = verdicts_of_others([ClaimEntry(**about)], rows)
    assert (row["verdict"], row["stand_in"]) == (verdict, "true")
    (row,) = verdicts_of_others([ClaimEntry(**about, sufficient=True)], rows)
    assert row["verdict"] == "inconclusive"


def test_an_explanation_is_what_scipy_and_statsmodels_say(tmp_path, paper, ended):
    """Every number of it: the runs', the test's steps, the family's adjustment, the verdict."""
    table = paper(TABLE)
    all_runs(tmp_path, table, {name: 0.9 + index / 100 for index, name in enumerate(MEANS)})
    name = "table11:better:pmnist:test_accuracy:sr_lstm-128:lstm-128"
    told = ended(judge_claims.main, "--explain", name, "--root", tmp_path, "--config", '{"scale": "paper"}')
    assert told.code == 0, told.err
    lines = told.out.splitlines()
    sides = [
        [float(line.split()[2]) for line in lines if line.endswith(tuple(f"/{model}-n128/seed{k}" for k in range(5)))]
        for model in ("pmnist/sr_lstm", "pmnist/lstm")
    ]
    found = stats.ttest_ind(*sides, equal_var=False)
    steps = {key.strip(): text.strip() for key, _, text in (line.partition(": ") for line in lines)}
    interval = [float(text) for text in steps["interval of level 0.95, seed by seed"].split(" to ")]
    degrees = math.floor(found.df)
    assert float(steps["t"]) == pytest.approx(found.statistic)
    assert float(steps["degrees of freedom"]) == pytest.approx(found.df)
    assert float(steps["degrees of freedom, rounded down"]) == degrees
    assert float(steps["standard error"]) == pytest.approx(np.sqrt(sum(np.var(side, ddof=1) / 5 for side in sides)))
    assert float(steps["p"]) == pytest.approx(2 * stats.t.sf(abs(found.statistic), degrees))
    assert interval == pytest.approx(stats.ttest_rel(*sides).confidence_interval(), abs=1e-6)
    family = [line.split() for line in lines if " x " in line]
    assert [int(line[2]) for line in family] == list(range(len(family), 0, -1))
    adjusted = multipletests([float(line[0]) for line in family], method="holm")[1]
    place = next(index for index, line in enumerate(family) if line[3] == name)
    assert float(steps["adjusted p"].split(",")[0]) == pytest.approx(adjusted[place])
    assert lines[-1].strip().startswith("reproduced" if adjusted[place] < 0.05 else "inconclusive")
    assert ended(judge_claims.main, "--explain", "nothing", "--root", tmp_path).code == 1


def test_a_comparison_is_explained_where_it_is_judged(tmp_path, demo, ended):
    table, name = demo("momentumrnn_table1"), f"table11:better:{PAIR}"
    all_runs(tmp_path, table, MEANS)
    told = ended(judge_claims.main, "--explain", name, "--root", tmp_path).out
    assert told.startswith(f"pixels-momentum-better:{PAIR}\n") and told.endswith("says nothing of the paper.\n")


def test_a_summary_without_one_of_its_runs_is_refused(tmp_path, demo):
    table = demo(TABLE)
    all_runs(tmp_path, table, MEANS)
    path = tmp_path / table.inputs()["summary"]
    rows = read_rows(path)
    write_inputs(tmp_path, table, summary=rows[1:])
    with refused("lacks", file=path, key=table.runs[0].id):
        gather(table, tmp_path)


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
    def verdict(kind, subject, reference, verdict, against="false", p="0.1", place=""):
        names = (
            "kind",
            "task",
            "metric",
            "subject",
            "reference",
            "verdict",
            "against_table",
            "p_adjusted",
            "judged_with",
        )
        return dict(zip(names, (kind, "t", "m", subject, reference, verdict, against, p, place), strict=True))

    rows = [
        verdict("better", "a-n8", "lstm-n8", "contradicted", against="true"),
        verdict("better", "lstm-n8", "a-n8", "reproduced"),
        verdict("better", "a-n8", "b-n8", "inconclusive"),
        verdict("value", "a-n8", "", "contradicted"),
        verdict("value", "b-n8", "", NOT_RUN, p=""),
        verdict("better", "c-n8", "lstm-n8", "", p="", place="momentumrnn_table4"),
        verdict("value", "c-n8", "", "", p="", place="momentumrnn_table4"),
    ]
    places = (("t", "a"), ("t", "b"), ("u", "a"), ("t", "c"))
    records = [{"task": task, "metric": "m", "model": model, "size": 8} for task, model in places]
    table = SimpleNamespace(
        published=SimpleNamespace(baseline="lstm"),
        configuration=SimpleNamespace(scale=SimpleNamespace(directions=False)),
    )
    marked = with_verdicts(table, records, rows)
    assert [record["verdict"] for record in marked] == ["reproduced", None, None, "judged with Table 4"]
    assert [record["value_verdict"] for record in marked] == ["contradicted", None, None, "judged with Table 4"]


def test_a_table_marks_its_rows_and_only_where_there_are_verdicts(tmp_path, paper):
    """With the test's verdict beside the sign of the means, in all four forms."""
    table = paper(TABLE)
    all_runs(tmp_path, table, MEANS)
    found = tuple(as_read({row["id"]: row for row in verdicts(table, claimed(table), gather(table, tmp_path))}))
    plain, marked = (table.draw(Sources(table, tmp_path, verdicts)) for verdicts in ((), found))
    assert "verdict" not in plain.data and "verdict" not in plain.frame.columns.get_level_values(1)
    group = next(group for group, name in marked.frame.columns if name == "verdict")
    line = marked.frame[marked.frame[("", "Model")] == "MomentumLSTM"].iloc[0]
    assert line[(group, "verdict")] == "inconclusive" and line[(group, "against LSTM")].startswith("holds")
    assert sum("a gap that holds can be inconclusive" in note for note in marked.notes) == 1
    files = [tmp_path / f"table.{form}" for form in TABLE_FORMS]
    write_table(marked, files)
    assert all("inconclusive" in file.read_text(encoding="utf-8") for file in files)
