"""A table of what momentum adds to the scale of the input: a plain core, its control with mu = 0, and the filter.

What s does is the lead of the control over the plain core; what momentum adds, that of the filter over its control.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.beside_published import lead_text, ours_text, size_text
from hidden_dynamics.artifacts.notes import divergence_notes, named, reported_note, runs_note, scale_note, subtitle_of
from hidden_dynamics.artifacts.tables import ABSENT, Table, decimals_of
from hidden_dynamics.configuration import Entry
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.papers.deviations import deviations
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.statistics import Statistics, over_seeds

if TYPE_CHECKING:
    from hidden_dynamics.claims.comparison import Comparison

SIDES = ("plain", "control", "filter")
LEADS = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # of the first over the second
HEADINGS = {"s": "What s does (95 %), p [Holm’s]", "momentum": "What μ adds (95 %), p [Holm’s]"}


class Contrasts(Entry):
    """The filters of one core on a task.

    Attributes:
        plain: the core without a filter.
        controls: {model with a filter: its control, which has its s and no momentum}. Where s = 1 that is `plain`.
    """

    task: str
    metric: str
    size: Size
    plain: str
    controls: Annotated[dict[str, str], Field(min_length=1)]


class Settings(ArtifactSettings):
    rows: Annotated[list[Contrasts], Field(min_length=1)]


class ContrastTable(Artifact[Settings]):
    Settings = Settings
    form = "table"
    summarised = True
    with_extras = False  # they have no control

    def contrasts(self) -> Iterator[tuple[str, dict[str, Case]]]:
        """A metric and the cases compared by it, by their `SIDES`."""
        for row in self.settings.rows:
            for model, control in row.controls.items():
                names = zip(SIDES, (row.plain, control, model), strict=True)
                yield row.metric, {side: Case(row.task, name, row.size) for side, name in names}

    def shown(self) -> list[Case]:
        return list(dict.fromkeys(case for _, cases in self.contrasts() for case in cases.values()))

    def chosen_metrics(self) -> list[str]:
        return [row.metric for row in self.settings.rows]

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        """Each once, although two filters may share a control."""
        pairs = (
            (cases[one], cases[other], metric) for metric, cases in self.contrasts() for one, other in LEADS.values()
        )
        shown = self.cases()
        yield from dict.fromkeys(pair for pair in pairs if pair[0] != pair[1] and {*pair[:2]} <= {*shown})


@dataclass(frozen=True)
class Contrast:
    """A filter beside its control and the plain core.

    Attributes:
        cases, labels, ours: by side; the labels with the settings of a filter.
        leads: "s" and "momentum"; None where both sides are one, and without interval and p where the side ahead is not
            shown to have learned, or has failed runs.
        adjusted: p by Holm's method over all different tests of the core on the task, run or not.
    """

    metric: str
    size: int | str | None
    cases: Mapping[str, Case]
    labels: Mapping[str, str]
    ours: Mapping[str, Statistics]
    leads: "Mapping[str, Comparison | None]"
    adjusted: Mapping[str, float]

    def data(self, artifact: ContrastTable) -> dict[str, Any]:
        """The row for programs."""
        case = self.cases["filter"]
        data = {"artifact": artifact.name, "scale": artifact.configuration.scale_name, "task": case.task}
        data |= {"task_title": artifact.configuration.title_as_run(case.task), "metric": self.metric}
        data |= {"size": self.size, "paper_size": case.size}
        for side in SIDES:
            data |= {side: self.cases[side].model, f"{side}_label": self.labels[side]}
            data |= {f"{side}_{name}": value for name, value in asdict(self.ours[side]).items()}
        for name, lead in self.leads.items():
            numbers = ("difference", "low", "high", "p", "unlearned")
            data |= {f"{name}_{number}": getattr(lead, number, math.nan) for number in numbers}
            data[f"{name}_p_adjusted"] = self.adjusted[name]
        return data

    def texts(self, artifact: ContrastTable) -> dict[str, str]:
        metric, case = artifact.configuration.metrics[self.metric], self.cases["filter"]
        decimals = max(metric.decimals, decimals_of(self.ours["plain"].std))
        ours = {side: ours_text(self.ours[side], decimals) for side in SIDES}
        unit = " (%)" if metric.unit == "percent" else ""
        same = self.cases["control"] == self.cases["plain"]
        return {
            "Task": f"{artifact.configuration.title_as_run(case.task)}: {metric.title}{unit}",
            "Filter": self.labels["filter"],
            "N": size_text(self.size, case.size),
            **{text: lead_text(self.leads[of], decimals, self.adjusted[of]) for of, text in HEADINGS.items()},
            "Plain core": f"{self.labels['plain']}: {ours['plain']}",
            "Control": ABSENT if same else f"{self.labels['control']}: {ours['control']}",
            "With the filter": ours["filter"],
        }


def draw(artifact: ContrastTable, evidence: Evidence) -> Table:
    """A row for each filter of which something is run."""
    configuration, runs = artifact.configuration, evidence.runs
    contrasts = with_holm(artifact, evidence)
    notes = [
        scale_note(configuration, artifact.tasks(), deviations(configuration, runs)),
        f"{reported_note(configuration, runs)} {runs_note(runs)}",
        " ".join(divergence_notes(runs)),
    ]
    title = f"{artifact.settings.heading}; {subtitle_of(configuration, runs)}"
    rows = [contrast.texts(artifact) for contrast in contrasts]
    return Table.of(title, notes, rows, [contrast.data(artifact) for contrast in contrasts])


def with_holm(artifact: ContrastTable, evidence: Evidence) -> list[Contrast]:
    """The contrasts of which something is run, each p adjusted over all of its core on its task, run or not."""
    from hidden_dynamics.claims.statistics import holm  # SciPy

    contrasts, families = [], {}
    for metric, cases in artifact.contrasts():
        contrast = _contrast(artifact, evidence, metric, cases)
        family = families.setdefault((metric, cases["plain"]), {})  # p by the cases of a test, 1 where none was made
        for name, (one, other) in LEADS.items():
            if (lead := contrast.leads[name]) is not None:
                family[cases[one], cases[other]] = 1.0 if math.isnan(lead.p) else lead.p
        if any(artifact.configuration.is_run(*case) for case in cases.values()):
            contrasts.append(contrast)
    adjusted = {core: dict(zip(of, holm(list(of.values())), strict=True)) for core, of in families.items()}
    return [replace(contrast, adjusted=_adjusted(contrast, adjusted)) for contrast in contrasts]


def _adjusted(contrast: Contrast, adjusted: Mapping[tuple[str, Case], Mapping[Any, float]]) -> dict[str, float]:
    family = adjusted[contrast.metric, contrast.cases["plain"]]
    pairs = {name: (contrast.cases[one], contrast.cases[other]) for name, (one, other) in LEADS.items()}
    tested = {name for name, lead in contrast.leads.items() if lead is not None and not math.isnan(lead.p)}
    return {name: family[pair] if name in tested else math.nan for name, pair in pairs.items()}


def _contrast(artifact: ContrastTable, evidence: Evidence, metric: str, cases: Mapping[str, Case]) -> Contrast:
    from hidden_dynamics.claims.comparison import compare  # SciPy

    configuration, runs = artifact.configuration, {side: evidence.of(case) for side, case in cases.items()}
    settings = {side: of[0].hyperparameters if of else {} for side, of in runs.items()}
    leads: dict[str, Comparison | None] = {}
    for name, (one, other) in LEADS.items():
        lead = compare(evidence, cases[one], cases[other], metric) if cases[one] != cases[other] else None
        barred = lead is not None and (lead.unlearned or lead.failed)
        leads[name] = replace(lead, low=math.nan, high=math.nan, p=math.nan) if lead and barred else lead
    return Contrast(
        metric,
        runs["filter"][0].size if runs["filter"] else None,
        cases,
        {side: named(configuration.models[case.model].label, settings[side]) for side, case in cases.items()},
        {side: over_seeds(configuration, of, metric) for side, of in runs.items()},
        leads,
        {},
    )
