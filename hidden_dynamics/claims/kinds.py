"""The kinds of claims: a test for each. docs/claims.md has the rules in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from hidden_dynamics.claims import statistics
from hidden_dynamics.claims.claim import BY_CLOCKS, Claim
from hidden_dynamics.claims.expand import ratio_of, region_of, smallest_p, strata
from hidden_dynamics.claims.samples import Evidence, Runs, of_shared_seeds
from hidden_dynamics.claims.statistics import FEWEST, Estimate, Sample, equivalence, paired, welch
from hidden_dynamics.claims.verdict import UNLEARNED, plain
from hidden_dynamics.configuration.runs import resampled, variants_taken
from hidden_dynamics.papers.claims import KINDS
from hidden_dynamics.papers.published import load_tasks, published_task
from hidden_dynamics.results.rows import Row

PAPER_RUNS = 5  # "averaged over 5 runs" (MomentumRNN, 3), "five different random seeds" (ACE-NODE, 4)
UNPAIRED = "Welch's t"
LEARNING = 0.05  # the level at which a model is called better than the best naive baseline


@dataclass(frozen=True)
class Result:
    """What a test says of a claim.

    Attributes:
        supports: whether it points the claim's way; None where nothing can be said, and `reason` says why.
        estimate: the difference that is held to `null`, or to `margin` around 0; None of a count or an order.
        logarithms: whether the estimate is one of logarithms, so that a ratio is shown.
        p: two-sided; None where the verdict is taken from the numbers alone.
        other: the same by the other of the paired and the unpaired test: (its name, whether it supports, p).
        way: 1 where a positive estimate is the claim's way, else -1.
        samples: those that enter, the subject's first.
        ahead: those of them that have to beat the naive baseline for a verdict.
        bars: why a verdict for the claim (0), or one against it (1), is barred: in favour of a model no run may have
            failed; "" where it is not.
        found: the numbers that were compared, as text.
    """

    test: str = ""
    supports: bool | None = None
    reason: str = ""
    estimate: Estimate | None = None
    null: float = 0.0
    margin: float | None = None
    logarithms: bool = False
    p: float | None = None
    other: tuple[str, bool, float] | None = None
    way: int = 1
    samples: Sequence[Runs] = ()
    ahead: Sequence[Runs] = ()
    tau: float | None = None
    ratio: float | None = None
    bars: tuple[str, str] = ("", "")
    found: str = ""


# ------------------------------------------------------------------------------------------------ Means of two models


def better(claim: Claim, evidence: Evidence) -> Result:
    """One model's mean is ahead of the other's; of one model alone, ahead of the naive baseline."""
    way, samples = evidence.sign(claim.metric), evidence.numbers(claim)
    if claim.reference is None:
        return _above_naive(samples[0], way)
    return _difference(claim, evidence, samples, way)


def _above_naive(runs: Runs, way: int) -> Result:
    if few := _checked([runs]):
        return few
    score = next(iter(runs.naive.values()))
    estimate = welch([runs.sample, Sample(score, 0.0, math.inf)])
    return _of(estimate, [runs], way, bars=(runs.without, ""), test=f"t of one sample, against {score:.3g}")


def not_better(claim: Claim, evidence: Evidence) -> Result:
    """The subject is ahead by less than the margin, or behind."""
    samples, way = evidence.numbers(claim), -evidence.sign(claim.metric)
    margin = _margin(claim, evidence)
    if margin is None:
        return Result(reason="the paper prints no number that a margin could be taken of", samples=samples)
    bars = samples[1].without, samples[0].without
    found = _difference(claim, evidence, samples, way, null=-way * margin, bars=bars)
    if found.estimate is None:
        return found
    subject, other = found.samples
    ahead = [*found.ahead, other] if found.supports else [subject]  # within a margin of nothing is nothing
    return replace(found, ahead=ahead, test=f"{found.test}, ahead by {margin:.3g} at most")


def similar(claim: Claim, evidence: Evidence) -> Result:
    """Two means differ by less than the margin."""
    samples, margin = evidence.numbers(claim), _margin(claim, evidence)
    if margin is None:
        return Result(reason="the paper prints no number that a margin could be taken of", samples=samples)
    if few := _too_few(claim, evidence, samples):
        return few
    (estimate, samples, name), other = estimates(samples, evidence.blocked(claim))
    found = _within(estimate, samples, margin, name)
    if estimate and found.supports is False:
        leader = _leader(samples, estimate, evidence.sign(claim.metric))
        found = replace(found, ahead=[leader], bars=(found.bars[0], leader.without))
    if other and found.estimate:
        supports, p = equivalence(other[0], margin)
        found = replace(found, other=(other[2], supports, p))
    return found


def value(claim: Claim, evidence: Evidence) -> Result:
    """Our mean is the printed one, which enters with its ± over the paper's runs, within the margin.

    The margin is at most half of the published gap to the baseline: where a row's value and the baseline's are
    reproduced, their order is.
    """
    if claim.reference is not None:
        return _printed_ratio(claim, evidence)
    (runs,), (printed, margin) = evidence.numbers(claim), _printed_mean(claim, evidence)
    if reason := _undecidable(claim, evidence):
        return Result(reason=reason, samples=[runs])
    if few := _checked([runs]):
        return few
    found = _within(welch([runs.sample, printed]), [runs], margin, "", printed)
    above = found.estimate is not None and found.estimate.value * evidence.sign(claim.metric) > 0
    return replace(found, bars=(found.bars[0], runs.without if above else ""))


def testable(claim: Claim, evidence: Evidence) -> bool:
    """Whether there are runs that could decide a claim."""
    if not KINDS[claim.kind].tested or claim.metric == BY_CLOCKS:
        return False
    return claim.kind != "value" or claim.reference is not None or not _undecidable(claim, evidence)


def _undecidable(claim: Claim, evidence: Evidence) -> str:
    """Why no runs of ours could show a printed mean to be ours; "" where some could."""
    configuration, cell = evidence.configuration, claim.cells[0]
    test_set = load_tasks(evidence.artifact.paper).get(published_task(configuration, cell.task), {}).get("test_set", {})
    if test_set == "unknown" or not test_set.items() <= variants_taken(configuration, cell.task, cell.model).items():
        return "the paper’s test set is not known to be ours"
    (printed, margin), definitions = _printed_mean(claim, evidence), evidence.definitions
    alone = welch([Sample(0.0, 0.0, math.inf), printed])  # however many seeds we have
    if alone is None or statistics.detectable_within(alone, definitions.alpha, definitions.power) <= margin:
        return ""
    return f"no number of seeds could show it: ± {printed.std:g} is too wide for a margin of {margin:.3g}"


def _printed_mean(claim: Claim, evidence: Evidence) -> tuple[Sample, float]:
    """A printed mean as a sample of the paper's runs, and the margin around it."""
    number, margin, (cell,) = claim.printed[0], _margin(claim, evidence), claim.cells
    assert number and number.std is not None and margin is not None, f"{claim.id}: the paper prints no ±"
    overlap = resampled(evidence.configuration, cell.task, cell.model)
    return Sample(number.value, number.std, number.runs or PAPER_RUNS, overlap), margin


