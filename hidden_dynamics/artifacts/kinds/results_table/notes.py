"""The title of a table of results, and the notes below it: the numbers' origin, their comparison, their caveats."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record, baseline_label, extras_note, gap_note
from hidden_dynamics.artifacts.departure_notes import departures_in_title, departures_note
from hidden_dynamics.artifacts.kinds.results_table import ResultsTable
from hidden_dynamics.artifacts.kinds.results_table.layout import BEST_OF_ALL, best_of_all, ranked
from hidden_dynamics.artifacts.kinds.results_table.splits import splits_notes
from hidden_dynamics.artifacts.notes import LAST, RULES, divergence_notes, runs_notes, scale_notes, title_of
from hidden_dynamics.artifacts.row_verdicts import verdict_notes
from hidden_dynamics.papers.published import load_tasks, within_sentence

Rows = Sequence[dict[str, str]]


def title(artifact: ResultsTable, summary: Rows, records: Sequence[Record]) -> str:
    """The table's title with its scale, with what ran in place of the paper's, and a mark of choice on the test set."""
    text = title_of(artifact)
    if any(best_of_all(artifact, record) for record in records):
        text += f", {BEST_OF_ALL} where marked"
    return text + departures_in_title(artifact, summary, records)


def notes(artifact: ResultsTable, summary: Rows, records: Sequence[Record]) -> list[str]:
    """Sentences on runs, choice, comparison and the published numbers."""
    published = artifact.published
    tasks = load_tasks(artifact.settings.published)
    papers = [tasks[task] for task in dict.fromkeys(record["published_task"] for record in records) if task in tasks]
    lines = [
        *scale_notes(artifact.configuration),
        *_about_runs(artifact, summary),
        *_about_choice_and_failures(artifact, summary, records),
        *_about_comparison(artifact, records),
        *_literature(artifact, records),
        *_quoted_silently(records),
        *_only_in(artifact, records),
        *_choices(artifact, records),
        *published.notes,
        *(note for task in papers for note in task.notes),
    ]
    return [*dict.fromkeys(lines), *extras_note(records)]


def _about_runs(artifact: ResultsTable, summary: Rows) -> list[str]:
    data = dict.fromkeys(f"{row['task_title']}: {row['dataset_title']}" for row in summary)
    return [
        f"Data: {'; '.join(data)}.",
        *runs_notes(summary),
        *splits_notes(artifact.configuration, summary),
        "Ours: mean ± sample standard deviation (n − 1) over n seeds of what a run reports"
        f"{_reported(artifact, summary)}.",
    ]


def _reported(artifact: ResultsTable, summary: Rows) -> str:
    """The metric that chose a run's evaluation, and those taken from there, or that it is the last one; nothing where
    no run reported any."""
    chosen = {row["metric"]: row["rule"] for row in summary if row["metric"] and row["rule"] != LAST}
    papers = [metric for metric in artifact.published.choosing if metric in chosen]
    if papers:  # the others are marked
        chosen = {metric: chosen[metric] for metric in papers}
    texts = [f"{metric}, the {RULES[rule]} of the run" for metric, rule in chosen.items()]
    others = [metric for metric in artifact.metrics() if metric not in chosen]
    if texts and others:
        texts.append(f"{', '.join(others)} of the same evaluation")
    if last := dict.fromkeys(row["task_title"] for row in summary if row["metric"] and row["rule"] == LAST):
        texts.append(f"{', '.join(last)}: that of its last evaluation" if chosen else "that of its last evaluation")
    return f" ({'; '.join(texts)})" if texts else ""


def _about_choice_and_failures(artifact: ResultsTable, summary: Rows, records: Sequence[Record]) -> list[str]:
    lines = []
    if any(best_of_all(artifact, record) for record in records):
        lines.append(
            f"“{BEST_OF_ALL}”: these runs chose their evaluation by the number that is shown, on the test set, as the "
            "released code does. Such numbers are higher than those of an epoch that was chosen without them."
        )
    if any(record["diverged"] for record in records):
        lines += ["Runs that diverged are counted, and are not in the mean.", *divergence_notes(summary)]
    if any(record["not_finite"] for record in records):
        lines.append("Runs whose number is not finite are counted, and are not in the mean.")
    return lines


def _about_comparison(artifact: ResultsTable, records: Sequence[Record]) -> list[str]:
    among = "" if artifact.published.across_sizes else " of the same size"
    ranks = (
        f"Rank: among this table's rows{among} that ran and have a published number, in brackets the published rank; a "
        "row of which runs failed is behind those of which fewer did. "
    )
    is_ranked = ranked(records) and any(record["rank"] for record in records)
    lines = [
        *departures_note(artifact.configuration, records),
        gap_note(artifact, records, ranks if is_ranked else "", among),
        *verdict_notes(records, baseline_label(artifact)),
    ]
    resized = [r for r in records if None not in (r["size"], r["paper_size"]) and r["size"] != r["paper_size"]]
    if any(record["published_parameters"] for record in resized):
        lines.append("Published parameters are those at the paper's N.")
    if any(_several(records, column) for column in ("parameters", "published_parameters")):
        lines.append("Parameters with a stroke between them are those of the tasks, in the order of their columns.")
    return lines


def _several(records: Sequence[Record], column: str) -> bool:
    """True where a row has more than one value."""
    values: dict[tuple, set] = {}
    for record in records:
        values.setdefault((record["model"], record["paper_size"]), set()).add(record[column])
    return any(len(found - {None}) > 1 for found in values.values())


def _literature(artifact: ResultsTable, records: Sequence[Record]) -> list[str]:
    quoted = [(record, items) for record in records if (items := _quoted(artifact, record))]
    if not quoted:
        return []
    keys = sorted({key for _, items in quoted for item in items for key in item.keys})
    references = "; ".join(f"[{key}] {artifact.published.references[key]}" for key in keys)
    text = (
        "Published numbers marked [..] are not the paper's own runs: it quotes them from the literature "
        f"({references})."
    )
    if all(record["departures"] for record in records if record["runs"]):
        return [text]
    if any(record["published_mean"] is not None for record, _ in quoted):
        text += " Where the paper has a number of its own, that one is compared."
    if any(len(items) > 1 for _, items in quoted):
        directions = {artifact.configuration.metrics[record["metric"]].better for record, _ in quoted}
        best = {"higher": "highest", "lower": "lowest"}[directions.pop()] if len(directions) == 1 else "best"
        text += f" Where there are several, the {best} is compared."
    return [text]


def _quoted_silently(records: Sequence[Record]) -> list[str]:
    sources = dict.fromkeys(filter(None, (record["published_quoted"] for record in records)))
    return [
        f"Published numbers marked “quoted” are, surely or very probably, those of {source}, and no result of the "
        "paper's own runs. Ours are compared with them; no verdict is given on their values."
        for source in sources
    ]


def _quoted(artifact: ResultsTable, record: Record) -> list:
    row = artifact.published.row(record["model"], record["paper_size"])
    return row.literature.get(record["published_task"], {}).get(record["metric"], []) if row else []


def _only_in(artifact: ResultsTable, records: Sequence[Record]) -> list[str]:
    """Rows that the paper's table does not have: where its numbers of them are, and of which metrics."""
    lines = []
    for place in dict.fromkeys(record["published_only_in"] for record in records if record["published_only_in"]):
        rows = [record for record in records if record["published_only_in"] == place]
        labels = ", ".join(dict.fromkeys(record["label"] for record in rows))
        given = dict.fromkeys(record["metric"] for record in rows if record["published_mean"] is not None)
        lines.append(
            f"Not in the paper's {artifact.published.source.table}: {labels}. Their published numbers are those of "
            f"{place} ({', '.join(within_sentence(artifact.heading(name)) for name in given)}); – where there is none."
        )
    return lines


def _choices(artifact: ResultsTable, records: Sequence[Record]) -> list[str]:
    """What of the models is ours, as config/models.yaml notes it."""
    models = artifact.configuration.models
    shown = dict.fromkeys((record["label"], record["model"]) for record in records if record["model"] in models)
    notes = [f"{label}: {models[name].note}." for label, name in shown if models[name].note]
    return [f"Ours, where the paper leaves a model open. {' '.join(notes)}"] if notes else []
