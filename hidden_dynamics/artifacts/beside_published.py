"""Ours beside the published: the rows that tables of numbers share, as data and as text.

What deviates from the paper is held to no number of it: it has no difference from the published number, and no
published lead.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.artifacts.notes import scale_note, title_of
from hidden_dynamics.artifacts.tables import ABSENT, Record, Table, TextRow, interval_text, number, p_text, signed
from hidden_dynamics.claims.comparison import Comparison, compare
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.deviations import Ran, deviations
from hidden_dynamics.papers.published import Number
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.statistics import Statistics, over_seeds

LESS = "ours − published"
OPTIONAL = ("parameters", "published ÷", LESS)  # columns that may say nothing


@dataclass(frozen=True)
class Score:
    """A metric of a case: ours over seeds, and how it stands to the published number and to the baseline.

    Attributes:
        ran: the case's runs.
        ours: in the unit that is shown.
        printed: the paper's own number, or the best that it quotes.
        deviations: of the case from the paper, in words.
        difference: our mean less the published number.
        lead: over the baseline; None of the baseline itself, and where there is none.
        published_lead: the same of the published numbers; nan where either side deviates from the paper.
    """

    case: Case
    metric: str
    ran: Sequence[RunRecord]
    ours: Statistics
    printed: Number | None
    deviations: list[str]
    difference: float
    lead: Comparison | None
    published_lead: float

    def data(self, artifact: Artifact) -> dict[str, Any]:
        """The row for programs."""
        ends = {f"lead_{name}": getattr(self.lead, name, math.nan) for name in ("low", "high", "p")}
        return {
            **data_of(artifact, self.case, self.metric, self.ran, self.deviations),
            **asdict(self.ours),
            "published_mean": self.printed and self.printed.value,
            "published_std": self.printed and self.printed.std,
            "difference": self.difference,
            "lead": getattr(self.lead, "difference", math.nan),
            **ends,
            "published_lead": self.published_lead,
        }

    def texts(self, artifact: Artifact, published: str = "", *remarks: str) -> dict[str, str]:
        """The cells, by heading: `published` as it is shown, where more is said of it, and `remarks` on our number."""
        decimals, baseline = artifact.configuration.metrics[self.metric].decimals, artifact.published.baseline
        printed = value_text(self.printed.value, self.printed.std, decimals) if self.printed else ABSENT
        return {
            "ours": ours_text(self.ours, decimals, *remarks),
            "published": published or printed,
            LESS: signed(self.difference, decimals),
            f"lead over {artifact.configuration.models[baseline].label} (95 %), p": lead_text(
                self.lead, decimals, published=self.published_lead
            ),
        }


def score_of(artifact: Artifact, evidence: Evidence, case: Case, metric: str) -> Score:
    """A metric of a case over its seeds, beside the published number and the baseline."""
    ran, theirs = evidence.of(case), held_to(artifact, case, metric)
    ours = over_seeds(artifact.configuration, ran, metric)
    deviating, baseline = deviations_of(artifact, ran), baseline_of(artifact, case)
    lead, published_lead = None, math.nan
    if baseline is not None and baseline != case:
        lead = compare(evidence, case, baseline, metric)
        if not deviating and not deviations_of(artifact, evidence.of(baseline)):
            sign = artifact.configuration.metrics[metric].sign
            published_lead = sign * (theirs - held_to(artifact, baseline, metric))
    difference = math.nan if deviating else ours.mean - theirs
    printed = artifact.number(case, metric)
    return Score(case, metric, ran, ours, printed, deviating, difference, lead, published_lead)


def data_of(artifact: Artifact, case: Case, metric: str, ran: Sequence[Ran], deviating: list[str]) -> dict[str, Any]:
    """How a row for programs begins: what ran of a case, and in what it deviates from the paper."""
    return {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        "task": case.task,
        "model": case.model,
        "label": ran[0].label if ran else artifact.configuration.models[case.model].label,
        "extra": case not in artifact.shown(),
        "size": ran[0].size if ran else None,
        "paper_size": case.size,
        "metric": metric,
        "deviations": "; ".join(deviating) or None,
    }


def baseline_of(artifact: Artifact, case: Case) -> Case | None:
    """The case that another one is held to, if it is shown: of its task and, unless the paper compares across sizes, of
    its size."""
    across = artifact.published.content.get("across_sizes")
    sought = (case.task, artifact.published.baseline)
    return next((one for one in artifact.shown() if one[:2] == sought and (across or one.size == case.size)), None)


def deviations_of(artifact: Artifact, ran: Sequence[Ran]) -> list[str]:
    """The deviations of runs or measurements from the paper, with those of the artifact's own settings."""
    trained = artifact.summarised  # costs alone are of networks that are not
    return deviations(artifact.configuration, ran, trained=trained) + artifact.deviations()


