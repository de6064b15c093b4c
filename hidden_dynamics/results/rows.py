"""CSV files of our own (runs, costs, features, verdicts): rows of text by column."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import atomic

Row = Mapping[str, str]


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows in one piece; a ValueError where a row has something that is no column, an OSError where the disk is
    full or read-only."""
    with atomic(Path(path)) as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(as_text, rows))


def as_text(row: Mapping[str, object]) -> dict[str, str]:
    """A row as it is read again: None is an empty cell, truth is true or false."""
    texts = {column: "" if value is None else str(value) for column, value in row.items()}
    return {column: text.lower() if isinstance(row[column], bool) else text for column, text in texts.items()}


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a file, every cell as text, nothing as ""; a `UserError` where the file is missing."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", file=path) from None
