"""CSV files of our own (runs, costs, features, verdicts): rows of text by column."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import atomic

Row = Mapping[str, str]
Typed = TypeVar("Typed", bound=BaseModel)


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows in one piece; a ValueError where a row has something that is no column, an OSError where the disk is
    full or read-only."""
    with atomic(Path(path)) as handle:
        handle.write(csv_text(columns, rows))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """The content of a file of rows; a ValueError as for `write_rows`."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(as_text, rows))
    return buffer.getvalue()


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


def read_typed(path: Path, row: type[Typed]) -> list[Typed]:
    """The rows of a file as objects of a class, an empty cell as None; a `UserError` that names file and line where the
    file is missing or damaged."""
    rows = []
    for number, texts in enumerate(read_rows(path), 2):
        try:
            rows.append(row.model_validate({name: text or None for name, text in texts.items()}))
        except ValidationError as error:
            column = ".".join(map(str, error.errors()[0]["loc"]))
            text = f"{path}, line {number}, {column}: {error.errors()[0]['msg']}: remove it and run snakemake again."
            raise UserError(text, file=path, key=column) from None
    return rows
