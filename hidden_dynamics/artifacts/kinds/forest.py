"""A forest plot of one question: the standardised differences of the comparisons that answer it, by verdict."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.sheet import legend_entry, page, style
from hidden_dynamics.claims.verdict import FAILS, HOLDS, UNDECIDED, UNLEARNED, word
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell, find
from hidden_dynamics.papers.deviations import listed
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hidden_dynamics.artifacts.sources import Sources

MOST = 30  # rows that are drawn
WITH_A_WAY = ("better", "faster")  # kinds of claims whose effect says on which side of 0 they are
EFFECTS = ("effect", "effect_low", "effect_high", "published_effect")
BETTER, WORSE = "better", "worse"
PAPERS = "as printed"
STYLES: dict[str, dict[str, Any]] = {  # Okabe and Ito's colours; told apart by shape, too
    HOLDS: {"color": "#0072B2", "marker": "o"},
    FAILS: {"color": "#D55E00", "marker": "X"},
    UNDECIDED: {"color": "0.35", "marker": "s"},
    UNLEARNED: {"color": "0.7", "marker": "v"},
    PAPERS: {"color": "0.15", "marker": "D", "mfc": "white"},
}
WIDTH, LINE, SIZE = 7.0, 0.185, 8.5  # inches: of the page, and from row to row; points: of text
TICKS = (0, 1, 3, 10, 30, 100, 300)
EXPLANATION = (
    "Difference of the two models’ means over seeds in pooled standard deviations (Hedges’ g), positive where the "
    "first is better, with the 95 % interval of the difference in the same deviations (linear to ±1, logarithmic "
    "beyond); of iterations, by their logarithms. "
    "The verdict is on the paper’s claim: that the first is better or, with *, the second. Its test is adjusted within "
    "a family, so that it can be undecided where the interval is without 0. Hollow: the printed numbers, in their "
    "own standard deviations. No learning shown: undecided, as the model ahead is not shown to beat the best naive one."
)
COUNTED = "comparisons that count (mirrored ones, validation metrics and models without momentum, μ = 0, do not)"
NOTHING = "No comparison on this question is judged at this scale, or none has an effect."


class Settings(ArtifactSettings):
    """
    Attributes:
        models, against: a comparison belongs to the question where one of its models is of `models`, the other of
            `against`.
        unless: {hyperparameter: value} with which a model is none of `models`: one with mu = 0 has no momentum.
        tables: the artifacts whose comparisons are drawn first, where there are too many.
    """

    models: Models
    against: Models
    unless: dict[str, float] = {}
    tables: list[str] = []


@dataclass(frozen=True)
class Comparison:
    """A judged comparison, seen from the question's model.

    Attributes:
        row: of claims.csv, as text by column.
        place: the task's, in the order of the configuration.
        about: "MNIST: test accuracy".
        names: "MomentumLSTM vs LSTM, N = 128", with * after the second where the paper has that one ahead.
        reverse: whether the paper has the second ahead.
        effects: by column of `EFFECTS`, positive where the question's model is better.
    """

    row: Row
    place: int
    about: str
    names: str
    reverse: bool
    effects: Mapping[str, float]

    @property
    def verdict(self) -> str:
        return UNLEARNED if self.row["reason"].startswith(UNLEARNED) else self.row["verdict"]

    @property
    def side(self) -> str:
        """Where the question's model is found to stand, better or worse; else why it is not."""
        if self.verdict not in (HOLDS, FAILS):
            return self.verdict
        return BETTER if (self.verdict == HOLDS) != self.reverse else WORSE


