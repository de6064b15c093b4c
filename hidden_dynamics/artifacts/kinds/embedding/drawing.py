"""Features of images in the plane, by t-SNE, one panel per model, coloured by class (ACE-NODE, Figure 4)."""

import math
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.feature_notes import (
    WITHOUT,
    check_features,
    clusters_note,
    features_note,
    missing_notes,
    weights_note,
)
from hidden_dynamics.artifacts.sheet import STYLE, page
from hidden_dynamics.artifacts.figure_notes import data_of, made_note, sizes_of, subtitle_of, task_title

CLASSES = {
    "cifar10": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
}
COLUMNS = 3
COLOURS = matplotlib.colormaps["tab10"].colors


def embedding_figure(
    configuration: Configuration, artifact: str, rows: Sequence[Mapping[str, str]], root: Path = Path()
) -> Figure:
    """Panels side by side, one per model: the map of its first seed.

    Args:
        rows: what scripts/measure_features.py wrote, as text by column.
        root: what the rows' `embeddings` is relative to.

    Raises:
        UserError: the rows are of another scale, task, size or settings, or lack a run; or the maps are missing or
            damaged.
    """
    entry = configuration.artifacts[artifact]
    check_features(configuration, artifact, rows)
    models = dict.fromkeys(row["model"] for row in rows)
    first = [next(row for row in rows if row["model"] == model) for model in models]
    labels, maps = read_maps(root / first[0]["embeddings"], models)
    lines = math.ceil(len(first) / COLUMNS)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            entry,
            subtitle=subtitle_of(configuration, first),
            width=9.6,
            height=3.6 * lines,
            handles=handles_of(first[0]["dataset"], labels),
            notes=notes_of(configuration, entry, first, len(labels)),
        )
        axes = body.subplots(lines, COLUMNS, squeeze=False).ravel()
        for ax, row in zip(axes, first, strict=False):
            draw_map(ax, configuration, row, labels, maps.get(row["model"]))
        for ax in axes[len(first) :]:
            ax.set_axis_off()
    return figure


def read_maps(path: Path, models: Iterable[str]) -> tuple[NDArray, dict[str, NDArray]]:
    """The classes (m,) of the images that are mapped, and by model, where there is one, its map (m, 2).

    Raises:
        UserError: the file is missing or damaged.
    """
    again = "remove it and run snakemake again."
    try:
        with np.load(path, allow_pickle=False) as arrays:
            labels = arrays["labels"] if "labels" in arrays else np.empty(0, np.int64)
            maps = {model: arrays[f"{model}.embedding"] for model in models if f"{model}.embedding" in arrays}
    except FileNotFoundError:
        raise UserError(f"{path} is missing: measure the features again, with scripts/measure_features.py.") from None
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is not readable ({type(error).__name__}: {error}): {again}") from None
    for model, points in maps.items():
        if points.shape != (len(labels), 2):
            raise UserError(f"{path}: expected {len(labels)} points of {model}, found {points.shape}: {again}")
    return labels, maps


def handles_of(dataset: str, labels: NDArray) -> list[Line2D]:
    """A legend's entry for each class that is there: its name where it is known, else its number."""
    names = CLASSES.get(dataset)
    return [
        Line2D([], [], linestyle="", marker="o", markersize=5, color=colour_of(label), label=text)
        for label in np.unique(labels)
        for text in [names[label] if names else str(label)]
    ]


def colour_of(label: int) -> tuple[float, float, float]:
    return COLOURS[label % len(COLOURS)]


def draw_map(
    ax: Axes, configuration: Configuration, row: Mapping[str, str], labels: NDArray, points: NDArray | None
) -> None:
    """A panel: the points in their classes' colours, or why there are none. Its coordinates mean nothing."""
    about = ", ".join(
        filter(None, (configuration.models[row["model"]]["label"], sizes_of([row]), f"seed {row['seed']}"))
    )
    silhouette = f"silhouette {float(row['silhouette']):.4f}" if row["silhouette"] else "no silhouette"
    ax.set_title(f"{about}\n{silhouette}", linespacing=1.3)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.8")
    if points is None:
        note = WITHOUT.get(row["status"], "all features are the same")
        ax.text(0.5, 0.5, note, transform=ax.transAxes, ha="center", va="center", color="0.4", gid="nothing")
        return
    colours = [colour_of(label) for label in labels]
    # Drawn in their own order: no class lies above the others.
    ax.scatter(*points.T, c=colours, s=max(2.0, min(14.0, 4000 / len(points))), linewidths=0, gid=f"map {row['model']}")
    ax.set_aspect("equal", adjustable="datalim")


def notes_of(configuration: Configuration, entry: Mapping, rows: Sequence[Mapping[str, str]], mapped: int) -> list[str]:
    """The caption, by paragraph."""
    settings, task = entry["features"], entry["task"]
    title, data = task_title(configuration, task, rows), data_of(configuration, task, rows)
    many = f"the first {mapped:,} of these images" if mapped else "no images"
    return [
        f"{' '.join(scale_notes(configuration))} Task: {title}; {data}.",
        f"{features_note(settings, rows)} Map: t-SNE of {many}, of each model's first seed (perplexity "
        f"{settings['perplexity']:g}, {settings['iterations']:,} iterations, started from two principal components, "
        f"seed {settings['seed']}); its coordinates mean nothing. The paper states none of this.",
        f"{clusters_note(settings)} It is that of the features themselves, not of the map.",
        *missing_notes(rows),
        f"{made_note(rows)} {weights_note(rows)}",
    ]
