"""Features of images in the plane, by t-SNE, one panel per model, coloured by class (ACE-NODE, Figure 4)."""

import math
import zipfile
from collections.abc import Iterable, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hidden_dynamics.artifacts.feature_notes import (
    WITHOUT,
    clusters_note,
    features_note,
    measured_features,
    missing_notes,
    weights_note,
)
from hidden_dynamics.artifacts.figure_notes import data_of, made_note, scale_note, sizes_of, subtitle_of, task_title
from hidden_dynamics.artifacts.kinds.embedding import Embedding
from hidden_dynamics.artifacts.sheet import STYLE, page, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import number
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.rows import Row

COLUMNS = 3
COLOURS = matplotlib.colormaps["tab10"].colors


def draw(artifact: Embedding, sources: Sources) -> Figure:
    """Panels side by side, one per model: the map of its first seed."""
    rows = measured_features(sources)
    models = dict.fromkeys(row["model"] for row in rows)
    first = [next(row for row in rows if row["model"] == model) for model in models]
    labels, maps = read_maps(sources, models)
    lines = math.ceil(len(first) / COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(artifact.configuration, first),
            width=9.6,
            height=3.6 * lines,
            handles=handles_of(artifact.configuration.datasets[first[0]["dataset"]].classes, labels),
            notes=notes_of(artifact, first, len(labels)),
        )
        axes = body.subplots(lines, COLUMNS, squeeze=False).ravel()
        for ax, row in zip(axes, first, strict=False):
            draw_map(ax, row, labels, maps.get(row["model"]))
            describe_panel(ax, artifact.configuration, row)
        for ax in axes[len(first) :]:
            ax.set_axis_off()
    return figure


def read_maps(sources: Sources, models: Iterable[str]) -> tuple[NDArray, dict[str, NDArray]]:
    """The classes (m,) of the images that are mapped, and by model, where there is one, its map (m, 2).

    Raises:
        UserError: the file is missing or damaged.
    """
    path = sources.path("maps")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            labels = arrays["labels"] if "labels" in arrays else np.empty(0, np.int64)
            maps = {model: arrays[f"{model}.embedding"] for model in models if f"{model}.embedding" in arrays}
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", path) from None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise sources.wrong("maps", f"not readable ({type(error).__name__}: {error})") from None
    for model, points in maps.items():
        if points.shape != (len(labels), 2):
            raise sources.wrong("maps", f"expected {len(labels)} points of {model}, found {points.shape}")
    return labels, maps


def handles_of(names: Sequence[str], labels: NDArray) -> list[Line2D]:
    """A legend's entry for each class that is there: its name where it has one, else its number."""
    return [
        Line2D([], [], linestyle="", marker="o", markersize=5, color=colour_of(label), label=text)
        for label in np.unique(labels)
        for text in [names[label] if names else str(label)]
    ]


def colour_of(label: int) -> tuple[float, float, float]:
    return COLOURS[label % len(COLOURS)]


def draw_map(ax: Axes, row: Row, labels: NDArray, points: NDArray | None) -> None:
    """The points in their classes' colours, or why there are none."""
    if points is None:
        write_instead(ax, WITHOUT.get(row["status"], "all features are the same"))
        return
    colours = [colour_of(label) for label in labels]
    # Drawn in their own order: no class lies above the others.
    ax.scatter(*points.T, c=colours, s=max(2.0, min(14.0, 4000 / len(points))), linewidths=0, gid=f"map {row['model']}")
    ax.set_aspect("equal", adjustable="datalim")


def describe_panel(ax: Axes, configuration: Configuration, row: Row) -> None:
    """Title and frame of a panel, without ticks: its coordinates mean nothing."""
    about = ", ".join(filter(None, (row["label"], sizes_of(configuration, [row]), f"seed {row['seed']}")))
    metric = configuration.metrics["silhouette"]
    silhouette = number(float(row["silhouette"]), metric.decimals) if row["silhouette"] else ""
    ax.set_title(f"{about}\n{f'silhouette {silhouette}' if silhouette else 'no silhouette'}", linespacing=1.3)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.8")


def notes_of(artifact: Embedding, rows: Sequence[Row], mapped: int) -> list[str]:
    """The caption, by paragraph."""
    configuration, settings = artifact.configuration, artifact.settings.features
    title, data = task_title(configuration, rows), data_of(configuration, rows)
    many = f"the first {mapped:,} of these images" if mapped else "no images"
    return [
        f"{scale_note(configuration, rows)} Task: {title}; {data}.",
        f"{features_note(settings, rows)} Map: t-SNE of {many}, of each model's first seed (perplexity "
        f"{settings.perplexity:g}, {settings.iterations:,} iterations, started from two principal components, "
        f"seed {settings.seed}); its coordinates mean nothing. The paper states none of this.",
        f"{clusters_note(settings)} It is that of the features themselves, not of the map.",
        *missing_notes(rows),
        f"{made_note(rows)} {weights_note(rows)}",
    ]
