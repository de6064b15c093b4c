"""Training curves of several seeds, averaged: the points that a figure's panels draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hidden_dynamics.configuration.runs import resampled
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seeds import BY_CHANCE, FEWEST, in_two_clusters, margin, mean_band

DECIDING = "test_loss"  # by which a run has learned something
MOST_POINTS = 500
FEWEST_WINDOWS = 10  # in a curve: the window of a shorter one shrinks


@dataclass(frozen=True)
class Curve:
    """One model in one panel: arrays (points,), x ascending.

    A curve has a band of confidence, or its seeds' own values: of fewer than FEWEST seeds, or where those that have
    learned something and the others are two clusters. One of a single point may have both.

    Attributes:
        mean: over the seeds that have a value.
        low, high: the band; nan where there is none.
        seeds: (points,) by seed, the seeds' own values where there is no band, or one point; else none. nan: no value.
        learned: how many of the seeds have learned something, where the others have not; else None.
        window: the points that it is smoothed over; 1: none.
    """

    model: str
    x: NDArray
    mean: NDArray
    low: NDArray
    high: NDArray
    seeds: Mapping[int, NDArray]
    learned: int | None = None
    window: int = 1


class Panel(Protocol):
    """The settings of a figure's panel that its curves need (hidden_dynamics.artifacts.kinds.curves)."""

    task: str
    size: int | str | None
    split: Literal["train", "validation", "test"]
    against: Literal["iteration", "epoch"]
    window: int


def curves_of(evidence: Evidence, panel: Panel) -> list[Curve]:
    """The curves of a panel, model after model; none of a model that never got a value.

    Raises:
        UserError: a file of a run is missing or damaged.
    """
    by_model: dict[str, list[RunRecord]] = {}
    for run in evidence.on(panel.task, panel.size):
        by_model.setdefault(run.model, []).append(run)
    shares = {model: resampled(evidence.configuration, panel.task, model) for model in by_model}
    curves = [averaged(model, panel, runs, shares[model]) for model, runs in by_model.items()]
    return [curve for curve in curves if curve.x.size]


def averaged(model: str, panel: Panel, runs: Sequence[RunRecord], share: float) -> Curve:
    """One model's curve: smoothed seed by seed, averaged over the seeds that have a value, thinned; `share` is
    `resampled` of `mean_band`."""
    learned = learned_of(runs)
    losses = [losses_of(run.files, panel.split, panel.against) for run in runs]
    window = min(panel.window, max(1, max(y.size for _, y in losses) // FEWEST_WINDOWS))
    x, values = align([(x, triangular_moving_average(y, window)) for x, y in losses])
    mean, low, high = mean_band(values, resampled=share)
    shown = values if x.size == 1 else values[:0]
    if learned is not None or len(runs) < FEWEST:
        low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
        shown = values if len(runs) > 1 else shown
    kept = thin(x, MOST_POINTS)
    x, mean, low, high = (array[kept] for array in (x, mean, low, high))
    seeds = {run.seed: values[kept] for run, values in zip(runs, shown, strict=False)}
    return Curve(model, x, mean, low, high, seeds, learned, window)


def learned_of(runs: Sequence[RunRecord]) -> int | None:
    """The number of runs that have learned something, where they and the others are two clusters; else None."""
    finished = [run for run in runs if run.status == "finished" and run.reported]
    margins = [margin(run.naive, run.metrics, DECIDING, -1) for run in finished]
    return sum(gain is not None and gain > BY_CHANCE for gain in margins) if in_two_clusters(margins) else None


def losses_of(files: RunFiles, split: str, against: str) -> tuple[NDArray, NDArray]:
    """(iteration or epoch, loss), each (points,), up to the first loss that is not a finite number.

    A train loss is that of every minibatch, against the iteration; the others are those of every evaluation.
    """
    if split == "train":
        losses = files.train_loss()
        x = np.arange(1, losses.size + 1, dtype=np.float64)
    else:
        x, losses = files.evaluations(f"{split}_loss", against)
    bad = np.flatnonzero(~np.isfinite(losses))
    end = bad[0] if bad.size else losses.size
    return x[:end], losses[:end]


def align(curves: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    """Curves on their common grid: x (points,) ascending, values (curves, points), nan where a curve has ended.

    Seeds may have been evaluated at different x: a language model's epoch has a number of iterations that chance
    sets. Between two evaluations of its own, a curve is the straight line; the grid starts where all have begun.
    """
    begun = [x for x, _ in curves if x.size]
    grid = np.unique(np.concatenate([x for x, _ in curves]))
    grid = grid[grid >= max((x[0] for x in begun), default=0.0)]
    values = np.full((len(curves), grid.size), np.nan)
    for row, (x, y) in zip(values, curves, strict=True):
        if x.size:
            row[:] = np.interp(grid, x, y, right=np.nan)
    return grid, values


def triangular_moving_average(values: ArrayLike, window: int) -> NDArray:
    """Smooth a curve with a triangular kernel of `window` points, renormalised where it hangs over an end.

    The smoothing of MomentumRNN's released plotting notebook (30 points for train losses, 10 epochs for test losses).

    Args:
        values: (points,), finite.
        window: number of points under the triangle; 1 changes nothing. An even window has no middle point: it looks
            half a point further back than ahead.

    Returns:
        (points,) float64.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0 or window == 1:
        return values.copy()
    position = np.arange(window)
    kernel = np.minimum(position + 1, window - position).astype(np.float64)
    inside = slice((window - 1) // 2, (window - 1) // 2 + values.size)
    weight = np.convolve(np.ones_like(values), kernel)[inside]
    return np.convolve(values, kernel)[inside] / weight


def thin(x: ArrayLike, count: int) -> NDArray:
    """Indices of at most `count` points that draw a long curve well on a linear and on a logarithmic axis.

    Half of them are evenly spaced in x, half in its logarithm, so that the start keeps its detail; first and last
    are kept.

    Args:
        x: (points,), ascending.
        count: the most points to keep, 2 or more.

    Returns:
        ascending indices into x, at most `count`; all of them where x has no more points than that.
    """
    x = np.asarray(x, dtype=np.float64)
    if x.size <= count:
        return np.arange(x.size)
    span = x[-1] - x[0]
    even = np.linspace(0.0, span, count // 2 + 1)
    geometric = np.geomspace(1.0, span + 1.0, count - even.size) - 1.0
    wanted = x[0] + np.minimum(np.concatenate([even, geometric]), span)
    return np.unique(np.minimum(np.searchsorted(x, wanted), x.size - 1))
