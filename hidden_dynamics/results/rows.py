"""CSV files of our own (summaries, curves, costs, features, verdicts): rows of text by column."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check_vouched, vouched

Row = Mapping[str, str]


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows in one piece, with the file's digest beside it. None is an empty cell, truth is true or false.

    Raises:
        ValueError: a row has something that is no column.
        OSError: the disk is full or read-only.
    """
    with vouched(Path(path)) as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({column: _cell(value) for column, value in row.items()})


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def read_rows(path: str | Path, columns: Iterable[str] = ()) -> list[dict[str, str]]:
    """The rows of a file, every cell as text, nothing as "".

    Args:
        columns: those that must be there.

    Raises:
        UserError: the file is missing, was altered since it was written, is not CSV or lacks columns.
    """
    path = Path(path)
    check_vouched(path)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle, strict=True)
            rows, found = list(reader), reader.fieldnames or []
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again, which makes it.", file=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise _not_readable(path, str(error)) from None
    lacking = [column for column in columns if column not in found]
    if lacking or not found:
        raise _not_readable(path, f"it lacks the columns {', '.join(lacking)}" if lacking else "it is empty")
    if any(None in row or None in row.values() for row in rows):
        raise _not_readable(path, f"a line does not have {len(found)} cells")
    return rows


def _not_readable(path: Path, why: str) -> UserError:
    return UserError(f"{path} is not readable ({why}): remove it and run snakemake again, which makes it anew.", path)
