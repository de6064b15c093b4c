"""Lines of figures: a model's mean over its runs with a band, or the runs' own lines; baselines; their legend."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts.sheet import Styles, legend_entry
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import best_classical, mean_and_std

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

NAIVE, CLASSICAL = "naive", "classical"
DASHES = {  # of the lines of baselines
    NAIVE: ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 1))),
    CLASSICAL: ((0, (12, 2, 1, 2, 1, 2)), (0, (16, 3)), (0, (12, 2, 1, 2, 1, 2, 1, 2))),
}
IN_SIGHT = 1.3  # a baseline that is higher than this many times what else is drawn does not stretch the axis


def draw_line(
    ax: "Axes",
    model: str,
    style: Mapping[str, object],
    x: NDArray,
    mean: NDArray | None,
    band: tuple[NDArray, NDArray],
    seeds: Iterable[NDArray],
    front: float = 2,
    **marks: Any,
) -> None:
    """One model: its mean, its band, the lines of its runs, as far as there are any; a point where there is one.

    Args:
        x: (points,).
        mean: (points,), None where runs of which some learned and others did not have none; nan: no value.
        band: lower and upper end, (points,) each; nan: none.
        seeds: the runs' own values, (points,) each, where they are drawn.
        front: zorder of the mean.
        marks: other properties of the mean's line.
    """
    colour: dict[str, Any] = {"color": style["color"]}
    point: dict[str, Any] = {"marker": "o"} if x.size == 1 else {}
    if np.isfinite(band[0]).any():
        bars: dict[str, Any] = {"alpha": 0.6} if point else {"alpha": 0.12, "linewidth": 0}
        (ax.vlines if point else ax.fill_between)(x, *band, **colour, **bars, gid=f"band {model}")
    look = colour | {"alpha": 0.45} if mean is not None else {**style, "alpha": 0.9}
    for values in seeds:
        ax.plot(x, values, **look, **point, ms=3, linewidth=0.7, zorder=front - 0.5, gid=f"seed {model}")
    if mean is not None:
        ax.plot(x, mean, **style, zorder=front, gid=f"curve {model}", **point | marks)


def model_entries(runs: Iterable[RunRecord], styles: Styles) -> "list[Line2D]":
    """The legend's entry of each model, with its runs that diverged or failed: "LSTM (1 of 2 runs diverged)"."""
    entries, different = [], {run.run.directory: run for run in runs}.values()
    for model, style in styles.items():
        own = [run for run in different if run.model == model]
        ends = [run.status for run in own]
        said = [f" ({ends.count(how)} of {len(own)} runs {how})" for how in ("diverged", "failed") if how in ends]
        entries.append(legend_entry("".join([own[0].label, *said]), **style))
    return entries


def baselines(
    naive: Mapping[str, float], runs: Sequence[RunRecord], metric: str, sign: int, factor: float = 1.0
) -> dict[str, float]:
    """By their names in the legend, the scores of naive baselines and of the best classical one on the runs' data.

    Args:
        sign: of the metric, 1 where higher is better, else -1; `factor` is to the unit that is drawn.
    """
    scores = {f"{NAIVE}: {name}": score for name, score in naive.items()}
    if best := best_classical(runs, metric, sign, factor):
        name, by_seed = best
        scores[f"{CLASSICAL}: {name}"] = mean_and_std(by_seed.values())[0]
    return scores


def draw_across(ax: "Axes", scores: Mapping[str, float], names: Iterable[str], upright: bool = False) -> None:
    """A dashed line at each baseline's score; `names` are all those of the figure."""
    styles = _styles_of_baselines(names)
    for name, score in scores.items():
        (ax.axvline if upright else ax.axhline)(score, **styles[name], zorder=5, gid=name)


def baseline_entries(names: Iterable[str]) -> "list[Line2D]":
    """The legend's entries."""
    return [legend_entry(name, **style) for name, style in _styles_of_baselines(names).items()]


def in_sight(scores: Mapping[str, float], highest: float) -> list[float]:
    """The scores that an axis should hold whose other lines end at `highest`."""
    return [score for score in scores.values() if score <= IN_SIGHT * highest]


def _styles_of_baselines(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Naive ones first."""
    names = list(dict.fromkeys(names))
    return {
        name: {"color": "0.35", "linewidth": 1, "linestyle": dash}
        for kind, dashes in DASHES.items()
        for name, dash in zip([name for name in names if name.startswith(kind)], itertools.cycle(dashes), strict=False)
    }
