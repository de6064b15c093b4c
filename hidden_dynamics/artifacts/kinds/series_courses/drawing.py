"""One test series over time: what was observed, and the mean and band of samples of each model; in no paper."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import data_of, made_note, scale_note, sizes_of, subtitle_of, weights_note
from hidden_dynamics.artifacts.kinds.series_courses import SeriesCourses
from hidden_dynamics.artifacts.notes import divergence_notes
from hidden_dynamics.artifacts.sheet import STYLE, Styles, line_styles, page, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.courses import Courses
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles

TITLE = 130  # characters in a line above the panels
MARGIN = 0.012  # of the time, left and right: marks at its ends are whole
MARKS = {
    "given": {"marker": "o", "ms": 3, "color": "0.15", "mew": 0},
    "withheld": {"marker": "o", "ms": 3.6, "color": "0.35", "mfc": "white", "mew": 0.8},
}
LABELS = {"given": "observed, given", "withheld": "observed, withheld"}
SHADE = {"color": "0.93", "linewidth": 0}


@dataclass(frozen=True)
class Course:
    """A model's run on a task with the first seed (its row of the summary), and its answer; None where it has none."""

    run: Row
    answer: Courses | None

    def place(self, name: int) -> int | None:
        """The place of a series among those of the answer."""
        return self.answer.series.index(name) if self.answer and name in self.answer.series else None


def draw(artifact: SeriesCourses, sources: Sources) -> Figure:
    """A column per task, a row per feature; all models in each panel.

    Raises:
        UserError: a file is missing or damaged, has other features than its dataset's entry, or the runs have no series
            in common.
    """
    configuration, settings = artifact.configuration, artifact.settings
    courses = {task: [read_course(sources, task, model) for model in settings.models] for task in settings.tasks}
    runs = [course.run for column in courses.values() for course in column]
    numbers = feature_numbers(artifact, sources, courses)
    series, styles = series_of(artifact, sources, courses, numbers), line_styles(configuration, runs)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            settings,
            subtitle=subtitle_of(configuration, runs),
            width=9.6,
            height=0.7 + 1.5 * len(numbers),
            handles=legend_handles(courses, styles),
            notes=notes_of(configuration, courses, settings.features),
        )
        body.suptitle("\n".join(heading_of(configuration, runs, series)), fontsize=STYLE["axes.titlesize"])
        axes = body.subplots(len(numbers), len(courses), sharex=True, sharey="row", squeeze=False)
        for panels, feature in zip(axes, settings.features, strict=True):
            panels[0].set_ylabel(feature)
            for ax, column in zip(panels, courses.values(), strict=True):
                draw_panel(ax, column, styles, series, numbers[feature])
            limit_heights(panels[0], courses, series, numbers[feature])
        for ax, column in zip(axes[0], courses.values(), strict=True):
            ax.set_title(column[0].run["task_title"])
        for ax in axes[-1]:
            ax.set_xlabel("Hours after admission")
        axes[0, 0].xaxis.set_major_locator(MultipleLocator(12))
        body.align_ylabels(axes[:, 0])
    return figure


def read_course(sources: Sources, task: str, model: str) -> Course:
    """A model's run on a task with the first seed.

    Raises:
        UserError: there is no such run, or its file is missing or damaged.
    """
    run = next((run for run in sources.summary if (run["task"], run["model"]) == (task, model)), None)
    if run is None:
        raise sources.wrong("summary", f"it has no run of {model} on {task}")
    finished = run["status"] == "finished"
    return Course(run, RunFiles(sources.root / run["directory"]).courses() if finished else None)


def feature_numbers(
    artifact: SeriesCourses, sources: Sources, courses: Mapping[str, Sequence[Course]]
) -> dict[str, int]:
    """The number of each feature shown, by the entry of the dataset.

    Raises:
        UserError: a run predicts another number of features.
    """
    column = next(iter(courses.values()))
    names = artifact.configuration.datasets[column[0].run["dataset"]].features
    for course in (course for column in courses.values() for course in column if course.answer):
        if course.answer.row_value.shape[1] != len(names):
            path = sources.root / course.run["directory"] / PREDICTIONS
            text = f"{path} has {course.answer.row_value.shape[1]} features, and its dataset {len(names)}"
            raise UserError(f"{text}: remove it and run snakemake again.", file=path)
    return {feature: names.index(feature) for feature in artifact.settings.features}


def series_of(
    artifact: SeriesCourses, sources: Sources, courses: Mapping[str, Sequence[Course]], numbers: Mapping[str, int]
) -> int | None:
    """Of the series of which all runs have the course, the one with the most observations of the features shown.

    Raises:
        UserError: they have none in common.
    """
    answers = [course.answer for column in courses.values() for course in column if course.answer]
    if not answers:
        return None
    common = [name for name in answers[0].series if all(name in other.series for other in answers)]
    if not common:
        text = f"{sources.path('summary')}: its runs show different series: remove the runs and run snakemake again."
        raise UserError(text, file=sources.path("summary"))
    chosen = list(numbers.values())
    return max(common, key=lambda name: int(answers[0].row_mask[answers[0].row_id == name][:, chosen].sum()))


