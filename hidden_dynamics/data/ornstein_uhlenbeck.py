"""Two correlated Ornstein-Uhlenbeck processes, sporadically observed: generated, with a known optimal predictor.

    dx_i = -theta_i x_i dt + sqrt(2 theta_i) dW_i,   d<W_1, W_2> = rho dt,   y_i = x_i + noise * e_i

Both revert to 0, start in the stationary distribution and have variance 1 in it; their stationary correlation is
2 rho sqrt(theta_1 theta_2) / (theta_1 + theta_2). Each is observed by itself, at random tenths of a unit of time, with
measurement noise e_i or, where `noise` is 0, as it is. The idea is the double Ornstein-Uhlenbeck process of
GRU-ODE-Bayes (De Brouwer et al., NeurIPS 2019), whose means differ from series to series; these do not,
so that the conditional distribution of what is to be predicted is Gaussian, and a Kalman filter gives it.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import ragged
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

FEATURES = 2
TARGETS = 3  # rows after `until` that are predicted: the first of them
LEAST = TARGETS + 1  # rows that a series must have there: more than three, as USHCN's have
STEP = 0.1  # of the times at which they may be observed


class Settings(Entry):
    series: int = Field(200, ge=1)
    end: float = Field(20.0, ge=1)  # of the time, which begins at 0
    until: float = Field(15.0, ge=0)  # what is observed until then predicts what comes after it
    rate: float = Field(1.0, ge=0, le=1 / STEP)  # observations of a feature in a unit of time, on average
    speeds: list[Annotated[float, Field(ge=0.001)]] = Field([0.1, 0.3], min_length=2, max_length=2)  # theta
    correlation: float = Field(0.9, ge=-0.999, le=0.999)  # rho
    noise: float = Field(0.0, ge=0)  # standard deviation of the measurement noise; 0: none
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _until_the_end(self) -> "Settings":
        if self.until > self.end:
            raise ValueError("expected until <= end")
        return self


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The arrays of `ragged`, with two features, and what the optimal predictor says of the targets: `optimal_means`
    and `optimal_variances`, (series, 3, 2), float64, at `optimal_times`, (series, 3).

    A series that has too few rows to be predicted is drawn anew under another id, so the ids have gaps.
    """
    chosen = typed(Settings, settings, "ornstein_uhlenbeck")
    arrays = draw(chosen)
    means, variances = optimal(arrays, chosen)
    times = arrays["times"][ragged.after(arrays, chosen.until, TARGETS)]
    return arrays | {"optimal_means": means, "optimal_variances": variances, "optimal_times": times}


def draw(settings: Settings) -> dict[str, np.ndarray]:
    """The arrays of `ragged`, of as many series as the settings say."""
    count, parts = settings.series, []
    while sum(len(part["ids"]) for part in parts) < count:
        drawn = _candidates(generator(settings.seed, "ornstein_uhlenbeck", len(parts)), settings)
        late = np.add.reduceat(drawn["times"] > np.float32(settings.until), ragged.starts(drawn["lengths"]), dtype=int)
        if not (late >= LEAST).any():
            raise UserError(
                f"ornstein_uhlenbeck: of {count} series, none has {LEAST} rows after {settings.until:g}; expected "
                "a higher rate, or a later end",
                "ornstein_uhlenbeck",
                "rate",
            )
        drawn["ids"] += count * len(parts)
        parts.append(ragged.selected(drawn, np.flatnonzero(late >= LEAST)))
    whole = {name: np.concatenate([part[name] for part in parts]) for name in ragged.NAMES}
    return ragged.selected(whole, np.arange(count))


def optimal(arrays: dict[str, np.ndarray], settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the targets, (series, 3, 2), float64, measurement noise included, given all that was
    observed of the series until `until`: a Kalman filter. `arrays` are those of `ragged`, drawn with these settings."""
    targets = ragged.after(arrays, settings.until, TARGETS)
    mean, covariance, last = _filtered(arrays, settings)
    means, variances = np.empty((2, len(mean), TARGETS, FEATURES))
    for target, rows in enumerate(targets.T):
        later, spread = _moved(mean, covariance, arrays["times"][rows] - last, settings)
        means[:, target] = later
        variances[:, target] = np.diagonal(spread, axis1=1, axis2=2) + settings.noise**2
    return means, variances


def stationary(settings: Settings) -> np.ndarray:
    """The covariance of both processes at one time, (2, 2)."""
    theta = np.array(settings.speeds, float)
    noises = np.array([[1, settings.correlation], [settings.correlation, 1]])
    return 2 * np.sqrt(np.outer(theta, theta)) * noises / np.add.outer(theta, theta)


def _moved(
    mean: np.ndarray, covariance: np.ndarray, time: np.ndarray, settings: Settings
) -> tuple[np.ndarray, np.ndarray]:
    """The distribution after a time (series,): mean (series, 2) and covariance (series, 2, 2), from those before it."""
    decay = np.exp(-np.outer(time, settings.speeds))
    both = decay[:, :, None] * decay[:, None, :]
    return decay * mean, both * covariance + (1 - both) * stationary(settings)


def _filtered(arrays: dict[str, np.ndarray], settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (series, 2) and covariance (series, 2, 2) of each series at its last row until `until`, and its time."""
    count, first = len(arrays["ids"]), ragged.starts(arrays["lengths"])
    mean, last = np.zeros((count, FEATURES)), np.zeros(count)
    covariance = np.tile(stationary(settings), (count, 1, 1))
    for number in range(arrays["lengths"].max()):
        here = np.flatnonzero(number < arrays["lengths"])
        rows = first[here] + number
        early = arrays["times"][rows] <= np.float32(settings.until)
        here, rows = here[early], rows[early]
        moved = _moved(mean[here], covariance[here], arrays["times"][rows] - last[here], settings)
        mean[here], covariance[here] = _seen(*moved, arrays["values"][rows], arrays["mask"][rows], settings.noise)
        last[here] = arrays["times"][rows]
    return mean, covariance, last


def _seen(
    mean: np.ndarray, covariance: np.ndarray, values: np.ndarray, mask: np.ndarray, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """The distribution given a row of each series: one feature after another, as far as it is observed."""
    for feature in range(FEATURES):
        column = covariance[:, :, feature] * mask[:, feature, None]
        gain = column / (covariance[:, feature, feature] + noise**2)[:, None]
        mean = mean + gain * (values[:, feature] - mean[:, feature])[:, None]
        covariance = covariance - gain[:, :, None] * column[:, None, :]
    return mean, covariance


def _candidates(random: np.random.Generator, settings: Settings) -> dict[str, np.ndarray]:
    """The arrays of `ragged` of all series of which anything is observed."""
    count, grid = settings.series, round(settings.end / STEP) + 1
    kept, spread = _moved(np.ones((1, FEATURES)), np.zeros((1, FEATURES, FEATURES)), np.array([STEP]), settings)
    paths = random.standard_normal((grid, count, FEATURES)) @ np.linalg.cholesky(spread[0]).T
    paths[0] = random.standard_normal((count, FEATURES)) @ np.linalg.cholesky(stationary(settings)).T
    for tick in range(1, grid):
        paths[tick] += kept * paths[tick - 1]
    measured = paths + settings.noise * random.standard_normal(paths.shape)
    tenths, series, feature = places = np.nonzero(random.random(paths.shape) < settings.rate * STEP)
    return ragged.ragged(series, tenths, feature, measured[places], FEATURES, STEP)