def _margin(claim: Claim, evidence: Evidence) -> float | None:
    """Of the published number; where the paper prints none, a share of the best naive baseline's score."""
    number = claim.printed[-1] or claim.printed[0]
    if number is None:
        runs = [evidence.number_of(cell, claim.metric) for cell in claim.cells]
        scores = [score for each in runs for score in each.naive.values()]
        return evidence.definitions.unprinted * abs(float(np.mean(scores))) if scores else None
    margin = evidence.definitions.margin(claim.metric).around(number.value)
    return margin if claim.hidden_gap is None else min(margin, claim.hidden_gap / 2)


def gain(claim: Claim, evidence: Evidence) -> Result:
    """The subject's lead over the reference is larger on the claim's task than on the other one.

    A run that failed bars the verdict that its number would have lessened, on either task.
    """
    samples, way = evidence.numbers(claim), evidence.sign(claim.metric)
    lessened = samples[::3], samples[1:3]  # by what is lacking of these, the lead that is claimed and its opposite
    bars = tuple("; ".join(filter(None, (runs.without for runs in two))) for two in lessened)
    found = _difference(claim, evidence, samples, way, weights=(1, -1, -1, 1), bars=bars)
    if found.estimate is None:
        return found
    means = [runs.sample.mean for runs in found.samples]
    ahead = [found.samples[int(way * (means[i] - means[i + 1]) < 0) + i] for i in (0, 2)]
    leads = f"{plain(means[0] - means[1])} against {plain(means[2] - means[3])}"
    return replace(found, test=f"{found.test} of two leads", found=leads, ahead=ahead)


