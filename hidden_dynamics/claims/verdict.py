"""The words of verdicts, and the columns of claims.csv. Quick to import."""

from collections import Counter
from collections.abc import Iterable

from hidden_dynamics.results.rows import Row

HOLDS, FAILS, UNDECIDED, NOT_RUN = VERDICTS = ("holds", "fails", "undecided", "not run")
UNLEARNED = "no learning shown"  # how a reason begins where the model ahead has not beaten the best naive baseline
OF_THE_PAPER = {HOLDS: "reproduced", FAILS: "contradicted", UNDECIDED: "inconclusive"}
COLUMNS = (  # of claims.csv, and of each artifact's file
    *("id", "paper", "artifact", "source", "kind", "statement", "ran", "says", "entries", "also"),
    *("plan", "critic", "variant", "task", "metric", "subject", "reference"),
    *("verdict", "reason", "decided_at", "counted", "test"),
    *("estimate", "low", "high", "level", "low_adjusted", "high_adjusted"),
    *("p", "p_adjusted", "family", "tests", "other_test"),
    *("detectable", "effect", "effect_low", "effect_high", "published_effect"),
    *("naive", "nothing_learned", "classical", "beside_classical", "classical_beaten"),
    *("test_error", "n_subject", "n_reference"),
    *("found", "published", "published_difference", "against_table"),
    *("data", "deviations", "runs"),
)


def word(row: Row) -> str:
    """The verdict as it is shown: that on the paper's own claim has words of its own, where nothing deviates."""
    return row["verdict"] if row["deviations"] else OF_THE_PAPER.get(row["verdict"], row["verdict"])


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """{verdict as shown: how many of the claims have it}, in one order."""
    found = Counter(map(word, rows))
    return {verdict: found[verdict] for verdict in (*OF_THE_PAPER.values(), *VERDICTS) if found[verdict]}


def plain(value: float, digits: int = 3) -> str:
    """So many significant digits, without an exponent below a million."""
    return f"{float(f'{value:.{digits}g}'):.6g}"
