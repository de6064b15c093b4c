"""CSV files that the scripts write for the tables, read as text."""

from collections.abc import Iterable
from pathlib import Path

import pandas

from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check_vouched


def read_text_columns(path: str | Path, columns: Iterable[str], kind: str, remedy: str) -> pandas.DataFrame:
    """The rows of a CSV file, every cell as text, nothing as "".

    Args:
        columns: those that must be there.
        kind: what the file is to be, for messages: "a summary of runs".
        remedy: the message where there is no such file.

    Raises:
        UserError: the file is missing, was altered since it was written, is not CSV or lacks columns.
    """
    check_vouched(Path(path))
    try:
        content = pandas.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(remedy) from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not {kind}: {error}") from None
    missing = [column for column in columns if column not in content]
    if missing:
        raise UserError(f"{path} is not {kind}: it lacks the columns {', '.join(missing)}.")
    return content
