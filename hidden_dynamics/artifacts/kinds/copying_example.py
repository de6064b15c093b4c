"""The example of the copying task: input and output as rows of cells (MomentumRNN, Figure 8)."""

import numpy as np

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.data import copying
from hidden_dynamics.results.evidence import Evidence

WORD, ALPHABET, BLANKS = [1, 2, 3, 4, 2], 4, 20
MARKS = {copying.BLANK: ("-", "#f7f7f7"), ALPHABET + 1: (":", "#fbd5a5")}  # text and colour; all others are letters
NOTE = (
    "Blank: -, start marker: a colon; time runs from left to right, the numbers below are steps. Alphabet, K and L are "
    "those of the paper's example, the letters are ours."
)


class CopyingExample(Artifact):
    origin = "It is drawn from the generated data itself."


def draw(artifact: CopyingExample, evidence: Evidence) -> "sheet.Page":
    """The paper's example: A = {1, 2, 3, 4}, K = 5, L = 20, as two rows of cells, input and target."""
    subtitle = f"alphabet {{1, 2, 3, 4}}, K = {len(WORD)}, L = {BLANKS}"
    (inputs,), (targets,) = copying.sequences(np.array([WORD], np.uint8), BLANKS, ALPHABET)
    symbols = enumerate(zip(inputs, targets, strict=True), 1)
    data = [{"step": step, "input": given, "output": answer} for step, (given, answer) in symbols]
    figure, body = sheet.page(artifact.settings, subtitle, width=9.6, height=1.4, notes=[NOTE], data=data)
    ax = body.subplots()
    for row, (name, sequence) in enumerate((("Input", inputs), ("Output", targets))):
        ax.text(-0.8, -row, name, ha="right", va="center")
        for step, symbol in enumerate(map(int, sequence)):
            text, colour = MARKS.get(symbol, (str(symbol), "#cfe2f3"))
            ax.bar(step, 0.8, 1, -row - 0.4, facecolor=colour, edgecolor="0.75", linewidth=0.6)
            ax.text(step, -row, text, ha="center", va="center", family="DejaVu Sans Mono", gid=f"{name} {step}")
    for step in (0, len(WORD) - 1, len(WORD) + BLANKS, len(inputs) - 1):
        ax.text(step, -1.75, str(step + 1), ha="center", va="center", fontsize=7, color="0.4")
    ax.set(xlim=(-3.2, len(inputs) - 0.4), ylim=(-2.1, 0.6))
    ax.set_axis_off()
    return figure
