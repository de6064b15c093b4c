"""Tables for programs and for people: as CSV the data; as Markdown, HTML and JSON (for the page) what a reader sees.

pandas is imported where a table is made, because Snakemake's start imports the kinds of tables.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hidden_dynamics.artifacts.notes import READING
from hidden_dynamics.system.files import atomic

if TYPE_CHECKING:
    import pandas

ABSENT = "–"
Column = tuple[str, str] | str
Record = Mapping[str, Any]  # for programs: values by column of the csv
TextRow = Mapping[Any, str]  # by column; of keys that are all text, too, which a Mapping[Column, str] does not take


@dataclass(frozen=True)
class Table:
    """A table to read and the same as data.

    Attributes:
        frame: what a reader sees, every cell as text. Columns are (group, name); one that belongs to no group has "" as
            its group, and stands before the grouped ones.
        data: what a program reads, numbers as numbers, one row per record.
    """

    title: str
    notes: list[str]
    frame: "pandas.DataFrame"
    data: "pandas.DataFrame"

    @classmethod
    def of(
        cls,
        title: str,
        notes: Iterable[str],
        rows: Sequence[TextRow],
        records: Sequence[Mapping[str, object]],
        optional: tuple[str, ...] = (),
    ) -> "Table":
        """A table of rows of texts by column; a missing cell becomes a dash. A column's name alone is of no group.
        `optional`: beginnings of names, in lower case, of columns that are left out where no row says anything."""
        import pandas

        frame = pandas.DataFrame(rows, dtype=object).fillna(ABSENT)
        columns = [column if isinstance(column, tuple) else ("", column) for column in frame.columns]
        frame = frame.set_axis(pandas.MultiIndex.from_tuples(columns), axis="columns")
        says = (frame != ABSENT).any(axis="index").to_numpy()
        kept = [said or not name.lower().startswith(optional) for said, (_, name) in zip(says, columns, strict=True)]
        data = pandas.DataFrame(records, dtype=object)
        return cls(title, list(dict.fromkeys(note for note in (READING, *notes) if note)), frame.loc[:, kept], data)


def write_table(table: Table, paths: Iterable[str | Path]) -> None:
    """Write a table to files, each whole or not at all, in the form that its ending says."""
    forms = {".csv": csv, ".md": markdown, ".html": html, ".json": json_text}
    for path in map(Path, paths):
        with atomic(path) as handle:
            handle.write(forms[path.suffix](table))


def csv(table: Table) -> str:
    return table.data.to_csv(index=False, lineterminator="\n")


def markdown(table: Table) -> str:
    """GitHub-flavoured Markdown: the title, one table per group of columns, the notes as a list."""
    blocks = [f"### {markdown_text(table.title)}"]
    for group, part in _parts(table.frame):
        if group:
            blocks.append(f"**{markdown_text(group)}**")
        part = part.map(markdown_text).rename(columns=markdown_text)
        blocks.append(part.to_markdown(index=False, disable_numparse=True))
    blocks.append("\n".join(f"- {markdown_text(note)}" for note in table.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def html(table: Table) -> str:
    """One page, without a style; groups of columns, where there are any, have a line of headings."""
    frame = table.frame if any(group for group, _ in table.frame.columns) else table.frame.droplevel(0, axis="columns")
    shown = re.sub("<table[^>]*>", "<table>", frame.to_html(index=False, justify="left"), count=1)
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return _PAGE.format(title=escape(table.title), table=shown, notes=notes)


def json_text(table: Table) -> str:
    """What hidden_dynamics.pages.sections shows: the title, columns as (group, name), rows of texts, notes."""
    columns, rows = table.frame.columns.tolist(), table.frame.to_numpy().tolist()
    shown = {"title": table.title, "instead": "", "columns": columns, "rows": rows, "notes": table.notes}
    return json.dumps(shown, ensure_ascii=False, indent=0) + "\n"


def number(value: float | None, decimals: int, sign: Literal["", "+"] = "") -> str:
    """A number with a fixed number of decimals, above a million in powers of ten, or a dash where there is none; with
    "+" for a `sign`, one above 0 has it, too."""
    if value is None or math.isnan(value):
        return ABSENT
    return f"{value:{sign}.{decimals}f}" if abs(value) < 1e6 else f"{value:{sign}.2e}"


def signed(value: float | None, decimals: int) -> str:
    """As `number`, with its sign, a minus as it is printed; what rounds to nothing has none."""
    text = number(value, decimals, "+").replace("-", "−")
    return text if text == ABSENT or float(f"{value:.{decimals}f}") else text[1:]


def _parts(frame: "pandas.DataFrame") -> list[tuple[str, "pandas.DataFrame"]]:
    """The table of each group: the columns without one, then its own, in rows that say anything in these, if any do."""
    groups = [group for group in dict.fromkeys(frame.columns.get_level_values(0)) if group]
    parts = []
    for group in groups or [""]:
        own = frame.columns.get_level_values(0) == group
        without = frame.columns.get_level_values(0) == ""
        part = frame.loc[(frame.loc[:, own] != ABSENT).any(axis="columns"), own | without]
        if len(part) or not group:
            parts.append((group, part.droplevel(0, axis="columns")))
    return parts


def markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_|<~])", r"\\\1", " ".join(str(text).split()))


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<h1>{title}</h1>
{table}
<ul>
{notes}
</ul>
</body>
</html>
"""


def interval_text(low: float, high: float, decimals: int) -> str:
    """An interval, "(−0.12 to +0.34)"; "" where there is none."""
    return "" if math.isnan(low) else f"({signed(low, decimals)} to {signed(high, decimals)})"


def p_text(p: float, adjusted: float = math.nan) -> str:
    """ "p = 0.011", or "p = 0.011 [0.033]" with what it is after an adjustment; "" where there is none."""
    if math.isnan(p):
        return ""
    text, after = ("< 0.0001" if value < 1e-4 else f"= {value:.2g}" for value in (p, adjusted))
    return f"p {text}" if math.isnan(adjusted) else f"p {text} [{after.removeprefix('= ')}]"


def decimals_of(spread: float) -> int:
    """As many decimals as show two digits of a deviation between runs, or of the width of an interval."""
    return min(1 - math.floor(math.log10(spread)), 6) if spread > 0 else 0
