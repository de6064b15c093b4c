"""Features of images in the plane, by t-SNE, one panel per model, coloured by class (ACE-NODE, Figure 4)."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts.kinds.silhouette_table import WITHOUT, Featured, features_notes, measured_features
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.artifacts.sheet import STYLE, legend_entry, page, style, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3


class Embedding(Featured):
    """A figure of image features, which asks for nothing more than they do."""


def draw(artifact: Embedding, sources: Sources) -> "Figure":
    """Panels side by side, one per model: the map of its first seed. A `UserError` where the features are not those of
    its runs, or their maps are missing or damaged."""
    rows, configuration = measured_features(sources), artifact.configuration
    models = dict.fromkeys(row["model"] for row in rows)
    first = [next(row for row in rows if row["model"] == model) for model in models]
    labels, maps = read_maps(sources, models)
    lines = math.ceil(len(first) / COLUMNS)
    names = configuration.datasets[first[0]["dataset"]].classes or [
        str(label) for label in range(labels.max(initial=0) + 1)
    ]
    settings = artifact.settings.features
    drawn = (
        f"Map: t-SNE of the first {len(labels):,} of these images, of each model's first seed (perplexity "
        f"{settings.perplexity:g}, {settings.iterations:,} iterations, seed {settings.seed})."
    )
    dot = {"linestyle": "", "marker": "o", "markersize": 5}
    with style():
        figure, body = page(
            artifact.settings,
            subtitle_of(configuration, first),
            width=9.6,
            height=3.6 * lines,
            notes=figure_notes(configuration, first, *features_notes(settings, first), drawn),
            handles=[legend_entry(names[label], color=f"C{label % 10}", **dot) for label in np.unique(labels)],
        )
        title = about(configuration, first, first[0]["task_title"])
        body.suptitle("\n".join(title), fontsize=STYLE["axes.titlesize"])
        axes = body.subplots(lines, COLUMNS, squeeze=False).ravel()
        for ax, row in zip(axes, first, strict=False):
            draw_map(ax, row, labels, maps.get(row["model"]))
            describe(ax, configuration, row)
        for ax in axes[len(first) :]:
            ax.set_axis_off()
    return figure


def read_maps(sources: Sources, models: Iterable[str]) -> tuple[NDArray, dict[str, NDArray]]:
    """The classes (m,) of the images that are mapped, and by model, where there is one, its map (m, 2); a `UserError`
    where the file is missing."""
    path = sources.root / sources.artifact.inputs()["maps"]
    try:
        with np.load(path, allow_pickle=False) as arrays:
            labels = arrays["labels"] if "labels" in arrays else np.empty(0, np.int64)
            return labels, {name: arrays[f"{name}.embedding"] for name in models if f"{name}.embedding" in arrays}
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", path) from None


def draw_map(ax: "Axes", row: Row, labels: NDArray, points: NDArray | None) -> None:
    """The points in their classes' colours, or why there are none."""
    if points is None:
        write_instead(ax, WITHOUT.get(row["status"], "all features are the same"))
        return
    colours = [f"C{label % 10}" for label in labels]
    # Drawn in their own order: no class lies above the others.
    ax.scatter(*points.T, c=colours, s=max(2.0, min(14.0, 4000 / len(points))), linewidths=0, gid=f"map {row['model']}")
    ax.set_aspect("equal", adjustable="datalim")


def describe(ax: "Axes", configuration: Configuration, row: Row) -> None:
    """Title and frame of a panel, without ticks: its coordinates mean nothing."""
    decimals = configuration.metrics["silhouette"].decimals
    score = f"silhouette {float(row['silhouette']):.{decimals}f}" if row["silhouette"] else "no silhouette"
    ax.set_title(f"{row['label']}, seed {row['seed']}\n{score}", linespacing=1.3)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color("0.8")
