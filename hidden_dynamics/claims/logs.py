"""What the authors' own logs say of a claim: no run of ours enters."""

from collections.abc import Sequence

from hidden_dynamics.claims.statistics import Sample, welch
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.papers.logs import Log, load_logs, whole
from hidden_dynamics.results.seeds import FEWEST, LEVEL

LogColumn = dict[str, str | float | None]


def log_columns(configuration: Configuration, paper: str, entry: ClaimEntry) -> LogColumn:
    """The columns of a verdict on the authors' logs: the subject's loss less that of the best reference after the last
    epoch that both have; nothing where the paper has no logs of both."""
    subjects, references = (_logs(configuration, paper, entry, cases) for cases in (entry.subjects, entry.references))
    if not subjects or not references:
        return {}
    epochs = set.intersection(*(set(whole(log)) for log in (*subjects, *references)))
    last = max(epochs)
    subject, reference = (
        min((whole(log)[last] for log in logs), key=lambda point: point.mean) for logs in (subjects, references)
    )
    text = f"{subject.split} loss, epoch {last}, N = {subject.size}, {subject.n} and {reference.n} runs"
    columns: LogColumn = {"logs": text, "logs_difference": subject.mean - reference.mean}
    estimate = welch(*(Sample(point.mean, point.sd, point.n) for point in (subject, reference)))
    if estimate is None or min(subject.n, reference.n) < FEWEST:
        return columns
    low, high = estimate.interval(LEVEL)
    return columns | {"logs_low": low, "logs_high": high}


def _logs(configuration: Configuration, paper: str, entry: ClaimEntry, cases: Sequence[Case]) -> list[Log]:
    if entry.logs is None:
        return []
    logs = load_logs(f"{paper}/logs.yaml")
    of_cases = (logs.of_the_paper(configuration, Case(entry.logs.task, case.model, entry.logs.size)) for case in cases)
    return [log for log in of_cases if log]