class Forest(Artifact):
    Settings = Settings

    def shown(self) -> list[Cell]:
        return []

    def inputs(self) -> dict[str, str]:
        return {"claims": self.configuration.paths.all_verdicts}

    def check(self, where: str) -> None:
        for model in (*self.settings.models, *self.settings.against):
            known(model, self.configuration.models, "model", where)
        for name in self.settings.tables:
            known(name, self.configuration.artifacts, "artifact", f"{where}.tables")

    def comparisons(self, claims: Sequence[Row]) -> list[Comparison]:
        """Those of the question that count (rows of claims.csv), as mirrored ones and validation metrics do not."""
        counted = [row for row in claims if row["counted"] == "true" and row["kind"] in WITH_A_WAY]
        return [self._compared(row, sides) for row in counted if (sides := self._sides(row))]

    def drawn(self, claims: Sequence[Row]) -> list[Comparison]:
        """Those with an effect, at most `MOST`: by task and measure, then by effect.

        Of more, those of the question's tables are kept first, then those with the largest effect either way.
        """
        own, first = [one for one in self.comparisons(claims) if one.effects], self.settings.tables
        kept = sorted(own, key=lambda one: (one.row["artifact"] not in first, -abs(one.effects["effect"])))[:MOST]
        return sorted(kept, key=lambda one: (one.place, one.about, -one.effects["effect"]))

    def _sides(self, row: Row) -> tuple[str, str] | None:
        """The column of the question's model, then that of the other one; None where it is not of the question."""
        for own, other in (("subject", "reference"), ("reference", "subject")):
            if _model(row[own]) in self.settings.models and _model(row[other]) in self.settings.against:
                run = find(self.configuration, row["task"], row[own], self.configuration.seeds[0])
                had, unless = run.spec["hyperparameters"], self.settings.unless.items()
                return None if any(had.get(name) == value for name, value in unless) else (own, other)
        return None

    def _compared(self, row: Row, sides: tuple[str, str]) -> Comparison:
        tasks, reverse = self.configuration.tasks, sides[0] == "reference"
        titles = list(dict.fromkeys(task.title for task in tasks.values()))
        metric = within_sentence(self.configuration.metrics[row["metric"]].title)
        measure = "iterations to a train loss" if row["kind"] == "faster" else metric
        title, way = tasks[row["task"]].title, -1 if reverse else 1
        columns = ("effect", "effect_high", "effect_low", "published_effect") if reverse else EFFECTS
        effects = {name: way * float(row[column]) for name, column in zip(EFFECTS, columns, strict=True) if row[column]}
        return Comparison(row, titles.index(title), f"{title}: {measure}", self._names(row, sides), reverse, effects)

    def _names(self, row: Row, sides: tuple[str, str]) -> str:
        sizes, names = [row[side].partition("-n")[2] for side in sides], []
        for side, size in zip(sides, sizes, strict=True):
            at = f" (N = {size})" if sizes[0] != sizes[1] else ""
            names.append(self.configuration.models[_model(row[side])].label + at)
        names[1] += "*" if sides[1] == "subject" else ""
        return " vs ".join(names) + (f", N = {sizes[0]}" if sizes[0] and sizes[0] == sizes[1] else "")


KIND = Forest


def draw(artifact: Forest, sources: "Sources") -> "Figure":
    """Without any comparison, a page that says so."""
    claims, rows = sources.claims, artifact.drawn(sources.claims)
    marks = [verdict for verdict in STYLES if any(row.verdict == verdict for row in rows)]
    marks += [PAPERS] if any("published_effect" in row.effects for row in rows) else []
    lines: list[str | Comparison] = []
    for about, group in itertools.groupby(rows, key=lambda row: row.about):
        lines += [about, *group]
    with style():
        figure, body = page(
            artifact.settings,
            subtitle=f"scale: {artifact.configuration.scale_name}",
            width=WIDTH,
            height=LINE * len(lines) + 0.85 if rows else 1.0,
            notes=notes_of(artifact, claims, rows),
            handles=[legend_entry(_said(mark, rows), **STYLES[mark], ls="none", ms=6) for mark in marks],
        )
        if not rows:
            body.text(0.5, 0.5, NOTHING, ha="center", va="center", color="0.4", gid="nothing")
            return figure
        labels, ax = body.subplots(1, 2, sharey=True, width_ratios=[1, 1.3])
        labels.axis("off")
        labels.set_xlim(0, 1)
        for y, line in enumerate(lines):
            if isinstance(line, Comparison):
                draw_row(labels, ax, y, line)
            else:
                labels.text(0, y, line, va="center", weight="bold", fontsize=SIZE, gid="heading")
        describe(ax, [number for row in rows for number in row.effects.values()], len(lines))
    return figure


