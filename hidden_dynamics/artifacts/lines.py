"""Lines of figures: a model's mean over its runs with a band, or the runs' own lines; baselines; their legend."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.results.curves import Curve
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.seeds import best_classical, mean_and_std, mean_scores

NAIVE, CLASSICAL = "naive", "classical"
DASHES = {  # of the lines of baselines
    NAIVE: ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 1))),
    CLASSICAL: ((0, (12, 2, 1, 2, 1, 2)), (0, (16, 3)), (0, (12, 2, 1, 2, 1, 2, 1, 2))),
}
FEW = 6  # points of a line that are marked, with bars in place of a band
BEHIND = 1.5  # zorder of the lines of runs: behind all means
ASIDE = 3.5  # typographical points from bar to bar
IN_SIGHT = 1.3  # a baseline that is higher than this many times what else is drawn does not stretch the axis


def draw_line(ax: "sheet.Axes", curve: Curve, look: sheet.Look, front: float = 2, shift: float = 0) -> None:
    """One model: its mean where all of its runs have learned alike, its band, the lines of its runs, as far as there
    are any. Of FEW points or fewer, which are marked, bands would hide one another: there they are bars, side by side.

    Args:
        look: of the mean's line; `front` is its zorder.
        shift: by how many bars' distances to the right FEW points are drawn.
    """
    from matplotlib.transforms import ScaledTranslation

    colour, few, place = {"color": look["color"]}, curve.x.size <= FEW, {}
    if few:
        aside = ScaledTranslation(shift * ASIDE / 72, 0, ax.figure.dpi_scale_trans)
        place["transform"] = ax.transData + aside
    if np.isfinite(curve.low).any():
        bars: dict[str, Any] = {"alpha": 0.6, **place} if few else {"alpha": 0.12, "linewidth": 0}
        band = ax.vlines if few else ax.fill_between
        band(curve.x, curve.low, curve.high, **colour, **bars, gid=f"band {curve.model}")
    place |= {"marker": "o", "ms": 3.5} if few else {}
    thin = {**look, "alpha": 0.9} if curve.learned is not None else colour | {"alpha": 0.45}
    for values in curve.seeds.values():
        ax.plot(curve.x, values, **{**place, **thin, "linewidth": 0.7}, zorder=BEHIND, gid=f"seed {curve.model}")
    if curve.learned is None:
        ax.plot(curve.x, curve.mean, **{**look, **place}, zorder=front, gid=f"curve {curve.model}")


def points_of(curve: Curve, line: str = "mean", **place: object) -> list[dict[str, Any]]:
    """The data that `draw_line` draws: a row for each point, with the panel's `place` in columns of its own."""
    numbers = zip(curve.x, curve.mean, curve.low, curve.high, strict=True)
    rows = [{"line": line, "x": x, "mean": mean, "low": low, "high": high} for x, mean, low, high in numbers]
    rows = rows if curve.learned is None else []
    for seed, values in curve.seeds.items():
        rows += [{"line": f"seed {seed}", "x": x, "mean": y} for x, y in zip(curve.x, values, strict=True)]
    return [{**place, "model": curve.model, **row} for row in rows]


def model_entries(runs: Iterable[RunRecord], styles: sheet.Styles) -> "list[sheet.Line2D]":
    """The legend's entry of each model, with its runs that diverged or failed: "LSTM (1 of 2 runs diverged)"."""
    entries, different = [], {run.run.directory: run for run in runs}.values()
    for model, style in styles.items():
        own = [run for run in different if run.model == model]
        ends = [run.status for run in own]
        said = [f" ({ends.count(how)} of {len(own)} runs {how})" for how in ("diverged", "failed") if how in ends]
        entries.append(sheet.legend_entry("".join([own[0].label, *said]), **style))
    return entries


def baselines(runs: Sequence[RunRecord], metric: str, sign: int, factor: float = 1.0) -> dict[str, float]:
    """By their names in the legend, the scores of naive baselines and of the best classical one on the runs' data, by
    the metric's `sign`, 1 where higher is better, else -1; `factor` is to the unit that is drawn."""
    scores = {f"{NAIVE}: {name}": score for name, score in mean_scores(runs, metric, factor).items()}
    if best := best_classical(runs, metric, sign, factor):
        name, by_seed = best
        scores[f"{CLASSICAL}: {name}"] = mean_and_std(by_seed.values())[0]
    return scores


def baseline_styles(names: Iterable[str]) -> sheet.Styles:
    """The dashed line of each of a figure's baselines, by name; naive ones first, as the legend has them."""
    return {
        name: {"color": "0.35", "linewidth": 1, "linestyle": dash}
        for kind, dashes in DASHES.items()
        for name, dash in zip([name for name in names if name.startswith(kind)], itertools.cycle(dashes), strict=False)
    }


def baseline_entries(styles: sheet.Styles) -> "list[sheet.Line2D]":
    return [sheet.legend_entry(name, **style) for name, style in styles.items()]


def draw_across(ax: "sheet.Axes", scores: Mapping[str, float], styles: sheet.Styles, upright: bool = False) -> None:
    """A line at each baseline's score."""
    for name, score in scores.items():
        (ax.axvline if upright else ax.axhline)(score, **styles[name], zorder=5, gid=name)


def in_sight(scores: Mapping[str, float], highest: float) -> list[float]:
    """The scores that an axis should hold whose other lines end at `highest`."""
    return [score for score in scores.values() if score <= IN_SIGHT * highest]


def padded(values: NDArray, scale: str = "linear") -> tuple[float, float]:
    """The ends of an axis, "linear" or "log", that holds values (n,), finite, with some room."""
    if scale == "log":
        low, high = padded(np.log(values[values > 0])) if (values > 0).any() else (-1, 0)
        return math.exp(low), math.exp(high)
    reach = 0.05 * np.ptp(values) or 0.05 * abs(values.max()) or 1.0
    return float(values.min() - reach), float(values.max() + reach)
