"""The notes below a table of hyperparameters: details, departures, and values that are not published."""

from collections.abc import Iterable, Mapping, Sequence

from hidden_dynamics.artifacts.kinds.hyperparameter_table import HyperparameterTable
from hidden_dynamics.artifacts.kinds.hyperparameter_table.cells import (
    COLUMNS,
    DETAIL,
    DETAILS,
    MISSING,
    Cell,
    Row,
    text_of,
    title_of,
)
from hidden_dynamics.artifacts.notes import readings_note, scale_notes


def notes(artifact: HyperparameterTable, rows: Sequence[Row]) -> list[str]:
    configuration, published = artifact.configuration, artifact.published
    count = sum(cell.differs for row in rows for cell in row.cells.values())
    lines = [
        *scale_notes(configuration),
        f"Seeds: {', '.join(map(str, configuration.seeds))}. Device: {configuration.settings.device}. "
        f"Precision: {configuration.settings.precision}. This table is made from the configuration, not from runs.",
        *_details(rows),
        readings_note((row.task_title, row.run.spec["readings"]) for row in rows),
        f"{count} values differ from the published ones, which stand beside them."
        if count
        else "No value differs from a published one.",
    ]
    if any(isinstance(row.cells["iterations_per_epoch"].value, int) for row in rows):
        lines.append(
            "The paper counts epochs of generated data without saying how many iterations one has; it is our choice."
        )
    lines += _by_scripts(rows)
    unstated = _unstated(rows)
    if unstated:
        lines.append(f"Not stated in the paper for some or all rows, and not compared there: {', '.join(unstated)}.")
    fixed = published.by_definition.items()
    defined = [f"{COLUMNS[name]} = {text_of(value)} by definition of the cell." for name, value in fixed]
    return [*lines, *defined, *published.notes, *_not_configured(artifact, rows), *_not_published(rows)]


def _details(rows: Sequence[Row]) -> list[str]:
    """The settings that the columns leave out, in words, once for all models that share them."""
    texts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        cells = {name.removeprefix(DETAIL): cell for name, cell in row.cells.items() if name.startswith(DETAIL)}
        if cells:
            texts.setdefault((row.task_title, _details_text(cells)), []).append(row.label)
    titles = [title for title, _ in texts]
    return [
        f"{title if titles.count(title) == 1 else ', '.join([title, *dict.fromkeys(labels)])}: {text}."
        for (title, text), labels in texts.items()
    ]


def _details_text(cells: Mapping[str, Cell]) -> str:
    """For instance "embedding 32 (published 400); dropout: input 0.4, layer 0.25"."""
    groups: dict[str, list[str]] = {}
    for name, cell in cells.items():
        group, dot, key = name.partition(".")
        title = DETAILS[group] + (":" if dot else "")
        groups.setdefault(title, []).append(f"{key.replace('_', ' ')} {cell.text}".strip())
    return "; ".join(f"{title} {', '.join(parts)}" for title, parts in groups.items())


def _unstated(rows: Sequence[Row]) -> list[str]:
    """The configured values that are not published, in the order of the table."""
    cells = [pair for row in rows for pair in row.cells.items()]
    alone = [(name, cell) for name, cell in cells if (cell.published, cell.released) == (MISSING, MISSING)]
    return list(dict.fromkeys(title_of(name) for name, cell in alone if cell.value is not MISSING))


def _by_scripts(rows: Sequence[Row]) -> list[str]:
    """What is taken from the authors' scripts because the text does not say it, and where ours is not theirs."""
    cells = [(row.label, title_of(name), cell) for row in rows for name, cell in row.cells.items()]
    cells = [(label, title, cell) for label, title, cell in cells if cell.released is not MISSING]
    as_theirs = [at for *at, cell in cells if not cell.differs_from_released and cell.published is MISSING]
    otherwise = [at for *at, cell in cells if cell.differs_from_released]
    notes = {
        "As the authors' scripts have it, where the text does not say": as_theirs,
        "Otherwise than in the authors' scripts (“released”)": otherwise,
    }
    return [f"{said}: {_by_models(found)}." for said, found in notes.items() if found]


def _by_models(found: Iterable[Sequence[str]]) -> str:
    """What (model, title) there are, as "size, λ (GRU-ODE-Bayes); Euler step (GRU-ODE-Bayes, ACE-GRU-ODE-Bayes)"."""
    models: dict[str, list[str]] = {}
    for label, title in dict.fromkeys(map(tuple, found)):
        models.setdefault(title, []).append(label)
    titles: dict[str, list[str]] = {}
    for title, labels in models.items():
        titles.setdefault(", ".join(labels), []).append(title)
    return "; ".join(f"{', '.join(of_these)} ({these})" for these, of_these in titles.items())


def _not_configured(artifact: HyperparameterTable, rows: Sequence[Row]) -> list[str]:
    shown = [row.printed for row in rows]
    names: dict[str, list[str]] = {}
    for row in artifact.published.rows:
        if row not in shown:
            size = "" if row.size is None else f", N = {row.size}"
            names.setdefault(row.model, []).append(f"{row.printed}{size}")
    models = artifact.configuration.models
    listed = [f"{models[name].label if name in models else name} on {' / '.join(at)}" for name, at in names.items()]
    return [f"Published, and not configured yet: {'; '.join(listed)}."] if listed else []


def _not_published(rows: Sequence[Row]) -> list[str]:
    names = [f"{row.label} on {row.task_title} (N = {row.run.paper_size})" for row in rows if row.printed is None]
    if not names:
        return []
    return [f"Not in the paper's table, which gives none of their values (ours are a choice): {'; '.join(names)}."]
