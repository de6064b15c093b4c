"""USHCN made anew from the reports of its stations: the way from NOAA's files to the series of GRU-ODE-Bayes.

The steps are those that De Brouwer et al. describe and script (NeurIPS 2019), each a setting. They read the files of
the U.S. Historical Climatology Network that CDIAC kept, whose host is retired; the same stations' reports are in NOAA's
GHCN-Daily (`ghcnd_hcn.tar.gz`). That has metric units, which a standardised value does not show, and is revised
daily. Their draw had no seed. So this makes another sample of the same weather.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hidden_dynamics.data import ghcn_daily, sporadic, ushcn
from hidden_dynamics.data.settings import with_defaults, within
from hidden_dynamics.data.streams import generator
from hidden_dynamics.errors import UserError

DEFAULTS: dict[str, Any] = {
    "elements": list(ushcn.ELEMENTS),  # the features, in this order
    "flags": "DGIKLMNORSTWXZ",  # quality flags of reports that are left out
    "before": 1970,  # stations whose first year is before this,
    "after": 2001,  # and whose last year after that
    "years": [1950, 2000],  # the first and the last of those used
    "share": 0.05,  # of the reports of a station and element
    "seed": 0,  # of the draw
    "end": 2500.0,  # the time of the last day of these years; that of the first is 0
    "start": 2300.0,  # from this time on; it becomes 0
    "until": 150.0,  # and of the stations with
    "least": 4,  # so many times or more after that
}
NETWORK = 1218  # stations


class Sample(NamedTuple):
    """The reports drawn, one entry each: arrays (reports,).

    Attributes:
        station: places in the list of stations in the order of their names, int64.
        element: places in the list of elements, int64.
        day: days since the first of the years used, int64.
        value: float64.
    """

    station: np.ndarray
    element: np.ndarray
    day: np.ndarray
    value: np.ndarray


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Make the series of the stations whose files are in the directory `raw`.

    Args:
        raw: the directory of ghcnd_hcn.tar.gz, or of its station files (*.dly).
        settings: `DEFAULTS`, changed.

    Returns:
        The arrays of `sporadic`. A series' id is its station's place among those of the sample, so ids have gaps where
        a station has too few times in the end.

    Raises:
        UserError: a setting is unknown or out of range; a file is not what it must be; or no series is left.
    """
    chosen = _checked(settings)
    return series(draw(Path(raw), chosen), chosen)


def stand_in(settings: dict) -> dict[str, np.ndarray]:
    """Random arrays of the names and types that `prepare` gives, and of about their shapes."""
    chosen = _checked(settings)
    end, times = chosen["end"] - chosen["start"], _last_day(chosen) + 1
    # A station reports four of the five elements on a day; two of them drawn on one day share a row.
    rows = round(times * end / chosen["end"] * 0.86 * min(1, len(chosen["elements"]) * chosen["share"]))
    return sporadic.stand_in(ushcn.SERIES, ushcn.SERIES * max(rows, 1), len(chosen["elements"]), end)


def draw(raw: Path, settings: dict[str, Any]) -> Sample:
    """The share of good reports of each station and element, in the years used, of the stations that qualify.

    Every station and element has a stream of random numbers of its own: the draw depends on no other station.
    """
    first, last = settings["years"]
    drawn: dict[str, list[np.ndarray]] = {}
    for name, content in ghcn_daily.station_files(raw):
        reports = ghcn_daily.read(content, name, settings["elements"], settings["flags"])
        years = reports.date.astype("datetime64[Y]").astype(np.int64) + 1970
        if not len(years) or years.max() <= settings["after"] or years.min() >= settings["before"]:
            continue
        station, within_years = Path(name).stem, (years >= first) & (years <= last)
        if station in drawn:
            raise UserError(f"{name}: a second file of this station", file=name)
        places = [
            _share(np.flatnonzero(within_years & (reports.element == place)), station, element, settings)
            for place, element in enumerate(settings["elements"])
        ]
        taken = np.concatenate(places)
        day = (reports.date[taken] - np.datetime64(f"{first:04d}-01-01")).astype(np.int64)
        if len(taken):
            drawn[station] = [reports.element[taken], day, reports.value[taken]]
    if not drawn:
        raise UserError(
            f"{raw}: expected stations with reports before {settings['before']} and after "
            f"{settings['after']}, found none",
            file=raw,
        )
    parts = [drawn[station] for station in sorted(drawn)]
    station = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    element, day, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Sample(station, element, day, value.astype(np.float64))


