"""Heat maps of ||dL/dh_t||_2 over the steps of a sequence and the iterations of training (MomentumRNN, Figure 2)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.base import SideBySide
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of
from hidden_dynamics.configuration.runs import GRADIENTS
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord

QUANTILE = 0.99  # of the norms, within the limits of colours
NOT_FINITE = "#d62728"
MOST_ROWS = 20_000  # of the data
NOTE = "The first seed. Colours go up to {:g}, which 99 % of the norms are below; the paper's go from 0 to 0.05."
NOTHING = "No picture is drawn: no run recorded a gradient."


class GradientNorms(SideBySide):
    summarised = True
    run_files = (GRADIENTS,)
    with_extras = False  # the heat maps are of the paper's models alone


def draw(artifact: GradientNorms, evidence: Evidence) -> "sheet.Page":
    """Heat maps side by side, one per model: step t downwards, iteration to the right, one scale of colours. A
    `UserError` where a run's file is missing or damaged."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    configuration = artifact.configuration
    runs = [evidence.of(case)[0] for case in artifact.cases()]
    recordings = [Recording(run, *run.files.gradients()) for run in runs]
    norms = np.concatenate([recording.norms.ravel() for recording in recordings])
    highest = colour_limit(norms[np.isfinite(norms)])
    viridis = matplotlib.colormaps["viridis"].with_extremes(bad=NOT_FINITE)
    colours: sheet.Look = {"norm": Normalize(0, highest), "cmap": viridis}
    figure, body = sheet.page(
        artifact.settings,
        subtitle_of(configuration, runs),
        width=max(6.8, 4.8 * len(recordings)),
        height=4.0,
        notes=figure_notes(artifact, runs, NOTE.format(highest)),
        instead="" if norms.size else NOTHING,
        data=rows_of(recordings),
    )
    axes = body.subplots(1, len(recordings), sharex=True, sharey=True, squeeze=False)[0]
    for ax, recording in zip(axes, recordings, strict=True):
        draw_norms(ax, recording, colours)
        run = recording.run
        ends = {"diverged": f"diverged at iteration {run.diverged_at}", "failed": "failed"}
        ended = ends.get(run.status, "")
        ax.set_title("\n".join(about(configuration, [run], run.label, f"seed {run.seed}", ended)))
        ax.set_xlabel("Training iteration")
        ax.spines[:].set_visible(True)
    set_limits(axes[0], [recording for recording in recordings if recording.norms.size])
    extend = "max" if (norms > highest).any() else "neither"
    bar = body.colorbar(ScalarMappable(**colours), ax=list(axes), extend=extend, pad=0.015, aspect=30)
    bar.set_label(r"$\Vert\partial\mathcal{L}/\partial h_t\Vert_2$")
    return figure


@dataclass(frozen=True)
class Recording:
    """One run's recording: `iterations` (k,), evenly spaced, and `norms` (k, T)."""

    run: RunRecord
    iterations: NDArray
    norms: NDArray

    @property
    def ends(self) -> tuple[float, float]:
        """Of what is drawn on the iterations' axis."""
        interval = self.iterations[1] - self.iterations[0] if self.iterations.size > 1 else 1
        return self.iterations[0] - interval / 2, self.iterations[-1] + interval / 2


def colour_limit(norms: NDArray) -> float:
    """The `QUANTILE` of norms (n,), finite, rounded up to two digits; 1 without any above 0."""
    high = float(np.quantile(norms, QUANTILE)) if norms.size else 0.0
    if high <= 0:
        return 1.0
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return float(f"{math.ceil(high / unit) * unit:.2g}")


def rows_of(recordings: Sequence[Recording]) -> list[dict[str, object]]:
    """A row for each iteration and step; of more than `MOST_ROWS` every n-th of both."""
    every = math.ceil(math.sqrt(sum(recording.norms.size for recording in recordings) / MOST_ROWS)) or 1
    return [
        {"model": recording.run.model, "iteration": iteration, "step": step, "norm": norm}
        for recording in recordings
        for iteration, norms in list(zip(recording.iterations, recording.norms, strict=True))[::every]
        for step, norm in list(enumerate(norms))[::every]
    ]


def draw_norms(ax: "sheet.Axes", recording: Recording, colours: sheet.Look) -> None:
    """One heat map: a column of pixels per recorded iteration, a row per step; words where there is nothing to show."""
    if not recording.norms.size:
        sheet.write_instead(ax, "no gradient was recorded")
        return
    ax.imshow(
        np.ma.masked_invalid(recording.norms.T),
        **colours,
        extent=(*recording.ends, recording.norms.shape[1] - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
        gid=f"norms {recording.run.model}",
    )


def set_limits(ax: "sheet.Axes", drawn: Sequence[Recording]) -> None:
    """All panels show every recorded iteration, and every step with the first one on top."""
    starts, ends = zip(*(recording.ends for recording in drawn), strict=True) if drawn else ([0], [1])
    ax.set_xlim(min(starts), max(ends))
    ax.set_ylim(max((recording.norms.shape[1] for recording in drawn), default=1) - 0.5, -0.5)
    ax.set_ylabel("Step t of the sequence")
