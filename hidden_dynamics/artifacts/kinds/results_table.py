"""A table of results: our numbers over seeds beside the published ones, and below them what no network scores: naive
and classical baselines and, where known, the best possible predictor. These are not compared with anything."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from hidden_dynamics.artifacts import beside_published
from hidden_dynamics.artifacts.base import REQUIRED, Artifact, ArtifactSettings
from hidden_dynamics.artifacts.beside_published import Score, beside, score_of, value_text
from hidden_dynamics.artifacts.kinds.solver_table import MOVES, is_unchecked, moves
from hidden_dynamics.artifacts.notes import divergence_notes, reported_note, runs_note
from hidden_dynamics.artifacts.tables import ABSENT, Column, Record, Table
from hidden_dynamics.configuration import Case, Entry, known, listed
from hidden_dynamics.configuration.schema import Names, Size
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import published_task
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.seeds import by_seed, mean_and_std

LIMIT = "Limit (optimal predictor)"
BEST_OF_ALL = "best of all epochs"
UNCHECKED = "Solvers were not checked in some of the runs (acenode_solver)."


class Row(Entry):
    """A model at one of the paper's sizes; `tasks`: those that it is shown on, where these are not all."""

    model: str
    size: Size | None = None
    tasks: Names | None = None


class Settings(ArtifactSettings):
    """`metrics`: those that are shown; null: all of the published table. `extras`: as `Artifact.with_extras`."""

    published: str = REQUIRED
    tasks: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    metrics: Names | None = None
    extras: bool = True


class ResultsTable(Artifact):
    """Models at sizes of their own, each on all of its tasks."""

    settings: Settings
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
        for task in (task for row in self.settings.rows for task in listed(row.tasks)):
            known(task, self.configuration.tasks, "task", f"{where}.rows")
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
            if baseline is not None and baseline in cases and baseline != case:
                yield from ((case, baseline, metric) for metric in self.metrics_on(case.task))


def draw(artifact: ResultsTable, evidence: Evidence) -> Table:
    """The paper's rows in its order, then the models of the user's own, the baselines, and the limit; a
    `UserError` where tasks have the same title."""
    headings = _headings(artifact)
    cases = dict.fromkeys([*artifact.shown(), *(run.case for run in evidence.runs)])
    scores = [score_of(artifact, evidence, case, metric) for case in cases for metric in artifact.metrics_on(case.task)]
    lines = [score.data(artifact) | _printed(artifact, score) for score in scores]
    references, repeating = _references(artifact, evidence), _repeating(artifact, evidence)
    rows: dict[object, dict[Column, str]] = {}
    for score, line in zip(scores, lines, strict=True):
        group = headings[score.case.task, score.metric]
        if score.case.task not in repeating:
            row = rows.setdefault(score.case[1:], {("", "Model"): line["label"], **_sizes(lines, score.case)})
            row |= {(group, name): text for name, text in _texts(artifact, score, line).items()}
    for line in references:
        row = rows.setdefault(line["label"], {("", "Model"): line["label"]})
        row[headings[line["task"], line["metric"]], "ours"] = _reference_text(artifact, line)
    groups = ["", *headings.values()]
    columns = sorted(dict.fromkeys(column for row in rows.values() for column in row), key=lambda c: groups.index(c[0]))
    texts = [{column: row.get(column, ABSENT) for column in columns} for row in rows.values()]
    notes = _notes(artifact, evidence, repeating)
    return beside_published.table(artifact, evidence, texts, [*lines, *references], notes)


# As data


def _printed(artifact: ResultsTable, score: Score) -> dict[str, Any]:
    """What else the paper prints beside a score: its own number without those that it quotes, "15.42 [22, 34]"."""
    (_, model, size), configuration = score.case, artifact.configuration
    task, decimals = published_task(configuration, score.case.task), configuration.metrics[score.metric].decimals
    row, numbers = artifact.published.row(model, size) or {}, artifact.published.all_of(task, model, size, score.metric)
    parameters, own = row.get("parameters"), next((one for one in numbers if not one.references), None)
    quoted = [f"{one.value:.{decimals}f} {list(one.references)}" for one in numbers if one.references]
    return {
        "parameters": score.ran[0].parameters if score.ran else None,
        "chosen_by": " ".join(sorted({run.reported.metric for run in score.ran if run.reported})),
        "published_task": task,
        "published_parameters": parameters.get(task) if isinstance(parameters, dict) else parameters,
        "published_mean": own and own.value,
        "published_std": own and own.std,
        "published_quoted": own and own.copied_from or None,
        "published_literature": "; ".join(quoted),
        "published_only_in": row.get("only_in", ""),
        "moves": moves(score.ran, score.metric),
    }


