"""What the tests of claims do where the truth is known: false verdicts and power, as docs/claims.md shows them.

    python tools/verdict_properties.py                  # all tables, in about two minutes
    python tools/verdict_properties.py --only power     # the tables of one part

Runs are simulated, and judged by the functions of hidden_dynamics.claims. The same seed gives the same tables.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtr, ndtr, stdtrit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the repository, where the library is
from hidden_dynamics.claims import power  # noqa: E402
from hidden_dynamics.claims.comparisons import smallest_p  # noqa: E402
from hidden_dynamics.claims.holm import holm  # noqa: E402
from hidden_dynamics.claims.kendall import critical_tau, kendall  # noqa: E402
from hidden_dynamics.claims.means import (  # noqa: E402
    Difference,
    Sample,
    combination,
    equivalence,
    paired,
    satterthwaite,
    welch,
    whole,
)
from hidden_dynamics.claims.spread import FEWEST, brown_forsythe  # noqa: E402
from hidden_dynamics.measurements.rounds import FEWEST_ROUNDS, median_with_interval  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402
from hidden_dynamics.system.arguments import seed as a_seed  # noqa: E402

ALPHA = 0.05
SEEDS = (2, 3, 5, 10)
CLAIMS = 12  # of the simulated family, which share a reference
FAMILIES = (1, 3, 7, 9, 11, 20, 22)
MARGIN, SMALL_MARGIN = 1.0, 0.1  # in standard deviations of a run
PAPER_RUNS = 5
SIZES = (5, 5)  # of a ranking's two strata
LARGER = 3.0  # standard deviations by which the second stratum's models are better, all of them
Row = list[str]


# Runs of known truth: (trials, samples, n) numbers with mean 0


def normal(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    return generator.standard_normal(shape)


def unlike_spreads(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    """Every second sample spreads ten times as much."""
    return normal(generator, shape) * np.where(np.arange(shape[1]) % 2, 10.0, 1.0)[:, None]


def heavy_tails(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    return generator.standard_t(3, shape)


def bad_seeds(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    """One in ten is 8 standard deviations worse."""
    return normal(generator, shape) - 8 * ((generator.random(shape) < 0.1) - 0.1)


def skewed(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    return generator.exponential(size=shape) - 1


def in_pairs(correlation: float) -> Callable[[np.random.Generator, tuple[int, ...]], NDArray]:
    """Runs of one seed correlate, whatever the sample."""

    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
        common = normal(generator, (shape[0], 1, shape[2]))
        return math.sqrt(correlation) * common + math.sqrt(1 - correlation) * normal(generator, shape)

    return draw


def slow_series(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    """A run's number is the mean of 100 steps, each of which keeps 0.98 of the one before; in its own deviations."""
    value, total = normal(generator, shape), np.zeros(shape)
    for _ in range(100):
        value = 0.98 * value + math.sqrt(1 - 0.98**2) * normal(generator, shape)
        total += value
    return total / 75.1  # the sum's standard deviation


SCENARIOS = {
    "no effect": normal,
    "spreads 1 : 10": unlike_spreads,
    "tails t₃": heavy_tails,
    "bad seeds": bad_seeds,
    "skewed": skewed,
    "pairs, ρ = 0.5": in_pairs(0.5),
    "pairs, ρ = 0.9": in_pairs(0.9),
    "series, φ = 0.98": slow_series,
}


# Verdicts


@dataclass(frozen=True)
class Runs:
    """One model's runs."""

    values: Sequence[float]
    sample: Sample


Test = Callable[[Sequence[Runs], Sequence[Runs]], float]


@dataclass(frozen=True)
class Kind:
    """A kind of verdict.

    Attributes:
        test: p of a verdict that is false, of the claim's own runs and those that its family shares; 1 for any other.
        own, shared: how many samples each are.
        number: makes a run's number of what is drawn.
        shift: added to the claim's own numbers.
        printed: whether what is shared is a paper's, over five runs.
        normal_reference: whether what is shared is normal whatever the scenario.
        fewest: with fewer runs a model there is no verdict.
        without: scenarios that contradict what the kind claims to be true.
    """

    name: str
    test: Test
    own: int = 1
    shared: int = 1
    number: Callable[[NDArray], NDArray] = lambda drawn: drawn
    shift: float = 0.0
    printed: bool = False
    normal_reference: bool = False
    fewest: int = 2
    without: tuple[str, ...] = ()


