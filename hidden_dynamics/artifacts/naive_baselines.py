"""Naive baselines in figures: dashed lines at what answers that need no network score on the test sets of runs."""

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from hidden_dynamics.artifacts.tables import number

DASHES = ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 1)))
IN_SIGHT = 1.3  # a line that is higher than this many times what else is drawn does not stretch the axis


def styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The style of each baseline's line."""
    looks = {"color": "0.35", "linewidth": 1}
    return {name: looks | {"linestyle": DASHES[place % len(DASHES)]} for place, name in enumerate(dict.fromkeys(names))}


def draw(ax: Axes, scores: Mapping[str, float], names: Iterable[str] = ()) -> None:
    """A dashed line at each score.

    Args:
        names: of all lines of the figure, where it has others.
    """
    looks = styles([*names, *scores])
    for name, score in scores.items():
        ax.axhline(score, **looks[name], zorder=5, gid=f"naive {name}")


def handles(names: Iterable[str]) -> list[Line2D]:
    """The legend's entries."""
    return [Line2D([], [], **style, label=f"naive: {name}") for name, style in styles(names).items()]


def in_sight(scores: Mapping[str, float], highest: float) -> list[float]:
    """The scores that an axis should hold whose other lines end at `highest`."""
    return [score for score in scores.values() if score <= IN_SIGHT * highest]


def note(scores: Mapping[str, float], decimals: int) -> str:
    """For a caption; empty without scores."""
    texts = "; ".join(f"{name} {number(score, decimals)}" for name, score in scores.items())
    return f"Dashed: naive baselines over the whole test set, means over seeds ({texts})." if texts else ""