def _references(artifact: ResultsTable, evidence: Evidence) -> list[Record]:
    """A row for each task, metric and baseline, the naive ones first, then the classical, then the best possible
    predictor: mean and deviation over the runs' seeds."""
    lines = []
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
                numbers = {"runs": len(of), "n": len(of), "mean": mean, "std": std}
                lines.append(about | {"model": kind, "label": label, "metric": metric, **numbers})
    return sorted(lines, key=lambda line: ("naive", "classical", "limit").index(line["model"]))


# As text


def _repeating(artifact: ResultsTable, evidence: Evidence) -> set[str]:
    """The tasks without a run whose printed numbers another task, one with runs, shows: of them nothing is left."""
    printed = {task: published_task(artifact.configuration, task) for task in artifact.settings.tasks}
    ran = {run.task for run in evidence.runs}
    return {task for task, of in printed.items() if of in {printed[one] for one in ran}} - ran


def _headings(artifact: ResultsTable) -> dict[tuple[str, str], str]:
    """The groups of columns by task and metric, with the data that the task runs on."""
    headings, several, configuration = {}, len(artifact.metrics()) > 1, artifact.configuration
    for task in artifact.settings.tasks:
        title = configuration.tasks[task].title
        title += "" if configuration.title_as_run(task) == title else f" ({configuration.data_title(task)})"
        for metric in artifact.metrics_on(task):
            heading = artifact.published.heading(metric) or configuration.metrics[metric].title
            headings[task, metric] = f"{title}: {heading}" if several else title
    if len(set(headings.values())) < len(headings):
        tasks = artifact.settings.tasks
        text = f"config/tasks.yaml: {', '.join(tasks)}: one table shows them; give them titles that differ."
        raise UserError(text, "config/tasks.yaml", f"{tasks[-1]}.title")
    return headings


def _sizes(lines: Sequence[Record], case: Case) -> dict[Column, str]:
    """N and the number of parameters of a model, as run and published; several where tasks differ."""
    of_model = [line for line in lines if (line["model"], line["paper_size"]) == case[1:]]

    def distinct(name: str, form: str = "{}") -> str:
        return " / ".join(dict.fromkeys(form.format(line[name]) for line in of_model if line[name] is not None))

    parameters = beside(distinct("parameters", "{:,}"), distinct("published_parameters"))
    return {("", "N"): beside(distinct("size"), case.size), ("", "Parameters"): parameters}


def _texts(artifact: ResultsTable, score: Score, line: Record) -> dict[str, str]:
    """A row's cells in one group of columns."""
    elsewhere = artifact.published.content.get("chosen_by")  # another number, by which the paper's runs chose theirs
    marks = [BEST_OF_ALL] if elsewhere and score.metric in line["chosen_by"].split() else []
    marks += [MOVES] if line["moves"] else []
    quoted = "quoted" if line["published_quoted"] else ""
    about = "; ".join(filter(None, (quoted, line["published_literature"], line["published_only_in"])))
    decimals = artifact.configuration.metrics[score.metric].decimals
    published = value_text(line["published_mean"], line["published_std"], decimals) + (f" ({about})" if about else "")
    if line["published_mean"] is None:
        published = line["published_literature"] or ABSENT
    return score.texts(artifact, published, *marks)


def _reference_text(artifact: ResultsTable, line: Record) -> str:
    decimals = artifact.configuration.metrics[line["metric"]].decimals
    same = not line["std"] > 1e-9 * abs(line["mean"])  # of all seeds
    return value_text(line["mean"], None if same else line["std"], decimals) + ("" if same else f" (n = {line['n']})")


def _notes(artifact: ResultsTable, evidence: Evidence, repeating: set[str]) -> list[str]:
    """How the runs were made, with the literature that cells refer to; what is missing."""
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
