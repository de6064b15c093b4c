"""The rows of verdicts: what is written of each claim, read back, and counted. Quick to import."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hidden_dynamics.claims.verdict import VERDICTS
from hidden_dynamics.results.rows import Row, read_rows

COLUMNS = (
    *("id", "paper", "artifact", "source", "kind", "statement", "says", "task", "metric", "subject", "reference"),
    *("verdict", "reason", "test", "estimate", "low", "high", "level", "p", "p_adjusted", "family"),
    *("effect", "effect_name", "n_subject", "n_reference", "found", "published", "against_table"),
    *("stand_in", "data", "departures", "runs"),
)


def read_verdicts(path: Path) -> list[dict[str, str]]:
    """The rows that scripts/judge_claims.py wrote of an artifact, or scripts/render_claims.py of all.

    Raises:
        UserError: the file is missing, was altered or is no file of verdicts.
    """
    return read_rows(path, COLUMNS)


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """{verdict: how many of the claims have it}, for every verdict there is."""
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}
