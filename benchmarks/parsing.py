"""Time from raw files to arrays of PhysioNet 2012 (set A) and Human Activity, in bulk and line by line.

    python benchmarks/parsing.py --mirror DIRECTORY [--rounds 3] [--output FILE]

The files are brought from a mirror and verified; only reading them is timed. In bulk is what prepares the data. Line by
line is a loop over the same lines that collects the same rows, as one would write it first, and stops short of what
is checked. Seconds are CPU time of this process, which has one thread, so other work on the machine tells little.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from shared import CLOCKS, machine, median_with_range, write  # noqa: E402

from hidden_dynamics.configuration import load_datasets  # noqa: E402
from hidden_dynamics.data import archives, human_activity, physionet2012  # noqa: E402
from hidden_dynamics.data.fetch import fetch  # noqa: E402
from hidden_dynamics.data.stay_records import MEMBERS, PARAMETERS, QUANTUM  # noqa: E402
from hidden_dynamics.data.tag_reports import AXES, TAGS  # noqa: E402
from hidden_dynamics.measurements.interleaved import interleaved, ratios_within_rounds  # noqa: E402

BULK, LINES = "in bulk", "line by line"


def stays_by_line(raw: Path) -> np.ndarray:
    """The values of set A's rows, (rows, 41); of what is measured twice, the last."""
    places, rows = {name: place for place, name in enumerate(PARAMETERS)}, []
    for _, content in archives.members(raw / "set-a.tar", MEMBERS):
        before = None
        for line in content.decode().splitlines()[1:]:
            time, parameter, value = line.split(",")
            tick = round((int(time[:2]) + int(time[3:]) / 60) / QUANTUM)
            if tick != before:
                rows.append(np.zeros(len(PARAMETERS), np.float32))
                before = tick
            if parameter != "RecordID":
                rows[-1][places[parameter]] = float(value)
    return np.stack(rows)


def reports_by_line(raw: Path) -> np.ndarray:
    """The values of the rows of Human Activity, (rows, 12); of what a tag reports twice, the last."""
    places, rows = {name: place for place, name in enumerate(TAGS)}, []
    start, before = 0.0, ("", 0)
    for line in (raw / human_activity.FILE).read_text().splitlines():
        sequence, tag, stamp, _, *place, _ = line.split(",")
        start = start if sequence == before[0] else float(stamp)
        here = sequence, round((float(stamp) - start) / 1e5)
        if here != before:
            rows.append(np.zeros((len(TAGS), len(AXES)), np.float32))
            before = here
        rows[-1][places[tag]] = [float(axis) for axis in place]
    return np.stack(rows).reshape(len(rows), -1)


WAYS = {
    "physionet2012": {BULK: lambda raw: physionet2012.prepare(raw, {})["values"], LINES: stays_by_line},
    "human_activity": {BULK: lambda raw: human_activity.prepare(raw, {})["values"], LINES: reports_by_line},
}


def main() -> None:
    options = parse_arguments()
    rows = [row for name in WAYS for row in measure(name, options)]
    write(rows, options.output)
    print(f"{rows[0]['device']}, {rows[0]['date']}")
    for row in rows:
        print(f"{row['dataset']:15} {row['way']:12} {row['seconds']:7.2f} s  {row['times_faster']:.1f} times faster")


def measure(name: str, options: argparse.Namespace) -> list[dict]:
    dataset = load_datasets()[name]
    with tempfile.TemporaryDirectory() as directory:
        raw = Path(directory)
        for file, about in dataset.files.items():
            fetch(dataset.folder or name, file, about, raw / file, options.mirror)
        bulk, lines = (way(raw).shape for way in WAYS[name].values())
        if bulk != lines:
            raise SystemExit(f"{name}: {bulk} in bulk, {lines} line by line")
        actions = {way: lambda read=read: read(raw) for way, read in WAYS[name].items()}
        rounds = interleaved(actions, options.rounds, CLOCKS["cpu"])
    faster = median_with_range(ratios_within_rounds(rounds, LINES, BULK))
    return [
        {
            "dataset": name,
            "way": way,
            "seconds": round(median(times[way] for times in rounds), 3),
            "times_faster": round(faster.median, 2) if way == BULK else 1.0,
            "lowest": round(faster.low, 2) if way == BULK else 1.0,
            "highest": round(faster.high, 2) if way == BULK else 1.0,
            "rows": bulk[0],
            "rounds": options.rounds,
            "clock": "cpu",
            **machine(options),
        }
        for way in WAYS[name]
    ]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, required=True, help="directory laid out <dataset>/<file>")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds, after two that are not (default: 3)")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/parsing-cpu.csv")
    parser.set_defaults(device="cpu", threads=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
