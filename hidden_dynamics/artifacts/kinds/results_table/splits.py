"""What a table says of the examples that its runs are trained, validated and tested on, and how seeds share them."""

import json
from collections.abc import Mapping, Sequence

from hidden_dynamics.artifacts.notes import effects_taken
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.data.folds import PARTS, folds, overlap
from hidden_dynamics.results.departures import listed

Rows = Sequence[Mapping[str, str]]


def splits_notes(configuration: Configuration, summary: Rows) -> list[str]:
    """For each task whose runs recorded their split: the sizes and, where seeds are random splits, their overlap."""
    recorded = [row for row in summary if row["split"]]
    tasks = dict.fromkeys(row["task"] for row in recorded)
    return [_note(configuration, [row for row in recorded if row["task"] == task]) for task in tasks]


def _note(configuration: Configuration, runs: Rows) -> str:
    splits = {int(row["seed"]): json.loads(row["split"]) for row in runs}
    said = _sizes(list(splits.values()))
    title, drawn = runs[0]["task_title"], [effect for effect in effects_taken(configuration, runs) if effect.resampled]
    if not drawn:
        return f"{title}: every seed {said}, the same."
    if any(effect.settings.get("resampled") for effect in drawn):
        return (
            f"{title}: every seed {said}. The split is one and the same, and each seed draws its training and its test "
            "series from those of the split, with replacement: an example may be there several times. So ± is over "
            "overlapping data, and the tests of claims are corrected for it."
        )
    return f"{title}: seeds are random splits, each of which {said}. {_shared(splits)}".rstrip()


def _sizes(splits: Sequence[Mapping[str, int]]) -> str:
    """What a seed does with how many series; where none are held out, it validates on none."""
    does = {"train": "trains", "validation": "validates", "test": "tests"}
    parts = [part for part in PARTS if all(part in split for split in splits)]
    texts = [f"{does[part]} on {_range([split[part] for split in splits])}" for part in parts]
    return f"{listed(texts)} of {splits[0]['series']:,} series"


def _shared(splits: Mapping[int, Mapping[str, int]]) -> str:
    """How random splits of series_folds overlap; nothing of one seed."""
    if len(splits) < 2:
        return ""
    return (
        f"They are drawn as De Brouwer et al. draw their five, and are no folds that take turns: they overlap"
        f"{_counts(splits)}. So ± is over overlapping data, and the tests of claims are corrected for it."
    )


def _counts(splits: Mapping[int, Mapping[str, int]]) -> str:
    """What the test sets share; nothing where positions were taken for ids, so that a part is not what was drawn."""
    count = next(iter(splits.values()))["series"]
    drawn = folds(count, max(splits) + 1)
    used = [drawn[seed] for seed in splits]
    sizes = [[split[part] for part in PARTS] for split in splits.values()]
    if sizes != [list(map(len, fold)) for fold in used]:
        return ""
    found = overlap(used, count)
    return (
        f" (the {len(used)} test sets have {found.tested:,} of the {found.of:,} series, any two of them share "
        f"{_range([found.least, found.most])})"
    )


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
