"""README.md: what was run, the verdicts as matrices, what is shown and what is not, where it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.claims.verdict import OF_THE_DIRECTION, OF_THE_PAPER, Words
from hidden_dynamics.pages.claims_list import in_a_sentence
from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.run_rows import other_readings, versions_of
from hidden_dynamics.publication.texts import text
from hidden_dynamics.publication.verdict_matrix import headings, matrix
from hidden_dynamics.publication.working_time import CPU
from hidden_dynamics.results.departures import changed_words, listed
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Task:
    """What was run on a task, as the runs' records say."""

    name: str
    title: str
    data: str
    networks: str
    changed: str
    runs: int
    diverged: int


def readme(
    results: Results,
    shown: dict[str, str],
    absent: Sequence[tuple[Artifact, str]],
    measured: Sequence[str],
    command: str,
) -> str:
    """
    Args:
        shown: the files of the artifacts in the publication, by name.
        absent: the artifacts that are not shown, with the reason.
        measured: the files of what was measured apart from the runs.
        command: that makes the publication.
    """
    configuration, rows = results.configuration, results.summary
    values = {
        "command": command,
        "results": results,
        "scale": configuration.scale_name,
        "notes": scale_notes(configuration),
        "seeds": sorted({int(row["seed"]) for row in rows}),
        "readings": _readings(rows),
        "tasks": [_task(results, name) for name in dict.fromkeys(row["task"] for row in rows)],
        "of_the_direction": OF_THE_DIRECTION if OF_THE_DIRECTION in results.words else None,
        "of_the_paper": OF_THE_PAPER,
        "table": lambda words: _matrix(results, words),
        "in_a_sentence": in_a_sentence(results.claims),
        "papers": _papers(results, shown),
        "measured": measured,
        "absent": [{"heading": artifact.settings.heading, "why": why} for artifact, why in absent],
        "provenance": _provenance(results),
    }
    return text("readme.md.j2", values)


def _task(results: Results, name: str) -> Task:
    rows = [row for row in results.summary if row["task"] == name]
    runs = [row for row in results.runs if row["task"] == name]
    first, parameters = rows[0], [int(row["parameters"]) for row in rows]
    original = results.configuration.title_of(first["stand_in_for"]) if first["stand_in_for"] else ""
    sizes = dict.fromkeys(_size(row) for row in rows if row["size"].isdecimal())
    fewest, most = f"{min(parameters):,}", f"{max(parameters):,}"
    counted = f"{fewest} parameters" if fewest == most else f"{fewest} to {most} parameters"
    return Task(
        name=name,
        title=first["task_title"],
        data=first["dataset_title"] + (f", in place of {original}" if original else ""),
        networks=f"N = {', '.join(sizes)}; {counted}" if sizes else counted,
        changed=", ".join(changed_words(results.configuration, [name])) or "–",
        runs=len(runs),
        diverged=sum(row["status"] == "diverged" for row in runs),
    )


def _readings(rows: Sequence[Row]) -> list[str]:
    """The readings that some runs took otherwise than the paper's text, by the tasks of these runs."""
    found: dict[tuple[str, str], dict[str, None]] = {}  # {(reading, value): tasks}
    for row in rows:
        for choice in other_readings(row).items():
            found.setdefault(choice, {})[f"`{row['task']}`"] = None
    by_tasks: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reading, value), tasks in sorted(found.items()):
        by_tasks.setdefault((value, tuple(tasks)), []).append(reading)
    return [f"{value} in {listed(tasks)}: {', '.join(own)}" for (value, tasks), own in by_tasks.items()]


def _size(row: Row) -> str:
    departs = row["paper_size"].isdecimal() and row["paper_size"] != row["size"]
    return f"{row['size']} (paper: {row['paper_size']})" if departs else row["size"]


