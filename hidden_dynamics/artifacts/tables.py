"""Tables for programs and for people: one CSV, and Markdown, LaTeX and HTML with the title above and notes below."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pandas
from markupsafe import Markup

from hidden_dynamics.artifacts.latex import latex
from hidden_dynamics.system.files import atomic

ABSENT = "–"


Column = tuple[str, str] | str
Link = Callable[["RowKey", str | None], str | None]


class RowKey(NamedTuple):
    """The model and the paper's size of a row to read; it shows them on each task of the table."""

    model: str
    paper_size: int | str | None


@dataclass(frozen=True)
class Table:
    """A table to read and the same as data.

    Attributes:
        frame: what a reader sees, every cell as text. Columns are (group, name); one that belongs to no group has "" as
            its group, and stands before the grouped ones.
        data: what a program reads, numbers as numbers, one row per record.
        rows: what each row of `frame` is of.
        ours: the columns of `frame` that hold numbers made of runs, and the task of these runs.
    """

    title: str
    notes: list[str]
    frame: pandas.DataFrame
    data: pandas.DataFrame
    rows: Sequence[RowKey]
    ours: Mapping[tuple[str, str], str]

    @classmethod
    def of(
        cls,
        title: str,
        notes: list[str],
        rows: Sequence[tuple[RowKey, Mapping[Column, str]]],
        records: Sequence[Mapping[str, Any]],
        ours: Mapping[Column, str] | None = None,
    ) -> "Table":
        """A table of rows of texts by column; a missing cell becomes a dash. A column's name alone is of no group."""
        frame = pandas.DataFrame([texts for _, texts in rows], dtype=object).fillna(ABSENT)
        frame = frame.set_axis(pandas.MultiIndex.from_tuples(map(_grouped, frame.columns)), axis="columns")
        of_runs = {_grouped(column): task for column, task in (ours or {}).items()}
        return cls(title, notes, frame, pandas.DataFrame(records, dtype=object), [key for key, _ in rows], of_runs)


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
    """One page that loads nothing from elsewhere; a table wider than the screen scrolls beside its first column."""
    return _PAGE.render(title=table.title, table=html_table(table), notes=table.notes)


def html_table(table: Table, link: Link | None = None) -> Markup:
    """The `table` element alone, with a line of headings for the groups of columns where there are any.

    Args:
        link: gives the address that a row's first cell leads to, of `(row, None)`, and each of our numbers, of
            `(row, task)`; None where there is none to lead to.
    """
    by_group = itertools.groupby(group for group, _ in table.frame.columns)
    groups = [(group, len(list(columns))) for group, columns in by_group]
    rows = zip(table.rows, table.frame.itertuples(index=False, name=None), strict=True)
    return Markup(
        _TABLE.render(
            groups=groups if any(group for group, _ in groups) else [],
            names=[name for _, name in table.frame.columns],
            rows=[_with_links(table, key, texts, link) for key, texts in rows],
        )
    )


def _with_links(table: Table, key: RowKey, texts: Sequence[str], link: Link | None) -> list[tuple[str, str | None]]:
    """(text, address or None) of each cell of a row."""
    if link is None:
        return [(text, None) for text in texts]
    tasks = [
        table.ours.get(column) if text != ABSENT else None for column, text in zip(table.frame, texts, strict=True)
    ]
    addresses = [link(key, None), *(task and link(key, task) for task in tasks[1:])]
    return list(zip(texts, addresses, strict=True))


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


_TEMPLATES = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
_TABLE = _TEMPLATES.from_string(
    """\
{% macro shown(cell) %}
{% if cell[1] %}<a href="{{ cell[1] }}">{{ cell[0] }}</a>{% else %}{{ cell[0] }}{% endif %}
{% endmacro %}
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
<th scope="row">{{ shown(row[0]) }}</th>
{% for cell in row[1:] %}
<td>{{ shown(cell) }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
"""
)
_PAGE = _TEMPLATES.from_string(
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
{{ table }}
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
