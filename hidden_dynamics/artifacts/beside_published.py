"""Ours beside the published: the rows that tables of numbers share, as data and as text.

What deviates from the paper is held to no number of it: it has no difference from the published number, and no
published lead.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hidden_dynamics.artifacts.base import Artifact, BesidePublished
from hidden_dynamics.artifacts.notes import scale_note, title_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, TextRow, interval_text, number, p_text, signed
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.deviations import deviations
from hidden_dynamics.papers.published import Number
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import Cost, Features
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.statistics import Statistics

if TYPE_CHECKING:
    from hidden_dynamics.claims.comparison import Comparison

OPTIONAL = ("parameters", "published ÷", "ours − published")  # columns that may say nothing
LESS = "ours − published"
Ran = Sequence[RunRecord | Features | Cost]


@dataclass(frozen=True)
class Score:
    """A metric of a case: ours over seeds, and how it stands to the published number and to the baseline.

    Attributes:
        ours: in the unit that is shown.
        printed: the paper's own number, or the best that it quotes.
        deviations: of the case from the paper, in words.
        difference: our mean less the published number.
        lead: over the baseline; None of the baseline itself, and where it is not shown.
        published_lead: the same of the published numbers; nan where either side deviates from the paper.
    """

    case: Case
    metric: str
    label: str
    ran: Ran
    ours: Statistics
    printed: Number | None
    deviations: str
    difference: float
    lead: "Comparison | None"
    published_lead: float

    def data(self, artifact: Artifact) -> dict[str, Any]:
        """The row for programs."""
        lead = {name: getattr(self.lead, name, math.nan) for name in ("difference", "low", "high", "p")}
        return {
            **data_of(artifact, self.case, self.metric, self.ran, self.deviations),
            **asdict(self.ours),
            "published_mean": self.printed and self.printed.value,
            "published_std": self.printed and self.printed.std,
            "difference": self.difference,
            "lead": lead.pop("difference"),
            **{f"lead_{name}": value for name, value in lead.items()},
            "published_lead": self.published_lead,
        }


def score_of(artifact: BesidePublished, evidence: Evidence, case: Case, metric: str, ours: Statistics) -> Score:
    """A case, of which `ours` are the metric's statistics, beside its published number and its baseline."""
    from hidden_dynamics.claims.comparison import compare  # SciPy

    ran, theirs = ran_of(evidence, case), held_to(artifact, case, metric)
    deviating = deviations_of(artifact, ran)
    baseline, lead, published_lead = baseline_of(artifact, case), None, math.nan
    if baseline is not None and baseline != case:
        lead = compare(evidence, case, baseline, metric)
        if not deviating and not deviations_of(artifact, ran_of(evidence, baseline)):
            sign = artifact.configuration.metrics[metric].sign
            published_lead = sign * (theirs - held_to(artifact, baseline, metric))
    return Score(
        case,
        metric,
        label=label_of(artifact, case, ran),
        ran=ran,
        ours=ours,
        printed=artifact.number(case, metric),
        deviations="; ".join(deviating),
        difference=math.nan if deviating else ours.mean - theirs,
        lead=lead,
        published_lead=published_lead,
    )


def data_of(artifact: Artifact, case: Case, metric: str, ran: Ran, deviating: str) -> dict[str, Any]:
    """How a row for programs begins: what ran of a case, and in what it deviates from the paper."""
    return {
        "artifact": artifact.name,
        "scale": artifact.configuration.scale_name,
        **case._asdict(),
        "size": ran[0].size if ran else None,
        "paper_size": case.size,
        "label": label_of(artifact, case, ran),
        "extra": case not in artifact.shown(),
        "metric": metric,
        "deviations": deviating or None,
    }


def ran_of(evidence: Evidence, case: Case) -> Ran:
    """A case's runs, or what was measured of them."""
    return evidence.of(case) or [row for row in evidence.features if row.case == case]


def label_of(artifact: Artifact, case: Case, ran: Ran) -> str:
    return ran[0].label if ran else artifact.configuration.models[case.model].label


def baseline_of(artifact: BesidePublished, case: Case) -> Case | None:
    """The case that another one is held to, if it is shown: of its task and, unless the paper compares across sizes, of
    its size."""
    across = artifact.published.content.get("across_sizes")
    sought = case._replace(model=artifact.published.baseline)
    same = (one for one in artifact.shown() if one._replace(size=sought.size) == sought) if across else ()
    return next(iter(same), sought if sought in artifact.shown() else None)


def baseline_label(artifact: BesidePublished) -> str:
    return artifact.configuration.models[artifact.published.baseline].label


