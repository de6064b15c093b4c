"""What a figure says of its runs, from their rows of a summary: in the picture in short, in the notes in full."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.notes import divergence_notes, is_resampled, runs_notes, scale_notes
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.deviations import data_text, deviations, is_resized, original_of
from hidden_dynamics.results.rows import Row


def subtitle_of(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The scale, and whether anything is not as in the paper."""
    parts = [f"scale: {configuration.scale_name}"]
    parts += ["stand-in data"] if any(run["stand_in_for"] for run in runs) else []
    parts += ["deviates from the paper: see the notes"] if deviations(configuration, runs) else []
    return ", ".join(parts)


def figure_notes(configuration: Configuration, runs: Sequence[Row], *drawn: str) -> list[str]:
    """All notes, by paragraph: scale and deviations, what is drawn, failed runs, how the runs were made."""
    return [scale_note(configuration, runs), *drawn, *divergence_notes(runs), " ".join(runs_notes(runs))]


def scale_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The scale, and all in which the runs deviate from the paper."""
    texts = deviations(configuration, runs)
    return " ".join(
        [*scale_notes(configuration), *([f"Deviates from the paper: {'; '.join(texts)}."] if texts else [])]
    )


def about(configuration: Configuration, runs: Sequence[Row], *texts: str) -> list[str]:
    """By line, what the runs of one task are of: the given texts and their size, then data other than the paper's."""
    replaced = dict.fromkeys(data_text(configuration, run) for run in runs if original_of(configuration, run))
    papers = dict.fromkeys(run["paper_size"] for run in runs if is_resized(run))
    size = " and ".join(dict.fromkeys(run["size"] for run in runs if run["size"]))
    size += f" (paper: {' and '.join(papers)})" if papers else ""
    return [", ".join(filter(None, (*texts, size and f"N = {size}"))), *replaced]


def splits_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """That seeds are random splits of the same data; empty where they are not."""
    if not is_resampled(configuration, runs):
        return ""
    return (
        "Seed k has the k-th random split of the series; test sets overlap, so the seeds are not independent: bands "
        "and the tests of claims are corrected for it (n_test/n_train is added to 1/n: Nadeau and Bengio 2003)."
    )


def chosen_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The evaluation that the runs report: "evaluation with the highest validation accuracy", "last evaluation"; empty
    where none reports any."""
    rules = dict.fromkeys((run["rule"], run["metric"]) for run in runs if run["metric"])
    titles = {metric: within_sentence(configuration.metrics[metric].title) for _, metric in rules}
    ends = {"max": "highest", "min": "lowest"}
    texts = [
        "last evaluation" if rule == "last" else f"evaluation with the {ends[rule]} {titles[metric]}"
        for rule, metric in rules
    ]
    return " or ".join(dict.fromkeys(texts))


def weights_note(configuration: Configuration, runs: Sequence[Row]) -> str:
    """The evaluation whose weights were recorded; empty where no run reports any."""
    rule = chosen_note(configuration, runs)
    return f"Weights: of the {rule}." if rule else ""
