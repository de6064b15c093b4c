"""The exploratory comparisons of a publication: each row of each table with its baseline, and q over all of them."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import scipy

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.claims.comparison import compare
from hidden_dynamics.results.evidence import Evidence

if TYPE_CHECKING:
    import pandas

FALSE = 0.05  # the share of false discoveries below which a comparison is counted
COLUMNS = (
    *("artifact", "task", "model", "size", "baseline", "baseline_size", "metric", "n", "baseline_n"),
    *("lead", "low", "high", "p", "q", "test", "unlearned"),
)


def comparisons_of(artifacts: Iterable[Artifact], evidence: Evidence) -> "pandas.DataFrame":
    """A row for each comparison that tables show, under the first of them: `Comparison`, and q.

    q is Benjamini and Hochberg's, over all comparisons that have a p; the evidence is of all runs.
    """
    import pandas

    shown = {pair: artifact.name for artifact in reversed([*artifacts]) for pair in artifact.pairs()}
    pairs = {pair: compare(evidence, *pair) for pair in reversed(shown)}
    rows = [
        (
            *(shown[one, other, metric], *one, other.model, other.size, metric, *lead.n),
            *(lead.difference, lead.low, lead.high, lead.p, math.nan, lead.test, lead.unlearned),
        )
        for (one, other, metric), lead in pairs.items()
        if not math.isnan(lead.difference)  # both sides have runs
    ]
    table = pandas.DataFrame(rows, columns=list(COLUMNS))
    tested = table["p"].notna()
    table.loc[tested, "q"] = scipy.stats.false_discovery_control(table.loc[tested, "p"].astype(float))
    return table
