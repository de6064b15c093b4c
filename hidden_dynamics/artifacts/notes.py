"""Sentences that tables and figures say of themselves: scale, deviations, data, seeds, variants, failed runs."""

import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.equal_code import equals_of
from hidden_dynamics.configuration.runs import code_of, resampled
from hidden_dynamics.papers.deviations import Ran, data_text, deviations, is_resized, original_of
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.record import RunRecord

READING = "How to read it: docs/reading.md."
NAMED = 6  # variants in a note


def chosen_notes(configuration: Configuration, tasks: Collection[str] | None = None) -> list[str]:
    """How the user overrode the configuration, and what is left out, of some tasks or of all."""

    def concerns(name: str) -> bool:
        return tasks is None or name.partition("/")[0] in tasks

    notes = []
    overrides = configuration.settings.overrides.given()
    own = {name: changes for name, changes in overrides.get("tasks", {}).items() if concerns(name)}
    changed = {name: value for name, value in (overrides | {"tasks": own}).items() if value}
    if changed:
        notes.append(f"Changed by the user (overrides): {json.dumps(changed, sort_keys=True)}.")
    only, chosen = configuration.settings.only, configuration.chosen_tasks
    if named := [name for name in only if concerns(name)]:
        notes.append(f"Run, as the user chose (only): {', '.join(named)}.")
    left_out = configuration.left_out.items()
    titles = {name: title for name, title in left_out if concerns(name) and (not only or name in chosen)}
    if titles:
        datasets = ", ".join(dict.fromkeys(titles.values()))
        notes.append(f"Left out by the user (leave_out): {datasets}; so there are no runs of {', '.join(titles)}.")
    return notes


def title_of(artifact: Artifact, about: str = "") -> str:
    """An artifact's title, what else is said `about` what it shows, its place in the paper, and the scale."""
    settings = artifact.settings
    return f"{settings.title}{about} ({settings.source}): {artifact.configuration.scale_name} scale"


def variants_note(runs: Iterable[Mapping[str, str]]) -> str:
    """What was taken where the paper and its code differ: "Variants (docs/variants.md): published; released (sr_cell)."

    Of each run, {variant: its value}. Named are those of which not the published value alone was taken, if they are
    few; runs.csv has all.
    """
    taken = sorted({pair for choice in runs for pair in choice.items()})
    names: dict[str, list[str]] = {}
    for name, pairs in itertools.groupby(taken, key=lambda pair: pair[0]):
        names.setdefault(" and ".join(value for _, value in pairs), []).append(name)
    named = {value: ", ".join(of) if len(of) <= NAMED else f"{len(of)} of them" for value, of in sorted(names.items())}
    texts = [value if value == "published" else f"{value} ({of})" for value, of in named.items()]
    return f"Variants (docs/variants.md): {'; '.join(texts) or 'none apply'}."


def runs_note(runs: Sequence[RunRecord]) -> str:
    """Seeds, devices, precisions, commits and variants of runs: "Seeds: 0, 1. Trained on: cpu. ... Variants ..."

    A + after a commit stands for changes that were not committed.
    """
    seeds = sorted({run.seed for run in runs})
    devices, precisions = ({getattr(run, name) for run in runs} for name in ("device", "precision"))
    commits = sorted({f"{run.commit[:10]}{'+' * run.commit.endswith('+')}" for run in runs if run.commit})
    code = f" Code: commit {', '.join(commits)}." if commits else ""
    return (
        f"Seeds: {', '.join(map(str, seeds))}. Trained on: {'; '.join(sorted(devices))}. Precision: "
        f"{', '.join(sorted(precisions))}.{code} {variants_note(run.variants for run in runs)}"
    )


def code_note(runs: Iterable[RunRecord]) -> str:
    """What an artifact says first where some of its runs, and not all, were trained by the code as it stands, as they
    are when it is edited while a workflow runs; "" otherwise."""
    by_id = {run.run.id: run for run in runs}
    commits = {run.commit for run in by_id.values()}
    if len(commits) == 1 and not any(commit.endswith("+") for commit in commits if commit):
        return ""  # all by the same committed code
    other = [name for name, run in by_id.items() if run.code not in equals_of(code_of(run.run))]
    if len(other) in (0, len(by_id)):
        return ""
    return (
        f"Made of runs of two codes, which are not comparable: that of {len(other)} of {len(by_id)} has changed since "
        f"they were trained ({', '.join(other)}). The same command trains them again, and makes this anew."
    )


