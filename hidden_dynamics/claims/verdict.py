"""The verdict that follows from a test's outcome, and the columns of verdicts. Quick to import.

There are two, in words of their own: that on the paper's claim, and a second one, on the claim's direction under a
scale's own conditions (docs/claims.md). No claim has both.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hidden_dynamics.results.rows import Row

REPRODUCED, CONTRADICTED, INCONCLUSIVE, NOT_RUN = VERDICTS = (
    "reproduced",
    "contradicted",
    "inconclusive",
    "not run at this scale",
)
HOLDS_HERE, FAILS_HERE, UNDECIDED_HERE = SECOND_VERDICTS = ("holds here", "fails here", "undecided here")
COLUMNS = (  # of claims.csv, and of each artifact's file
    *("id", "paper", "artifact", "source", "kind", "statement", "says", "entries", "also"),
    *("reading", "task", "metric", "subject", "reference", "verdict", "reason"),
    *("here", "here_reason", "judged_with", "test"),
    *("estimate", "low", "high", "level", "p", "p_adjusted", "family", "tests"),
    *("paired_low", "paired_high", "detectable", "seeds_needed", "seeds_for_found"),
    *("effect", "effect_name", "n_subject", "n_reference", "found", "published", "against_table"),
    *("stand_in", "data", "departures", "runs"),
)


@dataclass(frozen=True)
class Words:
    """The words of a kind of verdict, and the column that they stand in.

    Attributes:
        holds, fails, undecided: where the test speaks for a claim, against it, or for neither.
        none: where there is no such verdict.
    """

    column: str
    holds: str
    fails: str
    undecided: str
    none: str


OF_THE_PAPER = Words("verdict", *VERDICTS)
OF_THE_DIRECTION = Words("here", *SECOND_VERDICTS, none="")


@dataclass(frozen=True)
class Outcome:
    """The result of a test.

    Attributes:
        supports: whether it points the claim's way; None where nothing can be said, and `reason` says why.
        p: two-sided; None where the verdict is taken from the interval or the numbers alone.
        paired_low, paired_high: the interval of the mean difference seed by seed, in the unit of `estimate`.
        detectable: of a p that is small enough, the smallest true difference or ratio that is found with the power of
            published/claims.yaml, in the unit of `estimate`.
        seeds_needed: of such a p, how many seeds a model would decide the printed difference; None if none would.
        seeds_for_found: of such a p, how many seeds a model find a true difference as large as the one found (from the
            shift that it is held to), at the spread seen; None where no number does, or more than difference decides.
        bars: whether a verdict for the claim (0) and one against it (1) is barred, as the reason; "" where it is not.
        found: the numbers that were compared, as text.
        doubt: why it is inconclusive where p is not small.
        sides: the numbers that enter the test, by model (hidden_dynamics.claims.evidence.Side).
        working: the test's steps, by name, in their order.
    """

    test: str = ""
    supports: bool | None = None
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float | None = None
    paired_low: float = math.nan
    paired_high: float = math.nan
    detectable: Callable[[float], float | None] | None = None
    seeds_needed: Callable[[float], int | None] | None = None
    seeds_for_found: Callable[[float], int | None] | None = None
    effect: float = math.nan
    effect_name: str = ""
    n_subject: int | None = None
    n_reference: int | None = None
    reason: str = ""
    found: str = ""
    doubt: str = "the seeds’ spread allows both"
    bars: tuple[str, str] = ("", "")
    sides: Sequence[Any] = ()
    working: Sequence[tuple[str, float]] = ()


@dataclass(frozen=True)
class Family:
    """The tests among which an outcome's p is adjusted.

    Attributes:
        name: of the family (hidden_dynamics.claims.claim.Claim.family).
        tests: how many there are.
        p_adjusted: of this outcome; None where it has no p.
    """

    name: str
    tests: int
    p_adjusted: float | None = None


def decide(outcome: Outcome, family: Family, alpha: float, words: Words = OF_THE_PAPER) -> tuple[str, str]:
    """(verdict, reason): a supported claim is reproduced, one against which the test speaks contradicted.

    Args:
        words: in which the verdict is given.
    """
    if outcome.supports is None:
        return words.undecided, outcome.reason
    if family.p_adjusted is not None and family.p_adjusted >= alpha:
        return words.undecided, _undecided(outcome, alpha, family.tests)
    bar = outcome.bars[not outcome.supports]
    if bar:
        return words.undecided, bar
    return (words.holds if outcome.supports else words.fails), outcome.reason


def _undecided(outcome: Outcome, alpha: float, tests: int) -> str:
    alone = outcome.p is not None and outcome.p < alpha
    text = f"p < {alpha:g} alone, but not among the {tests} tests of its family" if alone else ""
    doubt = outcome.bars[not outcome.supports] or outcome.doubt
    return "; ".join(filter(None, (text or doubt, outcome.reason)))


def counts(rows: Iterable[Row]) -> dict[str, int]:
    """{verdict: how many of the claims have it}, for every verdict there is."""
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}


def counts_here(rows: Iterable[Row]) -> dict[str, int]:
    """The same of the second verdicts, which are counted apart."""
    found = Counter(row["here"] for row in rows)
    return {verdict: found[verdict] for verdict in SECOND_VERDICTS}


def plain(value: float, digits: int = 3) -> str:
    """So many significant digits, without an exponent below a million."""
    return f"{float(f'{value:.{digits}g}'):.6g}"
