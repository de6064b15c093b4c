"""Stays in intensive care, generated: a latent severity shifts what is measured, and decides who dies.

A stay's severity is standard normal. In some of its hours most parameters are measured: the normal value, the
effect of severity times severity, and noise. Those die whose severity, with a further unknown, is the highest.
"""

from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import stay_records
from hidden_dynamics.data.streams import generator


class Settings(Entry):
    stays: int = Field(200, ge=1)
    deaths: float = Field(0.25, ge=0.01, le=0.99)  # share of the stays
    visits: float = Field(12.0, ge=1, le=1 + stay_records.HOURS)  # hours of the 49 with measurements, on average
    seed: int = Field(0, ge=0)


DESCRIBED = {"Age": (64, 15), "Gender": (0.5, 0.5), "Height": (170, 10), "ICUType": (2.5, 1), "Weight": (80, 15)}
UNKNOWN = {"Height": 0.5, "Weight": 0.1}  # share of the stays in which it is
MEASURES = {  # normal value, and what a unit of severity adds
    **{"HR": (84, 16), "SysABP": (122, -16), "DiasABP": (62, -8), "MAP": (80, -11), "RespRate": (19, 4)},
    **{"Temp": (37, 0.3), "Urine": (110, -35), "GCS": (12, -2.5), "SaO2": (96, -1.5), "Lactate": (2.5, 1.1)},
    **{"pH": (7.38, -0.06), "Creatinine": (1.4, 0.5), "BUN": (27, 9)},
}
NOISE, OTHER = 0.5, 0.5  # standard deviations: of a measurement, in units of severity; of what else decides who dies
SHARE = 0.8  # of the parameters that a visit measures
MORE = 0.3  # by which share of the visits a unit of severity makes them more


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Draw the arrays of `stay_records`.

    Raises:
        UserError: a setting is unknown or out of range.
    """
    chosen = typed(Settings, settings, "intensive_care_stays")
    random, count, hours = generator(chosen.seed, "intensive_care_stays"), chosen.stays, stay_records.HOURS + 1
    severity = random.standard_normal(count)
    risk = severity + OTHER * random.standard_normal(count)
    described = _around(DESCRIBED, random.standard_normal((count, len(DESCRIBED)))).round(1)
    for name, share in UNKNOWN.items():
        described[random.random(count) < share, list(DESCRIBED).index(name)] = -1
    noise = NOISE * random.standard_normal((count, hours, len(MEASURES)))
    values = _around(MEASURES, severity[:, None, None] + noise).round(2)
    more = np.clip(1 + MORE * severity[:, None], MORE, None)  # the sicker are visited more often
    visited = random.random((count, hours)) < more * chosen.visits / hours
    stay, hour, measure = np.nonzero((random.random(values.shape) < SHARE) & visited[..., None])
    admitted = np.arange(count).repeat(len(DESCRIBED))  # the descriptors are known then
    places = np.array([stay_records.PARAMETERS.index(name) for name in (*DESCRIBED, *MEASURES)])
    lines = stay_records.stays(
        1 + np.concatenate([admitted, stay]),
        np.concatenate([np.zeros(len(admitted)), hour]),
        places[np.concatenate([np.tile(np.arange(len(DESCRIBED)), count), len(DESCRIBED) + measure])],
        np.concatenate([described.ravel(), values[stay, hour, measure]]),
    )
    return lines | {"died": risk > np.quantile(risk, 1 - chosen.deaths)}


def _around(parameters: dict[str, tuple[float, float]], deviation: np.ndarray) -> np.ndarray:
    """Values of parameters, (..., parameters), of which each has a centre and a scale; none is below 0."""
    centre, scale = np.array(list(parameters.values())).T
    return np.maximum(centre + scale * deviation, 0)
