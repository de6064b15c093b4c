"""Tables for programs and for people: one CSV, and Markdown, LaTeX and HTML with the title above and notes below."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas

from hidden_dynamics.artifacts.latex import latex
from hidden_dynamics.system.files import atomic

ABSENT = "–"


Column = tuple[str, str] | str


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
    frame: pandas.DataFrame
    data: pandas.DataFrame

    @classmethod
    def of(
        cls,
        title: str,
        notes: list[str],
        rows: Sequence[Mapping[Column, str]],
        records: Sequence[Mapping[str, Any]],
    ) -> "Table":
        """A table of rows of texts by column; a missing cell becomes a dash. A column's name alone is of no group."""
        frame = pandas.DataFrame(rows, dtype=object).fillna(ABSENT)
        frame = frame.set_axis(pandas.MultiIndex.from_tuples(map(_grouped, frame.columns)), axis="columns")
        return cls(title, notes, frame, pandas.DataFrame(records, dtype=object))


def _grouped(column: Column) -> tuple[str, str]:
    return column if isinstance(column, tuple) else ("", column)


def write_table(table: Table, paths: Iterable[str | Path]) -> None:
    """Write a table to files, each whole or not at all, in the form that its ending says: csv, md, tex or html."""
    forms = {".csv": csv, ".md": markdown, ".tex": tex, ".html": html}
    for path in map(Path, paths):
        with atomic(path) as handle:
            handle.write(forms[path.suffix](table))


def csv(table: Table) -> str:
    return table.data.to_csv(index=False, lineterminator="\n")


def markdown(table: Table) -> str:
    """GitHub-flavoured Markdown: the title, one table per group of columns, the notes as a list."""
    blocks = [f"### {_markdown_text(table.title)}"]
    for group, part in _parts(table.frame):
        if group:
            blocks.append(f"**{_markdown_text(group)}**")
        part = part.map(_markdown_text).rename(columns=_markdown_text)
        blocks.append(part.to_markdown(index=False, disable_numparse=True))
    blocks.append("\n".join(f"- {_markdown_text(note)}" for note in table.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def tex(table: Table) -> str:
    return latex(_parts(table.frame), table.title, table.notes)


def html(table: Table) -> str:
    """One page that loads nothing from elsewhere; a table wider than the screen scrolls beside its first column.

    Groups of columns, where there are any, have a line of headings. hidden_dynamics/pages/rendered.py reads it.
    """
    by_group = itertools.groupby(group for group, _ in table.frame.columns)
    groups = [(group, len(list(columns))) for group, columns in by_group]
    return _PAGE.render(
        title=table.title,
        groups=groups if any(group for group, _ in groups) else [],
        names=[name for _, name in table.frame.columns],
        rows=table.frame.to_numpy().tolist(),
        notes=table.notes,
    )


def number(value: float, decimals: int) -> str:
    """A number with a fixed number of decimals, above a million in powers of ten, or a dash where there is none."""
    return ABSENT if pandas.isna(value) else _digits(value, decimals)


def signed(value: float, decimals: int) -> str:
    """As `number`, with its sign; what rounds to nothing has none."""
    if pandas.isna(value):
        return ABSENT
    text = _digits(value, decimals, "+").replace("-", "−")
    return text if float(f"{value:.{decimals}f}") else text[1:]


def _digits(value: float, decimals: int, sign: str = "") -> str:
    return f"{value:{sign}.{decimals}f}" if abs(value) < 1e6 else f"{value:{sign}.2e}"


def _parts(frame: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    """The table of each group: the columns without a group, then the group's own."""
    groups = [group for group in dict.fromkeys(frame.columns.get_level_values(0)) if group]
    parts = []
    for group in groups or [""]:
        part = frame.loc[:, [column[0] in ("", group) for column in frame.columns]]
        parts.append((group, part.set_axis(part.columns.get_level_values(1), axis="columns")))
    return parts


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_|<~])", r"\\\1", " ".join(str(text).split()))


_PAGE = jinja2.Environment(
    autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
).from_string(
    """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
body { font: 16px/1.45 system-ui, sans-serif; margin: 1rem; }
h1, ul { max-width: 60rem; overflow-wrap: anywhere; }
h1 { font-size: 1.15rem; }
div { overflow-x: auto; }
table, ul { font-size: .875rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: left; border-bottom: 1px solid #d8dee4; }
tbody th, td { white-space: nowrap; }
th:first-child { position: sticky; left: 0; background: #fff; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<div>
<table>
<thead>
{% if groups %}
<tr>
{% for group, span in groups %}
{% if group %}
<th class="group" colspan="{{ span }}" scope="colgroup">{{ group }}</th>
{% else %}
<td colspan="{{ span }}"></td>
{% endif %}
{% endfor %}
</tr>
{% endif %}
<tr>
{% for name in names %}
<th scope="col">{{ name }}</th>
{% endfor %}
</tr>
</thead>
<tbody>
{% for row in rows %}
<tr>
<th scope="row">{{ row[0] }}</th>
{% for cell in row[1:] %}
<td>{{ cell }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
<ul>
{% for note in notes %}
<li>{{ note }}</li>
{% endfor %}
</ul>
</body>
</html>
"""
)
