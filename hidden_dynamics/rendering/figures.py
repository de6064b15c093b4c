"""The papers' figures, drawn from summaries: training curves, and the example of the copying task.

Every figure says on its face what made it: scale, data (a stand-in is named as one), network size, seeds, readings,
smoothing and device. Building a figure and saving it are apart, so that what is drawn can be looked at without files.
"""

import csv
import functools
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import Normal, Stroke
from numpy.typing import NDArray

from hidden_dynamics.configuration import ROOT, Configuration, read_yaml
from hidden_dynamics.data import copying
from hidden_dynamics.errors import UserError
from hidden_dynamics.files import atomic
from hidden_dynamics.rendering.face import readings_note, scale_notes
from hidden_dynamics.rendering.published import PUBLISHED, load_published

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 8.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
}
DASHES = ["solid", (0, (7, 1.5)), (0, (4, 1, 1, 1)), (0, (2.5, 1)), (0, (8, 1, 1, 1, 1, 1))]
CAPTION_SIZE = 7.5
DOTS_PER_INCH = 160
CELL_COLOURS = {"letter": "#cfe2f3", "blank": "#f7f7f7", "start": "#fbd5a5"}
MOST_CELLS = 40  # a longer sequence is drawn with its blanks abbreviated
NOT_IN_PAPERS = ("test_size", "seed")  # data settings that no paper states


@dataclass(frozen=True)
class Curve:
    """One model in one panel: arrays (points,), x ascending; low and high are nan where there is no band."""

    panel: int
    model: str
    x: NDArray
    mean: NDArray
    low: NDArray
    high: NDArray
    n: NDArray
    baseline: float


@dataclass(frozen=True)
class Panel:
    """What one panel shows: entry in the configuration, rows of the summary, curves, the paper's final values."""

    entry: Mapping[str, Any]
    runs: Sequence[Mapping[str, str]]
    curves: Sequence[Curve]
    published: Mapping[str, float]

    @property
    def task(self) -> str:
        return self.entry["task"]


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text by column. Raises `UserError` where the file is missing or not text."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not readable ({error}): remove it and run snakemake again.") from None


def save(figure: Figure, stem: str | Path) -> None:
    """Write `<stem>.pdf` and `<stem>.png`, each whole or not at all, the same bytes for the same figure."""
    metadata = {"pdf": {"CreationDate": None}, "png": {"Software": None}}
    with matplotlib.rc_context(STYLE):
        for kind in ("pdf", "png"):
            with atomic(f"{stem}.{kind}", "wb") as handle:
                figure.savefig(handle, format=kind, dpi=DOTS_PER_INCH, metadata=metadata[kind])


def curves_figure(
    configuration: Configuration, artifact: str, summary: Sequence[Mapping], curves: Sequence[Mapping]
) -> Figure:
    """A figure of training curves: one panel per configured panel, a line with its 95 % band per model, one legend.

    Args:
        summary: the rows that scripts/summarise.py writes, one per run, as text by column.
        curves: the rows of its curves, one per point.

    Raises:
        UserError: the curves lack a column, or one holds something else than expected.
    """
    entry = configuration.artifacts[artifact]
    panels = entry["panels"]
    models = list(dict.fromkeys(row["model"] for row in summary))
    lines = group_curves(curves, f"the curves of {artifact}")
    contents = []
    for index, panel in enumerate(panels):
        runs = runs_of_panel(panel, summary)
        published = published_values(configuration, artifact, panel, runs)
        contents.append(Panel(panel, runs, [curve for curve in lines if curve.panel == index], published))
    limits = [y_limits(configuration, content) for content in contents]
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            entry,
            subtitle=subtitle_of(configuration, contents),
            width=9.6 if columns == 2 else 6.8,
            height=3.1 * rows,
            handles=legend_handles(configuration, models, contents),
            notes=curve_notes(configuration, contents, limits),
        )
        axes = body.subplots(rows, columns, squeeze=False).ravel()
        for ax, content, limit in zip(axes, contents, limits, strict=False):
            draw_curves(ax, configuration, content, models, limit)
            describe_panel(ax, configuration, content)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
    return figure


