"""Heat maps of ||dL/dh_t||_2 over the steps of a sequence and the iterations of training (MomentumRNN, Figure 2)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.artifacts.sheet import page, style, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration.runs import GRADIENTS
from hidden_dynamics.configuration.schema import Number
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

QUANTILE = 0.99  # of the norms, within the limits of colours that fit them
FACTOR = 5  # the paper's limits are kept where that quantile is within this factor of the upper one,
CLIPPED = 0.25  # and at most this share of the norms is above it
NOT_FINITE = "#d62728"


class Settings(SideBySideSettings):
    """`limits` are the paper's limits of colour."""

    limits: Annotated[list[Number], Field(min_length=2, max_length=2)]


class GradientNorms(SideBySide):
    Settings = Settings
    summarised = True
    run_files = (GRADIENTS,)
    with_extras = False  # the heat maps are of the paper's models alone


def draw(artifact: GradientNorms, sources: Sources) -> "Figure":
    """Heat maps side by side, one per model: step t downwards, iteration to the right, one scale of colours. A
    `UserError` where there is no run of a model, or its file is missing or damaged."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    configuration, papers = artifact.configuration, artifact.settings.limits
    runs = [sources.first_run(model) for model in artifact.settings.models]
    recordings = [Recording(run, *RunFiles.of_row(run, sources.root).gradients()) for run in runs]
    norms = np.concatenate([recording.norms.ravel() for recording in recordings])
    limits = colour_limits(norms[np.isfinite(norms)], papers)
    norm, colours = Normalize(*limits), matplotlib.colormaps["viridis"].with_extremes(bad=NOT_FINITE)
    drawn = "The first seed that was trained. The paper's colours: from {:g} to {:g}; here up to {:g}."
    with style():
        figure, body = page(
            artifact.settings,
            subtitle_of(configuration, runs),
            width=max(6.8, 4.8 * len(recordings)),
            height=4.0,
            notes=figure_notes(configuration, runs, drawn.format(*papers, limits[1])),
        )
        axes = body.subplots(1, len(recordings), sharex=True, sharey=True, squeeze=False)[0]
        for ax, recording in zip(axes, recordings, strict=True):
            draw_norms(ax, recording, colours, norm)
            run = recording.run
            ends = {"diverged": f"diverged at iteration {run['diverged_at']}", "failed": "failed"}
            ended = ends.get(run["status"], "")
            ax.set_title("\n".join(about(configuration, [run], run["label"], f"seed {run['seed']}", ended)))
            ax.set_xlabel("Training iteration")
            ax.spines[:].set_visible(True)
        set_limits(axes[0], [recording for recording in recordings if recording.norms.size])
        extend = "max" if (norms > limits[1]).any() else "neither"
        bar = body.colorbar(ScalarMappable(norm, colours), ax=list(axes), extend=extend, pad=0.015, aspect=30)
        bar.set_label(r"$\Vert\partial\mathcal{L}/\partial h_t\Vert_2$")
    return figure


@dataclass(frozen=True)
class Recording:
    """One run's recording: `iterations` (k,), evenly spaced, and `norms` (k, T); `run` is its row of the summary."""

    run: Row
    iterations: NDArray
    norms: NDArray

    @property
    def interval(self) -> int:
        return int(self.iterations[1] - self.iterations[0]) if self.iterations.size > 1 else 1

    @property
    def ends(self) -> tuple[float, float]:
        """Of what is drawn on the iterations' axis."""
        return self.iterations[0] - self.interval / 2, self.iterations[-1] + self.interval / 2


def colour_limits(norms: NDArray, papers: Sequence[float]) -> tuple[float, float]:
    """The paper's limits of colour, or (0, high) with a high that fits the norms where those would hide them.

    Args:
        norms: (n,), finite.
        papers: (low, high) of the paper's figure.
    """
    high = float(np.quantile(norms, QUANTILE)) if norms.size else 0.0
    near = papers[1] / FACTOR <= high <= papers[1] * FACTOR
    if high <= 0 or (near and np.mean(norms > papers[1]) <= CLIPPED):
        return float(papers[0]), float(papers[1])
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return 0.0, float(f"{math.ceil(high / unit) * unit:.2g}")


def draw_norms(ax: "Axes", recording: Recording, colours: "Colormap", norm: "Normalize") -> None:
    """One heat map: a column of pixels per recorded iteration, a row per step; words where there is nothing to show."""
    if not recording.norms.size:
        write_instead(ax, "no gradient was recorded")
        return
    ax.imshow(
        np.ma.masked_invalid(recording.norms.T),
        cmap=colours,
        norm=norm,
        extent=(*recording.ends, recording.norms.shape[1] - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
        gid=f"norms {recording.run['model']}",
    )


def set_limits(ax: "Axes", drawn: Sequence[Recording]) -> None:
    """All panels show every recorded iteration, and every step with the first one on top."""
    starts, ends = zip(*(recording.ends for recording in drawn), strict=True) if drawn else ([0], [1])
    ax.set_xlim(min(starts), max(ends))
    ax.set_ylim(max((recording.norms.shape[1] for recording in drawn), default=1) - 0.5, -0.5)
    ax.set_ylabel("Step t of the sequence")
