"""The interval of a difference over seeds and the items of the one test set that all seeds share."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.claims.comparison import WELCH
from hidden_dynamics.claims.kinds import At, Result
from hidden_dynamics.claims.statistics import Estimate
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.run_files import ITEMS
from hidden_dynamics.results.seeds import LEVEL

Items = Mapping[str, NDArray]
SQUARED = ("squared_error", "")
DRAWS = 2000  # of the bootstrap
NEAR = 0.005  # of what a run measured, as far as its items may be off it
# Of which arrays of a run's items a metric is the mean, or the ratio of sums.
ARRAYS = {
    "test_accuracy": ("class", ""),
    "test_time_point_accuracy": ("right", "labelled"),
    "test_extrapolation_mse": SQUARED,
    "test_interpolation_mse": SQUARED,
}


def over_items(configuration: Configuration, result: Result, entry: ClaimEntry, at: At) -> tuple[float, float] | None:
    """The 95 % interval of the subject's mean less the reference's over seeds and test items; None where a run has not
    kept what that takes, seeds have test sets of their own, the metric is no mean over items, or the items do not give
    what the runs measured (`right`)."""
    metric, estimate = entry.shown_metric, result.estimate
    if entry.kind != "better" or metric not in ARRAYS or estimate is None or at not in ("reported", "last"):
        return None
    runs = [run for side in result.shown for seed in side.by_seed for run in side.runs if run.seed == seed]
    if any(side.overlap for side in result.sides) or not all((run.files.directory / ITEMS).is_file() for run in runs):
        return None
    factor = configuration.metrics[metric].factor
    measured = np.array([value for side in result.shown for value in side.by_seed.values()]) / factor
    arrays = _arrays(runs, *ARRAYS[metric], last=at == "last", measured=float(measured.mean()))
    if arrays is None:
        return None
    shares, weights = arrays
    if not np.allclose(shares.sum(axis=1) / weights.sum(axis=1), measured, rtol=NEAR, atol=0):
        return None
    parts = [slice(0, len(result.shown[0].by_seed)), slice(len(result.shown[0].by_seed), None)]
    error = bootstrap_error([(shares[part], weights[part]) for part in parts], result.test != WELCH)
    return Estimate(estimate.value, factor * error, estimate.degrees).interval(LEVEL)


def _arrays(
    runs: Sequence[RunRecord], share: str, weight: str, last: bool, measured: float
) -> tuple[NDArray, NDArray] | None:
    """Shares and weights of the evaluation that counts, each (runs, n); None where a run has not kept them."""
    kept = [run.files.items() for run in runs]
    ends = [run.iterations if last or run.reported is None else run.reported.iteration for run in runs]
    counted = [items.get(end, {}) for items, end in zip(kept, ends, strict=True)]
    with_losses = [items for evaluations in kept for items in evaluations.values() if "loss" in items]
    if any(name and name not in items for items in counted for name in (share, weight)):
        return None
    if share == "class" and not with_losses or len({len(items[share]) for items in counted}) > 1:
        return None
    shares = np.stack([items[share] for items in counted])
    shares = right(shares, with_losses, measured) if share == "class" else shares.astype(np.float64)
    return shares, np.stack([items[weight] for items in counted]).astype(np.float64) if weight else np.ones_like(shares)


def right(classes: NDArray, kept: Sequence[Items], measured: float) -> NDArray:
    """Whether each class, (runs, n), is right: 0 or 1.

    The true class is not kept, but losses are: minus the logarithm of its probability. The class whose loss is the
    lowest of all that are kept is taken to be true, but where no run is right. Such items have the highest of these
    losses, and as many are held for such as make the share of what is right `measured`, the mean over the runs.

    Args:
        kept: the classes and losses, (n,) each, of evaluations of these runs.
    """
    others, losses = (np.stack([items[name] for items in kept]) for name in ("class", "loss"))
    losses = np.where(np.isnan(losses), np.inf, losses)
    hits = classes == np.take_along_axis(others, losses.argmin(axis=0)[None], axis=0)
    surest_first = losses.min(axis=0).argsort(kind="stable")
    totals = np.concatenate([[0], hits[:, surest_first].sum(axis=0).cumsum()])
    hits[:, surest_first[np.abs(totals - measured * classes.size).argmin() :]] = False
    return hits.astype(np.float64)


def bootstrap_error(sides: Sequence[tuple[NDArray, NDArray]], paired: bool) -> float:
    """The standard deviation of a difference of means over seeds and items, both drawn anew.

    Of n seeds, n - 1 are drawn, so that the variance over seeds alone is s²/n, as of a mean.

    Args:
        sides: (shares, weights) of each, both (seeds, items); a seed's number is the ratio of their sums.
        paired: whether both sides are drawn the same seeds.
    """
    random, items, differences = np.random.default_rng(0), sides[0][0].shape[1], np.empty(DRAWS)
    for draw in range(DRAWS):
        weight = np.bincount(random.integers(0, items, items), minlength=items)
        means, seeds = [], None
        for shares, weights in sides:
            if seeds is None or not paired:
                seeds = random.integers(0, len(shares), len(shares) - 1)
            means.append(float(np.mean((shares[seeds] @ weight) / (weights[seeds] @ weight))))
        differences[draw] = means[0] - means[1]
    return float(differences.std(ddof=1))