# ----------------------------------------------------------------------------------------------------- Times and costs


def faster(claim: Claim, evidence: Evidence) -> Result:
    """Fewer iterations until the smoothed train loss first reaches the lowest level that every run of both reaches."""
    samples, level = evidence.iterations(claim, evidence.definitions.smoothing)
    counts = (", ".join(plain(math.exp(each)) for each in runs.values) or "none" for runs in samples)
    found = f"{' against '.join(counts)} iterations to a loss of {plain(level, 4)}" if math.isfinite(level) else ""
    return replace(_difference(claim, evidence, samples, -1, logarithms=True), found=found)


def ratio(claim: Claim, evidence: Evidence) -> Result:
    """A cost lies on the printed side of the baseline's."""
    if claim.metric == BY_CLOCKS:
        return Result(reason="trainings may have shared a machine: their clocks are not compared")
    margin = evidence.definitions.costs
    return _cost(claim, evidence, 0.0, math.log1p(margin), region_of(ratio_of(claim.printed), margin))


def _printed_ratio(claim: Claim, evidence: Evidence) -> Result:
    """The ratio to the baseline's cost is the printed one, within a margin; of one that is not "as much", of at most
    half its distance from 1."""
    printed, definitions = ratio_of(claim.printed), evidence.definitions
    margin, centre = math.log1p(definitions.margin("cost_ratio").around(1.0)), math.log(printed)
    apart = region_of(printed, definitions.costs)
    return _cost(claim, evidence, centre, min(margin, abs(centre) / 2) if apart else margin, 0)


def _cost(claim: Claim, evidence: Evidence, centre: float, margin: float, region: int) -> Result:
    """Test: log of a cost's ratio lies above `centre` + margin (region 1), below centre - margin (-1), or between."""
    runs = evidence.cost_ratios(claim)
    classes = (runs.rows[0][side] for side in ("implementation", "reference_implementation"))
    timed = " against ".join(name.rpartition(".")[2] for name in classes)
    found = f"× {', '.join(plain(math.exp(each)) for each in runs.values)}, {timed}"
    if few := _checked([runs], "processes"):
        return replace(few, found=found)
    estimate = welch([runs.sample, Sample(centre, 0.0, math.inf)])
    if estimate is None:  # what torch allocates on a GPU is the same in every process
        ratio = math.exp(runs.values[0])
        supports = region_of(ratio / math.exp(centre), math.expm1(margin)) == region
        return Result(test="equal in all processes", supports=supports, ratio=ratio, samples=[runs], found=found)
    if region == 0:
        return replace(_within(estimate, [runs], margin, "of a ratio"), found=found, logarithms=True, ahead=())
    null = region * margin
    result = _of(estimate, [runs], region, null=null, test=f"t of logarithms, against {math.exp(centre + null):.3g}")
    return replace(result, found=found, logarithms=True, ahead=())


