"""A table of silhouette scores of image features: ours over seeds beside the published ones."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements.features import COLUMNS
from hidden_dynamics.artifacts.notes import readings_note, scale_notes
from hidden_dynamics.artifacts.feature_notes import (
    WITHOUT,
    check_features,
    clusters_note,
    features_note,
    missing_notes,
    weights_note,
)
from hidden_dynamics.artifacts.row_verdicts import Marks, mark_notes, mark_texts
from hidden_dynamics.papers.published import load_published, ordering, published_task, row_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, number, signed
from hidden_dynamics.results.text_columns import read_text_columns
from hidden_dynamics.configuration.runs import cells_of

DECIMALS = 4  # as printed


def read_features(path: Path) -> list[dict[str, str]]:
    """What scripts/measure_features.py wrote, one row per run, as text by column.

    Raises:
        UserError: the file is missing, is not CSV, or lacks columns or a silhouette.
    """
    remedy = f"there are no features {path}: measure them first, with scripts/measure_features.py."
    rows = read_text_columns(path, COLUMNS, "a measurement of features", remedy).to_dict("records")
    for row in rows:
        if row["status"] not in ("measured", *WITHOUT) or (row["status"] == "measured") != _is_number(
            row["silhouette"]
        ):
            raise UserError(
                f"{path} is not a measurement of features: {row['model']}, seed {row['seed']} has the status "
                f"'{row['status']}' and the silhouette '{row['silhouette']}'."
            )
    return rows


def silhouette_table(
    configuration: Configuration, artifact: str, rows: Sequence[Mapping[str, str]], marks: Marks | None = None
) -> Table:
    """The table of `artifact`: one row per model, the paper's first, then the user's own.

    Args:
        rows: as `read_features` gives them.
        marks: the verdicts on the artifact's claims.

    Raises:
        UserError: they are of another scale, task, size or settings, or lack a run.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    check_features(configuration, artifact, rows)
    data = _collect(configuration, artifact, published, rows)
    if marks is not None:
        data = marks.add(data.assign(metric="silhouette"), _baseline(published)).drop(columns="metric")
    return Table(
        title=f"{entry['title']} ({entry['source']}): {configuration.scale_name} scale{_what_differs(data)}",
        notes=_notes(configuration, entry, published, rows, data),
        frame=_readable(configuration, published, data),
        data=data,
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _baseline(published: Mapping) -> str:
    """The model that the others are held to: the first of the paper's table."""
    return published["rows"][0]["model"]


def _collect(
    configuration: Configuration, artifact: str, published: Mapping, rows: Sequence[Mapping[str, str]]
) -> pandas.DataFrame:
    """One record per model: ours over seeds, what is published, and how both stand to the baseline."""
    entry = configuration.artifacts[artifact]
    same_task = published_task(configuration, entry["task"]) == published["task"]
    records = []
    for _, model, size in cells_of(configuration, artifact):
        theirs = (row_of(published, model, size) if same_task else None) or {}
        records.append(
            {
                "artifact": artifact,
                "scale": configuration.scale_name,
                "task": entry["task"],
                "model": model,
                "label": configuration.models[model]["label"],
                "extra": model not in entry["models"],
                **_ours([row for row in rows if row["model"] == model]),
                "published_mean": theirs.get("mean", math.nan),
                "published_std": theirs.get("std", math.nan),
            }
        )
    return _compared(pandas.DataFrame(records), _baseline(published))


def _ours(rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    values = pandas.Series([float(row["silhouette"]) for row in rows if row["status"] == "measured"], dtype=float)
    same = ("size", "paper_size", "dataset", "dataset_title", "stand_in_for", "settings", "readings")
    return {
        **{column: " | ".join(dict.fromkeys(row[column] for row in rows)) for column in same},
        "images": max((int(row["images"]) for row in rows if row["images"]), default=None),
        "dimensions": max((int(row["dimensions"]) for row in rows if row["dimensions"]), default=None),
        "seeds": " ".join(row["seed"] for row in rows),
        "runs": len(rows),
        "n": len(values),
        **{status.replace(" ", "_"): sum(row["status"] == status for row in rows) for status in WITHOUT},
        "mean": values.mean(),
        "std": values.std(ddof=1),
    }


def _compared(data: pandas.DataFrame, baseline: str) -> pandas.DataFrame:
    """Add the difference, where size and data are the paper's, the gaps to the baseline, and whether their sign is the
    same."""
    papers = (data["stand_in_for"] == "") & (data["size"] == data["paper_size"])
    difference = (data["mean"] - data["published_mean"]).where(papers)
    first = data["model"] == baseline
    gaps = {
        name: (data[column] - data.loc[first, column].iloc[0]).where(~first)
        for name, column in {"gap": "mean", "published_gap": "published_mean"}.items()
    }
    pairs = zip(gaps["gap"], gaps["published_gap"], strict=True)
    return data.assign(difference=difference, **gaps, ordering=[ordering(*pair) for pair in pairs])


def _what_differs(data: pandas.DataFrame) -> str:
    """For a title: what makes the scores incomparable with the paper's."""
    parts = ["stand-in data"] if (data["stand_in_for"] != "").any() else []
    parts += ["other network sizes than the paper's"] if (data["size"] != data["paper_size"]).any() else []
    return f", {', '.join(parts)}: not comparable with the published numbers" if parts else ""


def _readable(configuration: Configuration, published: Mapping, data: pandas.DataFrame) -> pandas.DataFrame:
    baseline = configuration.models[_baseline(published)]["label"]
    rows = [
        {
            "Model": record["label"],
            "N": _size(record),
            "ours": _ours_text(record),
            "published": _value(record["published_mean"], record["published_std"]),
            "difference": signed(record["difference"], DECIMALS),
            f"against {baseline}": _gap_text(record),
            **mark_texts(record, ABSENT),
        }
        for record in data.to_dict("records")
    ]
    return pandas.DataFrame(rows)


def _size(record: Mapping[str, Any]) -> str:
    size, paper_size = record["size"], record["paper_size"]
    return size or ABSENT if size == paper_size or not paper_size else f"{size} (paper: {paper_size})"


def _ours_text(record: Mapping[str, Any]) -> str:
    counts = {status: record[status.replace(" ", "_")] for status in WITHOUT}
    failed = [f"{status} {count} of {record['runs']}" for status, count in counts.items() if count]
    if not record["n"]:
        return "; ".join(failed)
    about = "; ".join([f"n = {record['n']}", *failed])
    return f"{_value(record['mean'], record['std'])} ({about})"


def _value(mean: float, std: float) -> str:
    return ABSENT if math.isnan(mean) else f"{number(mean, DECIMALS)} ± {number(std, DECIMALS)}"


def _gap_text(record: Mapping[str, Any]) -> str:
    if not isinstance(record["ordering"], str):
        return signed(record["gap"], DECIMALS)
    return f"{record['ordering']} {signed(record['gap'], DECIMALS)} ({signed(record['published_gap'], DECIMALS)})"


def _notes(
    configuration: Configuration,
    entry: Mapping,
    published: Mapping,
    rows: Sequence[Mapping[str, str]],
    data: pandas.DataFrame,
) -> list[str]:
    baseline, settings = configuration.models[_baseline(published)]["label"], entry["features"]
    extras = list(data[data["extra"]]["label"])
    lines = [
        *scale_notes(configuration),
        *(_data_note(configuration, row) for row in rows),
        f"Seeds: {', '.join(sorted({row['seed'] for row in rows}, key=int))}. Trained on: "
        f"{'; '.join(sorted({row['device'] for row in rows}))}. Precision: "
        f"{', '.join(sorted({row['precision'] for row in rows}))}.",
        readings_note(json.loads(row["readings"]) for row in rows),
        features_note(settings, rows),
        clusters_note(settings),
        weights_note(rows),
        "Ours: mean ± sample standard deviation (n − 1) over n seeds.",
        *missing_notes(rows),
        f"Against {baseline}: our mean less our {baseline}'s, in brackets the published gap; “holds” says that both "
        "have the same sign. It compares means only: with few seeds, a gap within the standard deviations says little.",
        *mark_notes(data, baseline),
    ]
    if data["difference"].isna().any():
        lines.append("No difference is shown where the data are a stand-in or N is not the paper's.")
    lines += published["notes"]
    return [*dict.fromkeys(lines), *([f"Not in the paper's table: {', '.join(extras)}."] if extras else [])]


def _data_note(configuration: Configuration, row: Mapping[str, str]) -> str:
    if not row["stand_in_for"]:
        return f"Data: {row['dataset_title']}."
    return f"Data: {row['dataset_title']}, standing in for {configuration.title_of(row['stand_in_for'])}."
