"""Summaries and averaged curves of made-up runs: finished, diverged, unequal, of something else."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import summarise
from approved import approved
from conftest import refused
from drawn import artifact_at
from made import change_record, evaluations_of, make_run
from scipy import stats

from hidden_dynamics.artifacts import artifact_named, lines
from hidden_dynamics.configuration.runs import all_runs, runs_on
from hidden_dynamics.results import curves
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import line_of
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import mean_band

FIGURE, LANGUAGE = (artifact_at("demo", f"momentumrnn_figure{number}", seeds=[0, 1, 2]) for number in (3, 5))
CONFIGURATION = FIGURE.configuration
POINTS = 120
FAILURE = {"cause": "step size underflow", "time": 0.25, "step": 8, "during": "backward"}


def losses_of(run, points=POINTS):
    rng = np.random.default_rng([run.seed, len(run.sized_model)])
    return np.exp(-np.arange(points) / 40) + 0.1 * rng.random(points)


def make(root, run, losses=None, **about):
    """A run of images, with an evaluation every 10 iterations; its test loss is its train loss and 1."""
    losses = losses_of(run) if losses is None else losses
    evaluations = evaluations_of(run, [0.5] * (len(losses) // 10))
    for row in evaluations:
        row["test_loss"] = losses[row["iteration"] - 1] + 1
    return make_run(root, CONFIGURATION, run, evaluations, losses, **about)


@pytest.fixture
def finished(tmp_path):
    """A root with every run of the figure, finished."""
    for run in FIGURE.case_runs:
        make(tmp_path, run)
    return tmp_path


def rows_of(root, artifact):
    """The lines of its runs in runs.csv."""
    return [line_of(run) for run in Evidence.read(artifact.configuration, artifact.case_runs, root).runs]


def curve_of(root, artifact, panel, model):
    """A model's curve in a panel; None where it has none."""
    evidence = Evidence.read(artifact.configuration, artifact.case_runs, root)
    found = curves.curves_of(evidence, artifact.settings.panels[panel])
    return next((curve for curve in found if curve.model == model), None)


def test_a_row_says_what_the_record_says(finished):
    rows = rows_of(finished, FIGURE)
    assert [row["directory"] for row in rows] == [run.directory for run in FIGURE.case_runs]
    record, row = RunFiles(finished / FIGURE.case_runs[0].directory).record(), rows[0]
    assert json.loads(row.pop("measured")) == record["reported"]["metrics"]
    for name in ("variants", "hyperparameters", "training"):
        assert json.loads(row.pop(name)) == record["spec"][name]
    approved("summary_row.txt", "\n".join(f"{name}: {value}".rstrip() for name, value in row.items()))


def test_a_diverged_run_reports_nothing_and_says_why(finished):
    first, second = FIGURE.case_runs[:2]
    make(finished, first, losses=losses_of(first, 5), diverged_at=5)
    make(finished, second, losses=losses_of(second, 5), diverged_at=6, failure=FAILURE)
    rows = rows_of(finished, FIGURE)[:2]
    for row, iteration in zip(rows, "56", strict=True):
        assert (row["status"], row["diverged_at"]) == ("diverged", iteration)
        assert row["metric"] == row["reported"] == row["measured"] == ""
    assert rows[0]["failure"] == "" and json.loads(rows[1]["failure"]) == FAILURE


def test_the_record_of_another_run_or_specification_is_refused(finished):
    first, second = (RunFiles(finished / run.directory) for run in FIGURE.case_runs[:2])
    spec = first.record()["spec"]
    change_record(first, spec=spec | {"training": spec["training"] | {"batch_size": 1}})
    with refused("configured", key="spec.training"):
        rows_of(finished, FIGURE)
    change_record(first, run=second.record()["run"])
    with refused("describes"):
        rows_of(finished, FIGURE)


