"""Compare two results directories of one scale: whether runs, tables and verdicts have the same numbers.

    python tools/compare_results.py old/results/demo results/demo

Runs are compared where their specifications agree (of a class its name counts, not its module): metrics.csv byte for
byte. Tables are compared cell by cell in the columns that both have, and so are verdicts, first and second, by the ids
of their claims, but for what a clock measured. Ends with exit code 1 where anything differs.
"""

import argparse
import csv
import json
import sys
from pathlib import Path

CLASSES = ("network", "core", "task_class")
# What the machine's clock and memory say differs from one time to the next.
MEASURED = {
    *("value", "ratio", "ratio_low", "ratio_high", "processor", "torch", "date", "comparison"),
    *("clock_minutes", "computed_minutes", "clock_minutes_ratio", "computed_minutes_ratio"),
}
MEASURED_METRICS = ("time_to_accuracy", "training_time", "evaluation_time", "training_memory", "evaluation_memory")
VERDICT = ("verdict", "here", "estimate", "low", "high", "p", "p_adjusted", "effect", "published", "statement")


def main() -> None:
    arguments = parse_arguments()
    differing = 0
    for compare in (compare_runs, compare_tables, compare_verdicts):
        heading, differences = compare(arguments.old, arguments.new)
        print(heading)
        for difference in differences:
            print(f"  {difference}")
        differing += len(differences)
    sys.exit(1 if differing else 0)


def compare_runs(old: Path, new: Path) -> tuple[str, list[str]]:
    names = _both(old, new, "runs/*/*/*/run.json")
    changed = [name for name in names if _specification(old / name) != _specification(new / name)]
    same = [name for name in names if name not in changed]
    differing = [name for name in same if not _same_bytes(old, new, Path(name).with_name("metrics.csv"))]
    heading = (
        f"Runs: {len(names)} in both, {len(changed)} specified otherwise; metrics.csv is byte-identical in "
        f"{len(same) - len(differing)} of the {len(same)}."
    )
    return heading, [*(f"{name}: metrics.csv" for name in differing), *_missing(old, new, "runs/*/*/*/run.json")]


def compare_tables(old: Path, new: Path) -> tuple[str, list[str]]:
    names, cells, differences = _both(old, new, "tables/*.csv"), 0, _missing(old, new, "tables/*.csv")
    for name in names:
        before, after = _rows(old / name), _rows(new / name)
        if len(before) != len(after):
            differences.append(f"{name}: {len(before)} rows, now {len(after)}")
        for number, (one, other) in enumerate(zip(before, after, strict=False), start=1):
            common = [column for column in one if column in other and column not in MEASURED]
            cells += len(common)
            changed = [column for column in common if not _same(one[column], other[column])]
            differences += [f"{name}, row {number}: {key}: {one[key]} → {other[key]}" for key in changed]
    return f"Tables: {len(names)} in both, {cells} cells compared.", differences


def compare_verdicts(old: Path, new: Path) -> tuple[str, list[str]]:
    before, after = ({row["id"]: row for row in _rows(place / "claims.csv")} for place in (old, new))
    differences = [f"claim {name} is only in one of them" for name in sorted(set(before) ^ set(after))]
    compared = [name for name in before if name in after and before[name]["metric"] not in MEASURED_METRICS]
    for name in compared:
        one, other = before[name], after[name]
        common = [column for column in VERDICT if column in one and column in other]
        changed = [column for column in common if not _same(one[column], other[column])]
        differences += [f"claim {name}: {column}: {one[column]} → {other[column]}" for column in changed]
    return f"Claims: {len(before)} and {len(after)}, {len(compared)} compared.", differences


def _specification(path: Path) -> str:
    specification = json.loads(path.read_text(encoding="utf-8"))["spec"]
    names = {part: (specification[part] or "").rpartition(".")[2] for part in CLASSES}
    return json.dumps(specification | names, sort_keys=True)


def _same_bytes(old: Path, new: Path, name: Path) -> bool:
    return (old / name).read_bytes() == (new / name).read_bytes()


def _same(one: str, other: str) -> bool:
    """True where two cells agree, as text or as numbers."""
    try:
        return one == other or float(one) == float(other)
    except ValueError:
        return False


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _found(place: Path, pattern: str) -> set[str]:
    return {str(path.relative_to(place)) for path in place.glob(pattern)}


def _both(old: Path, new: Path, pattern: str) -> list[str]:
    return sorted(_found(old, pattern) & _found(new, pattern))


def _missing(old: Path, new: Path, pattern: str) -> list[str]:
    return [f"{name} is only in one of them" for name in sorted(_found(old, pattern) ^ _found(new, pattern))]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="results of a scale, such as results/demo")
    parser.add_argument("new", type=Path, help="the same, made by other code")
    return parser.parse_args()


if __name__ == "__main__":
    main()
