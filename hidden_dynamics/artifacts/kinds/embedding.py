"""Features of images in the plane, by t-SNE, one panel per model, coloured by class (ACE-NODE, Figure 4)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.kinds import silhouette_table
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import Features
from hidden_dynamics.results.record import RunRecord

COLUMNS = 3
WIDTH = 3.1  # inches, of a panel
AREA = 14_000  # square typographical points of all dots of a panel
NOTHING = "No picture is drawn: no model has features to map."


class Embedding(silhouette_table.Featured):
    """A figure of image features, which asks for nothing more than they do."""


def draw(artifact: Embedding, evidence: Evidence) -> "sheet.Page":
    """Panels side by side, one per model: the map of its first seed. A `UserError` where the features are not those of
    its runs, or their maps are missing or damaged."""
    measured, configuration = silhouette_table.measured_features(artifact, evidence), artifact.configuration
    measured = list({run.model: (run, row) for run, row in reversed(measured)}.values())[::-1]
    first = [run for run, _ in measured]
    labels, maps = read_maps(evidence.maps or Path(), [run.model for run in first])
    lines, shape = math.ceil(len(first) / COLUMNS), shape_of(maps.values())
    numbers = [str(label) for label in range(labels.max(initial=0) + 1)]
    names = configuration.datasets[first[0].dataset].classes or numbers
    settings = artifact.settings.features
    drawn = (
        f"Map: t-SNE of the first {len(labels):,} of these images, of each model's first seed (perplexity "
        f"{settings.perplexity:g}, {settings.iterations:,} iterations, seed {settings.seed})."
    )
    dot = {"linestyle": "", "marker": "o", "markersize": 5}
    classes = sorted(set(labels.tolist()))
    figure, body = sheet.page(
        artifact.settings,
        subtitle_of(configuration, first),
        width=9.6,
        height=(WIDTH * shape + 0.75) * lines + 0.2,
        notes=figure_notes(artifact, first, *silhouette_table.features_notes(settings, measured), drawn),
        handles=[sheet.legend_entry(names[label], color=f"C{label % 10}", **dot) for label in classes],
        instead="" if maps else NOTHING,
        data=points_of(maps, labels, names),
    )
    title = about(configuration, first, first[0].task_title)
    body.suptitle("\n".join(title), fontsize=sheet.STYLE["axes.titlesize"])
    axes = body.subplots(lines, COLUMNS, squeeze=False).ravel()
    for ax, (run, row) in zip(axes, measured, strict=False):
        draw_map(ax, row, labels, maps.get(run.model), shape)
        describe(ax, configuration, run)
    for ax in axes[len(first) :]:
        ax.set_axis_off()
    return figure


def read_maps(path: Path, models: Iterable[str]) -> tuple[NDArray, dict[str, NDArray]]:
    """The classes (m,) of the images that are mapped, and by model, where there is one, its map (m, 2); a `UserError`
    where the file is missing."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            labels = arrays["labels"] if "labels" in arrays else np.empty(0, np.int64)
            return labels, {name: arrays[f"{name}.embedding"] for name in models if f"{name}.embedding" in arrays}
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", path) from None


def shape_of(maps: Iterable[NDArray]) -> float:
    """The height of panels that hold all maps, as a share of their width: between a half and one."""
    spans = [np.ptp(points, axis=0) for points in maps]
    return min(1.0, max([0.5, *(height / width for width, height in spans if width)]))


def points_of(maps: Mapping[str, NDArray], labels: NDArray, names: Sequence[str]) -> list[dict[str, object]]:
    """A row for each image of each model."""
    return [
        {"model": model, "image": image, "class": names[label], "x": x, "y": y}
        for model, points in maps.items()
        for image, (label, (x, y)) in enumerate(zip(labels, points, strict=True))
    ]


def draw_map(ax: "sheet.Axes", row: Features, labels: NDArray, points: NDArray | None, shape: float) -> None:
    """The points in their classes' colours, or why there are none."""
    if points is None:
        sheet.write_instead(ax, silhouette_table.WITHOUT.get(row.status, "all features are the same"))
        return
    colours = [f"C{label % 10}" for label in labels]
    # Drawn in their own order: no class lies above the others.
    ax.scatter(*points.T, c=colours, s=min(14.0, AREA / len(points)), alpha=0.8, linewidths=0, gid=f"map {row.model}")
    middle, (width, height) = (points.max(axis=0) + points.min(axis=0)) / 2, np.ptp(points, axis=0)
    reach = 0.52 * max(width, height / shape)
    ax.set(xlim=middle[0] + [-reach, reach], ylim=middle[1] + [-reach * shape, reach * shape], aspect="equal")


def describe(ax: "sheet.Axes", configuration: Configuration, run: RunRecord) -> None:
    """Title and frame of a panel, without ticks: its coordinates mean nothing."""
    decimals = configuration.metrics["silhouette"].decimals
    score = f"silhouette {run.beside['silhouette']:.{decimals}f}" if run.beside else "no silhouette"
    ax.set_title(f"{run.label}, seed {run.seed}\n{score}", linespacing=1.3)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.8")