def by_welch(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    return _p(welch(own[0].sample, shared[0].sample))


def by_pairs(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    return _p(paired(own[0].values, shared[0].values))


def by_combination(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    """One model's gain over another against the gain that the family shares."""
    weights, samples = (1, -1, -1, 1), (runs.sample for runs in (*own, *shared))
    return _p(combination(list(zip(weights, samples, strict=True))))


def by_spread(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    found = brown_forsythe(own[0].values, shared[0].values)
    return 1.0 if found is None else found.difference.p


def within(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    return _p_of_equivalence(welch(own[0].sample, shared[0].sample), MARGIN, True)


def beyond(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    return _p_of_equivalence(welch(own[0].sample, shared[0].sample), SMALL_MARGIN, False)


def beyond_constant(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    return _p_of_equivalence(welch(own[0].sample, _printed(shared)), SMALL_MARGIN, False)


def beyond_printed(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    """The printed mean's error is taken to be that of as many runs like ours."""
    sample = own[0].sample
    error = sample.std * math.sqrt(1 / sample.n + 1 / PAPER_RUNS)
    difference = Difference(sample.mean - shared[0].sample.mean, error, sample.n - 1)
    return _p_of_equivalence(difference, SMALL_MARGIN, False)


def by_variances(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    """The F test."""
    degrees = (len(own[0].values) - 1, len(shared[0].values) - 1)
    below = float(fdtr(*degrees, (own[0].sample.std / shared[0].sample.std) ** 2))
    return 2 * min(below, 1 - below)


def by_all_deviations(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    """Brown and Forsythe's test as they gave it: a pooled t of all deviations from the median, also those of 0."""
    samples = [Sample.of(np.abs(runs.values - np.median(runs.values))) for runs in (own[0], shared[0])]
    gap, variances = samples[0].mean - samples[1].mean, [sample.std**2 / sample.n for sample in samples]
    return Difference(gap, math.sqrt(sum(variances)), samples[0].n + samples[1].n - 2).p


def _printed(shared: Sequence[Runs]) -> Sample:
    """A mean without its spread."""
    return Sample(shared[0].sample.mean, 0.0, math.inf)


def by_order(own: Sequence[Runs], shared: Sequence[Runs]) -> float:
    """Rows in two strata whose printed order is 0, 1, 2, ...; the second stratum's models are better."""
    means = [runs.sample.mean for runs in own]
    return kendall(
        [(means[: SIZES[0]], range(SIZES[0])), ([LARGER + mean for mean in means[SIZES[0] :]], range(SIZES[1]))]
    )[1]


def _p(difference: Difference | None) -> float:
    return 1.0 if difference is None else difference.cautious().p


def _p_of_equivalence(difference: Difference | None, margin: float, false: bool) -> float:
    """p of the verdict "within" or "beyond", whichever is false."""
    if difference is None:
        return 1.0
    found = equivalence(difference.cautious(), margin)
    return found.p if found.within is false else 1.0


def log_of_iterations(drawn: NDArray) -> NDArray:
    """Whole iterations about a thousand; a standard deviation is a third of them."""
    return np.log(np.maximum(1.0, np.round(1000 * np.exp(drawn / 3))))


KINDS = (
    Kind("better, not better, overfitting", by_welch),
    Kind("the same over blocks", by_pairs),
    Kind("gain", by_combination, own=2, shared=2),
    Kind("faster, gradients, times", by_welch, number=log_of_iterations),
    Kind("steadier", by_spread, fewest=FEWEST, without=("spreads 1 : 10",)),
    Kind("similar: within", within, shift=MARGIN),
    Kind("similar: beyond", beyond, shift=SMALL_MARGIN),
    Kind("value ± : within", within, shift=MARGIN, printed=True),
    Kind("value ± : beyond", beyond, shift=SMALL_MARGIN, printed=True),
    Kind("ranking", by_order, own=sum(SIZES), shared=0),
)

# What is not used, or holds its level only where runs are as simulated.
LIMITS = (
    Kind("F test of variances", by_variances),
    Kind("all deviations, pooled t", by_all_deviations, fewest=3),
    Kind("Welch's t against normal runs", by_welch, normal_reference=True),
    Kind("a printed mean without ±, as a constant", beyond_constant, shift=SMALL_MARGIN, printed=True),
    Kind("a printed mean without ±, with our spread", beyond_printed, shift=SMALL_MARGIN, printed=True),
)
IN_LIMITS = ("no effect", "tails t₃", "bad seeds", "skewed")


def false_verdicts(kind: Kind, scenario: str, n: int, trials: int, seed: int, claims: int = 1) -> float:
    """The share of families of which any verdict is false, after Holm's adjustment."""
    if scenario in kind.without:
        return math.nan
    generator = np.random.default_rng([seed, n, claims, *f"{kind.name} {scenario}".encode()])
    draw, own = SCENARIOS[scenario], claims * kind.own
    apart = kind.printed or kind.normal_reference  # what is shared is drawn apart from what is the claim's own
    drawn = draw(generator, (trials, own + (0 if apart else kind.shared), n))
    drawn[:, :own] += kind.shift
    ours = theirs = list(_runs(kind.number(drawn)))
    if apart:
        draw = normal if kind.normal_reference else draw
        theirs = list(_runs(draw(generator, (trials, kind.shared, PAPER_RUNS if kind.printed else n))))
    families = zip(ours, theirs, strict=True)
    return sum(_any_false(kind, one[:own], other if apart else one[own:]) for one, other in families) / trials


def _runs(values: NDArray) -> Iterator[list[Runs]]:
    means, stds = values.mean(axis=-1).tolist(), values.std(axis=-1, ddof=1).tolist()
    n = values.shape[-1]
    for trial in zip(values.tolist(), means, stds, strict=True):
        yield [Runs(numbers, Sample(mean, std, n)) for numbers, mean, std in zip(*trial, strict=True)]


def _any_false(kind: Kind, own: Sequence[Runs], shared: Sequence[Runs]) -> bool:
    claims = [own[first : first + kind.own] for first in range(0, len(own), kind.own)]
    return min(holm([kind.test(claim, shared) for claim in claims])) < ALPHA


# Rounds of measured costs: (trials, rounds) logarithms of a ratio, with median 0


def alike(correlation: float) -> Callable[[np.random.Generator, tuple[int, int]], NDArray]:
    """Neighbouring rounds correlate."""

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> NDArray:
        rounds = normal(generator, shape)
        for k in range(1, shape[1]):
            rounds[:, k] = correlation * rounds[:, k - 1] + math.sqrt(1 - correlation**2) * rounds[:, k]
        return rounds

    return draw


def disturbed(generator: np.random.Generator, shape: tuple[int, int]) -> NDArray:
    """In one round of five something else takes the time of up to many rounds, of either model."""
    outliers = generator.exponential(20, shape) * generator.choice([-1.0, 1.0], shape)
    return normal(generator, shape) + outliers * (generator.random(shape) < 0.2)


def drifting(generator: np.random.Generator, shape: tuple[int, int]) -> NDArray:
    """The machine's pace is a slow series of ten times the spread; both models have it, and noise of their own."""
    pace = 10 * alike(0.98)(generator, shape)
    one, other = (np.exp(0.02 * (pace + normal(generator, shape))) for _ in range(2))
    return np.log(one / other)


ROUNDS = {
    "independent": normal,
    "tails t₃": heavy_tails,
    "disturbed": disturbed,
    "common drift": drifting,
    "alike, φ = 0.5": alike(0.5),
    "alike, φ = 0.7": alike(0.7),
}


def false_intervals(scenario: str, rounds: int, trials: int, seed: int) -> float:
    """The share of intervals of a ratio that leave out the true one, 1."""
    generator = np.random.default_rng([seed, rounds, *scenario.encode()])
    ratios = np.exp(0.05 * ROUNDS[scenario](generator, (trials, rounds)))
    found = [median_with_interval(one) for one in ratios.tolist()]
    return sum(not ratio.low <= 1 <= ratio.high for ratio in found) / trials


# Power


def smallest_gap(n: int, alpha: float) -> float:
    """The difference, in standard deviations of both, that Welch's t finds with 80 %."""
    return _least(lambda gap: power.power_of_welch(Sample(gap, 1.0, n), Sample(0.0, 1.0, n), alpha))


def smallest_gap_of_pairs(n: int, alpha: float, correlation: float) -> float:
    """The same, of the paired test."""
    return power.detectable(Difference(0.0, math.sqrt(2 * (1 - correlation) / n), n - 1), alpha)


def smallest_gap_in_pairs(n: int, alpha: float, correlation: float) -> float:
    """The same, of Welch's t where runs of one seed correlate. The means do not depend on the variances."""
    variances = _variances_in_pairs(n, correlation)
    errors = np.sqrt(sum(variances) / n)
    degrees = whole(satterthwaite(variances, (n - 1, n - 1)))
    needed, error = stdtrit(degrees, 1 - alpha / 2) * errors, math.sqrt(2 * (1 - correlation) / n)
    return _least(lambda gap: float(ndtr((gap - needed) / error).mean()))


@cache
def _variances_in_pairs(n: int, correlation: float) -> tuple[NDArray, NDArray]:
    drawn = in_pairs(correlation)(np.random.default_rng(0), (20000, 2, n))
    return tuple(drawn.var(axis=-1, ddof=1).T)


def _least(chance: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    while chance(high) < power.POWER:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) >= power.POWER else (middle, high)
    return high


# Tables


def rates(options: argparse.Namespace) -> Iterator[str]:
    for claims, trials in ((1, options.trials), (CLAIMS, max(1, options.trials // 4))):
        of = "one claim alone" if claims == 1 else f"any of {claims} claims that share a reference"
        yield f"False verdicts in a hundred, {of} ({trials:,} trials):"
        yield table(["kind", "n", *SCENARIOS], _by_kind(KINDS, SCENARIOS, trials, options.seed, claims))
    trials = 10 * options.trials
    yield f"Intervals of a measured ratio that leave out the true one, in a hundred ({trials:,} trials):"
    counts = (12, 16, FEWEST_ROUNDS, 40)
    rows = [[str(n), *(_percent(false_intervals(name, n, trials, options.seed), 2) for name in ROUNDS)] for n in counts]
    yield table(["rounds", *ROUNDS], rows)


def limits(options: argparse.Namespace) -> Iterator[str]:
    yield f"False verdicts in a hundred of what is not used, one claim alone ({options.trials:,} trials):"
    yield table(["test", "n", *IN_LIMITS], _by_kind(LIMITS, IN_LIMITS, options.trials, options.seed))


def powers(options: argparse.Namespace) -> Iterator[str]:
    yield "The smallest difference that Welch's t finds with 80 %, in standard deviations of a run:"
    yield table(["n", *FAMILIES], _by_family(SEEDS, smallest_gap))
    yield "The same of the paired test, where runs of one seed correlate by 0.5:"
    yield table(["n", *FAMILIES], _by_family(SEEDS, lambda n, alpha: smallest_gap_of_pairs(n, alpha, 0.5)))
    yield "The smallest ratio of spreads that is found with 80 %:"
    yield table(["n", *FAMILIES], _by_family((5, 7, 10, 20), lambda n, alpha: power.detectable_ratio(n, n, alpha)))
    yield "The smallest tau with p below 0.05 in a family, and the p of full agreement:"
    strata = ([4], [5], [6], [8], [4, 4], [5, 5], [5, 5, 5], [3, 3, 3])
    rows = [
        [
            " + ".join(map(str, sizes)),
            *(_number(critical_tau(sizes, ALPHA / family)) for family in (1, 2, 3, 4, 7)),
            f"{smallest_p(sizes):.2g}",
        ]
        for sizes in strata
    ]
    yield table(["rows", 1, 2, 3, 4, 7, "smallest p"], rows)


def pairing(options: argparse.Namespace) -> Iterator[str]:
    yield "The smallest difference that is found with 80 %, Welch's t / paired t, in standard deviations:"
    rows = [
        [str(n), str(family), *(_two(n, ALPHA / family, correlation) for correlation in (0.0, 0.3, 0.5, 0.7, 0.9))]
        for n in (3, 5, 10)
        for family in (1, 9, 22)
    ]
    yield table(["n", "family", *(f"ρ = {correlation}" for correlation in (0, 0.3, 0.5, 0.7, 0.9))], rows)


PARTS = {"rates": rates, "limits": limits, "power": powers, "pairing": pairing}


def _by_kind(kinds: Sequence[Kind], scenarios: Iterable[str], trials: int, seed: int, claims: int = 1) -> list[Row]:
    return [
        [kind.name, str(n), *(_percent(false_verdicts(kind, name, n, trials, seed, claims)) for name in scenarios)]
        for kind in kinds
        for n in SEEDS
        if n >= kind.fewest
    ]


def _two(n: int, alpha: float, correlation: float) -> str:
    ours, pairs = smallest_gap_in_pairs(n, alpha, correlation), smallest_gap_of_pairs(n, alpha, correlation)
    return f"{_number(ours)} / {_number(pairs)}"


def _by_family(numbers: Sequence[int], smallest: Callable[[int, float], float | None]) -> list[Row]:
    return [[str(n), *(_number(smallest(n, ALPHA / family)) for family in FAMILIES)] for n in numbers]


def _percent(share: float, decimals: int = 1) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.{decimals}f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(columns: Sequence[object], rows: Sequence[Row]) -> str:
    """In Markdown."""
    lines = [[str(column) for column in columns], ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    options = parse_arguments()
    for part in options.only or PARTS:
        for text in PARTS[part](options):
            print(text, end="\n\n", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, nargs="+", help="default: all parts")
    parser.add_argument("--trials", type=positive, default=2000, help="simulated claims a cell (default: %(default)s)")
    parser.add_argument("--seed", type=a_seed, default=0, help="of the simulation (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
