"""How alike runs of one seed are: read from made-up runs."""

import pytest
import scipy.stats
import seed_correlations
from made import evaluations_of, make_run

from hidden_dynamics.configuration.runs import runs_on

NUMBERS = {"lstm": [0.50, 0.61, 0.72, 0.68, 0.55, 0.9], "momentum_lstm": [0.55, 0.60, 0.70, 0.75, 0.52, 0.1]}


@pytest.fixture
def models(configured, tmp_path):
    """The directories of two models' runs, of which one run of the second diverged."""
    configuration = configured(scale="demo", seeds=list(range(6)))
    directories = {}
    for run in runs_on(configuration, "mnist"):
        if run.model in NUMBERS and run.paper_size == 128:
            evaluations = evaluations_of(run, [NUMBERS[run.model][run.spec["seed"]]])
            diverged = {"diverged_at": 9} if (run.model, run.spec["seed"]) == ("momentum_lstm", 5) else {}
            files = make_run(tmp_path, configuration, run, evaluations, **diverged)
            directories[run.model] = files.directory.parent
    return list(directories.values())


def test_the_correlation_is_scipy_s_of_the_seeds_that_both_finished(models, ended):
    code, said, _ = ended(seed_correlations.main, *models)
    theirs = scipy.stats.pearsonr(*(numbers[:5] for numbers in NUMBERS.values()))
    interval = theirs.confidence_interval(0.95)
    expected = f"n = 5, rho = {theirs.statistic:.2f} ({interval.low:.2f} to {interval.high:.2f})"
    assert code == 0 and expected in said and "epoch" not in said


def test_too_few_seeds_are_named(models, ended):
    code, _, said = ended(seed_correlations.main, models[0], models[0] / "seed0")
    assert code == 1 and "0 seeds" in said
