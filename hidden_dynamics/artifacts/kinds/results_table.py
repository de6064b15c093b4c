"""A table of results: our numbers over seeds beside the published ones, and below them what no network scores: naive
and classical baselines and, where known, the best possible predictor. These are not compared with anything."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, ArtifactSettings, BesidePublished
from hidden_dynamics.artifacts.beside_published import Score, beside, ours_text, size_text
from hidden_dynamics.artifacts.kinds.solver_table import MOVES, is_unchecked, moves
from hidden_dynamics.artifacts.notes import divergence_notes, reported_note, runs_note
from hidden_dynamics.artifacts.tables import ABSENT, Column, Table, number
from hidden_dynamics.configuration import Entry, known
from hidden_dynamics.configuration.entries import listed
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Names, Size
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import published_task
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.seeds import by_seed, mean_and_std
from hidden_dynamics.results.statistics import over_seeds

LIMIT = "Limit (optimal predictor)"
BEST_OF_ALL = "best of all epochs"
UNCHECKED = "Whether solvers resolve the flows was not checked in some of these runs (acenode_solver)."
Reference = Mapping[str, Any]  # a row for programs of a baseline, or of the best possible predictor
Headings = Mapping[tuple[str, str], str]  # of groups of columns, by task and metric


class Row(Entry):
    """A model at one of the paper's sizes.

    Attributes:
        tasks: those that it is shown on, where these are not all of the artifact's.
    """

    model: str
    size: Size | None = None
    tasks: Names | None = None


class Settings(ArtifactSettings):
    """
    Attributes:
        metrics: those that are shown; null: all of the published table.
        extras: whether models of the user's own on the same tasks and sizes are shown, too.
    """

    published: str = REQUIRED
    tasks: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    metrics: Names | None = None
    extras: bool = True


class ResultsTable(BesidePublished[Settings]):
    """Models at sizes of their own, each on all of its tasks."""

    Settings = Settings
    form = "table"
    summarised = True
    floored = True

    def shown(self) -> list[Case]:
        return [
            Case(task, row.model, row.size)
            for row in self.settings.rows
            for task in self.settings.tasks
            if row.tasks is None or task in listed(row.tasks)
        ]

    def tasks(self) -> list[str]:
        return self.settings.tasks

    @property
    def with_extras(self) -> bool:
        return self.settings.extras

    def check(self, where: str) -> None:
        super().check(where)
        for metric in self.metrics():
            known(metric, self.published.content["metrics"], "metric", where)

    def metrics(self) -> list[str]:
        names = self.settings.metrics or list(self.published.content["metrics"])
        return [known(name, self.configuration.metrics, "metric", self.configured_at) for name in names]

    def metrics_on(self, task: str) -> list[str]:
        own = self.published.metrics_on(published_task(self.configuration, task))
        return [metric for metric in own if metric in self.metrics()]

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        cases = self.cases()
        for case in cases:
            baseline = beside_published.baseline_of(self, case)
            if baseline in cases and baseline != case:
                yield from ((case, baseline, metric) for metric in self.metrics_on(case.task))


def draw(artifact: ResultsTable, evidence: Evidence) -> Table:
    """The paper's rows in its order, then the models of the user's own, the baselines, and the limit; a
    `UserError` where tasks have the same title."""
    scores, references = _scores(artifact, evidence), _references(artifact, evidence)
    repeating = _repeating(artifact, evidence)
    rows = _rows(artifact, [score for score in scores if score.case.task not in repeating], references)
    data = [score.data(artifact) | _printed(artifact, score) for score in scores]
    return beside_published.table(artifact, evidence, rows, [*data, *references], _notes(artifact, evidence, repeating))


# As data


def _scores(artifact: ResultsTable, evidence: Evidence) -> list[Score]:
    """A score for each case and metric: the paper's, whether they ran or not, then the user's own."""
    cases = dict.fromkeys([*artifact.shown(), *(run.case for run in evidence.runs)])
    return [
        beside_published.score_of(
            artifact, evidence, case, metric, over_seeds(artifact.configuration, evidence.of(case), metric)
        )
        for case in cases
        for metric in artifact.metrics_on(case.task)
    ]


def _printed(artifact: ResultsTable, score: Score) -> dict[str, Any]:
    """What else the paper prints beside a score, for programs: its own number without those that it quotes."""
    case = score.case
    row = artifact.published.row(case.model, case.size) or {}
    own = score.printed if score.printed and not score.printed.references else None
    return {
        "parameters": score.ran[0].parameters if score.ran else None,
        "published_task": published_task(artifact.configuration, case.task),
        "published_parameters": _published_parameters(artifact, case),
        "published_mean": own and own.value,
        "published_std": own and own.std,
        "published_quoted": own and own.copied_from or None,
        "published_literature": _literature(artifact, score),
        "published_only_in": row.get("only_in", ""),
        "moves": moves(score.ran, score.metric),
    }


def _published_parameters(artifact: ResultsTable, case: Case) -> str | None:
    parameters = (artifact.published.row(case.model, case.size) or {}).get("parameters")
    task = published_task(artifact.configuration, case.task)
    return parameters.get(task) if isinstance(parameters, dict) else parameters


def _literature(artifact: ResultsTable, score: Score) -> str:
    """The numbers that the paper quotes, "15.42 [22, 34]"."""
    task, decimals = published_task(artifact.configuration, score.case.task), _decimals(artifact, score.metric)
    numbers = artifact.published.all_of(task, score.case.model, score.case.size, score.metric)
    return "; ".join(f"{each.value:.{decimals}f} {list(each.references)}" for each in numbers if each.references)


def _references(artifact: ResultsTable, evidence: Evidence) -> list[Reference]:
    """A row for each task, metric and baseline, the naive ones first, then the classical, then the best possible
    predictor: mean and deviation over the runs' seeds."""
    found = []
    for task in artifact.settings.tasks:
        runs = evidence.on(task)
        limits = {run.seed: run.limits for run in runs if run.limits}
        for metric in artifact.metrics_on(task):
            factor = artifact.configuration.metrics[metric].factor
            naive, classical = (by_seed(runs, metric, factor, kind) for kind in ("naive", "classical"))
            scores = {("naive", f"Naive: {name}"): of for name, of in naive.items()}
            scores |= {("classical", f"{name[0].upper()}{name[1:]} (classical)"): of for name, of in classical.items()}
            if limits:
                scores["limit", LIMIT] = {seed: limit[metric] * factor for seed, limit in limits.items()}
            for (kind, label), of in scores.items():
                about = {"artifact": artifact.name, "scale": artifact.configuration.scale_name, "task": task}
                mean, std = mean_and_std(of.values())
                about |= {
                    "model": kind,
                    "label": label,
                    "metric": metric,
                    "runs": len(of),
                    "n": len(of),
                    "mean": mean,
                    "std": std,
                }
                found.append(about)
    return sorted(found, key=lambda row: ("naive", "classical", "limit").index(row["model"]))