def page(
    entry: Mapping, subtitle: str, width: float, height: float, handles: Sequence[Line2D], notes: Sequence[str]
) -> tuple[Figure, SubFigure]:
    """A page of three bands from top to bottom: titles and legend, the body, a caption.

    Args:
        entry: the artifact, with `title` and `source`.
        width, height: of the body, in inches; the others are as high as their text.
        notes: the caption's paragraphs.

    Returns:
        (figure, its body).
    """
    caption = [line for note in notes for line in textwrap.wrap(note, int((width - 0.3) * 72 / (CAPTION_SIZE * 0.53)))]
    columns = legend_columns([str(handle.get_label()) for handle in handles], width)
    head_height = 0.56 + 0.19 * math.ceil(len(handles) / columns)
    foot_height = 0.1 + CAPTION_SIZE * 1.22 / 72 * len(caption)
    heights = [head_height, height, foot_height]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    head, body, foot = figure.subfigures(3, 1, height_ratios=heights, hspace=0)
    title = f"{entry['source']}: {entry['title']}"
    head.text(0.5, 1 - 0.08 / head_height, title, ha="center", va="top", fontsize=11, gid="title")
    head.text(0.5, 1 - 0.32 / head_height, subtitle, ha="center", va="top", color="0.3", gid="subtitle")
    if handles:
        head.legend(
            handles=handles, loc="lower center", ncols=columns, borderaxespad=0.1, handlelength=3.4, columnspacing=1.4
        )
    foot.text(0.15 / width, 0.98, "\n".join(caption), va="top", fontsize=CAPTION_SIZE, linespacing=1.2, gid="caption")
    return figure, body


def draw_curves(
    ax: Axes, configuration: Configuration, panel: Panel, models: Sequence[str], limits: tuple[float, float] | None
) -> None:
    """The lines of one panel (curves, the loss without memory, published final values), its scales and its limits."""
    ax.set_xscale(panel.entry["x_scale"])
    ax.set_yscale(panel.entry["y_scale"])
    ax.set_xmargin(0.01)
    for curve in panel.curves:
        style = line_style(configuration, curve.model, models)
        front = 10 + len(models) - models.index(curve.model)
        alpha = 0.12 if np.max(curve.n) > 2 else 0.05  # the band of two seeds covers everything: let it be faint
        ax.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=alpha, linewidth=0)
        ax.plot(curve.x, curve.mean, **style, zorder=front, gid=f"curve {curve.model}")
        ends = divergences(curve, panel.runs)
        if ends and limits:
            seen = np.clip(curve.mean[ends], *limits)
            ax.plot(curve.x[ends], seen, "x", color=style["color"], mew=2, zorder=front, clip_on=False, gid="diverged")
    for level in baselines(panel):
        ax.axhline(level, color="grey", linestyle="dashed", linewidth=1, zorder=5, gid="baseline")
    for rank, (model, value) in enumerate(panel.published.items()):
        colour = line_style(configuration, model, models)["color"]
        shape = {"marker": "<", "ms": max(9 - 3 * rank, 3), "mec": "0.2", "mew": 0.7, "color": colour}
        ax.plot([1.015], [value], transform=ax.get_yaxis_transform(), clip_on=False, gid=f"published {model}", **shape)
    if limits:
        ax.set_ylim(*limits)
    if not any(curve.x.size for curve in panel.curves):
        ax.text(0.5, 0.5, "no run got as far as a value here", transform=ax.transAxes, ha="center", color="0.4")
    if "x_limits" in panel.entry and is_papers(configuration, panel.task, panel.runs):
        ax.set_xlim(*panel.entry["x_limits"])


