"""Lines of what runs answered: a model's mean over its runs with a band, and what a caption says of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from hidden_dynamics.artifacts.figure_notes import band_text, legend_label
from hidden_dynamics.artifacts.sheet import Styles
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.statistics import FEWEST, mean_band


@dataclass(frozen=True)
class Answered:
    """A run that finished (its row of the summary), and what it answered."""

    run: Row
    answer: Any


@dataclass(frozen=True)
class Answers:
    """
    Attributes:
        runs: all rows of the summary.
        answered: the finished runs that answered something.
    """

    runs: Sequence[Row]
    answered: Sequence[Answered]

    @property
    def models(self) -> dict[str, str]:
        """The label of each model, in the order of the runs."""
        return {run["model"]: run["label"] for run in self.runs}

    def of(self, model: str) -> list[Answered]:
        return [one for one in self.answered if one.run["model"] == model]


def answers_of(sources: Sources, read: Callable[[RunFiles], Any]) -> list[Answered]:
    """What the finished runs answered; without those for which `read` gives None.

    Raises:
        UserError: a file is missing or damaged.
    """
    finished = [run for run in sources.summary if run["status"] == "finished"]
    found = [Answered(run, read(RunFiles(sources.root / run["directory"]))) for run in finished]
    return [one for one in found if one.answer is not None]


def draw_means(
    ax: Axes, x: np.ndarray, values: np.ndarray, share: float, model: str, style: Mapping[str, Any]
) -> float:
    """A model's values (runs, points), nan where there is none, and their band (`resampled` of `mean_band`: share).

    Returns:
        the height that the axis should have: of lines and band, but of a band no more than twice the lines'.
    """
    mean, low, high = mean_band(values, resampled=share)
    if len(values) >= FEWEST:
        ax.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0, gid=f"band {model}")
    elif len(values) > 1:
        for own in values:
            ax.plot(x, own, color=style["color"], alpha=0.45, linewidth=0.7, gid=f"seed {model}")
    ax.plot(x, mean, **style, marker="o", ms=3.5, gid=f"curve {model}")
    top = _highest(values if len(values) < FEWEST else mean)
    return min(max(top, _highest(high)), 2 * top)


def lines_note(configuration: Configuration, answers: Answers) -> str:
    """What lines and bands are, which depends on how many runs of a model answered."""
    numbers = sorted({len(answers.of(model)) for model in answers.models} - {0})
    band = f"{band_text(configuration, answers.runs)}, cut where it leaves the axis"
    if len(numbers) == 1:
        one = {1: "Lines: 1 seed", 2: "Thick lines: mean of 2 seeds; thin: each of them"}
        return f"{one.get(numbers[0], f'Lines: mean of {numbers[0]} seeds; band: {band}')}."
    parts = [f"Lines: mean of a model’s {numbers[0]} to {numbers[-1]} seeds"]
    parts += ["thin, of a model with 2: each of them"] if 2 in numbers else []
    parts += [f"band, of a model with {FEWEST} or more: {band}"] if numbers[-1] >= FEWEST else []
    return f"{'; '.join(parts)}."


def legend_handles(answers: Answers, styles: Styles) -> list[Line2D]:
    """One entry per model, with its diverged runs."""
    return [
        Line2D([], [], **style, label=legend_label([run for run in answers.runs if run["model"] == model]))
        for model, style in styles.items()
    ]


def missing_note(answers: Answers) -> str:
    """The finished runs that predicted nothing; empty without any."""
    answered = {one.run["directory"] for one in answers.answered}
    runs = [run for run in answers.runs if run["status"] == "finished" and run["directory"] not in answered]
    texts = [f"{run['label']}, seed {run['seed']}" for run in runs]
    return f"Without predictions: {'; '.join(texts)}." if texts else ""


def _highest(values: np.ndarray) -> float:
    """The greatest number; 0 where all are nan."""
    return float(np.max(values[~np.isnan(values)], initial=0.0))