# As text


def _repeating(artifact: ResultsTable, evidence: Evidence) -> set[str]:
    """The tasks without a run whose printed numbers another task, one with runs, shows: of them nothing is left."""
    printed = {task: published_task(artifact.configuration, task) for task in artifact.settings.tasks}
    ran = {run.task for run in evidence.runs}
    return {task for task, of in printed.items() if of in {printed[one] for one in ran}} - ran


def _rows(artifact: ResultsTable, scores: Sequence[Score], references: Sequence[Reference]) -> list[dict[Column, str]]:
    """A row for each model and size and for each reference; a group of columns for each task and metric. Where a
    model's size or number of parameters differs between tasks, or it ran on some alone, groups have their own."""
    headings, sizes = _headings(artifact), [_sizes(artifact, score) for score in scores]
    by_model: dict[tuple[str, Size | None], set[tuple[str, ...]]] = {}
    for score, texts in zip(scores, sizes, strict=True):
        by_model.setdefault((score.case.model, score.case.size), set()).add(tuple(texts.values()))
    by_task = any(len(texts) > 1 for texts in by_model.values())
    rows: dict[object, dict[Column, str]] = {}
    for score, texts in zip(scores, sizes, strict=True):
        group, row = headings[score.case.task, score.metric], rows.setdefault((score.case.model, score.case.size), {})
        row["", "Model"] = score.label
        if by_task and score.metric != artifact.metrics_on(score.case.task)[0]:
            del texts["Parameters"]
        row |= {(group if by_task else "", name): text for name, text in texts.items()}
        row |= {(group, name): text for name, text in _texts(artifact, score).items()}
    for reference in references:
        row = rows.setdefault(reference["label"], {("", "Model"): reference["label"]})
        row[headings[reference["task"], reference["metric"]], "ours"] = _reference_text(artifact, reference)
    groups = ["", *headings.values()]
    columns = sorted(dict.fromkeys(column for row in rows.values() for column in row), key=lambda c: groups.index(c[0]))
    return [{column: row.get(column, ABSENT) for column in columns} for row in rows.values()]