# ------------------------------------------------------------------------------------------------- Orders and numbers


def ranking(claim: Claim, evidence: Evidence) -> Result:
    """Our means and the printed numbers have one order within each size, among the models that have learned.

    Models of which more runs failed come after those of which fewer did (worst ranks: Lachin 1999).
    """
    samples, sign = dict(zip(claim.cells, evidence.numbers(claim), strict=True)), evidence.sign(claim.metric)
    if few := _checked([runs for runs in samples.values() if not runs.failed]):
        return few
    learned = {cell: runs for cell, runs in samples.items() if runs.failed or runs.learned(LEARNING) is not False}
    within = strata(learned)
    left_out = f"{len(samples) - len(learned)} of {len(samples)} are not shown to have learned, and are left out"
    reason = left_out if len(learned) < len(samples) else ""
    if smallest_p(learned) >= evidence.definitions.alpha:
        return Result(reason=f"{UNLEARNED}: {reason}", samples=list(samples.values()))
    means = {cell: sign * runs.sample.mean if len(runs.values) > 1 else -math.inf for cell, runs in learned.items()}
    ours = {cell: (-runs.failed, means[cell]) for cell, runs in learned.items()}
    ranks = {cell: sum(other < own for other in ours.values()) for cell, own in ours.items()}
    theirs = {cell: sign * number for cell, number in claim.ranked.items()}
    tau, p = statistics.kendall([([ranks[c] for c in cells], [theirs[c] for c in cells]) for cells in within])
    pairs = [pair for cells in within for pair in combinations(cells, 2)]
    agree = sum((ranks[one] - ranks[other]) * (theirs[one] - theirs[other]) > 0 for one, other in pairs)
    failed = sum(runs.failed for runs in samples.values())
    missing = f"{failed} runs have no number: their models rank last" if failed else ""
    return Result(
        test="Kendall's tau of means within sizes, exact",
        supports=tau > 0,
        reason="; ".join(filter(None, (reason, missing))),
        p=p,
        tau=tau,
        samples=list(learned.values()),
        found=f"{agree} of {len(pairs)} pairs as printed",
    )


def identity(claim: Claim, evidence: Evidence) -> Result:
    """What the paper derives is what autograd gives, at every step of every cell, but for rounding."""
    exact, cells = evidence.definitions.exact, dict[tuple[str, str], list[Row]]()
    for row in evidence.jacobian:
        cells.setdefault((row["core"], row["filter"]), []).append(row)
    equal = {
        column: sum(all(float(row[f"{column}_error"]) <= exact for row in rows) for rows in cells.values())
        for column in ("product", "claimed")
    }
    reason = (
        f"equal to autograd, within {exact:g} of its length at every step: the product without momentum in "
        f"{equal['product']} of {len(cells)} cells, the one with it in {equal['claimed']}"
    )
    first = evidence.jacobian[0]
    found = (
        f"{first['autograd']} by autograd, {first['product']} by the product without momentum, {first['claimed']} by "
        f"the one with it ({first['core']}, {first['filter']}, t = {first['step']})"
    )
    return Result(test="identity in float64", supports=equal["claimed"] == len(cells), reason=reason, found=found)


TESTS = {test.__name__: test for test in (better, not_better, similar, gain, faster, ratio, value, ranking, identity)}


# ------------------------------------------------------------------------------------------------- What they have alike


def _difference(claim: Claim, evidence: Evidence, samples: Sequence[Runs], way: int, **more: Any) -> Result:
    """Test: a weighted sum of means lies on the claim's side of `null`; paired where a seed is a block."""
    weights = more.pop("weights", (1, -1))
    more.setdefault("bars", (samples[0].without, samples[1].without))
    if few := _too_few(claim, evidence, samples):
        return few
    (estimate, samples, name), other = estimates(samples, evidence.blocked(claim), weights)
    logarithms = more.get("logarithms", False)
    found = _of(estimate, samples, way, test=name + (" of logarithms" if logarithms else ""), **more)
    if found.estimate is not None:
        sign = -1 if logarithms else evidence.sign(claim.metric)
        found = replace(found, ahead=[_leader(samples, estimate, sign)])
    if found.estimate is None or other is None:
        return found
    null = more.get("null", 0.0)
    return replace(found, other=(other[2], (other[0].value - null) * way > 0, other[0].p(null)))