def held_to(artifact: Artifact, case: Case, metric: str) -> float:
    """The published number that a mean of ours is held to: the paper's own, or the best that it quotes; nan without
    one, and where it is the best of several runs."""
    printed = artifact.number(case, metric)
    return math.nan if printed is None or printed.maximum else printed.value


# As text


def beside(ours: object, papers: object) -> str:
    """Ours, with the paper's where it is another: "32 (paper: 128)"."""
    text = ABSENT if ours in (None, "") else str(ours)
    return text if papers in (None, "") or text == str(papers) else f"{text} (paper: {papers})"


def value_text(mean: float | None, std: float | None, decimals: int) -> str:
    """A mean and, where there is one, its deviation."""
    return number(mean, decimals) + ("" if std is None else f" ± {number(std, decimals)}")


def ours_text(ours: Statistics, decimals: int, *remarks: str) -> str:
    """Mean and deviation over seeds, such as "93.00 ± 3.61 (n = 3; diverged 1 of 4)"; else how the runs failed.

    Where those that have learned something and the others are two clusters: "2 of 3 learned, median 93.00".
    """
    lost = {"diverged": ours.diverged, "failed": ours.failed, "not finite": ours.not_finite}
    counts = [f"{how} {count} of {ours.runs}" for how, count in lost.items() if count]
    if not ours.n:
        return "; ".join(counts) or ABSENT
    if ours.median is not None:
        median = f"{ours.learned} of {ours.n} learned, median {number(ours.median, decimals)}"
        return "; ".join([median, *counts, *remarks])
    return f"{value_text(ours.mean, ours.std, decimals)} ({'; '.join([f'n = {ours.n}', *counts, *remarks])})"


def lead_text(lead: Comparison | None, decimals: int, adjusted: float = math.nan, published: float = math.nan) -> str:
    """ "+1.20 (+0.40 to +2.00), p = 0.011 [0.033], paper +0.90"; † where the side ahead is not shown to have learned;
    `adjusted` is p after an adjustment, `published` the paper's lead."""
    if lead is None:
        return ABSENT
    difference = f"{signed(lead.difference, decimals)} {interval_text(lead.low, lead.high, decimals)}".strip()
    paper = "" if math.isnan(published) else f"paper {signed(published, decimals)}"
    return ", ".join(filter(None, (difference, p_text(lead.p, adjusted), paper))) + " †" * lead.unlearned


def table(
    artifact: Artifact,
    evidence: Evidence,
    rows: Sequence[TextRow],
    data: Sequence[Record],
    notes: Iterable[str],
    about: str = "",
) -> Table:
    """The table of rows of texts, with a title that says where something deviates from the paper.

    Args:
        data: rows for programs; those that begin as `data_of` are held to the paper.
        notes: its own; what deviates stands before, what is to be known of the printed numbers after.
        about: what else its title says.
    """
    ours = [row for row in data if "deviations" in row]
    deviating = [bool(row["deviations"]) for row in ours if row.get("runs") != 0]
    different = ", not comparable with the published numbers" if any(deviating) else ""
    title = title_of(artifact, about) + different + (" in some cells" if different and not all(deviating) else "")
    ran = [*evidence.runs, *evidence.costs]
    scale = scale_note(artifact, deviations_of(artifact, ran))
    extras = dict.fromkeys(row["label"] for row in ours if row["extra"])
    scale += f" Not in the paper's table: {', '.join(extras)}." if extras else ""
    return Table.of(title, [scale, *notes, artifact.published.note], rows, data, OPTIONAL)