def _headings(artifact: ResultsTable) -> Headings:
    """By task and metric, with the data that the task runs on."""
    several = len(artifact.metrics()) > 1
    headings = {}
    for task in artifact.settings.tasks:
        title = artifact.configuration.title_as_run(task)
        for metric in artifact.metrics_on(task):
            headings[task, metric] = f"{title}: {artifact.heading(metric)}" if several else title
    if len(set(headings.values())) < len(headings):
        tasks = artifact.settings.tasks
        text = f"config/tasks.yaml: {', '.join(tasks)}: one table shows them; give them titles that differ."
        raise UserError(text, "config/tasks.yaml", f"{tasks[-1]}.title")
    return headings


def _texts(artifact: ResultsTable, score: Score) -> dict[str, str]:
    """A row's cells in one group of columns."""
    decimals = _decimals(artifact, score.metric)
    elsewhere = artifact.published.content.get("chosen_by")  # another number, by which the paper's runs chose theirs
    chosen = {run.reported.metric for run in score.ran if run.reported}
    marks = [BEST_OF_ALL] if elsewhere and score.metric in chosen else []
    marks += [MOVES] if moves(score.ran, score.metric) else []
    return {
        "ours": ours_text(score.ours, decimals, *marks),
        "published": _published_text(artifact, score),
        **beside_published.score_texts(artifact, score),
    }


def _published_text(artifact: ResultsTable, score: Score) -> str:
    """The paper's own number, with what it quotes; or that alone."""
    printed, literature = _printed(artifact, score), _literature(artifact, score)
    if printed["published_mean"] is None:
        return literature or ABSENT
    quoted = "quoted" if printed["published_quoted"] else ""
    about = "; ".join(filter(None, (quoted, literature, printed["published_only_in"])))
    text = beside_published.printed_text(score.printed, _decimals(artifact, score.metric))
    return f"{text} ({about})" if about else text


def _sizes(artifact: ResultsTable, score: Score) -> dict[str, str]:
    """N as run, and the number of parameters, with the published ones, which are those of the paper's size."""
    parameters = score.ran[0].parameters if score.ran else None
    size = score.ran[0].size if score.ran else None
    count = f"{parameters:,}" if parameters else ABSENT
    return {
        "N": size_text(size, score.case.size),
        "Parameters": beside(count, _published_parameters(artifact, score.case)),
    }


def _reference_text(artifact: ResultsTable, reference: Reference) -> str:
    mean, std, decimals = reference["mean"], reference["std"], _decimals(artifact, reference["metric"])
    same = not std > 1e-9 * abs(mean)  # of all seeds
    return (
        number(mean, decimals) if same else f"{number(mean, decimals)} ± {number(std, decimals)} (n = {reference['n']})"
    )


def _decimals(artifact: ResultsTable, metric: str) -> int:
    return artifact.configuration.metrics[metric].decimals


def _notes(artifact: ResultsTable, evidence: Evidence, repeating: set[str]) -> list[str]:
    """How the runs were made; what is missing; the literature that cells refer to."""
    configuration, runs = artifact.configuration, evidence.runs
    titles = [configuration.tasks[task].title for task in artifact.settings.tasks if task in repeating]
    missing = [f"Without a run, and so without a column: {'; '.join(titles)}."] if titles else []
    missing += [UNCHECKED] if any(is_unchecked(configuration, run) for run in runs) else []
    references = artifact.published.content.get("references", {}).items()
    literature = f" Literature: {'; '.join(f'[{key}] {text}' for key, text in references)}." if references else ""
    return [
        f"{reported_note(configuration, runs)} {runs_note(runs)}{literature}",
        " ".join([*missing, *divergence_notes(runs)]),
    ]
