"""The kinds of claims: a test for each. docs/claims.md has the rules in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hidden_dynamics.claims.comparison import Values, estimates, of_shared_seeds
from hidden_dynamics.claims.readings import At, best_of, sides_of, values_at
from hidden_dynamics.claims.statistics import FEWEST, Estimate, equivalence
from hidden_dynamics.configuration.runs import Case, seeds_are_blocks
from hidden_dynamics.papers.claims import ClaimEntry, load_definitions
from hidden_dynamics.results.evidence import Evidence


@dataclass(frozen=True)
class Analysis:
    """A way to decide a claim; without changes it is the one that counts.

    Attributes:
        at: another evaluation than that which counts.
        other_test: the unpaired test in place of the paired one, or the other way round.
        adjustment: over the family.
        without: a seed that is left out.
    """

    at: Literal["reported", "last", "mean"] | None = None
    other_test: bool = False
    adjustment: Literal["Holm", "Benjamini–Hochberg"] = "Holm"
    without: int | None = None


COUNTS = Analysis()


@dataclass(frozen=True)
class Result:
    """What a test says of a claim.

    Attributes:
        sides: the subject's values and the reference's; of `faster` logarithms of iterations.
        shown: of these what was compared: where a seed is a block, the seeds of which both have a number.
        supports: whether it points the claim's way; None where nothing can be said, and `reason` says why.
        estimate: the subject's mean less the reference's.
        p: two-sided; None where nothing is tested, or nothing is left to chance.
        ahead: the sides that have to have learned; no run of theirs may have failed.
        tests: how many there were to choose from.
    """

    supports: bool | None = None
    reason: str = ""
    sides: tuple[Values, ...] = ()
    shown: tuple[Values, ...] = ()
    cases: tuple[Case, ...] = ()
    estimate: Estimate | None = None
    p: float | None = None
    test: str = ""
    ahead: Sequence[Values] = ()
    tests: int = 0

    @property
    def behind(self) -> Sequence[Values]:
        return [side for side in self.sides if not any(side is other for other in self.ahead)]

    @property
    def weakness(self) -> float:
        """The one-sided p of the claim: of several subjects, the one with the largest counts."""
        if self.p is None:
            return 1.0
        return self.p / 2 if self.supports else 1 - self.p / 2


def tested(evidence: Evidence, entry: ClaimEntry, at: At, analysis: Analysis) -> list[Result]:
    """What the tests of a claim say: one for each subject, the weakest first."""
    if analysis.without is not None:
        evidence = replace(
            evidence,
            runs=[run for run in evidence.runs if run.seed != analysis.without],
            features=[row for row in evidence.features if row.seed != analysis.without],
        )
    if entry.kind == "identity":
        return [identity(evidence)]
    if entry.kind == "count":
        return [count(evidence, entry)]
    reference = best_of(evidence, entry, entry.references, at)
    results = [compared(evidence, entry, (subject, reference), at, analysis) for subject in entry.subjects]
    return sorted(results, key=lambda result: -result.weakness)


def compared(
    evidence: Evidence, entry: ClaimEntry, pair: tuple[Case, Case], at: At, analysis: Analysis = COUNTS
) -> Result:
    """Two means, by Welch's t; where a seed is a block, which has data of its own, by the differences seed by seed."""
    sides = sides_of(evidence, entry, *pair, at)
    blocks = all(seeds_are_blocks(evidence.configuration, case.task, case.model) for case in pair)
    tests = list(estimates(sides, blocks).items())
    shown = tuple(of_shared_seeds(sides)) if blocks else sides
    result = Result(sides=sides, shown=shown, cases=pair, tests=len(tests))
    if few := [side for side in shown if len(side.by_seed) < FEWEST]:
        numbers = "; ".join(f"n = {len(side.by_seed)} for {side.label}" for side in few)
        return replace(result, reason=f"{numbers}: fewer than {FEWEST} seeds are not tested")
    if not tests:
        return replace(result, reason="no spread between seeds: nothing to test with")
    test, estimate = tests[-1 if analysis.other_test else 0]
    way = -1 if entry.kind == "faster" else sides[0].sign
    leader = sides[0] if estimate.value * way > 0 else sides[1]
    if entry.kind == "similar":
        within, p = equivalence(estimate, float(entry.margin or 0))
        test = f"{test}, two one-sided tests within {entry.margin:g}"
        return replace(result, supports=within, estimate=estimate, p=p, test=test, ahead=sides if within else [leader])
    supports = leader is sides[0]
    return replace(result, supports=supports, estimate=estimate, p=estimate.p(), test=test, ahead=[leader])


def count(evidence: Evidence, entry: ClaimEntry) -> Result:
    """The subject has fewer parameters; nothing is left to chance."""
    cases = (entry.subjects[0], entry.references[0])
    numbers = [{run.seed: float(run.parameters or math.nan) for run in evidence.of(case)} for case in cases]
    if not all(numbers):  # without the only seed
        return Result()
    sides = tuple(
        replace(values_at(evidence, entry, case, "reported"), by_seed=by_seed, gains=(), naive={})
        for case, by_seed in zip(cases, numbers, strict=True)
    )
    subject, reference = (next(iter(by_seed.values())) for by_seed in numbers)
    return Result(supports=subject < reference, sides=sides, shown=sides, cases=cases, test="exact")


def identity(evidence: Evidence) -> Result:
    """What the paper derives is what autograd gives, at every step of every untrained cell, but for rounding."""
    exact, cells = load_definitions().exact, dict[tuple[str, str], list[tuple[bool, bool]]]()
    for row in evidence.gradients:
        equal = row.product_error <= exact, row.claimed_error <= exact
        cells.setdefault((row.core, row.filter), []).append(equal)
    product, claimed = (sum(all(step[way] for step in steps) for steps in cells.values()) for way in (0, 1))
    first = evidence.gradients[0]
    reason = (
        f"equal to autograd, within {exact:g} of its length at every step: the product without momentum in {product} "
        f"of {len(cells)} cells, the one with it in {claimed}; at t = {first.step} of {first.core}, {first.filter}, "
        f"‖∂L/∂h_t‖ is {first.autograd:.3g} by autograd, {first.product:.3g} without and {first.claimed:.4g} with it"
    )
    return Result(supports=claimed == len(cells), reason=reason, test="identity in float64")
