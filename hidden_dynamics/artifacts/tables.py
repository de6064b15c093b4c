"""Tables for programs and for people: one CSV, and Markdown, LaTeX and HTML with the title above and notes below."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas

from hidden_dynamics.system.files import atomic

ABSENT = "–"


@dataclass(frozen=True)
class Table:
    """A table to read and the same as data.

    Attributes:
        frame: what a reader sees, cells as text. Columns may have two levels, (group, name); a column that belongs to
            no group has "" as its group, and stands before the grouped ones.
        data: what a program reads, numbers as numbers, one row per record.
    """

    title: str
    notes: list[str]
    frame: pandas.DataFrame
    data: pandas.DataFrame


def write_table(
    frame: pandas.DataFrame, stem: str | Path, title: str, notes: Sequence[str], data: pandas.DataFrame | None = None
) -> list[Path]:
    """Write <stem>.csv, .md, .tex and .html, each whole or not at all.

    Args:
        frame: the table to read (see `Table.frame`); a missing cell is shown as a dash.
        stem: the files' path without their ending.
        data: what the CSV holds; by default the frame.

    Returns:
        The paths written. The .tex file needs the LaTeX package booktabs, and nothing else.
    """
    readable = frame.astype(object).where(frame.notna(), ABSENT).map(str)
    contents = {
        "csv": _csv(frame if data is None else data),
        "md": markdown(readable, title, notes),
        "tex": latex(readable, title, notes),
        "html": html(readable, title, notes),
    }
    stem = Path(stem)
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        with atomic(path) as handle:
            handle.write(content)
    return paths


def markdown(frame: pandas.DataFrame, title: str, notes: Sequence[str]) -> str:
    """GitHub-flavoured Markdown: the title, one table per group of columns, the notes as a list."""
    blocks = [f"### {_markdown_text(title)}"]
    for group, part in _parts(frame):
        if group:
            blocks.append(f"**{_markdown_text(group)}**")
        part = part.map(_markdown_text).rename(columns=_markdown_text)
        blocks.append(part.to_markdown(index=False, disable_numparse=True))
    blocks.append("\n".join(f"- {_markdown_text(note)}" for note in notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def latex(frame: pandas.DataFrame, title: str, notes: Sequence[str]) -> str:
    r"""A `table` environment for \input: the title as its caption, one tabular per group of columns, the notes below.

    It needs booktabs alone, and what is not Latin script is written as commands, so that plain pdflatex compiles it.
    """
    parts = _parts(frame)
    font = r"\scriptsize" if all(sum(_widths(part)) < 120 for _, part in parts) else r"\tiny"
    lines = [
        r"\begin{table}[htbp]",
        rf"\centering{font}\setlength{{\tabcolsep}}{{3pt}}",
        rf"\caption{{{latex_text(title)}}}",
    ]
    for group, part in parts:
        if group:
            lines += ["", rf"\medskip\textbf{{{latex_text(group)}}}", ""]
        lines += [r"\makebox[\textwidth][c]{%", rf"\begin{{tabular}}{{{_latex_columns(part)}}}", r"\toprule"]
        wrapped = [length > _WRAP for length in _lengths(part)]
        lines += [_latex_row(part.columns, wrapped), r"\midrule"]
        lines += [_latex_row(row, wrapped) for row in part.itertuples(index=False)]
        lines += [r"\bottomrule", r"\end{tabular}}"]
    lines += ["", r"\medskip\begin{minipage}{\textwidth}\raggedright"]
    lines += [rf"{latex_text(note)}\par" for note in notes]
    lines += [r"\end{minipage}", r"\end{table}", ""]
    return "\n".join(lines)


def html(frame: pandas.DataFrame, title: str, notes: Sequence[str]) -> str:
    """One page that loads nothing from elsewhere; a table wider than the screen scrolls beside its first column."""
    columns = [column if isinstance(column, tuple) else ("", column) for column in frame.columns]
    spans: list[list[Any]] = []
    for group, _ in columns:
        if spans and spans[-1][0] == group:
            spans[-1][1] += 1
        else:
            spans.append([group, 1])
    return _PAGE.render(
        title=title,
        spans=spans if any(group for group, _ in spans) else [],
        names=[name for _, name in columns],
        rows=list(frame.itertuples(index=False, name=None)),
        notes=notes,
    )


def latex_text(text: str) -> str:
    """`text` as LaTeX shows it literally; a character that pdflatex lacks is given by its code."""
    return "".join(_latex_character(character) for character in " ".join(str(text).split()))


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


def _csv(data: pandas.DataFrame) -> str:
    if isinstance(data.columns, pandas.MultiIndex):
        data = data.set_axis([": ".join(part for part in column if part) for column in data.columns], axis="columns")
    return data.to_csv(index=False, lineterminator="\n")


def _parts(frame: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    """The table of each group: the columns without a group, then the group's own."""
    if not isinstance(frame.columns, pandas.MultiIndex):
        return [("", frame)]
    groups = [group for group in dict.fromkeys(frame.columns.get_level_values(0)) if group]
    parts = []
    for group in groups or [""]:
        chosen = [position for position, column in enumerate(frame.columns) if column[0] in ("", group)]
        part = frame.iloc[:, chosen]
        parts.append((group, part.set_axis(part.columns.get_level_values(1), axis="columns")))
    return parts


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_|<~])", r"\\\1", " ".join(str(text).split()))


