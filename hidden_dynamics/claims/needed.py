"""The files that the headline claims rest on, and what is read from them."""

from collections.abc import Iterator
from pathlib import Path

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case, Run, resolve_seeds
from hidden_dynamics.papers.claims import ClaimEntry, Iteration, load_claims
from hidden_dynamics.results.evidence import Evidence


def evidence_of_claims(configuration: Configuration, root: Path) -> Evidence:
    """The runs and measurements of all headline claims at the configured scale; files are relative to `root`.

    Raises:
        UserError: a file is missing, damaged, or of something else than is configured.
    """
    floors = {task: configuration.paths.floors(task) for task in tasks_of_claims(configuration)}
    return Evidence.read(configuration, _runs(configuration), root, floors, _measurements(configuration))


def files_of(configuration: Configuration) -> list[str]:
    """The files that are read: records, evaluations and, where a claim is of a training's course, train losses of the
    runs; classical baselines; measurements."""
    files: dict[str, None] = {}
    for entry in _entries():
        course = entry.kind == "faster" or isinstance(entry.at, Iteration)
        names = ("run.json", "metrics.csv", *(("train_loss.npy",) if course else ()))
        for case in cases_of(configuration, entry):
            seeds = configuration.seeds_of(case.task)
            runs = resolve_seeds(configuration, case, seeds)
            files |= dict.fromkeys(f"{run.directory}/{name}" for run in runs for name in names)
    floors = (configuration.paths.floors(task) for task in tasks_of_claims(configuration))
    return [*files, *floors, *_measurements(configuration).values()]


def tasks_of_claims(configuration: Configuration) -> dict[str, str]:
    """{each task of a claim's runs: the first paper that claims something of it}."""
    found: dict[str, str] = {}
    for paper, content in load_claims().items():
        for entry in content.claims:
            for case in cases_of(configuration, entry):
                found.setdefault(case.task, paper)
    return found


def cases_of(configuration: Configuration, entry: ClaimEntry) -> list[Case]:
    """The cases of a claim, its control among them, that are run at the configured scale."""
    cases = dict.fromkeys([*entry.subjects, *entry.references, *entry.controls])
    return [case for case in cases if is_configured(configuration, case)]


def is_configured(configuration: Configuration, case: Case) -> bool:
    """Whether a case is configured, and not left out."""
    task = configuration.tasks.get(case.task)
    if task is None or (task.by_name and case.task not in configuration.chosen_tasks):
        return False
    model = task.models.get(case.model)
    return model is not None and case.size in model.run_sizes and configuration.is_run(*case)


def _entries() -> Iterator[ClaimEntry]:
    return (entry for content in load_claims().values() for entry in content.claims)


def _runs(configuration: Configuration) -> list[Run]:
    cases = dict.fromkeys(case for entry in _entries() for case in cases_of(configuration, entry))
    return [run for case in cases for run in resolve_seeds(configuration, case, configuration.seeds_of(case.task))]


def _measurements(configuration: Configuration) -> dict[str, str]:
    """The files of what is measured beside the runs, by name: features where all that a claim compares is run."""
    paths, files = configuration.paths, dict[str, str]()
    for entry in _entries():
        if entry.kind == "identity":
            files["jacobian"] = paths.jacobian(str(entry.measurement))
        elif entry.measurement and all(is_configured(configuration, case) for case in _compared(entry)):
            files["features"] = paths.features(entry.measurement)
    return files


def _compared(entry: ClaimEntry) -> list[Case]:
    return [*entry.subjects, *entry.references]
