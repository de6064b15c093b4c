"""A forest plot: by how much models are ahead of others, task by task, with intervals; what it compares is listed by
hand, and decides nothing."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.artifacts.notes import figure_notes, subtitle_of
from hidden_dynamics.artifacts.tables import decimals_of, interval_text, signed
from hidden_dynamics.claims.comparison import Comparison, compare
from hidden_dynamics.claims.words import named
from hidden_dynamics.configuration import Case, Entry
from hidden_dynamics.configuration.schema import Metric, Size
from hidden_dynamics.papers.deviations import original_of
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.evidence import Evidence

LINE = 0.21  # inches from line to line
WIDTH = 9.0  # inches
LETTER = 5.2  # typographical points: the mean width of one
# By whether the side that is ahead is not shown to have learned; Okabe and Ito's blue.
LOOKS: dict[bool, sheet.Look] = {False: {"color": "#0072B2", "marker": "o"}, True: {"color": "0.65", "marker": "v"}}
UNLEARNED = "the model that is ahead is not shown to have learned"
UNITS = {"one": "", "percent": " (points)"}
NOTHING = "No picture is drawn: at this scale no two models that it compares both have a value."
NOTE = (
    "Right of 0 the first model is better. Exploratory: the intervals (95 %, over seeds or splits) are not adjusted "
    "for their number, and nothing is decided. A model with momentum that ran with μ = 0 is not compared."
)


class Row(Entry):
    """Comparisons on a task.

    Attributes:
        measure: what the metric is there, where that is not its title; each measure has a panel.
        models: {model: those that it is compared with}.
    """

    task: str
    metric: str
    size: Size | None = None
    measure: str | None = None
    models: Annotated[dict[str, Models], Field(min_length=1)]


class Settings(ArtifactSettings):
    rows: Annotated[list[Row], Field(min_length=1)]


class Forest(Artifact):
    settings: Settings
    summarised = True
    with_extras = False

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        return ((*pair, row.metric) for row in self.settings.rows for pair in pairs_of(row))

    def shown(self) -> list[Case]:
        return list(dict.fromkeys(case for one, other, _ in self.pairs() for case in (one, other)))


def pairs_of(row: Row) -> list[tuple[Case, Case]]:
    """(case, the one that it is compared with)."""
    sides = [(model, other) for model, others in row.models.items() for other in others]
    return [(Case(row.task, model, row.size), Case(row.task, other, row.size)) for model, other in sides]


def draw(artifact: Forest, evidence: Evidence) -> "sheet.Page":
    """A panel for each measure, a heading for each task, its comparisons by lead."""
    configuration, panels = artifact.configuration, panels_of(artifact, evidence)
    drawn = [comparison for comparisons in panels.values() for comparison in comparisons]
    shown = {case for comparison in drawn for case in (comparison.one, comparison.other)}
    runs = [run for run in evidence.runs if run.case in shown]
    unlearned = any(comparison.unlearned for comparison in drawn)
    lines = {measure: lines_of(evidence, comparisons) for measure, comparisons in panels.items()}
    figure, body = sheet.page(
        artifact.settings,
        subtitle_of(configuration, runs),
        width=WIDTH,
        height=sum(LINE * len(texts) + 0.6 for texts in lines.values()),
        notes=figure_notes(artifact, runs, NOTE),
        handles=[sheet.legend_entry(UNLEARNED, ls="none", **LOOKS[True])] if unlearned else [],
        instead="" if drawn else NOTHING,
        data=[data_of(comparison) for comparison in drawn],
    )
    if drawn:
        heights = [len(texts) + 0.2 for texts in lines.values()]
        room = LETTER * max(len(label) for texts in lines.values() for label, comparison in texts if comparison)
        axes = body.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, (measure, texts) in zip(axes, lines.items(), strict=True):
            draw_panel(ax, texts, measure, configuration.metrics[panels[measure][0].metric], room)
    return figure


# By measure, its lines from the top: a heading, or a label with its comparison.
Lines = Sequence[tuple[str, Comparison | None]]


def panels_of(artifact: Forest, evidence: Evidence) -> dict[str, list[Comparison]]:
    """By measure, the comparisons of which both sides have a value: tasks as listed, the largest lead of each first."""
    tasks, panels = artifact.tasks(), {}
    for row in artifact.settings.rows:
        measure = row.measure or artifact.configuration.metrics[row.metric].title
        for one, other in pairs_of(row):
            comparison = compare(evidence, one, other, row.metric)
            if all(comparison.n) and not any(run.has_no_momentum for run in evidence.of(one)):
                panels.setdefault(measure, []).append(comparison)
    for leads in panels.values():
        leads.sort(key=lambda each: (tasks.index(each.one.task), -each.difference))
    return panels


def lines_of(evidence: Evidence, comparisons: Sequence[Comparison]) -> Lines:
    """Under the task's title, with data other than the paper's and N, which models are compared."""
    lines: list[tuple[str, Comparison | None]] = []
    for task in dict.fromkeys(comparison.one.task for comparison in comparisons):
        on_task = [comparison for comparison in comparisons if comparison.one.task == task]
        sides = [[evidence.of(case)[0] for case in (each.one, each.other)] for each in on_task]
        (first, _), sizes = sides[0], {one.size for one, _ in sides if one.size}
        data = first.dataset_title if original_of(evidence.configuration, first) else ""
        size = f"N = {first.size}" if len(sizes) == 1 else ""
        lines.append((", ".join(filter(None, (f"{first.task_title}{data and f' ({data})'}", size))), None))
        for (one, other), comparison in zip(sides, on_task, strict=True):
            size = f", N = {one.size}" if len(sizes) > 1 else ""
            lines.append((f"{one.label} over {named(other.label, other.hyperparameters)}{size}", comparison))
    return lines


def data_of(comparison: Comparison) -> dict[str, object]:
    """The row for programs."""
    one, other, numbers = comparison.one, comparison.other, ("low", "high", "p", "test")
    return {
        **{"task": one.task, "metric": comparison.metric, "size": one.size, "model": one.model, "other": other.model},
        **{"lead": comparison.difference} | {name: getattr(comparison, name) for name in numbers},
        **{"n": comparison.n[0], "other_n": comparison.n[1]},
        **{"unlearned": comparison.unlearned, "failed": comparison.failed},
    }


def draw_panel(ax: "sheet.Axes", lines: Lines, measure: str, metric: Metric, room: float) -> None:
    """Points with intervals right and left of 0, the same in words on the right, and labels on the left, which have
    `room` typographical points."""
    ax.set_yticks(range(len(lines)), [label for label, _ in lines], ha="left")
    ax.tick_params(axis="y", length=0, pad=room)
    for y, (label, (_, comparison)) in enumerate(zip(ax.get_yticklabels(), lines, strict=True)):
        if comparison is None:
            label.set(weight="bold", bbox={"facecolor": "white", "linewidth": 0, "pad": 1}, in_layout=False)
            continue
        look, name = LOOKS[comparison.unlearned], f"{comparison.one.model} {comparison.other.model}"
        ax.plot([comparison.low, comparison.high], [y, y], color=look["color"], lw=1.8, gid=f"interval {name}")
        ax.plot([comparison.difference], [y], **look, ms=6, gid=f"lead {name}")
        ink = "0.5" if comparison.unlearned else "black"
        ax.text(1.02, y, text_of(comparison, metric), transform=ax.get_yaxis_transform(), va="center", color=ink)
    ax.axvline(0, color="black", lw=0.8, zorder=1)
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(f"lead in {within_sentence(measure)}{UNITS.get(metric.unit, f' ({metric.unit})')}")
    ax.grid(axis="x", color="0.9", lw=0.6, zorder=0)
    ax.spines["left"].set_visible(False)


def text_of(comparison: Comparison, metric: Metric) -> str:
    """The lead with its interval, "+2.0 (−1.4 to +5.3)": with two digits of the interval's width."""
    decimals = max(metric.decimals, decimals_of(comparison.high - comparison.low))
    numbers = signed(comparison.difference, decimals), interval_text(comparison.low, comparison.high, decimals)
    failed = f"{comparison.failed} failed" if comparison.failed else ""
    return " ".join(filter(None, (*numbers, failed)))
