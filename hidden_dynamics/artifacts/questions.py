"""Judged comparisons seen from the model that a question is about, and their differences as they are drawn."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hidden_dynamics.claims.verdict import FAILS, HOLDS, UNLEARNED
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.deviations import first_part
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.rows import Row

WITH_A_WAY = ("better", "faster")  # kinds of claims whose effect says on which side of 0 they are
EFFECTS = ("effect", "effect_low", "effect_high", "published_effect")
ENDS = ("low", "high", "low_adjusted", "high_adjusted")
BETTER, WORSE = "better", "worse"


@dataclass(frozen=True)
class Comparison:
    """A judged comparison, seen from the question's model.

    Attributes:
        row: of claims.csv, as text by column.
        place: the task's, in the order of the configuration.
        about: "MNIST: test accuracy"; the data as run.
        models: ("MomentumLSTM", "LSTM"), with * after the second where the paper has that one ahead; with their sizes
            where these differ.
        size: "N = 128" of both; else "".
        reverse: whether the paper has the second ahead.
        effects: by column of `EFFECTS`, positive where the question's model is better.
    """

    row: Row
    place: int
    about: str
    models: tuple[str, str]
    size: str
    reverse: bool
    effects: Mapping[str, float]

    @property
    def own(self) -> str:
        """The question's model; `other` is the one that it is compared with."""
        return model_of(self.row["reference" if self.reverse else "subject"])

    @property
    def other(self) -> str:
        return model_of(self.row["subject" if self.reverse else "reference"])

    @property
    def names(self) -> str:
        """MomentumLSTM vs LSTM, N = 128"""
        return ", ".join(filter(None, (" vs ".join(self.models), self.size)))

    @property
    def verdict(self) -> str:
        return UNLEARNED if self.row["reason"].startswith(UNLEARNED) else self.row["verdict"]

    @property
    def side(self) -> str:
        """Where the question's model is found to stand, better or worse; else why it is not."""
        if self.verdict not in (HOLDS, FAILS):
            return self.verdict
        return BETTER if (self.verdict == HOLDS) != self.reverse else WORSE


def compared(configuration: Configuration, row: Row, sides: tuple[str, str]) -> Comparison:
    """
    Args:
        row: of claims.csv.
        sides: its column of the question's model, then that of the other one.
    """
    reverse, tasks = sides[0] == "reference", configuration.tasks
    titles = list(dict.fromkeys(task.title for task in tasks.values()))
    metric = within_sentence(configuration.metrics[row["metric"]].title)
    measure = "iterations to a train loss" if row["kind"] == "faster" else metric
    title, way = tasks[row["task"]].title, -1 if reverse else 1
    part = first_part(configuration, row["task"])
    begun = f", {part}" if part and row["deviations"] == part else ""  # nothing else says it
    about = f"{configuration.title_as_run(row['task'])}{begun}: {measure}"
    columns = ("effect", "effect_high", "effect_low", "published_effect") if reverse else EFFECTS
    effects = {name: way * float(row[column]) for name, column in zip(EFFECTS, columns, strict=True) if row[column]}
    sizes = [row[side].partition("-n")[2] for side in sides]
    own, other = (
        configuration.models[model_of(row[side])].label + (f" (N = {size})" if sizes[0] != sizes[1] else "")
        for side, size in zip(sides, sizes, strict=True)
    )
    models = own, other + "*" * reverse
    size = f"N = {sizes[0]}" if sizes[0] and sizes[0] == sizes[1] else ""
    return Comparison(row, titles.index(title), about, models, size, reverse, effects)


def model_of(sized_model: str) -> str:
    """The model of "momentum_lstm-n128"."""
    return sized_model.partition("-")[0]


def headed(rows: Sequence[Comparison]) -> list[tuple[str, Comparison | None]]:
    """The lines of a plot, from top to bottom: headings, without a comparison, and the names of comparisons.

    What all comparisons under a heading share stands in it: their first model, their size.
    """
    lines: list[tuple[str, Comparison | None]] = []
    for about, group in itertools.groupby(rows, key=lambda row: row.about):
        own = list(group)
        first, size = ({part(one) for one in own} for part in (lambda one: one.models[0], lambda one: one.size))
        model = f" of {own[0].models[0]}" if len(first) == 1 < len(own) else ""
        at = f", {own[0].size}" if len(size) == 1 < len(own) and own[0].size else ""
        lines.append((about + model + at, None))
        for one in own:
            name = f"vs {one.models[1]}" if model else " vs ".join(one.models)
            lines.append((name if at or not one.size else f"{name}, {one.size}", one))
    return lines


@dataclass(frozen=True)
class Difference:
    """A difference as it is drawn, positive where the question's model is better.

    Attributes:
        interval: of 95 %.
        adjusted: the same, adjusted for the tests of its family.
        printed: the paper's difference; None where it prints none.
    """

    value: float
    interval: tuple[float, float]
    adjusted: tuple[float, float]
    printed: float | None

    @property
    def numbers(self) -> list[float]:
        """All that is drawn."""
        return [*self.interval, *self.adjusted, *([] if self.printed is None else [self.printed])]


def in_unit_of(metric: Metric, one: Comparison) -> Difference:
    """In the unit of the metric that is compared."""
    way = metric.sign * (-1 if one.reverse else 1)
    value, *ends = (way * float(one.row[name]) for name in ("estimate", *ENDS))
    low, high, *adjusted = sorted(ends[:2]) + sorted(ends[2:])
    printed = one.row["published_difference"]
    return Difference(value, (low, high), (adjusted[0], adjusted[1]), way * float(printed) if printed else None)


def in_deviations(one: Comparison) -> Difference:
    """In pooled standard deviations; the adjusted interval is wider in them by as much as in the unit."""
    read = math.log if one.row["kind"] == "faster" else float
    low, high, *adjusted = (read(float(one.row[name])) for name in ENDS)
    value, *interval = (one.effects[name] for name in EFFECTS[:3])
    half = (adjusted[1] - adjusted[0]) / (high - low) * (interval[1] - interval[0]) / 2
    printed = one.effects.get("published_effect")
    return Difference(value, (interval[0], interval[1]), (value - half, value + half), printed)