def _leader(samples: Sequence[Runs], estimate: Estimate, sign: int) -> Runs:
    """The one that is better, where more (`sign` 1) or less (-1) is."""
    return samples[0] if estimate.value * sign > 0 else samples[1]


def estimates(samples: Sequence[Runs], blocked: bool, weights: Sequence[float] = (1, -1)) -> tuple[Any, Any]:
    """(estimate, samples, name) of the test that decides, and of the other one, None where it cannot be taken.

    Runs of one seed share initial weights, batches and noise, which correlate hardly (0.20 over the evening's pairs):
    Welch's t decides. Where a seed has data of its own, the differences seed by seed do.
    """
    shared = of_shared_seeds(samples)
    tests = [(welch([runs.sample for runs in samples], weights), samples, UNPAIRED)]
    if len(shared[0].values) >= FEWEST:
        overlap = shared[0].overlap
        by_seed = paired([runs.values for runs in shared], weights, overlap)
        tests.append((by_seed, shared, "corrected resampled t" if overlap else "paired t"))
    if blocked:
        tests.reverse()
    other = tests[1] if len(tests) > 1 and tests[1][0] is not None else None
    return tests[0], other


def _of(
    estimate: Estimate | None, samples: Sequence[Runs], way: int, null: float = 0.0, test: str = "", **more: Any
) -> Result:
    if estimate is None:
        return Result(reason="no spread between seeds: nothing to test with", samples=samples, found=_means(samples))
    return Result(
        test=test,
        supports=(estimate.value - null) * way > 0,
        estimate=estimate,
        null=null,
        p=estimate.p(null),
        way=way,
        samples=samples,
        found=_means(samples),
        **more,
    )


def _within(
    estimate: Estimate | None, samples: Sequence[Runs], margin: float, name: str, printed: Sample | None = None
) -> Result:
    """Test: a difference lies within the margin."""
    found = _means(samples) + (f" against {_mean(printed)}" if printed else "")
    if estimate is None:
        return Result(reason="no spread between seeds: nothing to test with", samples=samples, found=found)
    supports, p = equivalence(estimate, margin)
    return Result(
        test=f"equivalence within {margin:.3g}" + (f", {name}" if name else ""),
        supports=supports,
        estimate=estimate,
        margin=margin,
        p=p,
        samples=samples,
        ahead=samples,
        bars=("; ".join(filter(None, (runs.without for runs in samples))), ""),
        found=found,
    )


def _too_few(claim: Claim, evidence: Evidence, samples: Sequence[Runs]) -> Result | None:
    """A block that lacks one of the models says nothing."""
    return _checked(of_shared_seeds(samples) if evidence.blocked(claim) else samples)


def _checked(samples: Sequence[Runs], of: str = "seeds") -> Result | None:
    """Nothing is tested with one or two values a model; None where all have more."""
    short = [runs for runs in samples if len(runs.values) < FEWEST]
    if not short:
        return None
    number = "; ".join(f"n = {len(runs.values)} for {runs.label}" for runs in short)
    texts = [f"{number}: fewer than {FEWEST} {of} are not tested", *(runs.without for runs in short)]
    return Result(reason="; ".join(filter(None, texts)), samples=samples)


def _mean(sample: Sample) -> str:
    return f"{plain(sample.mean, 4)} ± {plain(sample.std, 2)}"


def _means(samples: Sequence[Runs]) -> str:
    return " against ".join(_mean(runs.sample) for runs in samples)