def series(sample: Sample, settings: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of `sporadic` of a sample: values standardised, days as times, the last part of it."""
    values = sample.value.copy()
    for place, element in enumerate(settings["elements"]):
        of_element = sample.element == place
        values[of_element] = _standardised(values[of_element], element)
    times = np.round(settings["end"] * sample.day / _last_day(settings), sporadic.DECIMALS)
    # On a time that two days share, the later report counts.
    order = np.lexsort((sample.day, times, sample.station))
    used = order[times[order] >= settings["start"]]
    times = np.round(times[used] - settings["start"], sporadic.DECIMALS)
    arrays = _arrays(sample.station[used], times, sample.element[used], values[used], len(settings["elements"]))
    late = np.bincount(np.repeat(arrays["ids"], arrays["lengths"])[arrays["times"] > settings["until"]])
    enough = np.isin(arrays["ids"], np.flatnonzero(late >= settings["least"]))
    if not enough.any():
        raise UserError(
            f"ushcn_stations: no station has {settings['least']} times after {settings['until']:g}; expected a larger "
            "share of the reports, or more stations",
            key="least",
        )
    return sporadic.selected(arrays, np.flatnonzero(enough))


def _arrays(
    station: np.ndarray, times: np.ndarray, element: np.ndarray, value: np.ndarray, features: int
) -> dict[str, np.ndarray]:
    """The arrays of `sporadic` of reports that stand in the order of stations and times: arrays (reports,)."""
    first = np.ones(len(times), bool)  # of its station and time
    first[1:] = (np.diff(station) != 0) | (np.diff(times) != 0)
    row = np.cumsum(first) - 1
    values = np.zeros((int(first.sum()), features), np.float32)
    mask = np.zeros(values.shape, bool)
    values[row, element], mask[row, element] = value, True
    ids, lengths = np.unique(station[first], return_counts=True)
    return {
        "times": times[first].astype(np.float32),
        "values": values,
        "mask": mask,
        "lengths": lengths.astype(np.int64),
        "ids": ids,
    }


def _share(places: np.ndarray, station: str, element: str, settings: dict[str, Any]) -> np.ndarray:
    """A share of these places, rounded to a whole number of them."""
    random = generator(settings["seed"], "ushcn_stations", station, element)
    return np.sort(random.choice(places, round(settings["share"] * len(places)), replace=False))


def _standardised(values: np.ndarray, element: str) -> np.ndarray:
    """Mean 0 and (n - 1) standard deviation 1."""
    if len(values) < 2 or values.std() == 0:
        raise UserError(
            f"ushcn_stations: the sample has {len(values)} reports of {element}, which do not differ: expected another "
            "element, or a larger share",
            key="elements",
        )
    return (values - values.mean()) / values.std(ddof=1)


def _last_day(settings: dict[str, Any]) -> int:
    """Days from the first day of the years used to the last: 18,627 from 1950 to 2000."""
    first, last = settings["years"]
    return int((np.datetime64(f"{last + 1:04d}-01-01") - np.datetime64(f"{first:04d}-01-01")).astype(int)) - 1


def _checked(settings: dict) -> dict[str, Any]:
    chosen = with_defaults("ushcn_stations", settings, DEFAULTS)
    for name, least, most in (("share", 0, 1), ("end", 1, np.inf), ("start", 0, chosen["end"]), ("least", 1, np.inf)):
        within("ushcn_stations", chosen, name, least, most)
    within("ushcn_stations", chosen, "years", 1, 9998)
    within("ushcn_stations", chosen, "until", 0)
    within("ushcn_stations", chosen, "seed", 0)
    if len(chosen["years"]) != 2 or chosen["years"][0] > chosen["years"][1]:
        raise UserError(
            f"ushcn_stations: the setting 'years' must be the first and the last, found {chosen['years']}", key="years"
        )
    if len(set(chosen["elements"])) < len(chosen["elements"]):
        raise UserError(f"ushcn_stations: elements must differ, found {chosen['elements']}", key="elements")
    return chosen
