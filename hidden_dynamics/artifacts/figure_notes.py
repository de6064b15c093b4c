"""What a figure says of its runs, from their rows of a summary: in the picture in short, in the notes in full."""

import json
from collections.abc import Sequence

from hidden_dynamics.artifacts.notes import (
    LAST,
    RULES,
    commits_note,
    divergence_notes,
    effects_taken,
    readings_note,
    scale_notes,
)
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.departures import data_text, departures, is_resized, original_of
from hidden_dynamics.results.rows import Row


def subtitle_of(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The scale, and whether anything is not as in the paper."""
    parts = [f"scale: {configuration.scale_name}"]
    parts += ["stand-in data"] if any(run["stand_in_for"] for run in runs) else []
    parts += ["departs from the paper: see the notes"] if departures(configuration, runs) else []
    return ", ".join(parts)


def figure_notes(configuration: Configuration, runs: Sequence[Row], *drawn: str) -> list[str]:
    """All notes, by paragraph: scale and departures, what is drawn, failed runs, how the runs were made."""
    return [scale_note(configuration, runs), *drawn, *divergence_notes(runs), made_note(runs)]


def scale_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The scale, and all in which the runs depart from the paper."""
    texts = departures(configuration, runs)
    return " ".join([*scale_notes(configuration), *([f"Departs from the paper: {'; '.join(texts)}."] if texts else [])])


def made_note(runs: Sequence[Row]) -> str:
    """The readings of the paper that the runs took, and the devices, precisions and commits of these."""
    made_on = sorted({f"{run['device']}, {run['precision']}" for run in runs})
    readings = readings_note((run["task_title"], json.loads(run["readings"])) for run in runs)
    return f"{readings} Device: {'; '.join(made_on)}.{commits_note(runs)}"


def about(configuration: Configuration, runs: Sequence[Row], *texts: str) -> list[str]:
    """By line, what the runs of one task are of: the given texts and their size, then data other than the paper's."""
    replaced = dict.fromkeys(data_text(configuration, run) for run in runs if original_of(configuration, run))
    return [", ".join(filter(None, (*texts, sizes_of(runs)))), *replaced]


def sizes_of(runs: Sequence[Row]) -> str:
    """The numbers of hidden units, such as "N = 48 (paper: 256)"; empty where there are none."""
    sizes = dict.fromkeys(run["size"] for run in runs if run["size"])
    papers = dict.fromkeys(run["paper_size"] for run in runs if is_resized(run))
    text = f"N = {' and '.join(sizes)}" if sizes else ""
    return f"{text} (paper: {' and '.join(papers)})" if papers else text


def splits_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """That seeds are random splits of the same data; empty where they are not."""
    if not any(effect.resampled for effect in effects_taken(configuration, runs)):
        return ""
    return "Seed k has the k-th random split of the series; test sets overlap, so the seeds are not independent."


def band_text(configuration: Configuration, runs: Sequence[Row]) -> str:
    """What a band is, and how it is corrected where seeds are random splits of the same data."""
    shares = sorted({effect.resampled for effect in effects_taken(configuration, runs) if effect.resampled})
    if not shares:
        return "95 % t band over seeds"
    added = " or ".join(f"{share:g}" for share in shares)
    return (
        f"95 % t band over seeds (where they are splits of the same data, n_test/n_train = {added} is added to 1/n: "
        "Nadeau and Bengio 2003)"
    )


def chosen_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The evaluation that the runs report: "evaluation with the highest validation accuracy", "last evaluation"; empty
    where none reports any."""
    rules = dict.fromkeys((run["rule"], run["metric"]) for run in runs if run["metric"])
    titles = {metric: within_sentence(configuration.metrics[metric].title) for _, metric in rules}
    best = " or ".join(f"{RULES[rule]} {titles[metric]}" for rule, metric in rules if rule != LAST)
    last = "last evaluation" if any(rule == LAST for rule, _ in rules) else ""
    return " or ".join(filter(None, [f"evaluation with the {best}" if best else "", last]))


def weights_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The evaluation whose weights were recorded; empty where no run reports any."""
    rule = chosen_note(configuration, runs)
    return f"Weights: of the {rule}." if rule else ""


def legend_label(runs: Sequence[Row]) -> str:
    """A model's name with its diverged runs, "LSTM (1 of 2 runs diverged)"."""
    diverged = sum(run["status"] == "diverged" for run in runs)
    return runs[0]["label"] + (f" ({diverged} of {len(runs)} runs diverged)" if diverged else "")
