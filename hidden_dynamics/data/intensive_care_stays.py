"""Stays in intensive care, generated: a latent severity decides what is measured, how often, and who dies.

    ds = (s_0 - s) / hold dt + sqrt(2 spread / hold) dW

The severity s reverts to a stay's own s_0, which is standard normal, and has variance `spread` about it. A parameter is
measured at whole hours, as its normal value plus what severity adds to it, a difference from stay to stay, and noise;
the sicker, the more often. The patient dies if the mean severity of the 48 hours and a further unknown exceed what
leaves the share `deaths`. So a few measurements tell much about the outcome, and about the next ones, but never all.
"""

from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import stay_records
from hidden_dynamics.data.streams import generator


class Settings(Entry):
    stays: int = Field(200, ge=1)
    deaths: float = Field(0.25, ge=0.01, le=0.99)  # share of the stays, on average
    visits: float = Field(12.0, ge=1, le=1 + stay_records.HOURS)  # hours of the 49 with a measurement, on average
    unknown: float = Field(0.8, ge=0)  # standard deviation of what decides the outcome beside severity
    seed: int = Field(0, ge=0)


HOLD, SPREAD = 24.0, 0.3  # hours, after which severity has lost all but 1/e of its deviation; variance of that


class Measure(NamedTuple):
    """A parameter's normal value, what a unit of severity adds, its spread over stays and over measurements, its share.

    The share is that of the visits at which it is measured.
    """

    normal: float
    effect: float
    stays: float
    noise: float
    share: float


MEASURES = {
    "HR": Measure(84, 16, 6, 4, 0.9),
    "SysABP": Measure(122, -16, 6, 5, 0.7),
    "DiasABP": Measure(62, -8, 4, 4, 0.7),
    "MAP": Measure(80, -11, 4, 4, 0.7),
    "RespRate": Measure(19, 4, 2, 1.5, 0.6),
    "Temp": Measure(37, 0.3, 0.3, 0.2, 0.5),
    "Urine": Measure(110, -35, 20, 25, 0.6),
    "GCS": Measure(12, -2.5, 1, 0.7, 0.4),
    "SaO2": Measure(96, -1.5, 0.7, 0.6, 0.3),
    "Lactate": Measure(2.5, 1.1, 0.3, 0.3, 0.15),
    "pH": Measure(7.38, -0.06, 0.02, 0.02, 0.15),
    "Creatinine": Measure(1.4, 0.5, 0.2, 0.1, 0.1),
    "BUN": Measure(27, 9, 4, 2, 0.1),
}
BOUNDS = (  # of what an instrument or a scale can show, and where there is none
    ({"Urine": 0, "GCS": 3, "Lactate": 0.3, "Creatinine": 0.2, "BUN": 3}, -np.inf),
    ({"GCS": 15, "SaO2": 100}, np.inf),
)


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Draw the arrays of `stay_records`.

    Raises:
        UserError: a setting is unknown or out of range.
    """
    chosen = typed(Settings, settings, "intensive_care_stays")
    random = generator(chosen.seed, "intensive_care_stays")
    severity = severities(random, chosen.stays)
    died = outcomes(random, severity, chosen)
    records = [_record(random, of_stay, chosen) for of_stay in severity]
    ids = np.repeat(1 + np.arange(len(records)), [len(hours) for hours, _, _ in records])
    hours, parameters, values = map(np.concatenate, zip(*records, strict=True))
    return stay_records.stays(ids, hours, parameters, values) | {"died": died}


def severities(random: np.random.Generator, stays: int) -> np.ndarray:
    """The severity of each stay at each whole hour: (stays, 49)."""
    hours = stay_records.HOURS + 1
    kept = np.exp(-1 / HOLD)
    deviation = random.standard_normal((stays, hours)) * np.sqrt(SPREAD * (1 - kept**2))
    deviation[:, 0] = random.standard_normal(stays) * np.sqrt(SPREAD)
    for hour in range(1, hours):
        deviation[:, hour] += kept * deviation[:, hour - 1]
    return random.standard_normal((stays, 1)) + deviation


def outcomes(random: np.random.Generator, severity: np.ndarray, settings: Settings) -> np.ndarray:
    """Whether each patient dies: (stays,), bool.

    Args:
        severity: (stays, 49).
    """
    gaps = np.abs(np.subtract.outer(*[np.arange(severity.shape[1])] * 2))
    variance = 1 + SPREAD * np.exp(-gaps / HOLD).mean() + settings.unknown**2
    limit = NormalDist(sigma=float(np.sqrt(variance))).inv_cdf(1 - settings.deaths)
    return severity.mean(axis=1) + settings.unknown * random.standard_normal(len(severity)) > limit


def _record(
    random: np.random.Generator, severity: np.ndarray, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hours, parameters (places in `PARAMETERS`) and values of a stay's measurements; `severity` is (49,)."""
    share = settings.visits / len(severity)
    visits = random.random(len(severity)) < np.clip(share * (1 + 0.3 * severity), 0.3 * share, 1)
    visits[0] = True
    about = np.array([(measure.normal, measure.effect, measure.stays, measure.noise) for measure in MEASURES.values()])
    normal = about[:, 0] + about[:, 2] * random.standard_normal(len(about))
    values = (
        normal + np.outer(severity, about[:, 1]) + about[:, 3] * random.standard_normal((len(severity), len(about)))
    )
    lows, highs = ([bound.get(name, none) for name in MEASURES] for bound, none in BOUNDS)
    values = np.clip(values, lows, highs)
    shares = [measure.share for measure in MEASURES.values()]
    hours, measures = np.nonzero((random.random(values.shape) < shares) & visits[:, None])
    described = _descriptors(random, severity.mean())
    places = np.array([stay_records.PARAMETERS.index(name) for name in (*described, *MEASURES)])
    at_admission = np.arange(len(described))
    return (
        np.concatenate([np.zeros(len(described)), hours]),
        places[np.concatenate([at_admission, len(described) + measures])],
        np.concatenate([list(described.values()), values[hours, measures].round(2)]),
    )


def _descriptors(random: np.random.Generator, severity: float) -> dict[str, float]:
    """What is known of a patient at admission; -1: not known."""
    known = random.random(2) < (0.5, 0.9)  # height and weight, about as often as in the challenge's records
    height, weight = 170 + 10 * random.standard_normal(), 80 + 15 * random.standard_normal()
    return {
        "Age": float(np.clip(round(64 + 5 * severity + 14 * random.standard_normal()), 16, 90)),
        "Gender": float(random.integers(2)),
        "Height": round(height, 1) if known[0] else -1.0,
        "ICUType": float(random.integers(1, 5)),
        "Weight": round(weight, 1) if known[1] else -1.0,
    }