def y_limits(configuration: Configuration, panel: Panel) -> tuple[float, float] | None:
    """The configured limits where the data are the paper's, else ones that fit; None where there is nothing to show."""
    if "y_limits" in panel.entry and is_papers(configuration, panel.task, panel.runs):
        return tuple(panel.entry["y_limits"])
    marks = [*panel.published.values(), *baselines(panel)]
    return robust_limits(panel.curves, marks, panel.entry["x_scale"], panel.entry["y_scale"])


def baselines(panel: Panel) -> list[float]:
    """The loss of the best answer without memory, where the panel shows it: one value, unless its runs disagree."""
    shown = panel.curves if panel.entry.get("baseline") else []
    return sorted({curve.baseline for curve in shown if math.isfinite(curve.baseline)})


def describe_panel(ax: Axes, configuration: Configuration, panel: Panel) -> None:
    """Title and axis labels of a panel: the task, the size and the data that were really used."""
    split, paper_size = panel.entry["split"], panel.entry.get("size")
    sizes = list(dict.fromkeys(run["size"] for run in panel.runs if run["size"]))
    size = f", N = {' and '.join(sizes)}" if sizes else ""
    if paper_size is not None and sizes != [str(paper_size)]:
        size += f" (paper: {paper_size})"
    title = f"{task_title(configuration, panel.task, panel.runs)}: {split} loss{size}"
    ax.set_title(
        "\n".join([title, *textwrap.wrap(data_of(configuration, panel.task, panel.runs), 66)]), linespacing=1.3
    )
    ax.set_xlabel(panel.entry["against"].capitalize())
    ax.set_ylabel(f"{split.capitalize()} loss")


def subtitle_of(configuration: Configuration, panels: Sequence[Panel]) -> str:
    """The scale, and what is not as in the paper."""
    runs = [run for panel in panels for run in panel.runs]
    changed = []
    if any(run["stand_in_for"] for run in runs):
        changed.append("stand-in data")
    elif not all(is_papers(configuration, panel.task, panel.runs) for panel in panels):
        changed.append("other data settings than the paper's")
    if any(run["size"] != run["paper_size"] for run in runs):
        changed.append("other network sizes than the paper's")
    return ", ".join([f"scale: {configuration.scale_name}", *changed])


