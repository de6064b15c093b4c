"""Tests of costs, measured or by the runs' clocks: their side of the baseline's, and the printed ratio."""

import math

from hidden_dynamics.claims.bench import Bench
from hidden_dynamics.claims.claim import BY_CLOCKS, Claim
from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.expansion import region_of
from hidden_dynamics.claims.tests_of_ratios import of_logarithms
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.claims.wording import bars_of_a_direction, entering, joined, listed, ratio_of
from hidden_dynamics.measurements.rounds import FEWEST_ROUNDS
from hidden_dynamics.results.rows import Row


def ratio(bench: Bench, claim: Claim) -> Outcome:
    """Costs: on the printed side of the baseline's. Times to an accuracy: shorter or longer than the baseline's."""
    if claim.metric == BY_CLOCKS:
        return _sooner(bench, claim, _printed(claim))
    return _within_region(bench, claim, region_of(_printed(claim), bench.definitions.costs), bench.definitions.costs)


def printed_ratio(bench: Bench, claim: Claim) -> Outcome:
    """Test: the ratio to the baseline's cost is the printed one, within a margin.

    Of the printed ratio's distance from 1, the margin is at most half (of the logarithm).
    """
    margin, hidden = bench.margin("cost_ratio").relative, math.expm1(abs(math.log(_printed(claim))) / 2)
    margin = min(margin, hidden) if hidden > 0 else margin
    return _within_region(bench, claim, 0, margin, _printed(claim))


def _printed(claim: Claim) -> float:
    return claim.printed[0].value / claim.printed[1].value


def _times(bench: Bench, claim: Claim) -> list[Side]:
    """Logarithms of minutes to the artifact's target."""
    settings = bench.artifact.settings
    found = (bench.evidence.minutes(cell, settings.metric, settings.target) for cell in claim.cells)
    return bench.over_seeds(claim, found)


def _sooner(bench: Bench, claim: Claim, printed: float) -> Outcome:
    sides = _times(bench, claim)
    if all(side.bounded == len(side.values) for side in sides):
        return Outcome(reason="no run of either reached the accuracy", **entering(*sides))
    minutes = [side.mapped(math.exp) for side in sides]
    found = f"{listed(minutes[0])} against {listed(minutes[1])} minutes"
    sooner = printed < 1
    favoured = sides if sooner else sides[::-1]  # the one that the claim favours is first
    bars = joined(bars_of_a_direction(*favoured), tuple(_missed(side) for side in favoured))
    return of_logarithms(bench, claim, *sides, found, sign=-1 if sooner else 1, bars=bars)


def _missed(side: Side) -> str:
    """How many of its runs did not reach the accuracy; "" where all did."""
    return f"{side.bounded} of {len(side.values)} runs of {side.label} did not reach it" if side.bounded else ""


def _within_region(bench: Bench, claim: Claim, region: int, margin: float, centre: float = 1.0) -> Outcome:
    """Test: the whole interval of a measured cost is in a region (above, below or about `centre`), or none of it is."""
    row, reference = (bench.evidence.cost(cell, claim.metric) for cell in claim.cells)
    if not row["ratio"]:
        return Outcome(reason="the baseline's cost was not measurable")
    ratio = float(row["ratio"])
    low, high = (float(row[key]) if row[key] else ratio for key in ("ratio_low", "ratio_high"))
    regions = region_of(low / centre, margin), region_of(high / centre, margin)
    inside, outside = set(regions) == {region}, not regions[0] <= region <= regions[1]
    undecidable = _undecidable(row)
    decided = not undecidable and (inside or outside)
    reached = centre / (1 + margin) * ratio / high if region < 0 else centre * (1 + margin) * ratio / low
    return Outcome(
        test=f"{row['rounds']} rounds, but the lowest and the highest" if row["ratio_low"] else "measured once",
        supports=inside if decided else None,
        reason="" if decided else undecidable or "the rounds’ range is partly in the claimed region",
        **ratio_of(ratio, low, high),
        detectable=None if undecidable else lambda alpha: reached,
        n_subject=int(row["rounds"]),
        n_reference=int(row["rounds"]),
        working=[
            (f"the subject's cost, {row['unit']}", float(row["value"])),
            (f"the reference's cost, {row['unit']}", float(reference["value"])),
            ("as much is at least", centre / (1 + margin)),
            ("as much is at most", centre * (1 + margin)),
        ],
    )


def _undecidable(row: Row) -> str:
    """Why a measurement cannot decide; "" where it can: what torch allocated on a GPU is exact."""
    if row["ratio_low"]:
        few = int(row["rounds"]) < FEWEST_ROUNDS
        return f"{row['rounds']} rounds are fewer than {FEWEST_ROUNDS}" if few else ""
    return "resident memory, measured once: its error is not known" if row["device"] == "cpu" else ""