_WRAP = 16  # a column with a longer cell is set in two lines, and with one longer than `_LONG`, in three
_LONG = 48


def _lengths(frame: pandas.DataFrame) -> list[int]:
    """Characters in the longest cell of each column, its name included."""
    return [max(len(cell) for cell in [name, *frame.iloc[:, i]]) for i, name in enumerate(frame.columns)]


def _widths(frame: pandas.DataFrame) -> list[int]:
    """Characters in a line of each column."""
    words = [
        max(len(word) for cell in [name, *frame.iloc[:, i]] for word in cell.split() or [""])
        for i, name in enumerate(frame.columns)
    ]
    lengths = zip(_lengths(frame), words, strict=True)
    return [
        length if length <= _WRAP else max(word, math.ceil(length / (2 if length <= _LONG else 3)))
        for length, word in lengths
    ]


def _latex_columns(frame: pandas.DataFrame) -> str:
    pairs = zip(_lengths(frame), _widths(frame), strict=True)
    return "".join("l" if length <= _WRAP else f"p{{{0.55 * width:.1f}em}}" for length, width in pairs)


def _latex_row(cells: Sequence[str], wrapped: Sequence[bool]) -> str:
    texts = [rf"\raggedright {latex_text(c)}" if w else latex_text(c) for c, w in zip(cells, wrapped, strict=True)]
    return " & ".join(texts) + r" \tabularnewline"


def _latex_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii() or (character.isalpha() and character < "\u0180"):
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ of a row, [ and * would be read as its arguments
    "]": "{]}",
    "*": "{*}",
    **{character: "\\" + character for character in "&%$#_{}"},
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "ε": r"$\varepsilon$",
    "μ": r"$\mu$",
    "µ": r"$\mu$",
    "·": r"$\cdot$",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "\u00a0": "~",
}

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
body { font: 16px/1.45 system-ui, sans-serif; color: #1b1f24; background: #fff; margin: 1rem auto; padding: 0 1rem;
  max-width: 90rem; }
h1 { font-size: 1.15rem; max-width: 60rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: left; white-space: nowrap; border-bottom: 1px solid #d8dee4; }
thead th { border-bottom: 2px solid #57606a; vertical-align: bottom; white-space: normal; }
th.group { white-space: normal; border-bottom-width: 1px; border-left: 1px solid #d8dee4; }
th:first-child { position: sticky; left: 0; background: #fff; }
ul { font-size: .875rem; padding-left: 1.2rem; max-width: 60rem; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<div class="scroll">
<table>
<thead>
{% if spans %}
<tr>
{% for group, span in spans %}
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
