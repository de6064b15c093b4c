"""The example of the copying task: input and output as rows of cells (MomentumRNN, Figure 8)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.sheet import page, style
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.data import copying

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL_COLOURS = {"letter": "#cfe2f3", "blank": "#f7f7f7", "start": "#fbd5a5"}
MOST_CELLS = 40  # a longer sequence is drawn with its blanks abbreviated


class Settings(ArtifactSettings):
    task: str


class CopyingExample(Artifact):
    Settings = Settings
    origin = "It is drawn from the generated data itself."

    def shown(self) -> list[Cell]:
        return []

    def tasks(self) -> list[str]:
        return [self.settings.task]


KIND = CopyingExample


def draw(artifact: CopyingExample, sources: Sources) -> "Figure":
    """The paper's example (A = {1, 2, 3, 4}, K = 5, L = 20), and one of the configured data.

    Raises:
        UserError: the task's data are not those of a copying task.
    """
    configuration = artifact.configuration
    task = configuration.tasks[artifact.settings.task]
    letters = copying.prepare(Path(), task.data)["test_letters"][:1]
    small = {"alphabet": 4, "letters": 5, "blanks": 20}
    examples = [
        (f"The paper's example: {settings_of(small)}", np.array([[1, 2, 3, 4, 2]], np.uint8), small),
        (f"{task.title}, here {settings_of(task.data)}", letters, task.data),
    ]
    notes = [
        "Blank: -, start marker: a colon; time runs from left to right, the numbers below are steps. "
        "Above: alphabet, K and L are those of the paper's example, the letters are ours.",
        f"Below: the first test sequence of the data as configured here. {' '.join(scale_notes(configuration))}",
    ]
    with style():
        subtitle = f"scale: {configuration.scale_name}"
        figure, body = page(artifact.settings, subtitle, width=9.6, height=2.9, notes=notes)
        for ax, (heading, word, data) in zip(body.subplots(2, 1), examples, strict=True):
            inputs, targets = copying.sequences(word, data["blanks"], data["alphabet"])
            draw_sequences(ax, inputs[0], targets[0], data)
            ax.set_title(heading, loc="left")
    return figure


def settings_of(data: Mapping[str, int]) -> str:
    size = data["alphabet"]
    alphabet = ", ".join(map(str, range(1, size + 1))) if size <= 4 else f"1, …, {size}"
    return f"alphabet {{{alphabet}}}, K = {data['letters']}, L = {data['blanks']}"


def draw_sequences(ax: "Axes", inputs: NDArray, targets: NDArray, data: Mapping[str, int]) -> None:
    """Input and target as two rows of cells; the blanks in the middle of a long sequence become an ellipsis."""
    word, blanks, start = data["letters"], data["blanks"], data["alphabet"] + 1
    steps = shown_steps(word, blanks)
    for row, (name, sequence) in enumerate((("Input", inputs), ("Output", targets))):
        ax.text(-0.8, -row, name, ha="right", va="center")
        for place, step in enumerate(steps):
            if step is None:
                ax.text(place, -row, "…", ha="center", va="center", gid="ellipsis")
                continue
            kind = {copying.BLANK: "blank", start: "start"}.get(int(sequence[step]), "letter")
            text = {"blank": "-", "start": ":"}.get(kind, str(sequence[step]))
            ax.bar(place, 0.8, 1, -row - 0.4, facecolor=CELL_COLOURS[kind], edgecolor="0.75", linewidth=0.6)
            ax.text(place, -row, text, ha="center", va="center", family="DejaVu Sans Mono", gid=f"{name} {step}")
    for step in dict.fromkeys((0, word - 1, word + blanks, 2 * word + blanks - 1)):
        ax.text(steps.index(step), -1.75, str(step + 1), ha="center", va="center", fontsize=7, color="0.4")
    ax.set(xlim=(-3.2, max(len(steps), 30) - 0.4), ylim=(-2.1, 0.6))
    ax.set_axis_off()


def shown_steps(letters: int, blanks: int) -> list[int | None]:
    """The steps that are drawn: all of a short sequence; a long one keeps three blanks at either end of a None."""
    length = blanks + 2 * letters
    if length <= MOST_CELLS or blanks <= 7:
        return list(range(length))
    return [*range(letters + 3), None, *range(letters + blanks - 3, length)]
