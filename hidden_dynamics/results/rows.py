"""Reading the summaries that scripts/summarise.py writes."""

import csv
from pathlib import Path

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check_vouched


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text by column. Raises `UserError` where it is missing, altered or not text."""
    check_vouched(Path(path))
    try:
        with Path(path).open(encoding="utf-8", newline="") as handle:
            return list(csv.DictReader(handle))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not readable ({error}): remove it and run snakemake again.") from None
