"""The findings: for each paper a table of its headline claims, as texts, for findings.md and for the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.artifacts.exploratory import FALSE
from hidden_dynamics.artifacts.tables import interval_text, number, signed
from hidden_dynamics.claims.verdict import Outcome, Verdict, read_verdicts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import read_rows

OURS = "Ours: difference (95 % interval)"
SMALL = "Small data (not the paper’s settings)"
LOGS = "The authors’ logs"
LOSS_DECIMALS = 3
PLANNED = {"yes": "planned", "widened": "widened after the plan", "changed": "changed after the plan", "no": ""}


@dataclass(frozen=True)
class Finding:
    """A line of a paper's table.

    Attributes:
        cells: by column; "" where there is nothing.
        said: what was found, in words, and what ran; where nothing did, what is to be known of the claim.
    """

    verdict: Verdict
    cells: Mapping[str, str]
    said: str


@dataclass(frozen=True)
class PaperFindings:
    """The findings on a paper's headline claims.

    Attributes:
        outcomes: the ids of all claims by what was found of them, verdicts on the paper's own first.
        columns: those in which any line says something.
        lines: of claims that were run, or of which the authors' logs or small data say something, in that order.
        not_run: the ids of those that were not, by the reason.
        others: what others say of the paper's own runs: the ids, the text and its address.
    """

    name: str
    title: str
    outcomes: Mapping[str, Sequence[str]]
    columns: Sequence[str]
    lines: Sequence[Finding]
    not_run: Mapping[str, Sequence[str]]
    others: Sequence[tuple[Sequence[str], str, str]]


def findings_of(configuration: Configuration, root: Path) -> list[PaperFindings]:
    """The findings of each paper, from the verdicts under `root` of the configured scale, and of that which it shows
    beside it. A `UserError` where verdicts are missing or damaged."""
    verdicts = read_verdicts(root / configuration.paths.verdicts)
    path = configuration.verdicts_beside
    beside = read_verdicts(root / path) if path and (root / path).is_file() else []
    return found(verdicts, beside, directions=configuration.scale.directions)


def found(verdicts: Iterable[Verdict], beside: Iterable[Verdict], directions: bool) -> list[PaperFindings]:
    """The findings of each paper; `beside` are the verdicts of small data, `directions` whether the first are, too."""
    small = {(verdict.paper, verdict.id): verdict for verdict in beside}
    titles = {name: content.paper.title for name, content in load_claims().items()}
    papers: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        papers.setdefault(verdict.paper, []).append(verdict)
    ours = SMALL if directions else OURS
    return [_paper(name, titles.get(name, name), ours, of_paper, small) for name, of_paper in papers.items()]


def exploratory_sentence(configuration: Configuration, root: Path) -> str:
    """The numbers of comparisons in comparisons.csv, of those with a p, and of those with a q below `FALSE`."""
    rows = read_rows(root / configuration.paths.comparisons)
    q = [float(row["q"]) for row in rows if row["q"]]
    clear = sum(value < FALSE for value in q)
    return (
        f"{len(rows)} comparisons of tables and figures, {len(q)} by a test: {clear} have q < {FALSE}, "
        f"at most {100 * FALSE:g} % of these are expected to be false. None is a verdict."
    )


def _paper(
    name: str, title: str, ours: str, verdicts: Sequence[Verdict], small: Mapping[tuple[str, str], Verdict]
) -> PaperFindings:
    outcomes: dict[str, list[str]] = {}
    not_run: dict[str, list[str]] = {}
    critics: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], str] = {}
    lines: list[Finding] = []
    verdicts = sorted(verdicts, key=lambda one: (list(Outcome).index(one.outcome), one.difference is None))
    for verdict in verdicts:
        outcomes.setdefault(outcome_text(verdict), []).append(verdict.id)
        texts = _cells(verdict, ours, small.get((name, verdict.id)))
        if _has_runs(verdict):
            first.setdefault((verdict.ran, verdict.remark), verdict.id)
        else:
            not_run.setdefault(verdict.reason, []).append(verdict.id)
        if _has_runs(verdict) or texts[LOGS] or texts.get(SMALL):
            lines.append(Finding(verdict, texts, _said(verdict, first)))
        if verdict.critic and ours != SMALL:
            critics.setdefault((verdict.critic, verdict.critic_address), []).append(verdict.id)
    columns = [column for column in (lines[0].cells if lines else ()) if any(line.cells[column] for line in lines)]
    others = [(ids, says, address) for (says, address), ids in critics.items()]
    return PaperFindings(name, title, outcomes, columns, lines, not_run, others)


def _has_runs(verdict: Verdict) -> bool:
    """Whether there are runs, or what is measured in their place; be it without a verdict."""
    return verdict.outcome is not Outcome.NOT_RUN or verdict.difference is not None or bool(verdict.earlier)


def _said(verdict: Verdict, first: Mapping[tuple[str, str], str]) -> str:
    """What was found, what ran, and what is to be known of it: of several claims with `first`, by id."""
    if not _has_runs(verdict):
        denied = "The paper’s own table denies the claim." if verdict.against_table else ""
        return " ".join(filter(None, (denied, verdict.remark)))
    leader = first[verdict.ran, verdict.remark]
    ran = f"Ran: {verdict.ran if leader == verdict.id else f'as {leader}'}." if verdict.ran else ""
    differing = f"By other analyses: {verdict.differing}." if verdict.differing else ""
    remark = verdict.remark if verdict.ran and leader == verdict.id else ""  # it is on what ran
    return " ".join(filter(None, (verdict.sentence, differing, ran, remark)))


def _ours(verdict: Verdict) -> str:
    shown = _effect(verdict, verdict.difference, verdict.low, verdict.high)
    if shown and verdict.items_low is not None and verdict.items_high is not None:
        items = interval_text(verdict.items_low, verdict.items_high, verdict.decimals)
        shown += f"; over seeds and test items {items}"
    earlier = f"before the plan: {verdict.earlier}" if verdict.earlier else ""
    return "; ".join(filter(None, (shown, earlier)))


def _control(verdict: Verdict) -> str:
    if not verdict.has_control:  # or the comparison itself is one with the control
        return verdict.control_label and "the reference is the control"
    effect = verdict.control_difference, verdict.control_low, verdict.control_high
    return _named(verdict.control_label, _effect(verdict, *effect))


def _logged(verdict: Verdict) -> str:
    """The difference in the authors' logs, which is one of losses whatever the claim's metric is."""
    loss = verdict.model_copy(update={"kind": "better", "unit": "", "decimals": LOSS_DECIMALS})
    return _named(_effect(loss, verdict.logs_difference, verdict.logs_low, verdict.logs_high), verdict.logs)


def _direction(small: Verdict | None) -> str:
    if small is None or not _has_runs(small) or not small.deviations:
        return ""
    return _named(small.outcome.value, _effect(small, small.difference, small.low, small.high))


def _effect(verdict: Verdict, difference: float | None, low: float | None, high: float | None) -> str:
    """A difference with its sign, interval and unit; of `faster` a ratio."""
    if difference is None:
        return ""
    ratio = verdict.kind == "faster"
    text, times, unit = (number, "× ", "of the iterations") if ratio else (signed, "", verdict.unit)
    ends = "" if low is None or high is None else f" ({text(low, verdict.decimals)} to {text(high, verdict.decimals)})"
    return f"{times}{text(difference, verdict.decimals)}{ends} {unit}".strip()


def _named(name: str, text: str) -> str:
    return ": ".join(filter(None, (name, text)))


def outcome_text(verdict: Verdict) -> str:
    """What was found, with the part of the training that it is of: "reproduced by epoch 13"."""
    if verdict.outcome is Outcome.NOT_RUN and verdict.difference is not None:
        return "not judged"  # there are numbers, which answer no claim
    return f"{verdict.outcome.value} {verdict.part if verdict.outcome.of_the_paper else ''}".strip()


def _judged(verdict: Verdict, ours: str) -> str:
    """The outcome, its sensitivity, and whether it was planned: no run of small data was."""
    agree, of = verdict.robust, verdict.analyses
    others = "" if agree is None else f"the same by {agree * of:.0f} of {of} other analyses"
    planned = PLANNED[verdict.plan] if ours != SMALL else ""
    return "; ".join(filter(None, (outcome_text(verdict), others, planned)))


def _cells(verdict: Verdict, ours: str, small: Verdict | None) -> dict[str, str]:
    """The texts of a line by column; `ours` is the heading of our own runs, `small` the verdict of small data."""
    beside = {LOGS: ""} if ours == SMALL else {LOGS: _logged(verdict), SMALL: _direction(small)}
    return {
        "Claim": f"{verdict.id}{'†' * verdict.dagger} {verdict.says}",
        "Verdict; other analyses; planned?": _judged(verdict, ours),
        "Printed": verdict.printed,
        ours: _ours(verdict),
        "Minus its control": _control(verdict),
        **beside,  # logs are of the paper's data
        "Classical": verdict.classical,
    }