def test_train_curve_is_smoothed_per_seed_then_averaged(finished):
    curve = curve_of(finished, FIGURE, 0, "lstm")
    panel = FIGURE.settings.panels[0]
    seeds = [run for run in FIGURE.case_runs if run.case == (panel.task, "lstm", panel.size)]
    window = min(panel.window, POINTS // 10)
    expected = mean_band([curves.triangular_moving_average(losses_of(run), window) for run in seeds])
    assert curve.window == window
    np.testing.assert_array_equal(curve.x, np.arange(1, POINTS + 1))
    np.testing.assert_array_equal((curve.mean, curve.low, curve.high), expected)  # to the last bit
    assert len(seeds) == 3


def test_the_band_of_seeds_that_share_series_is_corrected(tmp_path):
    runs = [run for run in runs_on(CONFIGURATION, "ushcn") if run.model == "gru_ode_bayes"]
    for run in runs:
        make_run(tmp_path, CONFIGURATION, run, [], losses_of(run))
    panel = SimpleNamespace(task="ushcn", size=runs[0].paper_size, split="train", against="iteration", window=1)
    (curve,) = curves.curves_of(Evidence.read(CONFIGURATION, runs, tmp_path), panel)
    _, low, high = mean_band([losses_of(run) for run in runs], resampled=0.14)
    np.testing.assert_allclose((curve.low, curve.high), (low, high))


def test_naive_baselines_are_the_records_and_seeds_stand_alone_where_some_learned(finished):
    """The test losses end between 1.05 and 1.15: a baseline of 9 is beaten by all, one of 1 by none."""
    for run in FIGURE.case_runs:
        score = 9.0 if run.model == "lstm" and run.seed else 1.0
        make(finished, run, naive={"test_loss": {"last value": score, "best constant": 2e3}})
    beaten = [run for run in Evidence.read(CONFIGURATION, FIGURE.case_runs, finished).runs if run.model == "sr_lstm"]
    for panel, naive in ((0, {}), (1, {"naive: last value": 1.0, "naive: best constant": 2e3})):
        assert lines.baselines(beaten, f"{FIGURE.settings.panels[panel].split}_loss", -1) == naive
        curve = curve_of(finished, FIGURE, panel, "lstm")
        assert (curve.learned, len(curve.seeds), np.isnan([curve.low, curve.high]).all()) == (2, 3, True)
        curve = curve_of(finished, FIGURE, panel, "sr_lstm")
        assert curve.learned is None and not curve.seeds and np.isfinite([curve.low, curve.high]).all()


def test_a_curve_of_one_evaluation_has_its_seeds_beside_the_band(tmp_path):
    for run in FIGURE.case_runs:
        make(tmp_path, run, losses=losses_of(run, 10))
    curve = curve_of(tmp_path, FIGURE, 1, "lstm")
    assert list(curve.seeds) == [0, 1, 2] and np.isfinite([curve.low, curve.high]).all()
    np.testing.assert_allclose(np.mean(list(curve.seeds.values()), axis=0), curve.mean)


def test_curves_are_thinned(tmp_path):
    for run in FIGURE.case_runs:
        make(tmp_path, run, losses=losses_of(run, 5000))
    curve = curve_of(tmp_path, FIGURE, 0, "lstm")
    assert curve.window == FIGURE.settings.panels[0].window  # a long curve has the whole
    assert curve.x.size <= curves.MOST_POINTS
    assert (curve.x[0], curve.x[-1]) == (1, 5000)


@pytest.mark.parametrize("last", [np.nan, np.inf, 0.1])
def test_a_diverged_seed_counts_up_to_where_it_diverged(finished, last):
    run = FIGURE.case_runs[1]
    losses = losses_of(run, 50)
    losses[-1] = last
    make(finished, run, losses=losses, diverged_at=50)
    curve = curve_of(finished, FIGURE, 0, run.model)
    reached = 50 if np.isfinite(last) else 49
    assert np.isfinite(curve.low).tolist() == [True] * reached + [False] * (POINTS - reached)  # two have no band
    assert np.isfinite(curve.mean).all()


def test_a_model_that_never_got_a_value_has_no_curve(finished):
    for run in FIGURE.case_runs:
        if run.model == "lstm":
            make(finished, run, losses=[np.nan], diverged_at=1)
    assert curve_of(finished, FIGURE, 0, "lstm") is None and curve_of(finished, FIGURE, 1, "lstm") is None
    assert curve_of(finished, FIGURE, 0, "momentum_lstm") is not None


def test_seeds_that_were_evaluated_at_different_epochs_are_compared_at_all_of_them():
    x, values = curves.align(
        [(np.array([1.0, 3.0, 5.0]), np.array([10.0, 30.0, 40.0])), (np.array([2.0, 3.0]), np.ones(2))]
    )
    assert x.tolist() == [2, 3, 5]
    np.testing.assert_array_equal(values, [[20, 30, 40], [1, 1, np.nan]])
    none = np.empty(0)
    _, values = curves.align([(np.array([1.0, 2.0]), np.array([5.0, 6.0])), (none, none)])
    np.testing.assert_array_equal(values, [[5, 6], [np.nan, np.nan]])
    assert [part.size for part in curves.align([(none, none)] * 2)] == [0, 0]


# A language model is tested once, on the weights of its best validation: its other evaluations have no test loss.

EPOCHS = 6


def epoch_ends(run):
    """The iterations at which epochs end: segments of text have random lengths, so no two epochs have as many."""
    return np.cumsum(np.random.default_rng(run.seed).integers(15, 25, EPOCHS)).tolist()


def validation_of(run):
    return 6 - np.arange(EPOCHS) / 10 - run.seed / 100 - len(run.model) / 1000


def make_language(root, run, validation=None, **about):
    validation = validation_of(run) if validation is None else validation
    evaluations = evaluations_of(run, map(float, validation))
    for row, iteration in zip(evaluations, epoch_ends(run), strict=False):
        row["iteration"] = iteration
    finite = [row for row in evaluations if np.isfinite(row["validation_loss"])]
    if finite:
        best = min(finite, key=lambda row: row["validation_loss"])
        best |= {"test_loss": best["validation_loss"] + 0.1, "test_perplexity": 123.0}
    losses = losses_of(run, about.get("diverged_at") or epoch_ends(run)[-1])
    return make_run(root, CONFIGURATION, run, evaluations, losses, **about)


@pytest.fixture
def texts(tmp_path):
    """A root with every run of the language model's figure."""
    for run in LANGUAGE.case_runs:
        make_language(tmp_path, run)
    return tmp_path


def test_epochs_of_different_lengths_leave_train_curves_of_different_lengths(texts):
    curve = curve_of(texts, LANGUAGE, 0, "lstm")
    ends = sorted(epoch_ends(run)[-1] for run in LANGUAGE.case_runs if run.model == "lstm")
    assert len(set(ends)) == 3
    assert curve.x.tolist() == list(range(1, ends[-1] + 1))
    assert np.isfinite(curve.low).tolist() == [True] * ends[0] + [False] * (ends[2] - ends[0])


def test_what_is_measured_once_is_in_the_summary_and_a_curve_of_one_point(texts):
    row, run = rows_of(texts, LANGUAGE)[0], LANGUAGE.case_runs[0]
    assert (row["metric"], row["rule"], row["reported_epoch"]) == ("validation_loss", "min", "6.0")
    assert json.loads(row["measured"])["test_perplexity"] == 123
    assert row["stand_in_for"] == "ptb" and row["size"] != row["paper_size"] == "1150"
    x, losses = curves.losses_of(RunFiles(texts / run.directory), "test", "epoch")
    assert (x.tolist(), losses.tolist()) == ([EPOCHS], [pytest.approx(validation_of(run)[-1] + 0.1)])


def test_a_language_model_that_diverged_or_never_had_a_validation_loss(texts):
    first, second, third = [run for run in LANGUAGE.case_runs if run.model == "lstm"]
    make_language(texts, first, validation_of(first)[:3], diverged_at=70)
    make_language(texts, second, np.full(EPOCHS, np.nan))
    rows = rows_of(texts, LANGUAGE)
    assert [(row["status"], row["metric"]) for row in rows[:3]] == [
        ("diverged", "validation_loss"),
        ("finished", ""),
        ("finished", "validation_loss"),
    ]
    assert (rows[1]["measured"], rows[1]["reported"]) == ("", "")
    curve = curve_of(texts, LANGUAGE, 1, "lstm")
    np.testing.assert_allclose(curve.mean[3:], validation_of(third)[3:], rtol=1e-12)


TABLE, OTHER = "momentumrnn_table11", "momentumrnn_table1"
SCORES = {"lstm": (0.5, 0.51, 0.52), "momentum_lstm": (0.7, 0.71, 0.72), "sr_lstm": (0.5, 0.6, 0.52)}


@pytest.fixture(scope="module")
def summarised(tmp_path_factory, configured):
    """A configuration with two tables that share comparisons, and the root of its runs' summaries."""
    whole, root = configured(scale="demo", seeds=[0, 1, 2]), tmp_path_factory.mktemp("summarised")
    configuration = replace(whole, artifact_layers={name: whole.artifact_layers[name] for name in (TABLE, OTHER)})
    for run in all_runs(configuration):
        scores = SCORES.get(run.model, (0.5, 0.51, 0.52))
        evaluations = evaluations_of(run, [scores[run.seed]], "test_accuracy")
        for row in evaluations:
            row[run.spec["training"]["report"]["metric"]] = scores[run.seed]
        make_run(root, configuration, run, evaluations)
    summarise.summarise(configuration, root)
    return configuration, root


def test_all_is_every_configured_run(summarised):
    configuration, root = summarised
    rows = read_rows(root / configuration.paths.all_runs)
    assert [row["directory"] for row in rows] == [run.directory for run in all_runs(configuration)]


def test_statistics_have_a_row_for_each_case_and_metric(summarised):
    configuration, root = summarised
    rows = read_rows(root / configuration.paths.statistics)
    cases = {run.case for run in all_runs(configuration)}
    assert len({(row["task"], row["model"], row["size"]) for row in rows}) == len(cases)
    about = {"task": "pmnist", "model": "momentum_lstm", "size": "128", "metric": "test_accuracy"}
    (row,) = [row for row in rows if about.items() <= row.items()]
    assert row["n"] == "3" and float(row["mean"]) == pytest.approx(71) and float(row["std"]) == pytest.approx(1)


def test_each_comparison_that_tables_show_stands_once_with_q_over_all(summarised):
    configuration, root = summarised
    rows = read_rows(root / configuration.paths.comparisons)
    pairs = [[*artifact_named(configuration, name).pairs()] for name in (TABLE, OTHER)]
    assert {*pairs[0]} & {*pairs[1]} and len(rows) == len({*pairs[0], *pairs[1]})
    about = {"artifact": TABLE, "task": "pmnist", "model": "momentum_lstm", "baseline": "lstm"}
    (row,) = [row for row in rows if about.items() <= row.items()]
    assert float(row["lead"]) == pytest.approx(20) and row["n"] == row["baseline_n"] == "3"
    p = sorted(float(row["p"]) for row in rows if row["p"])
    expected = stats.ttest_ind(SCORES["momentum_lstm"], SCORES["lstm"], equal_var=False).pvalue
    assert float(row["p"]) == pytest.approx(expected, rel=1e-6) == pytest.approx(p[0], rel=1e-6)
    adjusted = [len(p) / rank * value for rank, value in enumerate(p, 1)]
    assert float(row["q"]) == pytest.approx(min(adjusted), rel=1e-6)
