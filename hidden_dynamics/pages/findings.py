"""The findings: for each paper a table of its headline claims, as texts, for findings.md and for the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.artifacts.exploratory import FALSE
from hidden_dynamics.artifacts.tables import interval_text, number, signed
from hidden_dynamics.claims.verdict import Outcome, Verdict, read_verdicts
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.rows import read_rows

OURS = "Ours: difference and 95 % interval over seeds"
SMALL = "Small data: direction alone"
LOGS = "The authors’ logs"
RATIO = "faster"  # the kind of claim whose effect is a ratio
Effect = tuple[float | None, float | None, float | None]  # a difference and the ends of its interval


@dataclass(frozen=True)
class Finding:
    """A line of a paper's table.

    Attributes:
        cells: by column; "" where there is nothing.
        said: what was found, in words, and what ran; "" of a claim that was not run.
    """

    verdict: Verdict
    cells: Mapping[str, str]
    said: str


@dataclass(frozen=True)
class PaperFindings:
    """What was found of a paper's headline claims.

    Attributes:
        columns: those in which any line says something.
        lines: of claims that were run, or of which the authors' logs or small data say something.
        not_run: the ids of the others, by the reason.
        others: what others say of claims: the ids, the text and its address.
    """

    name: str
    title: str
    columns: Sequence[str]
    lines: Sequence[Finding]
    not_run: Mapping[str, Sequence[str]]
    others: Sequence[tuple[Sequence[str], str, str]]


@dataclass(frozen=True)
class Exploratory:
    """How many comparisons are in comparisons.csv, how many have a p, how many of these a q below `FALSE`."""

    made: int
    tested: int
    clear: int

    @property
    def sentence(self) -> str:
        return (
            f"{self.made} rows of tables are compared with their baselines, {self.tested} of them by a test. Of these "
            f"{self.clear} have q < {FALSE}, the share of false ones that is expected among them. None is a verdict: no "
            "question was put before the runs."
        )


def findings_of(configuration: Configuration, root: Path) -> list[PaperFindings]:
    """What was found of each paper, from the verdicts of the configured scale and of that which it shows beside it.

    Args:
        root: where the results directory is, and the publications.

    Raises:
        UserError: the verdicts are missing or damaged.
    """
    verdicts = read_verdicts(root / configuration.paths.verdicts)
    path = configuration.verdicts_beside
    small = {(one.paper, one.id): one for one in read_verdicts(root / path)} if path and (root / path).is_file() else {}
    titles = {name: content.paper.title for name, content in load_claims().items()}
    return [
        _paper(name, titles.get(name, name), [one for one in verdicts if one.paper == name], small)
        for name in dict.fromkeys(verdict.paper for verdict in verdicts)
    ]


def exploratory_of(configuration: Configuration, root: Path) -> Exploratory:
    rows = read_rows(root / configuration.paths.comparisons)
    found = [float(row["q"]) for row in rows if row["q"]]
    return Exploratory(len(rows), len(found), sum(q < FALSE for q in found))


def _paper(
    name: str, title: str, verdicts: Sequence[Verdict], small: Mapping[tuple[str, str], Verdict]
) -> PaperFindings:
    ran = [verdict for verdict in verdicts if verdict.outcome is not Outcome.NOT_RUN]
    ours = SMALL if ran and all(verdict.deviations for verdict in ran) else OURS
    lines = [_finding(one, ours, small.get((name, one.id))) for one in verdicts]
    shown = [line for line in lines if line.verdict in ran or line.cells[LOGS] or line.cells.get(SMALL)]
    not_run: dict[str, list[str]] = {}
    for line in lines:
        if line not in shown:
            not_run.setdefault(line.verdict.reason, []).append(line.verdict.id)
    others: dict[tuple[str, str], list[str]] = {}
    for one in verdicts:
        if one.critic:
            others.setdefault((one.critic, one.critic_address), []).append(one.id)
    columns = [name for name in (shown[0].cells if shown else ()) if any(line.cells[name] for line in shown)]
    return PaperFindings(name, title, columns, shown, not_run, [(ids, *about) for about, ids in others.items()])


COLUMNS: dict[str, Callable[[Verdict], str]] = {
    "Claim": lambda one: f"{one.id}{'†' * one.dagger} {one.says}",
    "Printed": lambda one: one.printed,
    "": lambda one: _ours(one),
    "Control": lambda one: _named(
        one.control_label, _effect(one, (one.control_difference, one.control_low, one.control_high))
    ),
    LOGS: lambda one: _named(one.logs, _effect(one, (one.logs_difference, one.logs_low, one.logs_high))),
    SMALL: lambda one: "",
    "Classical": lambda one: one.classical,
    "Verdict, robust, planned": lambda one: _judged(one),
}


def _finding(verdict: Verdict, ours: str, small: Verdict | None) -> Finding:
    cells = {name: text(verdict) for name, text in COLUMNS.items()}
    if small and small.outcome is not Outcome.NOT_RUN:
        cells[SMALL] = f"{small.outcome.value}: {_effect(small, (small.difference, small.low, small.high))}"
    if ours == SMALL:
        del cells[SMALL]
    ran = verdict.ran and f"Ran: {verdict.ran}."
    reason = "" if verdict.outcome is Outcome.NOT_RUN else verdict.reason
    said = " ".join(filter(None, (verdict.sentence, reason, ran, verdict.remark)))
    return Finding(verdict, {name or ours: text for name, text in cells.items()}, said)


def _ours(verdict: Verdict) -> str:
    shown = _effect(verdict, (verdict.difference, verdict.low, verdict.high))
    if shown and verdict.items_low is not None and verdict.items_high is not None:
        items = interval_text(verdict.items_low, verdict.items_high, verdict.decimals)
        shown += f"; over seeds and test items {items}"
    return shown


def _effect(verdict: Verdict, effect: Effect) -> str:
    """A difference with its sign, interval and unit; of `faster` a ratio."""
    difference, low, high = effect
    if difference is None:
        return ""
    text = signed if verdict.kind != RATIO else number
    ends = "" if low is None or high is None else f"({text(low, verdict.decimals)} to {text(high, verdict.decimals)})"
    before = "×" if verdict.kind == RATIO else ""
    return " ".join(filter(None, (before, text(difference, verdict.decimals), ends, verdict.unit)))


def _named(name: str, effect: str) -> str:
    return ": ".join(filter(None, (name, effect)))


def _judged(verdict: Verdict) -> str:
    robust = "" if verdict.robust is None else f"{verdict.robust:.0%} of {verdict.analyses}".replace("%", " %")
    return "; ".join(filter(None, (verdict.outcome.value, robust, f"planned: {verdict.plan}")))