def task_title(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> str:
    """The task's title, which a scale may have changed with its data; where it did not, it names the paper's task."""
    title = configuration.tasks[task]["title"]
    named = is_papers(configuration, task, runs) or title != papers_task(task).get("title")
    return title if named else f"{title} in the paper"


def data_of(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> str:
    """The data of a panel in words: a stand-in is named as one, settings other than the paper's are listed."""
    text = "data: " + " and ".join(dict.fromkeys(run["dataset_title"] for run in runs))
    replaced = dict.fromkeys(run["stand_in_for"] for run in runs if run["stand_in_for"])
    if replaced:
        names = [configuration.datasets.get(name, {}).get("title", name) for name in replaced]
        return f"stand-in for {' and '.join(names)}: {text.removeprefix('data: ')}"
    here, paper = configuration.tasks[task].get("data", {}), papers_task(task).get("data", {})
    keys = [key for key in here if key not in NOT_IN_PAPERS and here[key] != paper.get(key)]
    changed = [f"{key.replace('_', ' ')} {here[key]} instead of {paper.get(key)}" for key in keys]
    return f"{text}, but {', '.join(changed)}" if changed else text


def is_papers(configuration: Configuration, task: str, runs: Sequence[Mapping]) -> bool:
    """Whether a task's data are the paper's: no stand-in, and prepared as config/tasks.yaml says."""
    entries = (configuration.tasks[task], papers_task(task))
    here, paper = (
        (entry.get("dataset"), {**entry.get("data", {}), **dict.fromkeys(NOT_IN_PAPERS)}) for entry in entries
    )
    return here == paper and not any(run["stand_in_for"] for run in runs)


@functools.cache
def papers_task(task: str) -> Mapping[str, Any]:
    """The task as config/tasks.yaml has it, before scale and overrides; empty where it is not there."""
    return read_yaml(ROOT / "config" / "tasks.yaml").get(task, {})


def published_values(
    configuration: Configuration, artifact: str, panel: Mapping, runs: Sequence[Mapping]
) -> dict[str, float]:
    """The paper's final losses by model, from published/<paper>/<figure>.yaml; none on other data or at other sizes."""
    name = configuration.artifacts[artifact].get("published", f"{artifact.replace('_', '/', 1)}.yaml")
    theirs = is_papers(configuration, panel["task"], runs) and all(run["size"] == run["paper_size"] for run in runs)
    content = load_published(name, PUBLISHED) if theirs and (PUBLISHED / name).exists() else {}
    if content.get("metric") != f"{panel['split']}_loss":
        return {}
    shown = {run["model"] for run in runs}
    return {
        row["model"]: row["value"] for row in content["rows"] if row["task"] == panel["task"] and row["model"] in shown
    }


def runs_of_panel(panel: Mapping, summary: Sequence[Mapping]) -> list[Mapping]:
    """The summary's rows of a panel's task and size."""
    size = "" if panel.get("size") is None else str(panel["size"])
    return [run for run in summary if (run["task"], run["paper_size"]) == (panel["task"], size)]


def group_curves(rows: Sequence[Mapping], origin: str) -> list[Curve]:
    """The rows of a curves file, one per point, as curves."""
    groups: dict[tuple[int, str], list[Mapping]] = {}
    try:
        for row in rows:
            groups.setdefault((int(row["panel"]), row["model"]), []).append(row)
        return [
            Curve(
                panel,
                model,
                *(numbers(group, name) for name in ("x", "mean", "low", "high", "n")),
                numbers(group, "baseline")[0],
            )
            for (panel, model), group in groups.items()
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{origin}: not as expected ({type(error).__name__}: {error}); run snakemake again.") from None


def numbers(rows: Sequence[Mapping], name: str) -> NDArray:
    """A column as numbers; an empty cell is nan."""
    return np.array([float(row[name] or "nan") for row in rows])


def divergences(curve: Curve, runs: Sequence[Mapping]) -> list[int]:
    """Indices of the points at which a seed of this curve diverged: n falls after them, or the last seed ends there."""
    diverged = [run["status"] == "diverged" for run in runs if run["model"] == curve.model]
    if not any(diverged):
        return []
    falls = np.flatnonzero(np.diff(curve.n) < 0).tolist()
    return falls + [curve.n.size - 1] * all(diverged)


def robust_limits(
    curves: Sequence[Curve], marks: Sequence[float], x_scale: str, y_scale: str
) -> tuple[float, float] | None:
    """Limits of a y axis that spikes do not flatten.

    They take in what is below Tukey's upper fence, and at least the median of every curve.

    Args:
        curves: weighed by the width that they take on the x axis.
        marks: other values that must be seen.
        x_scale, y_scale: "linear" or "log".

    Returns:
        (low, high), or None where there is nothing to show.
    """
    evenly = [evenly_spaced(curve, x_scale) for curve in curves if curve.x.size]
    if not evenly:
        return None
    values = np.concatenate(evenly)
    lower, upper = np.quantile(values, [0.25, 0.75])
    inside = values[values <= upper + 1.5 * (upper - lower)]
    high = max([inside.max(), *(np.median(part) for part in evenly), *marks])
    seen = np.concatenate([inside, *(curve.mean for curve in curves), marks])
    if y_scale == "log":
        low = min(seen[seen > 0], default=1.0)
        return float(low / 1.3), float(max(high, low) * 1.3)
    low = seen.min()
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return float(max(0.0, low - margin) if low >= 0 else low - margin), float(high + margin)


def evenly_spaced(curve: Curve, x_scale: str) -> NDArray:
    """The mean at 400 places that are evenly spaced on the axis."""
    if x_scale == "linear":
        return np.interp(np.linspace(curve.x[0], curve.x[-1], 400), curve.x, curve.mean)
    start = curve.x[curve.x > 0].min(initial=curve.x[-1])
    return np.interp(np.geomspace(start, curve.x[-1], 400), curve.x, curve.mean)


def line_style(configuration: Configuration, model: str, models: Sequence[str]) -> dict[str, Any]:
    """The model's colour, a dash of its own for who cannot tell it, and an outline where it is too light on white."""
    colour = configuration.models[model].get("colour", "black")
    red, green, blue = to_rgb(colour)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.7
    outline = {"path_effects": [Stroke(linewidth=2.4, foreground="0.35"), Normal()]} if light else {}
    return {"color": colour, "linestyle": DASHES[models.index(model) % len(DASHES)], **outline}


def legend_handles(configuration: Configuration, models: Sequence[str], panels: Sequence[Panel]) -> list[Line2D]:
    """One entry per model, with its diverged runs, then one for each kind of mark that the panels show."""
    handles = []
    for model in models:
        runs = list({run["directory"]: run for panel in panels for run in panel.runs if run["model"] == model}.values())
        label = runs[0]["label"] + divergence_note(runs)
        handles.append(Line2D([], [], **line_style(configuration, model, models), label=label))
    if any(baselines(panel) for panel in panels):
        handles.append(Line2D([], [], color="grey", linestyle="dashed", linewidth=1, label="best without memory"))
    if any(panel.published for panel in panels):
        handles.append(
            Line2D([], [], color="white", marker="<", mec="0.2", linestyle="none", label="published final value")
        )
    return handles


def divergence_note(runs: Sequence[Mapping]) -> str:
    """For a legend: " (1 of 2 seeds diverged)", by task where a model is shown on several; empty where none did."""
    notes = []
    tasks = list(dict.fromkeys((run["task"], run["paper_size"]) for run in runs))
    for task in tasks:
        status = [run["status"] for run in runs if (run["task"], run["paper_size"]) == task]
        if "diverged" in status:
            where = f" on {task[0]}" if len(tasks) > 1 else ""
            notes.append(f"{status.count('diverged')} of {len(status)} seeds diverged{where}")
    return f" ({'; '.join(notes)})" if notes else ""


def legend_columns(labels: Sequence[str], width: float) -> int:
    """The most columns whose entries fit side by side in `width` inches; 1 where none do."""
    entry = max((len(label) for label in labels), default=0) * 0.075 + 0.6
    return max(1, min(len(labels), int((width - 0.2) / entry)))


def curve_notes(configuration: Configuration, panels: Sequence[Panel], limits: Sequence) -> list[str]:
    """The caption of a figure of curves, by paragraph."""
    runs = [run for panel in panels for run in panel.runs]
    seeds = len({run["seed"] for run in runs})
    band = "95 % t band over seeds" + (" (wide: with 2 seeds t = 12.7)" if seeds == 2 else "")
    lines = f"Lines: mean of {seeds} seeds; band: {band}" if seeds > 1 else "Lines: 1 seed, so no band"
    if any(run["status"] == "diverged" for run in runs):
        lines += "; ×: a seed diverged here and the others, if any, go on"
    cut = any(
        limit and (curve.mean > limit[1]).any()
        for panel, limit in zip(panels, limits, strict=True)
        for curve in panel.curves
    )
    made_on = sorted({f"{run['device']}, {run['precision']}" for run in runs})
    return [
        " ".join(scale_notes(configuration)),
        f"{lines}. Smoothing: {smoothing_note(panels)}.{' Lines are cut where they leave an axis.' if cut else ''}",
        f"{readings_note(json.loads(run['readings']) for run in runs)} Device: {'; '.join(made_on)}.",
    ]


def smoothing_note(panels: Sequence[Panel]) -> str:
    """Which curves were smoothed how, for instance "triangular moving average of 30 points (train), none (test)"."""
    by_split: dict[str, list[int]] = {}
    for panel in panels:
        windows = by_split.setdefault(panel.entry["split"], [])
        if panel.entry.get("window", 1) not in windows:
            windows.append(panel.entry.get("window", 1))
    if all(windows == [1] for windows in by_split.values()):
        return "none"
    parts = [
        f"{' and '.join(f'{window} points' if window > 1 else 'none' for window in windows)} ({split})"
        for split, windows in by_split.items()
    ]
    return f"triangular moving average of {', '.join(parts)}"


def copying_figure(configuration: Configuration, artifact: str) -> Figure:
    """The example of the copying task: the paper's (A = {1, 2, 3, 4}, K = 5, L = 20), and one of the configured data.

    Raises:
        UserError: the task's data are not those of a copying task.
    """
    entry = configuration.artifacts[artifact]
    data = configuration.tasks[entry["task"]].get("data", {})
    letters = copying.prepare(Path(), data)["test_letters"][:1]
    small = {"alphabet": 4, "letters": 5, "blanks": 20}
    examples = [
        (f"The paper's example: {settings_of(small)}", np.array([[1, 2, 3, 4, 2]], np.uint8), small),
        (f"{task_title(configuration, entry['task'], [])}; here {settings_of(data)}", letters, data),
    ]
    notes = [
        "- is the blank, : the start marker; time runs from left to right, the numbers below are steps. "
        "Above: alphabet, K and L are those of the paper's example, the letters are ours.",
        f"Below: the first test sequence of the data as configured here. {' '.join(scale_notes(configuration))}",
    ]
    with matplotlib.rc_context(STYLE):
        figure, body = page(entry, f"scale: {configuration.scale_name}", width=9.6, height=2.9, handles=[], notes=notes)
        for ax, (title, word, settings) in zip(body.subplots(2, 1), examples, strict=True):
            inputs, targets = copying.sequences(word, settings["blanks"], settings["alphabet"])
            draw_sequences(ax, inputs[0], targets[0], settings)
            ax.set_title(title, loc="left")
    return figure


def settings_of(data: Mapping[str, int]) -> str:
    size = data["alphabet"]
    alphabet = ", ".join(map(str, range(1, size + 1))) if size <= 4 else f"1, …, {size}"
    return f"alphabet {{{alphabet}}}, K = {data['letters']}, L = {data['blanks']}"


def draw_sequences(ax: Axes, inputs: NDArray, targets: NDArray, settings: Mapping[str, int]) -> None:
    """Input and target as two rows of cells; the blanks in the middle of a long sequence become an ellipsis."""
    steps = shown_steps(settings["letters"], settings["blanks"])
    start = settings["alphabet"] + 1
    for row, (name, sequence) in enumerate((("Input", inputs), ("Output", targets))):
        ax.text(-0.8, -row, name, ha="right", va="center")
        for place, step in enumerate(steps):
            if step is None:
                ax.text(place, -row, "…", ha="center", va="center", gid="ellipsis")
                continue
            kind = {copying.BLANK: "blank", start: "start"}.get(int(sequence[step]), "letter")
            text = {"blank": "-", "start": ":"}.get(kind, str(sequence[step]))
            ax.add_patch(
                Rectangle(
                    (place - 0.5, -row - 0.4), 1, 0.8, facecolor=CELL_COLOURS[kind], edgecolor="0.75", linewidth=0.6
                )
            )
            ax.text(place, -row, text, ha="center", va="center", family="DejaVu Sans Mono", gid=f"{name} {step}")
    word, blanks = settings["letters"], settings["blanks"]
    for step in dict.fromkeys((0, word - 1, word + blanks, 2 * word + blanks - 1)):
        ax.text(steps.index(step), -1.75, str(step + 1), ha="center", va="center", fontsize=7, color="0.4")
    ax.set(xlim=(-3.2, max(len(steps), 30) - 0.4), ylim=(-2.1, 0.6))
    ax.set_axis_off()


def shown_steps(letters: int, blanks: int) -> list[int | None]:
    """The steps that are drawn: all of a short sequence; a long one keeps three blanks at either end of a None."""
    length = blanks + 2 * letters
    if length <= MOST_CELLS or blanks <= 7:
        return list(range(length))
    return [*range(letters + 3), None, *range(letters + blanks - 3, length)]