def _matrix(results: Results, words: Words) -> str:
    """The matrix of one kind of verdicts, as Markdown."""
    claims = [claim for claim in results.claims if words == OF_THE_PAPER or claim[words.column] != words.none]
    head = ["", *headings(words), "claims"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for line in matrix(results.artifacts, claims, words):
        cells = [line.name, *(str(count or "–") for count in line.counts), str(line.claims)]
        lines.append("| " + " | ".join(f"**{cell}**" if line.whole else cell for cell in cells) + " |")
    return "\n".join(lines)


def _papers(results: Results, shown: dict[str, str]) -> list[dict[str, object]]:
    papers: dict[str, list[dict[str, str]]] = {}
    for name, path in shown.items():
        artifact = results.artifacts[name]
        place = artifact.settings.source.removeprefix(f"{artifact.paper_title}, ")
        lacking = ", ".join(dict.fromkeys(results.lacking(artifact).values()))
        without = f"; there are no runs on {lacking}" if lacking else ""
        about = {"place": place, "path": path, "title": artifact.settings.title, "without": without}
        papers.setdefault(artifact.paper_title, []).append(about)
    return [{"title": title, "artifacts": own} for title, own in papers.items()]


def _provenance(results: Results) -> list[tuple[str, str]]:
    """What made the results, and what it took: (what, in words)."""
    rows, time, source = results.runs, results.time, results.source
    made = sum(bool(row["commit"]) for row in rows)
    commit = f"{source.commit or 'not known'}{', with changes that are not committed' if source.changed else ''}"
    versions = [f"{name} {', '.join(own)}" for name, own in versions_of(rows).items()]
    devices = sorted({f"{row['device']}, {row['precision']}, threads of a run: {row['threads']}" for row in rows})
    found = [
        ("code", f"commit {commit}; {made} of {len(rows)} runs are by the code that it has (`commit` in runs.csv)"),
        ("digests of code", f"{len({row['code'] for row in rows})} different ones of {len(rows)} runs"),
        ("versions", listed(versions)),
        ("devices", "; ".join(devices)),
        ("processor", f"{listed(results.processors)}, of the measured costs" if results.processors else "not recorded"),
        ("training and evaluation", f"{time.device_hours:.2f} {_unit(rows)} of {len(rows)} runs, by their own clocks"),
        ("first and last job", f"{time.start:%Y-%m-%d %H:%M} and {time.end:%Y-%m-%d %H:%M} UTC, as each last ran"),
        ("at work between", f"{time.wall_hours:.2f} h on the wall, pauses not counted"),
    ]
    if time.computing is not None:
        found.append(("computing", f"{time.computing:.0%} of the training jobs’ time on their cores; else they waited"))
    if time.earlier_hours >= 0.005:
        earlier = f"at least {time.earlier_hours:.2f} {_unit(rows)} of training; when, no file says"
        found.append(("before these jobs last ran", earlier))
    return [*found, *_forecast(results)]


def _forecast(results: Results) -> list[tuple[str, str]]:
    """The forecast beside what the runs took; that of other runs is not."""
    said, runs = results.forecast, len(results.runs)
    if said is None:
        return [("forecast", "none is there")]
    about = f"of {said['runs']} runs, made when {said['finished']} were finished"
    if int(said["runs"]) != runs:
        return [("forecast", f"{about}: not of these {runs}, and not compared")]
    hours, least, took = float(said["device_hours"]), float(said["least_wall_hours"]), results.time.device_hours
    error = f"{100 * (took / hours - 1):+.0f} %".replace("-", "−")
    compared = f"{hours:.2f} {_unit(results.runs)}, taken {took:.2f} ({error})"
    return [("forecast, and what it took", f"{about}: {compared}; at least {least:.2f} h on the wall")]


def _unit(rows: Sequence[Row]) -> str:
    """Of the hours for which runs hold what they run on."""
    devices = {row["device"] == CPU for row in rows}
    return "hours of cores and GPUs" if len(devices) > 1 else "core hours" if True in devices else "GPU hours"


def path_in(artifact: Artifact) -> str:
    """The file of an artifact within the publication."""
    paths = artifact.configuration.paths
    if artifact.form == "table":
        return f"tables/{Path(paths.table(artifact.name, 'md')).name}"
    return f"figures/{Path(paths.figure(artifact.name, 'png')).name}"
