"""A table of what momentum adds to the scale of the input: a plain core, its control with mu = 0, and the filter.

The control's lead over the plain core is what s does, in Adam's rows s and beta; the filter's over its control, what
momentum adds.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any

from pydantic import Field

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings
from hidden_dynamics.artifacts.beside_published import beside, lead_text, ours_text
from hidden_dynamics.artifacts.notes import reported_note, subtitle_of, table_notes
from hidden_dynamics.artifacts.tables import ABSENT, Record, Table, decimals_of
from hidden_dynamics.claims.comparison import Comparison, compare
from hidden_dynamics.claims.statistics import holm
from hidden_dynamics.claims.words import named
from hidden_dynamics.configuration import Case, Configuration, Entry
from hidden_dynamics.configuration.schema import Size
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.statistics import Statistics, over_seeds

SIDES = ("plain", "control", "filter")
LEADS = {"s": ("control", "plain"), "momentum": ("filter", "control")}  # of the first over the second
Test = tuple[Case, Case, str]  # the first over the second, by a metric
Leads = Mapping[str, tuple[Comparison | None, float]]  # by name, with Holm's p
Core = tuple[Case, str]  # without a filter, and the metric: its tests are one family
HEADINGS = {"s": "What the control does (95 %), p [Holm’s]", "momentum": "What μ adds (95 %), p [Holm’s]"}


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


class ContrastTable(Artifact):
    settings: Settings
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

    def pairs(self) -> Iterator[tuple[Case, Case, str]]:
        shown = self.cases()
        yield from (pair for pair in self.tests() if {*pair[:2]} <= {*shown})

    def tests(self) -> dict[Test, Core]:
        """The core of each test that the rows ask for, run or not."""
        return {
            (cases[one], cases[other], metric): (cases["plain"], metric)
            for metric, cases in self.contrasts()
            for one, other in LEADS.values()
            if cases[one] != cases[other]
        }


def draw(artifact: ContrastTable, evidence: Evidence) -> Table:
    """A row for each filter of which something is run."""
    configuration, runs = artifact.configuration, evidence.runs
    tested, data, rows = _tested(artifact, evidence), [], []
    for metric, cases in artifact.contrasts():
        if any(configuration.is_run(*case) for case in cases.values()):
            sides = {side: over_seeds(configuration, evidence.of(case), metric) for side, case in cases.items()}
            tests = {name: (cases[one], cases[other], metric) for name, (one, other) in LEADS.items()}
            leads = {name: tested.get(test, (None, math.nan)) for name, test in tests.items()}
            line = _line(evidence, cases, metric)
            data.append({"artifact": artifact.name, **line, **_numbers(sides, leads)})
            rows.append(_texts(configuration, line, sides, leads))
    notes = table_notes(artifact, runs, reported_note(configuration, runs))
    return Table.of(f"{artifact.settings.heading}; {subtitle_of(configuration, runs)}", notes, rows, data)


def _tested(artifact: ContrastTable, evidence: Evidence) -> dict[Test, tuple[Comparison, float]]:
    """Each comparison, without interval and p where the side ahead is not shown to have learned, or has failed runs;
    and p by Holm's method over all tests of a core on a task, of which those that cannot be made have p = 1."""
    leads, families = {}, {}
    for test, core in artifact.tests().items():
        lead = compare(evidence, *test)
        barred = lead.unlearned or lead.failed
        leads[test] = replace(lead, low=math.nan, high=math.nan, p=math.nan) if barred else lead
        families.setdefault(core, {})[test] = 1.0 if math.isnan(leads[test].p) else lead.p
    adjusted = {test: p for of in families.values() for test, p in zip(of, holm(list(of.values())), strict=True)}
    return {test: (lead, math.nan if math.isnan(lead.p) else adjusted[test]) for test, lead in leads.items()}


def _line(evidence: Evidence, cases: Mapping[str, Case], metric: str) -> dict[str, Any]:
    """How the row for programs begins: what is compared, each model named with the settings of its filter."""
    configuration, case, runs = evidence.configuration, cases["filter"], evidence.of(cases["filter"])
    line = {"scale": configuration.scale_name, "task": case.task, "task_title": configuration.title_as_run(case.task)}
    line |= {"metric": metric, "size": runs[0].size if runs else None, "paper_size": case.size}
    for side, of_side in cases.items():
        settings = evidence.of(of_side)[0].hyperparameters if evidence.of(of_side) else {}
        label = named(configuration.models[of_side.model].label, settings)
        line |= {side: of_side.model, f"{side}_label": label}
    return line


def _numbers(sides: Mapping[str, Statistics], leads: Leads) -> dict[str, Any]:
    """Its numbers: each side over seeds, and the leads."""
    line = {f"{side}_{name}": value for side, ours in sides.items() for name, value in asdict(ours).items()}
    for name, (lead, adjusted) in leads.items():
        numbers = ("difference", "low", "high", "p", "unlearned")
        line |= {f"{name}_{number}": getattr(lead, number, math.nan) for number in numbers}
        line[f"{name}_p_adjusted"] = adjusted
    return line


def _texts(configuration: Configuration, line: Record, sides: Mapping[str, Statistics], leads: Leads) -> dict[str, str]:
    metric = configuration.metrics[line["metric"]]
    spreads = [sides[side].std for side in SIDES if sides[side].std > 0]
    decimals = max(metric.decimals, decimals_of(spreads[0] if spreads else math.nan))
    plain, control, filtered = (ours_text(sides[side], decimals) for side in SIDES)
    unit = " (%)" if metric.unit == "percent" else ""
    return {
        "Task": f"{line['task_title']}: {metric.title}{unit}",
        "Filter": line["filter_label"],
        "N": beside(line["size"], line["paper_size"]),
        **{heading: lead_text(leads[name][0], decimals, leads[name][1]) for name, heading in HEADINGS.items()},
        "Plain core": f"{line['plain_label']}: {plain}",
        "Control": ABSENT if line["control"] == line["plain"] else f"{line['control_label']}: {control}",
        "With the filter": filtered,
    }
