"""Whether a difference lies within a margin or outside of it (two one-sided tests, Schuirmann 1987, both ways)."""

from dataclasses import dataclass

from scipy.special import stdtr

from hidden_dynamics.claims.welch import Difference


@dataclass(frozen=True)
class Equivalence:
    """`within` says which of the two is the better supported; `p` is twice the smaller p of the two, at most 1.

    So each of the two errors (calling within what is outside, and outside what is within) has at most the level of p.
    """

    within: bool
    p: float


def equivalence(difference: Difference, margin: float) -> Equivalence:
    """Test |difference| < margin against |difference| > margin.

    Args:
        margin: in the units of the difference, above 0.
    """
    above = stdtr(
        difference.degrees, (difference.estimate - margin) / difference.error
    )  # against: it is +margin or more
    below = stdtr(difference.degrees, (-margin - difference.estimate) / difference.error)  # against: -margin or less
    inside, outside = max(above, below), min(1 - above, 1 - below)
    return Equivalence(bool(inside <= outside), min(1.0, 2 * float(min(inside, outside))))