def no_momentum_notes(runs: Iterable[RunRecord]) -> list[str]:
    """The momentum models that ran with mu = 0: what they do is not momentum's doing."""
    names = dict.fromkeys(f"{run.label} on {run.task_title}" for run in runs if run.has_no_momentum)
    return [f"Without momentum, because μ = 0: {'; '.join(names)}."] if names else []


def divergence_notes(runs: Iterable[RunRecord]) -> list[str]:
    """Which runs diverged or failed and why, "Diverged: SVHN, ODE-Net, seed 1: solver failed ..."; a line for each."""
    texts: dict[str, list[str]] = {"diverged": [], "failed": []}
    for run in runs:
        if run.status in texts:
            size = f", N = {run.size}" if run.size else ""
            texts[run.status].append(f"{run.task_title}, {run.label}{size}, seed {run.seed}: {_failure(run)}")
    return [f"{how.capitalize()}: {'; '.join(dict.fromkeys(of))}." for how, of in texts.items() if of]


def _failure(run: RunRecord) -> str:
    """The cause: "solver failed at iteration 812 (step budget exceeded)"; runs.csv has more of it."""
    if not run.failure:
        return f"the loss was not finite at iteration {run.diverged_at}"
    return run.failure.get("error") or f"solver failed at iteration {run.diverged_at} ({run.failure['cause']})"


def table_notes(artifact: Artifact, runs: Sequence[RunRecord], *said: str, lost: Iterable[str] = ()) -> list[str]:
    """Three notes at most: scale and deviations, what else is said and how the runs were made, what is lost."""
    scale = scale_note(artifact, deviations(artifact.configuration, runs))
    return [scale, " ".join([*said, runs_note(runs)]), " ".join([*lost, *divergence_notes(runs)])]


# In figures: in the picture in short, in the notes in full


def subtitle_of(configuration: Configuration, runs: Sequence[Ran]) -> str:
    """The scale, and whether anything is not as in the paper."""
    parts = [f"scale: {configuration.scale_name}"]
    parts += ["stand-in data"] if any(run.stand_in_for for run in runs) else []
    parts += ["deviates from the paper: see the notes"] if deviations(configuration, runs) else []
    return ", ".join(parts)


def figure_notes(artifact: Artifact, runs: Sequence[RunRecord], *drawn: str) -> list[str]:
    """Four notes at most: scale and deviations, what is drawn, failed runs, how the runs were made."""
    scale = scale_note(artifact, deviations(artifact.configuration, runs))
    return [scale, " ".join(drawn), " ".join(divergence_notes(runs)), runs_note(runs)]


def scale_note(artifact: Artifact, deviating: Iterable[str]) -> str:
    """What deviates from the paper, and what the user chose."""
    deviates = "; ".join(deviating)
    said = f"Deviates from the paper: {deviates}." if deviates else "Data, sizes and settings are the paper's."
    return " ".join([said, *chosen_notes(artifact.configuration, artifact.tasks())])


def about(configuration: Configuration, runs: Sequence[Ran], *texts: str) -> list[str]:
    """By line, what the runs of one task are of: the given texts and their size, then data other than the paper's."""
    replaced = dict.fromkeys(data_text(configuration, run) for run in runs if original_of(configuration, run))
    papers = dict.fromkeys(str(run.paper_size) for run in runs if is_resized(run))
    size = " and ".join(dict.fromkeys(str(run.size) for run in runs if run.size))
    size += f" (paper: {' and '.join(papers)})" if papers else ""
    return [", ".join(filter(None, (*texts, size and f"N = {size}"))), *replaced]


def reported_note(configuration: Configuration, runs: Sequence[RunRecord]) -> str:
    """The evaluation that the runs report: "evaluation with the highest validation accuracy", "last evaluation"; and
    whether seeds are random splits of the same data."""
    rules = dict.fromkeys((run.reported.rule, run.reported.metric) for run in runs if run.reported)
    titles = {metric: within_sentence(configuration.metrics[metric].title) for _, metric in rules}
    ends = {"max": "highest", "min": "lowest"}
    texts = [
        "last evaluation" if rule == "last" else f"evaluation with the {ends[rule]} {titles[metric]}"
        for rule, metric in rules
    ]
    reported = f"What a run reports: {' or '.join(dict.fromkeys(texts)) or 'nothing'}."
    if any(resampled(configuration, run.task, run.model) for run in runs):
        reported += " Seed k has the k-th random split of the series, for which bands and tests are corrected."
    return reported
