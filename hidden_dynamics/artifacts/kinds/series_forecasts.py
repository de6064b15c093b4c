"""Forecasts of a few test series: what was observed, and the mean and band that each model predicts; in no paper."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hidden_dynamics.artifacts.base import SideBySide, SideBySideSettings
from hidden_dynamics.artifacts.lines import model_entries
from hidden_dynamics.artifacts.notes import about, figure_notes, subtitle_of, weights_note
from hidden_dynamics.artifacts.sheet import STYLE, Styles, legend_entry, line_styles, page, style, write_instead
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration.entries import mistake
from hidden_dynamics.configuration.runs import PREDICTIONS
from hidden_dynamics.configuration.schema import Different
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.run_files import RunFiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEVIATIONS = 1.96  # of a normal distribution, whose middle 95 % are within
MARKS = {
    "given": {"label": "observed, given", "marker": "o", "ms": 3, "color": "0.15", "mew": 0},
    "withheld": {"label": "observed, withheld", "marker": "o", "ms": 3.6, "color": "0.45", "mfc": "white", "mew": 0.8},
    "target": {"label": "withheld, a target", "marker": "D", "ms": 4.6, "color": "black", "mfc": "gold", "mew": 0.8},
}
END = {"label": "end of what is given", "color": "0.4", "linestyle": (0, (1, 1)), "linewidth": 1.1}
LAST = {"label": "naive: last value", "color": "0.35", "linestyle": (0, (5, 3)), "linewidth": 1}
DRAWN = (
    "Drawn: the first series of the test set by id; values are those of the prepared data. Lines: the predicted mean, "
    "given what was observed until the dotted line. Before that, a network that goes along the series follows the "
    "observations as it passes them, from its next step on where it goes in steps; one that encodes the whole series "
    f"first rests on later ones, too. Bands: mean ± {DEVIATIONS:g} predicted standard deviations. Targets: the first "
    "rows after that time, of which the test errors are. A run that diverged or predicted nothing has no line."
)
LOOKS = (*({"linestyle": "none", **mark} for mark in MARKS.values()), END, LAST)

Feature = Annotated[int, Field(ge=0)]


class Settings(SideBySideSettings):
    """`features` are the numbers of the features shown, a row of panels each."""

    features: Annotated[list[Feature], Field(min_length=1), Different]


class SeriesForecasts(SideBySide):
    Settings = Settings
    summarised = True
    run_files = (PREDICTIONS,)
    with_extras = False  # bands of more than a few models hide each other


KIND = SeriesForecasts


def draw(artifact: SeriesForecasts, sources: Sources) -> "Figure":
    """A column per series, a row per feature; all models in each panel.

    Raises:
        UserError: there is no run of a model, a file is missing or damaged, or there is no such feature.
    """
    from matplotlib.ticker import MaxNLocator

    configuration, features = artifact.configuration, artifact.settings.features
    runs = [sources.first_run(model) for model in artifact.settings.models]
    read = [
        RunFiles(sources.root / run["directory"]).predictions() if run["status"] == "finished" else None for run in runs
    ]
    made = [Forecast(run, arrays) for run, arrays in zip(runs, read, strict=True) if arrays]
    series, styles = made[0].series if made else [""], line_styles(configuration, runs)
    names = dict(enumerate(configuration.datasets[runs[0]["dataset"]].features))
    if made and max(features) >= len(made[0].arrays["row_mask"][0]):
        raise mistake(f"{artifact.configured_at}.features", f"the data have no feature {max(features)}")
    with style():
        figure, body = page(
            artifact.settings,
            subtitle_of(configuration, runs),
            width=9.6 if len(series) > 1 else 6.8,
            height=0.7 + 2.1 * len(features),
            notes=figure_notes(configuration, runs, DRAWN, weights_note(configuration, runs)),
            handles=[*model_entries(runs, styles), *[legend_entry(**look) for look in LOOKS]],
        )
        title = about(configuration, runs, f"{runs[0]['task_title']}: seed {runs[0]['seed']}")
        body.suptitle("\n".join(title), fontsize=STYLE["axes.titlesize"])
        axes = body.subplots(len(features), len(series), sharex=True, sharey="row", squeeze=False)
        for panels, feature in zip(axes, features, strict=True):
            panels[0].set_ylabel(names.get(feature, f"feature {feature}"))
            for place, ax in enumerate(panels):
                draw_panel(ax, made, styles, place, feature)
            if made:
                panels[0].set_ylim(heights_of(made, feature))
        for ax, name in zip(axes[0], series, strict=True):
            ax.set_title(f"Series {name}" if made else "")
        for ax in axes[-1]:
            ax.set_xlabel("Time")
        if made:
            end = float(made[0].arrays["grid"][-1])
            axes[0, 0].set_xlim(made[0].start, end + 0.02 * (end - made[0].start))
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(5, prune="both"))  # labels of neighbours do not touch
        body.align_ylabels(axes)
    return figure


@dataclass(frozen=True)
class Forecast:
    """A model's run with the first seed, its row of the summary, and what it predicted (`RunFiles.predictions`)."""

    run: Row
    arrays: Mapping[str, NDArray]

    @property
    def series(self) -> NDArray:
        """(s,), the ids of the series that are shown, ascending."""
        return np.unique(self.arrays["row_id"])

    @property
    def start(self) -> float:
        """As long before the end of what is given as the grid goes on after it."""
        grid = self.arrays["grid"]
        return float(max(grid[0], 2 * self.arrays["until"] - grid[-1]))

    def course(self, place: int, feature: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Times, mean, lower and upper end of the band, (times,) each; nan where one is not finite.

        Of a network that goes in steps, only times to which it makes whole ones: a prediction is read at the nearest
        time of the network's way, at that of a step the state before the observations since the step before, at an
        observation's own the state after. Both together would be a zigzag.
        """
        grid, step = self.arrays["grid"], json.loads(self.run["hyperparameters"]).get("delta")
        number = grid.astype(np.float64) / (step or 1)
        whole = np.abs(number - np.round(number)) < 0.01
        shown = whole if step and whole.sum() > 1 else np.ones(grid.shape, bool)
        mean, variance = (
            self.arrays[f"grid_{name}"][place, shown, feature].astype(float) for name in ("mean", "variance")
        )
        width = DEVIATIONS * np.sqrt(variance)
        lines = (mean, mean - width, mean + width)
        mean, low, high = (np.where(np.isfinite(values), values, np.nan) for values in lines)
        return grid[shown], mean, low, high

    def observations(self, place: int, feature: int) -> dict[str, tuple[NDArray, NDArray]]:
        """(times, values) of a feature's observations in a series, by what they are: given, withheld, or a target."""
        arrays, name = self.arrays, self.series[place]
        rows = (arrays["row_id"] == name) & arrays["row_mask"][:, feature]
        times, values = arrays["row_time"][rows], arrays["row_value"][rows, feature]
        given = times <= np.float32(arrays["until"])
        target = np.isin(times, arrays["time"][arrays["id"] == name])
        kinds = {"given": given, "withheld": ~given & ~target, "target": target}
        return {kind: (times[chosen], values[chosen]) for kind, chosen in kinds.items()}


def draw_panel(ax: "Axes", made: Sequence[Forecast], styles: Styles, place: int, feature: int) -> None:
    """One feature of one series: bands, lines, observations, and where those that are given end."""
    if not made:
        write_instead(ax, "no run predicted anything")
        return
    for one in made:
        model = one.run["model"]
        grid, mean, low, high = one.course(place, feature)
        band = {"color": styles[model]["color"], "alpha": 0.13, "linewidth": 0, "gid": f"band {model}"}
        ax.fill_between(grid, low, high, **band)
        ax.plot(grid, mean, **{**styles[model], "linewidth": 1.2}, gid=f"curve {model}")
    seen = made[0].observations(place, feature)
    for kind, points in seen.items():
        ax.plot(*points, linestyle="none", **MARKS[kind], zorder=4, gid=f"{kind} {feature}")
    times, values = seen["given"]
    if len(times):
        ends = [times[-1], made[0].arrays["grid"][-1]]
        ax.plot(ends, [values[-1]] * 2, **LAST, zorder=3, gid="naive last value")
    ax.axvline(float(made[0].arrays["until"]), **END, zorder=1, gid="until")


def heights_of(made: Sequence[Forecast], feature: int) -> tuple[float, float]:
    """Limits for all panels of a feature: lines and observations are seen whole, bands half of that beyond."""
    seen = []
    for one, place in itertools.product(made, range(len(made[0].series))):
        for times, values in (one.course(place, feature)[:2], *one.observations(place, feature).values()):
            seen.append(values[(times >= one.start) & np.isfinite(values)])
    values = np.concatenate(seen)
    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    margin = 0.5 * (high - low) or 1.0
    return low - margin, high + margin
