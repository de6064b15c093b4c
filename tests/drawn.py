"""Figures to look at: artifacts at a scale, and what is drawn and written in a figure."""

import itertools
import json
import re

import numpy as np
from conftest import configuration_of
from made import answer_of, make_run, write_beside
from matplotlib.legend import Legend
from matplotlib.text import Text

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS

# Norms (k, T) of gradients that fall towards the first step and along the training.
FALLING = 0.05 * np.exp(-np.arange(16)[::-1] / 8)[None] * np.exp(-np.arange(30) / 30)[:, None]


def artifact_at(scale: str, name: str, **changes) -> Artifact:
    """An artifact of the shipped configuration, with two seeds and some settings changed."""
    settings = {"scale": scale, "seeds": [0, 1], "overrides": {}} | changes
    return artifact_named(configuration_of(json.dumps(settings)), name)


class FigureRuns:
    """A figure's runs and what is measured for it, as files under a root.

    Args:
        name: of an artifact at a scale, with some settings changed; or the artifact itself.
        about: by (model, seed), keywords of a run, as for `made.make_run`.
        answers: by (model, seed), predictions or gradients other than those that `made` gives.
    """

    def __init__(self, root, name, scale="demo", about=None, answers=None, **settings):
        self.artifact, self.root = name if isinstance(name, Artifact) else artifact_at(scale, name, **settings), root
        by_model, answers, self.answers = about or {}, answers or {}, {}
        recorded = {PREDICTIONS: "predictions", GRADIENTS: "gradients"}.get("".join(self.artifact.run_files))
        metrics = dict.fromkeys(self.artifact.chosen_metrics(), 0.5)
        measured = {"evaluations": [{"iteration": 10, "epoch": 1.0, **metrics}]} if metrics else {}
        for run in self.artifact.runs if self.artifact.summarised else ():
            key = run.model, run.seed
            said = measured | by_model.get(key, {})
            if recorded:
                self.answers[key] = answers.get(key, answer_of(run) if recorded == "predictions" else FALLING)
                said = {recorded: self.answers[key]} | said
            make_run(root, self.artifact.configuration, run, **said)
        write_beside(root, self.artifact)

    def evidence(self):
        return self.artifact.evidence(self.root)

    def draw(self):
        return self.artifact.draw(self.evidence())


def add_model(project, task: str, size: int, **entries) -> None:
    """Give a project a model of the user's own, which is called Mine."""
    mine = {"label": "Mine", "colour": "magenta", "tasks": {task: {"sizes": [size]}}} | entries
    project.write("config/models.yaml", project.read("config/models.yaml") | {"mine": mine})


def cells(table, label, group="", size=""):
    """A row's cells by their names: those in a group of columns, the first without another, and those in none."""
    group = group or next((name for name, _ in table.frame if name), "")
    frame = table.frame[[column for column in table.frame if column[0] in ("", group)]].droplevel(0, axis="columns")
    (row,) = [row for row in frame.to_dict("records") if row["Model"] == label and size in ("", row.get("N"))]
    return row


def panels_of(figure):
    return [ax for ax in figure.axes if ax.axison]


def with_gid(artist, gid):
    """What is drawn under names that begin so."""
    return [found for found in artist.findobj() if (found.get_gid() or "").startswith(gid)]


def line(ax, gid):
    """Where the points of the only line of this name are: x, y."""
    (found,) = with_gid(ax, gid)
    return found.get_xdata(), found.get_ydata()


def words(figure):
    """Everything the figure, or a part of it, and its notes say, in one line."""
    texts = figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_visible())
    return " ".join(" ".join([*(text.get_text() for text in texts), *getattr(figure, "notes", ())]).split())


def face(figure):
    """What a figure and its notes say, but for numbers such as those of its axes: a text a line.

    For tests/approved/.
    """
    texts = [" ".join(text.get_text().split()) for text in figure.findobj(Text) if text.get_visible()]
    return "\n".join(text for text in [*texts, *figure.notes] if re.match(r"[^$]*[A-Za-z]", text))


def legend(figure):
    """What the legend's entries say."""
    return [text.get_text() for box in figure.findobj(Legend) for text in box.texts]


def texts_of(figure):
    """(name, bounding box in pixels) of each piece of text and of each panel."""
    figure.draw_without_rendering()
    boxes = [(gid, with_gid(figure, gid)[0].get_window_extent()) for gid in ("title", "subtitle")]
    boxes += [("legend", box.get_window_extent()) for box in figure.findobj(Legend)]
    for number, ax in enumerate(panels_of(figure)):
        parts = {"title": ax.title, "x label": ax.xaxis.label, "y label": ax.yaxis.label, "panel": ax}
        boxes += [(f"{name} {number}", part.get_window_extent()) for name, part in parts.items()]
        tick_labels = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_visible()]
        boxes += [
            (f"x tick {number}", box)
            for box in tick_labels
            if box.width and ax.bbox.x0 <= (box.x0 + box.x1) / 2 <= ax.bbox.x1  # others are not drawn
        ]
    return [(name, box) for name, box in boxes if box.width]


def assert_nothing_overlaps(figure):
    boxes, page = texts_of(figure), figure.bbox
    for name, box in boxes:
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert inside, f"{name} leaves the page"
    for (name, box), (other, other_box) in itertools.combinations(boxes, 2):
        assert not box.fully_overlaps(other_box), f"{name} and {other} overlap"
