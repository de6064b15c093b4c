"""The files that the headline claims rest on, and what is read from them."""

from collections.abc import Iterator
from pathlib import Path

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case, all_runs, resolve_seeds
from hidden_dynamics.papers.claims import ClaimEntry, Iteration, load_claims
from hidden_dynamics.results.evidence import Evidence


def evidence_of_claims(configuration: Configuration, root: Path) -> Evidence:
    """The runs and measurements of all headline claims at the configured scale; files are relative to `root`. A
    `UserError` where a file is missing, damaged, or of something else than is configured."""
    cases = dict.fromkeys(case for *_, cases in _claimed(configuration) for case in cases)
    runs = [run for case in cases for run in resolve_seeds(configuration, case, configuration.seeds_of(case.task))]
    floors = {task: configuration.paths.measured("floors", task) for task in tasks_of_claims(configuration)}
    return Evidence.read(configuration, runs, root, floors, _measurements(configuration))


def files_of(configuration: Configuration) -> list[str]:
    """The files that are read: records, evaluations and, where a claim is of a training's course, train losses of the
    runs; classical baselines; measurements."""
    files: list[str] = []
    for _, entry, cases in _claimed(configuration):
        course = entry.kind == "faster" or isinstance(entry.at, Iteration)
        names = ("run.json", "metrics.csv", *(("train_loss.npy",) if course else ()))
        for case in cases:
            runs = resolve_seeds(configuration, case, configuration.seeds_of(case.task))
            files += [f"{run.directory}/{name}" for run in runs for name in names]
    files += [configuration.paths.measured("floors", task) for task in tasks_of_claims(configuration)]
    return list(dict.fromkeys([*files, *_measurements(configuration).values()]))


def tasks_of_claims(configuration: Configuration) -> dict[str, str]:
    """{each task of the runs of claims: the paper that claims something of it}."""
    return {case.task: paper for paper, _, cases in _claimed(configuration) for case in cases}


def _claimed(configuration: Configuration) -> Iterator[tuple[str, ClaimEntry, list[Case]]]:
    """(paper, claim, those of its cases, its control's among them, that are run at the configured scale)."""
    there = {run.case for run in all_runs(configuration)}
    for paper, content in load_claims().items():
        for entry in content.claims:
            yield paper, entry, [case for case in entry.cases if case in there]


def _measurements(configuration: Configuration) -> dict[str, str]:
    """The files of what is measured beside the runs, by name: features where all that a claim compares is run. A
    configuration of a publication may lack the artifact for which it is measured."""
    paths, files = configuration.paths, dict[str, str]()
    for _, entry, cases in _claimed(configuration):
        if entry.measurement not in configuration.artifacts:
            continue
        if entry.kind == "identity":
            files["jacobian"] = paths.measured("jacobian", str(entry.measurement))
        elif entry.measurement and len(cases) == len(entry.cases):
            files["features"] = paths.measured("features", entry.measurement)
    return files
