"""A forest plot of one question: the differences of the comparisons that answer it, by verdict."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from hidden_dynamics.artifacts import questions
from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.questions import WITH_A_WAY, Comparison, Difference, compared, model_of
from hidden_dynamics.artifacts.sheet import legend_entry, page, style
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.verdict import FAILS, HOLDS, UNDECIDED, UNLEARNED, word
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Case, find
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.papers.deviations import listed
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 24  # rows that are drawn
PAPERS = "as printed"
STYLES: dict[str, dict[str, Any]] = {  # Okabe and Ito's colours; told apart by shape, too
    HOLDS: {"color": "#0072B2", "marker": "o"},
    FAILS: {"color": "#D55E00", "marker": "X"},
    UNDECIDED: {"color": "0.35", "marker": "s"},
    UNLEARNED: {"color": "0.7", "marker": "v"},
    PAPERS: {"color": "0.15", "marker": "D", "mfc": "white"},
}
BARS = {"95 % interval": 3.2, "family-wise 95 %": 1.0}  # points: how wide they are drawn
BELOW = 0.3  # of a line: where a printed difference stands under ours
WIDTH, LINE, SIZE = 7.0, 0.2, 8.5  # inches: of the page, and from row to row; points: of text
TICKS = (0, 1, 3, 10, 30, 100, 300)
ONE_SPLIT = "All intervals are over seeds on one split of the {0}; which {0} are tested is not in them."
NOTHING = "No picture is drawn: no comparison on this question is judged at this scale, or none has an effect."


class Settings(ArtifactSettings):
    """
    Attributes:
        models, against: a comparison belongs to the question where one of its models is of `models`, the other of
            `against`.
        unless: {hyperparameter: value} with which a model is none of `models`: one with mu = 0 has no momentum.
        tables: the artifacts whose comparisons are drawn first, where there are too many.
        tested: what the test sets are of, in the plural.
        without: {model: the same without what is asked for}; what the page says first is of these.
    """

    models: Models
    against: Models
    unless: dict[str, float] = {}
    tables: list[str] = []
    tested: str = "samples"
    without: dict[str, str] = {}


class Forest(Artifact):
    Settings = Settings

    def shown(self) -> list[Case]:
        return []

    def inputs(self) -> dict[str, str]:
        return {"claims": self.configuration.paths.all_verdicts}

    def files(self) -> list[str]:
        """The notes alone: not before it is drawn is known whether there is a picture, which stands beside them."""
        return [self.configuration.paths.figure(self.name, "md")]

    def check(self, where: str) -> None:
        for model in (*self.settings.models, *self.settings.against, *chain(*self.settings.without.items())):
            known(model, self.configuration.models, "model", where)
        for name in self.settings.tables:
            known(name, self.configuration.artifacts, "artifact", f"{where}.tables")

    def comparisons(self, claims: Sequence[Row]) -> list[Comparison]:
        """Those of the question that count (rows of claims.csv), as mirrored ones and validation metrics do not."""
        counted = [row for row in claims if row["counted"] == "true" and row["kind"] in WITH_A_WAY]
        return [compared(self.configuration, row, sides) for row in counted if (sides := self._sides(row))]

    def drawn(self, claims: Sequence[Row]) -> list[Comparison]:
        """Those with an effect, at most `MOST`: by task and measure, then by effect.

        Of more, those where the baseline is beaten are kept first, then those of the question's tables, then those with
        the largest effect either way.
        """
        own, first = [one for one in self.comparisons(claims) if one.effects], self.settings.tables

        def rank(one: Comparison) -> tuple[bool, bool, float]:
            return one.verdict == UNLEARNED, one.row["artifact"] not in first, -abs(one.effects["effect"])

        return sorted(sorted(own, key=rank)[:MOST], key=lambda one: (one.place, one.about, -one.effects["effect"]))

    def _sides(self, row: Row) -> tuple[str, str] | None:
        """The column of the question's model, then that of the other one; None where it is not of the question."""
        for own, other in (("subject", "reference"), ("reference", "subject")):
            if model_of(row[own]) in self.settings.models and model_of(row[other]) in self.settings.against:
                run = find(self.configuration, row["task"], row[own], self.configuration.seeds[0])
                had, unless = run.spec["hyperparameters"], self.settings.unless.items()
                return None if any(had.get(name) == value for name, value in unless) else (own, other)
        return None


def draw(artifact: Forest, sources: Sources) -> "Figure":
    """Without any comparison, a page without a picture that says so."""
    rows = artifact.drawn(sources.claims)
    metric, lines = common_metric(artifact, rows), questions.headed(rows)
    differences = [questions.in_unit_of(metric, row) if metric else questions.in_deviations(row) for row in rows]
    marks = [verdict for verdict in STYLES if any(row.verdict == verdict for row in rows)]
    marks += [PAPERS] if any(one.printed is not None for one in differences) else []
    with style():
        figure, body = page(
            artifact.settings,
            subtitle=f"scale: {artifact.configuration.scale_name}",
            width=WIDTH,
            height=LINE * len(lines) + 0.85,
            notes=notes_of(artifact, sources.claims, rows),
            handles=[
                *(legend_entry(_said(mark, rows), **STYLES[mark], ls="none", ms=6) for mark in marks),
                *(legend_entry(name, color="0.35", lw=width) for name, width in BARS.items()),
            ],
            instead="" if rows else NOTHING,
        )
        if not rows:
            return figure
        labels, ax = body.subplots(1, 2, sharey=True, width_ratios=[1, 20])
        labels.axis("off")
        labels.set_xlim(0, 1)
        labels.set_zorder(ax.get_zorder() + 1)  # headings reach into the plot
        shown = iter(differences)
        for y, (text, row) in enumerate(lines):
            if row:
                colour = "0.55" if row.verdict == UNLEARNED else "black"
                labels.text(0, y, f"  {text}", va="center", fontsize=SIZE, color=colour, gid=f"label {row.row['id']}")
                draw_row(ax, y, row, next(shown))
            else:
                heading = labels.text(0, y, text, va="center", weight="bold", fontsize=SIZE, gid="heading")
                heading.set_in_layout(False)
                heading.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 1})
        describe(ax, [number for one in differences for number in one.numbers], len(lines), metric)
    return figure


