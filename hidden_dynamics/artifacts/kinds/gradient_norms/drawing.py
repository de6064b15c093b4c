"""Heat maps of ||dL/dh_t||_2 over the steps of a sequence and the iterations of training (MomentumRNN, Figure 2)."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hidden_dynamics.artifacts.figure_notes import data_of, made_note, scale_note, sizes_of, subtitle_of, task_title
from hidden_dynamics.artifacts.kinds.gradient_norms import GradientNorms
from hidden_dynamics.artifacts.sheet import STYLE, page, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles

QUANTILE = 0.99  # of the norms, within the limits of colours that fit them
FACTOR = 5  # the paper's limits are kept where that quantile is within this factor of the upper one
NOT_FINITE = "#d62728"


@dataclass(frozen=True)
class Recording:
    """One run's recording: `iterations` (k,), evenly spaced, and `norms` (k, T); `run` is its row of the summary."""

    run: Row
    iterations: NDArray
    norms: NDArray

    @property
    def interval(self) -> int:
        return int(self.iterations[1] - self.iterations[0]) if self.iterations.size > 1 else 1


def draw(artifact: GradientNorms, sources: Sources) -> Figure:
    """Heat maps side by side, one per model: step t from the top down, iteration to the right, one scale of colours."""
    configuration, papers = artifact.configuration, artifact.settings.limits
    recordings = [read_recording(sources, model) for model in artifact.settings.models]
    norms = np.concatenate([recording.norms.ravel() for recording in recordings])
    limits = colour_limits(norms[np.isfinite(norms)], papers)
    colours = ScalarMappable(Normalize(*limits), matplotlib.colormaps["viridis"].with_extremes(bad=NOT_FINITE))
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=subtitle_of(configuration, [recording.run for recording in recordings]),
            width=max(6.8, 4.8 * len(recordings)),
            height=4.0,
            notes=notes_of(configuration, recordings, sources.summary, papers, limits),
        )
        axes = body.subplots(1, len(recordings), sharex=True, sharey=True, squeeze=False)[0]
        for ax, recording in zip(axes, recordings, strict=True):
            draw_norms(ax, recording, colours)
            describe_panel(ax, configuration, recording)
        set_axes(axes, recordings)
        extend = "max" if (norms > limits[1]).any() else "neither"
        bar = body.colorbar(colours, ax=list(axes), extend=extend, pad=0.015, aspect=30)
        bar.set_label(r"$\Vert\partial\mathcal{L}/\partial h_t\Vert_2$")
    return figure


def read_recording(sources: Sources, model: str) -> Recording:
    """The recording of a model's run with the first seed.

    Raises:
        UserError: there is no such run, or its file is missing or damaged.
    """
    run = sources.first_run(model)
    return Recording(run, *RunFiles(sources.root / run["directory"]).gradients())


def colour_limits(norms: NDArray, papers: Sequence[float]) -> tuple[float, float]:
    """The paper's limits of colour, or (0, high) with a high that fits the norms where those would hide them.

    Args:
        norms: (n,), finite.
        papers: (low, high) of the paper's figure.
    """
    high = float(np.quantile(norms, QUANTILE)) if norms.size else 0.0
    if high <= 0 or papers[1] / FACTOR <= high <= papers[1] * FACTOR:
        return float(papers[0]), float(papers[1])
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return 0.0, float(f"{math.ceil(high / unit) * unit:.2g}")


def draw_norms(ax: Axes, recording: Recording, colours: ScalarMappable) -> None:
    """One heat map: a column of pixels per recorded iteration, a row per step; words where there is nothing to show."""
    if not recording.norms.size:
        write_instead(ax, nothing_note(recording.run))
        return
    half = recording.interval / 2
    ax.imshow(
        np.ma.masked_invalid(recording.norms.T),
        cmap=colours.cmap,
        norm=colours.norm,
        extent=(recording.iterations[0] - half, recording.iterations[-1] + half, recording.norms.shape[1] - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
        gid=f"norms {recording.run['model']}",
    )


def nothing_note(run: Row) -> str:
    if run["status"] == "diverged":
        return f"diverged at iteration {run['diverged_at']},\nbefore a gradient was recorded"
    return "no gradient was recorded"


def set_axes(axes: Sequence[Axes], recordings: Sequence[Recording]) -> None:
    """The axes that all panels share: every recorded iteration, and every step with the first one on top."""
    drawn = [recording for recording in recordings if recording.norms.size]
    starts = [recording.iterations[0] - recording.interval / 2 for recording in drawn]
    ends = [recording.iterations[-1] + recording.interval / 2 for recording in drawn]
    axes[0].set_xlim(min(starts, default=0), max(ends, default=1))
    axes[0].set_ylim(max((recording.norms.shape[1] for recording in drawn), default=1) - 0.5, -0.5)
    axes[0].set_ylabel("Step t of the sequence")
    for ax in axes:
        ax.set_xlabel("Training iteration")
        ax.spines[["top", "right"]].set_visible(True)


def describe_panel(ax: Axes, configuration: Configuration, recording: Recording) -> None:
    """The title of a panel: model, size, seed, and the data that were really used."""
    run = recording.run
    about = [run["label"], sizes_of(configuration, [run]), f"seed {run['seed']}"]
    if run["status"] == "diverged":
        about.append(f"diverged at iteration {run['diverged_at']}")
    lines = [", ".join(filter(None, about)), task_title(configuration, [run])]
    data = textwrap.wrap(data_of(configuration, [run]), 66)
    ax.set_title("\n".join([*lines, *data]), linespacing=1.3)


def notes_of(
    configuration: Configuration,
    recordings: Sequence[Recording],
    summary: Sequence[Row],
    papers: Sequence[float],
    limits: tuple[float, float],
) -> list[str]:
    """The caption, by paragraph."""
    intervals = sorted({recording.interval for recording in recordings if recording.iterations.size > 1})
    every = f", every {' or '.join(map(str, intervals))} iterations" if intervals else ""
    norm = (
        "Norm: Frobenius norm, over the minibatch and the hidden units, of the gradient of the minibatch's mean loss "
        f"with respect to h_t, through all later steps{every}; the paper does not say how it treats the minibatch."
    )
    return [
        scale_note(configuration, [recording.run for recording in recordings]),
        f"{seeds_note(recordings, summary)} {norm} {colour_note(recordings, papers, limits)}",
        made_note([recording.run for recording in recordings]),
    ]


def seeds_note(recordings: Sequence[Recording], summary: Sequence[Row]) -> str:
    """Which seed the maps are of, and of how many."""
    drawn = " and ".join(dict.fromkeys(recording.run["seed"] for recording in recordings))
    trained = len({run["seed"] for run in summary})
    return f"Drawn: seed {drawn}, the {f'first of {trained}' if trained > 1 else 'only one'} trained."


def colour_note(recordings: Sequence[Recording], papers: Sequence[float], limits: tuple[float, float]) -> str:
    """The scale of colours in words: the origin of its limits, the share of norms beyond them, what was not finite."""
    norms = np.concatenate([recording.norms.ravel() for recording in recordings])
    text = f"Colours: {limits[0]:g} to {limits[1]:g}"
    if limits == tuple(papers):
        text += " as in the paper"
    else:
        text += f", to fit these norms ({100 * QUANTILE:g} % are below; the paper: {papers[0]:g} to {papers[1]:g})"
    above = np.mean(norms > limits[1]) if norms.size else 0.0
    text += f"; {100 * above:.2g} % of the norms are above and are clipped." if above else "."
    return text + (" Red: not a finite number." if not np.isfinite(norms).all() else "")