def draw_panel(ax: Axes, column: Sequence[Course], styles: Styles, series: int | None, feature: int) -> None:
    """One feature on one task: the part that is not given, bands, lines, observations."""
    made = [course for course in column if course.answer]
    if not made:
        write_instead(ax, "no run predicted anything")
        return
    first = made[0].answer
    end = float(first.grid[-1])
    ax.set_xlim(-MARGIN * end, (1 + MARGIN) * end)
    if first.until < end:
        ax.axvspan(first.until, end, **SHADE, zorder=0, gid="not given")
    for course in made:
        style, model = styles[course.run["model"]], course.run["model"]
        mean, low, high = lines_of(course, series, feature)
        ax.fill_between(
            course.answer.grid, low, high, color=style["color"], alpha=0.16, linewidth=0, gid=f"band {model}"
        )
        ax.plot(course.answer.grid, mean, **style | {"linewidth": 1.2}, gid=f"curve {model}")
    for kind, points in observations(first, series, feature).items():
        ax.plot(*points, linestyle="none", **MARKS[kind], zorder=4, gid=f"{kind} {feature}")


def lines_of(course: Course, series: int, feature: int) -> tuple[NDArray, NDArray, NDArray]:
    """(g,) each: mean, lower and upper end of the band; nan where one is not finite."""
    place, answer = course.place(series), course.answer
    arrays = (array[place, :, feature].astype(float) for array in (answer.grid_mean, answer.grid_low, answer.grid_high))
    mean, low, high = (np.where(np.isfinite(array), array, np.nan) for array in arrays)
    return mean, low, high


def observations(answer: Courses, series: int, feature: int) -> dict[str, tuple[NDArray, NDArray]]:
    """(hours, values) of a feature's observations in a series, by whether they are given."""
    rows = (answer.row_id == series) & answer.row_mask[:, feature]
    times, values = answer.row_time[rows], answer.row_value[rows, feature]
    given = times <= np.float32(answer.until)
    return {kind: (times[chosen], values[chosen]) for kind, chosen in (("given", given), ("withheld", ~given))}


def limit_heights(ax: Axes, courses: Mapping[str, Sequence[Course]], series: int | None, feature: int) -> None:
    """The heights of a feature's panels: lines and observations are seen whole, bands as far as leaves these large."""
    seen, bands = [], []
    for course in (course for column in courses.values() for course in column if course.answer):
        mean, low, high = lines_of(course, series, feature)
        seen += [mean, *(values for _, values in observations(course.answer, series, feature).values())]
        bands += [low, high]
    if seen:
        low, high = _extent(np.concatenate(seen))
        span = high - low or 1.0
        lowest, highest = _extent(np.concatenate([[low, high], *bands]))
        ax.set_ylim(max(lowest, low - 0.5 * span) - 0.06 * span, min(highest, high + 0.5 * span) + 0.06 * span)


def _extent(values: NDArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def heading_of(configuration: Configuration, runs: Sequence[Row], series: int | None) -> list[str]:
    """Above all panels: series, size and seed, then the data that were really used."""
    about = [f"Test series {series}" if series is not None else "", sizes_of(configuration, runs)]
    about.append(f"seed {runs[0]['seed']}")
    return [", ".join(filter(None, about)), *textwrap.wrap(data_of(configuration, runs[:1]), TITLE)]


def legend_handles(courses: Mapping[str, Sequence[Course]], styles: Styles) -> list[Line2D | Patch]:
    """One entry per model, or why it has no line, then one for each kind of mark."""
    lines = []
    for model, style in styles.items():
        own = [course for column in courses.values() for course in column if course.run["model"] == model]
        lines.append(Line2D([], [], **style, label=f"{own[0].run['label']}{_missing(own)}"))
    marks = [Line2D([], [], linestyle="none", **style, label=LABELS[kind]) for kind, style in MARKS.items()]
    return [*lines, *marks, Patch(**SHADE, label="nothing given")]


def _missing(own: Sequence[Course]) -> str:
    texts = [
        f"{course.run['task_title']}: {'diverged' if course.run['status'] == 'diverged' else 'no predictions'}"
        for course in own
        if course.answer is None
    ]
    return f" ({'; '.join(texts)})" if texts else ""


def notes_of(
    configuration: Configuration, courses: Mapping[str, Sequence[Course]], features: Sequence[str]
) -> list[str]:
    """The caption, by paragraph."""
    runs = [course.run for column in courses.values() for course in column]
    answers = [course.answer for column in courses.values() for course in column if course.answer]
    drawn = [drawn_note(features, answers) if answers else "", weights_note(configuration, runs)]
    paragraphs = [
        scale_note(configuration, runs),
        " ".join(filter(None, drawn)),
        *divergence_notes(runs),
        made_note(runs),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def drawn_note(features: Sequence[str], answers: Sequence[Courses]) -> str:
    """What lines, bands and marks are."""
    until = min(answer.until for answer in answers)
    hours = f"the first {until:.3g} hours" if until < answers[0].grid[-1] else "the first hours"  # no run extrapolated
    return (
        "Drawn: of the first series of the test set the one with the most observations of "
        f"{', '.join(features)}, in the units of the records. Lines: the mean of samples; bands: their 2.5th to 97.5th "
        "percentiles, of what the networks predict without noise of measurement, so most observations may lie outside. "
        "Interpolation is given all rows and asked for the same times; extrapolation is given those of "
        f"{hours}, and is drawn from there on."
    )