def common_metric(artifact: Forest, rows: Sequence[Comparison]) -> Metric | None:
    """The metric whose means all rows compare; None where there are several."""
    metrics = {(row.row["kind"], row.row["metric"]) for row in rows}
    if len(metrics) != 1 or rows[0].row["kind"] != "better":
        return None
    return artifact.configuration.metrics[rows[0].row["metric"]]


def draw_row(ax: "Axes", y: int, row: Comparison, one: Difference) -> None:
    look, name = STYLES[row.verdict], row.row["id"]
    bars = {"interval": one.interval, "adjusted": one.adjusted}
    for (what, ends), width in zip(bars.items(), BARS.values(), strict=True):
        ax.plot(ends, [y, y], color=look["color"], lw=width, solid_capstyle="butt", gid=f"{what} {name}")
    mark = {"ms": 6.5, "mew": 0, "ls": "none", "zorder": 4}
    ax.plot([one.value], [y], **look, **mark, gid=f"{row.verdict} {name}")
    if one.printed is not None:
        theirs = {"ms": 4.5, "mew": 0.9, "ls": "none", "zorder": 3, "gid": f"published {name}"}
        ax.plot([one.printed], [y + BELOW], **STYLES[PAPERS], **theirs)


def describe(ax: "Axes", numbers: Sequence[float], lines: int, metric: Metric | None) -> None:
    """Zero, and a linear scale in a metric's unit; else one in deviations, linear to 1 either way, logarithmic beyond.

    Args:
        numbers: that have to be seen.
    """
    if metric:
        reach = 0.05 * (max(0, *numbers) - min(0, *numbers))
        ax.set_xlim(min(0, *numbers) - reach, max(0, *numbers) + reach)
        unit = "" if metric.unit == "one" else f", {metric.unit}"
        sign = "" if metric.sign > 0 else " (sign reversed)"
        ax.set_xlabel(f"difference in {within_sentence(metric.title)}{sign}{unit}", fontsize=SIZE)
    else:
        left, right = min(-1.5, 1.3 * min(numbers)), max(1.5, 1.3 * max(numbers))
        ax.set_xscale("symlog", linthresh=1, linscale=1)
        ax.set_xlim(left, right)
        ticks = sorted({sign * tick for tick in TICKS for sign in (-1, 1) if left <= sign * tick <= right})
        ax.set_xticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
        ax.minorticks_off()
        ax.set_xlabel("standardised difference g (logarithmic beyond ±1)", fontsize=SIZE)
    ax.set_ylim(lines - 0.4, -1.4)
    ax.axvline(0, color="black", lw=0.8, zorder=1, gid="zero")
    for text, side in (("← worse  ", "right"), ("  better →", "left")):
        ax.text(0, -0.9, text, ha=side, va="center", fontsize=SIZE, color="0.3")
    ax.grid(axis="x", color="0.9", lw=0.6, zorder=0)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", left=False, labelleft=False)


def notes_of(artifact: Forest, claims: Sequence[Row], rows: Sequence[Comparison]) -> list[str]:
    """The caption, by paragraph."""
    judged = artifact.comparisons(claims)
    scale = scale_notes(artifact.configuration, {one.row["task"] for one in judged})
    if not rows:
        return scale
    drawn = f"{len(rows)} of {len(judged)} comparisons that count are drawn."
    one_split = all(row.row["test_error"] for row in rows)
    split = ONE_SPLIT.format(artifact.settings.tested) if one_split else ""
    return [" ".join([*scale, deviating(judged)]), split, drawn]


def _said(mark: str, rows: Sequence[Comparison]) -> str:
    """A mark in the legend: of a verdict, in the words that its claims have."""
    words = " or ".join(dict.fromkeys(word(row.row) for row in rows if row.verdict == mark))
    return f"claim {words}" if mark in (HOLDS, FAILS) else words if mark == UNDECIDED else mark


def deviating(comparisons: Sequence[Comparison]) -> str:
    """A sentence: in how many something deviates from the paper's setup, and with which data."""
    own = [one.row for one in comparisons if one.row["deviations"]]
    if not own:
        return "Nothing deviates from the setup of the paper or of its released code."
    data = dict.fromkeys(part for row in own for part in row["data"].split("; ") if " in place of " in part)
    there = f", with {listed(list(data))}" if data else ""
    return f"{len(own)} of {len(comparisons)} deviate from the paper’s setup{there}."
