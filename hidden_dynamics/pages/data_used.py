"""The data that runs were made of: each prepared dataset once, and what the stand-ins among them stand in for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hidden_dynamics.results.rows import Row


@dataclass
class PreparedData:
    """A prepared dataset: its digest, its title, the titles of what it stands in for and of the tasks that use it."""

    digest: str
    title: str
    stands_in_for: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)


def data_of(runs: Iterable[Row], title_of: Callable[[str], str]) -> list[PreparedData]:
    """Each prepared dataset, in the order of the runs.

    Args:
        title_of: gives the title of a dataset by its name.
    """
    found: dict[str, PreparedData] = {}
    for run in runs:
        data = found.setdefault(run["data_digest"], PreparedData(run["data_digest"], run["dataset_title"]))
        _add(data.tasks, run["task_title"])
        if run["stand_in_for"]:
            _add(data.stands_in_for, title_of(run["stand_in_for"]))
    return list(found.values())


def stand_ins(rows: Iterable[Row], title_of: Callable[[str], str]) -> dict[str, list[str]]:
    """{title of a stand-in: titles of what it stands in for}, of runs or measurements."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["stand_in_for"]:
            _add(found.setdefault(row["dataset_title"], []), title_of(row["stand_in_for"]))
    return found


def _add(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)
