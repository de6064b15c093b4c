"""The page's first screen: what was run on what, and the key figures as small pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.curve_drawings import PanelDrawing
from hidden_dynamics.pages.data_used import stand_ins
from hidden_dynamics.pages.origins import versions_of
from hidden_dynamics.pages.pictures import Picture, thumbnail_of
from hidden_dynamics.pages.sections import Section
from hidden_dynamics.results.rows import Row

WIDTH = 560  # pixels of a small picture: twice what it is shown at


@dataclass(frozen=True)
class Provenance:
    """What was run on what.

    Attributes:
        scale: in words, and what the user changed.
        stand_ins: {title of a stand-in: titles of what it stands in for}.
        tasks, replaced: the number of tasks, and of those that ran on stand-ins.
        runs: the number of runs.
        devices, versions: each that a run was made on, and with.
    """

    scale: list[str]
    stand_ins: Mapping[str, Sequence[str]]
    tasks: int
    replaced: int
    runs: int
    seeds: list[int]
    devices: list[str]
    versions: list[str]


@dataclass(frozen=True)
class KeyFigure:
    """A figure in small: its first panel, or all of it as a picture."""

    section: Section
    panel: PanelDrawing | None
    picture: Picture | None


def provenance_of(configuration: Configuration, runs: Sequence[Row]) -> Provenance:
    """
    Args:
        runs: the summary of all runs.
    """
    return Provenance(
        scale=scale_notes(configuration),
        stand_ins=stand_ins(runs, configuration.title_of),
        tasks=len({run["task"] for run in runs}),
        replaced=len({run["task"] for run in runs if run["stand_in_for"]}),
        runs=len({run["directory"] for run in runs}),
        seeds=sorted({int(run["seed"]) for run in runs}),
        devices=sorted({f"{run['device']}, {run['precision']}" for run in runs}),
        versions=versions_of(runs),
    )


def key_figures(sections: Sequence[Section], root: Path) -> list[KeyFigure]:
    """Of the sections whose artifacts the configuration calls key figures.

    Args:
        root: where the results directory is.
    """
    return [_key_figure(section, root) for section in sections if section.artifact.settings.key_figure]


def _key_figure(section: Section, root: Path) -> KeyFigure:
    if section.curves:
        return KeyFigure(section, section.curves.panels[0], None)
    path = root / section.artifact.configuration.paths.figure(section.name, "png")
    return KeyFigure(section, None, thumbnail_of(path, WIDTH))
