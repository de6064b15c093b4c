"""Tables in LaTeX that plain pdflatex compiles, with booktabs and nothing else."""

import math
from collections.abc import Iterable, Sequence

import pandas


def latex(parts: Iterable[tuple[str, pandas.DataFrame]], title: str, notes: Sequence[str]) -> str:
    r"""A `table` environment for \input: the title as its caption, one tabular per part, the notes below.

    Args:
        parts: (heading, frame of texts) of each group of columns.
    """
    parts = list(parts)
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


def latex_text(text: str) -> str:
    """`text` as LaTeX shows it literally; a character that pdflatex lacks is given by its code."""
    return "".join(_latex_character(character) for character in " ".join(str(text).split()))


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
