"""What the contrasts are, in sentences: shared by the table and the figure."""

from collections.abc import Sequence

from hidden_dynamics.artifacts.comparison import Record
from hidden_dynamics.artifacts.kinds.contrast_table.differences import DIFFERENCES
from hidden_dynamics.claims.statistics import FEWEST
from hidden_dynamics.results.departures import listed


def about_contrasts(records: Sequence[Record]) -> list[str]:
    """The contrasts, their tests, and what is peculiar to some of them."""
    return [
        "What s does: the control, whose input is scaled by the filter's s and which has no momentum, less the plain "
        "core; none where s = 1, because then the plain core is the control. What μ adds: the filter less its control, "
        "which differ in momentum alone (μ = 0; F = 1 is a restart at every step). A μ also multiplies what stays "
        "constant by 1 / (1 − μ): that gain is part of what it adds.",
        *_adaptive(records),
        _tests(records),
        *_gate(records),
        *_no_controls(records),
    ]


def _adaptive(records: Sequence[Record]) -> list[str]:
    pairs = {
        r["filter_label"].split(" ")[0]: r["control_label"].split(" ")[0] for r in records if "β" in r["filter_label"]
    }
    if not pairs:
        return []
    filters, controls = (listed(list(dict.fromkeys(labels))) for labels in (pairs, pairs.values()))
    return [
        f"The control of {filters} is {controls}, which also divides by the root of the mean square: what s does is "
        "there what both do."
    ]


def _tests(records: Sequence[Record]) -> str:
    if not records[0]["tests"]:
        return f"No difference is tested: that takes {FEWEST} seeds, and models that have learned."
    return (
        "Intervals (95 %) and tests are of Welch's t; of the differences seed by seed where a seed has data of its own."
    )


def _gate(records: Sequence[Record]) -> list[str]:
    if all(record[f"{name}_learned"] for record in records for name in DIFFERENCES):
        return []
    return [
        "Nothing learned (pale in the figure): the side that is ahead does not beat the best answer without learning "
        "(one-sided t test of its seeds, 5 %), and the difference is not tested."
    ]


def _no_controls(records: Sequence[Record]) -> list[str]:
    """Where user or scale changed a model so that its control is none any more."""
    texts = [f"{r['task_title']}, {r['filter_label']}: {r['differing']}" for r in records if r["differing"]]
    return [f"Not of momentum alone, because filter and control differ in more: {'; '.join(texts)}."] if texts else []