def draw_row(labels: "Axes", ax: "Axes", y: int, row: Comparison) -> None:
    look, effects, name = STYLES[row.verdict], row.effects, row.row["id"]
    colour = "0.55" if row.verdict == UNLEARNED else "black"
    labels.text(0.03, y, row.names, va="center", fontsize=SIZE, color=colour, gid=f"label {name}")
    ends = [effects["effect_low"], effects["effect_high"]]
    ax.plot(ends, [y, y], color=look["color"], lw=1.4, gid=f"interval {name}")
    ax.plot([effects["effect"]], [y], **look, ms=6, mew=0, ls="none", zorder=4, gid=f"{row.verdict} {name}")
    if "published_effect" in effects:
        theirs = {"ms": 5, "mew": 0.9, "ls": "none", "zorder": 3, "gid": f"published {name}"}
        ax.plot([effects["published_effect"]], [y], **STYLES[PAPERS], **theirs)


def describe(ax: "Axes", effects: Sequence[float], lines: int) -> None:
    """Zero, and a scale that is linear to 1 either way and logarithmic beyond."""
    left, right = min(-1.5, 1.3 * min(effects)), max(1.5, 1.3 * max(effects))
    ax.set_xscale("symlog", linthresh=1, linscale=1)
    ax.set_xlim(left, right)
    ax.set_ylim(lines - 0.4, -1.4)
    ticks = sorted({sign * tick for tick in TICKS for sign in (-1, 1) if left <= sign * tick <= right})
    ax.set_xticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    ax.minorticks_off()
    ax.axvline(0, color="black", lw=0.8, zorder=1, gid="zero")
    for text, side in (("← worse  ", "right"), ("  better →", "left")):
        ax.text(0, -0.9, text, ha=side, va="center", fontsize=SIZE, color="0.3")
    ax.grid(axis="x", color="0.9", lw=0.6, zorder=0)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", left=False, labelleft=False)
    ax.set_xlabel("standardised difference g", fontsize=SIZE)


def notes_of(artifact: Forest, claims: Sequence[Row], rows: Sequence[Comparison]) -> list[str]:
    """The caption, by paragraph."""
    scale, judged = scale_notes(artifact.configuration), artifact.comparisons(claims)
    if not rows:
        return scale
    left = len(judged) - len(rows)
    shown = f"{len(rows)} of {len(judged)} {COUNTED}: those with an effect, of the main tables first, then the largest."
    which = f"{shown} Not drawn, but among all claims: {left}." if left else f"All {len(judged)} {COUNTED}."
    return [" ".join([*scale, deviating(judged)]), EXPLANATION, which]


def _said(mark: str, rows: Sequence[Comparison]) -> str:
    """A mark in the legend: of a verdict, in the words that its claims have."""
    words = " or ".join(dict.fromkeys(word(row.row) for row in rows if row.verdict == mark))
    return f"claim {words}" if mark in (HOLDS, FAILS) else words if mark == UNDECIDED else mark


def _model(sized_model: str) -> str:
    """The model of "momentum_lstm-n128"."""
    return sized_model.partition("-")[0]


def deviating(comparisons: Sequence[Comparison]) -> str:
    """A sentence: in how many something deviates from the paper's setup, and with which data."""
    own = [one.row for one in comparisons if one.row["deviations"]]
    if not own:
        return "Nothing deviates from the setup of the paper or of its released code."
    data = dict.fromkeys(part for row in own for part in row["data"].split("; ") if " in place of " in part)
    there = f", with {listed(list(data))}" if data else ""
    return f"{len(own)} of {len(comparisons)} deviate from the paper’s setup{there}."