def deviations_of(artifact: Artifact, ran: Ran) -> list[str]:
    """The deviations of runs or measurements from the paper, with those of the artifact's own settings."""
    trained = artifact.summarised or artifact.measured != "costs"
    return deviations(artifact.configuration, ran, trained=trained) + artifact.deviations()


def held_to(artifact: Artifact, case: Case, metric: str) -> float:
    """The published number that a mean of ours is held to: the paper's own, or the best that it quotes; nan without
    one, and where it is the best of several runs."""
    printed = artifact.number(case, metric)
    return math.nan if printed is None or printed.maximum else printed.value


# As text


def size_text(size: object, paper_size: object) -> str:
    """N as run; where it is not the paper's, the paper's too."""
    return beside(ABSENT if size in (None, "") else str(size), paper_size)


def beside(ours: str, papers: object) -> str:
    """Ours, with the paper's where it is another: "32 (paper: 128)"."""
    return ours if papers in (None, "") or ours == str(papers) else f"{ours} (paper: {papers})"


def value_text(mean: float | None, std: float | None, decimals: int) -> str:
    """A mean and, where there is one, its deviation."""
    return number(mean, decimals) + ("" if std is None else f" ± {number(std, decimals)}")


def printed_text(printed: Number | None, decimals: int) -> str:
    return value_text(printed.value, printed.std, decimals) if printed else ABSENT


def ours_text(ours: Statistics, decimals: int, *remarks: str, lost: Mapping[str, int] | None = None) -> str:
    """Mean and deviation over seeds, such as "93.00 ± 3.61 (n = 3; diverged 1 of 4)"; else how the runs failed.

    Where those that have learned something and the others are two clusters: "2 of 3 learned, median 93.00".

    Args:
        lost: how many runs have no number, by the reason, where that is not one of training's.
    """
    if lost is None:
        lost = {"diverged": ours.diverged, "failed": ours.failed, "not finite": ours.not_finite}
    counts = [f"{how} {count} of {ours.runs}" for how, count in lost.items() if count]
    if not ours.n:
        return "; ".join(counts) or ABSENT
    if ours.median is not None:
        median = f"{ours.learned} of {ours.n} learned, median {number(ours.median, decimals)}"
        return "; ".join([median, *counts, *remarks])
    remarks = (f"n = {ours.n}", *counts, *remarks)
    return f"{value_text(ours.mean, ours.std, decimals)} ({'; '.join(remarks)})"


def lead_text(lead: "Comparison | None", decimals: int, adjusted: float = math.nan, published: float = math.nan) -> str:
    """ "+1.20 (+0.40 to +2.00), p = 0.011 [0.033], paper +0.90"; with † where the side ahead is not shown to have learned.

    Args:
        adjusted: p after an adjustment.
        published: the paper's lead.
    """
    if lead is None:
        return ABSENT
    difference = f"{signed(lead.difference, decimals)} {interval_text(lead.low, lead.high, decimals)}".strip()
    paper = "" if math.isnan(published) else f"paper {signed(published, decimals)}"
    return ", ".join(filter(None, (difference, p_text(lead.p, adjusted), paper))) + " †" * lead.unlearned


def score_texts(artifact: BesidePublished, score: Score) -> dict[str, str]:
    """The cells of a score beside ours and the published, by heading."""
    decimals = artifact.configuration.metrics[score.metric].decimals
    lead = lead_text(score.lead, decimals, published=score.published_lead)
    return {LESS: signed(score.difference, decimals), f"lead over {baseline_label(artifact)} (95 %), p": lead}


# Whole


def table(
    artifact: BesidePublished,
    evidence: Evidence,
    rows: Sequence[TextRow],
    data: Sequence[Mapping[str, Any]],
    notes: Iterable[str],
    about: str = "",
) -> Table:
    """The table of rows of texts, with a title that says where something deviates from the paper.

    Args:
        data: rows for programs; those with `deviations`, and with runs if they count these, are held to the paper's.
        notes: its own; the scale and what deviates stand before, what is to be known of the printed numbers after.
        about: what else its title says.
    """
    ours = [row for row in data if "deviations" in row]
    deviating = [bool(row["deviations"]) for row in ours if row.get("runs") != 0]
    different = ", not comparable with the published numbers" if any(deviating) else ""
    title = title_of(artifact, about) + different + (" in some cells" if different and not all(deviating) else "")
    ran = [*evidence.runs, *evidence.features, *evidence.costs]
    scale = scale_note(artifact.configuration, artifact.tasks(), deviations_of(artifact, ran))
    extras = dict.fromkeys(row["label"] for row in ours if row["extra"])
    scale += f" Not in the paper's table: {', '.join(extras)}." if extras else ""
    return Table.of(title, [scale, *notes, artifact.published.note], rows, data, OPTIONAL)
