"""The verdicts on the claims that are judged with an artifact, as rows. docs/claims.md gives the rules."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hidden_dynamics.claims import statistics
from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.kinds import LEARNING, PAPER_RUNS, TESTS, Result, testable
from hidden_dynamics.claims.samples import Evidence
from hidden_dynamics.claims.statistics import Estimate, Sample, holm
from hidden_dynamics.claims.verdict import COLUMNS, FAILS, HOLDS, NOT_RUN, OF_THE_PAPER, UNDECIDED, UNLEARNED, plain
from hidden_dynamics.configuration.runs import sized_model_of
from hidden_dynamics.measurements.costs import MEMORIES, TIMES
from hidden_dynamics.papers.claims import KINDS
from hidden_dynamics.papers.deviations import data_text
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Judged:
    """A claim with its test's result, the verdict, and `family`: the p of each of its tests, 1 of the `unmade` ones."""

    claim: Claim
    result: Result
    verdict: str
    reason: str
    deviations: str
    family: Sequence[float] = ()
    unmade: int = 0
    nothing_learned: str = ""
    p_adjusted: float | None = None
    other_test: str = ""


def judge(evidence: Evidence, claims: Sequence[Claim]) -> list[Judged]:
    """A verdict on each claim."""
    judged = [_tested(evidence, claim) for claim in claims]
    families: dict[str, dict[tuple, tuple[float, float]]] = {}
    for one in judged:
        claim, p, other = one.claim, one.result.p, one.result.other
        if one.result.supports is None and testable(claim, evidence):
            p = 1.0  # a choice among the runs does not make fewer tests, nor do runs that fail
        if p is not None:
            families.setdefault(claim.family, {}).setdefault(claim.test, (p, other[2] if other else p))
    adjusted: dict[str, dict[tuple, tuple[float, float]]] = {}
    for name, tests in families.items():  # p of each test by Holm's method, and that of the other test
        own, other = (holm(p) for p in zip(*tests.values(), strict=True))
        adjusted[name] = dict(zip(tests, zip(own, other, strict=True), strict=True))
    made, found = {(one.claim.family, one.claim.test) for one in judged if one.result.p is not None}, []
    for one in judged:
        claim, supports = one.claim, one.result.supports
        own = families.get(claim.family, {})
        unmade = sum((claim.family, test) not in made for test in own)
        one = replace(one, family=[p for p, _ in own.values()], unmade=unmade)
        both = adjusted.get(claim.family, {}).get(claim.test, (None, None))
        found.append(one if supports is None else _judged(one, supports, *both, evidence.definitions.alpha))
    return found


def _tested(evidence: Evidence, claim: Claim) -> Judged:
    """A claim with its test's result, undecided; not run where there are no runs, or none that answer it.

    Runs that deviate from the paper answer it at scales that ask for directions, of kinds that have one; the first part
    of the paper's own training answers for its course.
    """
    deviating, kind = evidence.deviations(claim), KINDS[claim.kind]
    if not kind.tested:
        return Judged(claim, Result(), NOT_RUN, "listed, and not tested", "")
    asked = (evidence.configuration.scale.directions and kind.directional) or (
        kind.course and not evidence.deviations(claim, course=True)
    )
    reason = evidence.absent(claim) or ("" if asked else deviating)
    if reason:
        return Judged(claim, Result(reason=reason), NOT_RUN, reason, deviating)
    result = TESTS[claim.kind](claim, evidence)
    return Judged(claim, result, UNDECIDED, result.reason, deviating)


def verdicts(evidence: Evidence, claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """A row for each claim."""
    return [row_of(evidence, one) for one in judge(evidence, claims)]


def counted_once(rows: Sequence[dict[str, str]], metrics: Sequence[str]) -> None:
    """Say of each verdict (rows as they are read) whether it counts: of claims that one test decides the first, of the
    metrics of the same runs one.

    That is the first test metric in the order of config/metrics.yaml, else the first other one: the validation error
    of a run is no second answer. Costs are no metrics of the same runs.
    """
    order = {metric: (metric.split("_")[0] != "test", index) for index, metric in enumerate(("", *metrics))}
    first: dict[tuple, dict[str, str]] = {}
    for row in rows:
        row["counted"] = "false"
        if row["verdict"] != NOT_RUN:
            sides = row["subject"], row["reference"]
            pair = tuple(sorted(sides)) if KINDS[row["kind"]].symmetric else sides
            apart = row["metric"] if row["metric"] in (*TIMES, *MEMORIES) else ""
            if not row["subject"]:  # a ranking is one of a table's rows
                apart = row["artifact"]
            key = (row["kind"], row["task"], pair, apart)
            best = first.setdefault(key, row)
            if order[row["metric"]] < order[best["metric"]]:
                first[key] = row
    for row in first.values():
        row["counted"] = "true"


def _judged(one: Judged, supports: bool, p_adjusted: float | None, p_of_other: float | None, alpha: float) -> Judged:
    """The verdict, with that by the other test where it is another one."""
    result, other = one.result, ""
    tests = f"{len(one.family)} tests of its family"
    if one.unmade and result.p is not None:
        made = sorted(one.family)[: len(one.family) - one.unmade]  # that of one that was not made is 1
        among = plain(holm(made)[made.index(result.p)], 2)
        tests += f", {one.unmade} of them not made (adjusted among the {len(made)} made: {among})"
    verdict, reason = _decided(result, supports, p_adjusted, tests, alpha)
    gated = _gate(one, verdict, reason)
    if result.other and not gated["reason"].startswith(UNLEARNED):
        name, too, p = result.other
        otherwise, _ = _decided(result, too, p_of_other, tests, alpha)
        shown = otherwise if one.deviations else OF_THE_PAPER[otherwise]
        other = f"{shown} by {name} (p = {plain(p, 2)})" if otherwise != verdict else ""
    return replace(one, p_adjusted=p_adjusted, other_test=other, **gated)


def _gate(one: Judged, verdict: str, reason: str) -> dict[str, str]:
    """No verdict where the side that is ahead has not beaten the best naive baseline; else what is behind is named."""
    idle = [runs for runs in one.result.samples if runs.learned(LEARNING) is False]
    if not idle or not one.result.ahead:
        return {"verdict": verdict, "reason": reason}
    names = " and ".join(dict.fromkeys(runs.label for runs in idle))
    two = ("subject", "reference") * 2  # of a gain, on both tasks
    sides = {name for name, runs in zip(two, one.result.samples, strict=False) if runs in idle}
    nothing = "both" if len(sides) > 1 else "".join(sides)
    if any(runs in idle for runs in one.result.ahead):
        text = f"{UNLEARNED}: {names} not shown to beat {idle[0].naive_name}"
        return {"verdict": UNDECIDED, "reason": text, "nothing_learned": nothing}
    text = f"behind, and not shown to beat {idle[0].naive_name}: {names}"
    return {"verdict": verdict, "reason": "; ".join(filter(None, (reason, text))), "nothing_learned": nothing}


def _decided(result: Result, supports: bool, p_adjusted: float | None, tests: str, alpha: float) -> tuple[str, str]:
    """(verdict, reason)."""
    bar = result.bars[not supports]
    if p_adjusted is not None and p_adjusted >= alpha:
        below = result.p is not None and result.p < alpha
        alone = f"p < {alpha:g} alone, but not among the {tests}" if below else ""
        doubt = "chance agrees as well" if result.tau is not None else "the spread allows both"
        return UNDECIDED, "; ".join(filter(None, (alone or bar or doubt, result.reason)))
    if bar:
        return UNDECIDED, bar
    return HOLDS if supports else FAILS, result.reason


# --------------------------------------------------------------------------------------------------------------- Rows


def row_of(evidence: Evidence, judged: Judged) -> dict[str, Any]:
    """By column (hidden_dynamics.claims.verdict.COLUMNS)."""
    claim, result = judged.claim, judged.result
    rows = [row for cell in claim.cells for row in evidence.rows(claim, cell)]
    tested, pair = result.p is not None, result.samples if claim.subject else ()
    return {
        **dict.fromkeys(COLUMNS, ""),
        **{key: getattr(claim, key) for key in COLUMNS if hasattr(claim, key)},
        "entries": " ".join(claim.entries),
        "plan": "" if evidence.deviations(claim, course=True) else claim.plan,  # which asks for the paper's own runs
        "subject": sized_model_of(evidence.configuration, claim.subject) if claim.subject else "",
        "reference": sized_model_of(evidence.configuration, claim.reference) if claim.reference else "",
        "verdict": judged.verdict,
        "reason": "; ".join(filter(None, (judged.reason, *_without_momentum(rows)))),
        "test": result.test,
        **_numbers(evidence, judged),
        "p": _cell(result.p),
        "p_adjusted": _cell(judged.p_adjusted),
        "family": claim.family if tested else "",
        "tests": len(judged.family) if tested else "",
        "other_test": judged.other_test,
        **_naive(evidence, judged),
        **_classical(judged),
        **dict(zip(("n_subject", "n_reference"), (len(runs.values) for runs in pair), strict=False)),
        "found": result.found,
        "published": _published(claim),
        "published_difference": _published_difference(judged),
        "data": "; ".join(dict.fromkeys(data_text(evidence.configuration, row) for row in rows)),
        "deviations": judged.deviations,
        "runs": " ".join(dict.fromkeys(row["directory"] for row in rows if "directory" in row)),
    }


def _without_momentum(rows: Sequence[Row]) -> list[str]:
    """Where a momentum cell has no momentum, in any of its runs: nothing is credited to it."""
    mus: dict[str, set[float | None]] = {}
    for row in rows:
        mus.setdefault(row["label"], set()).add(json.loads(row.get("hyperparameters") or "{}").get("mu"))
    return [f"{label} has no momentum here (μ = 0)" for label, own in mus.items() if own == {0}]


def _numbers(evidence: Evidence, judged: Judged) -> dict[str, Any]:
    """Estimate and interval, the same adjusted for the family's tests (Bonferroni), what would have been found, and the
    standardised difference."""
    result, estimate, definitions = judged.result, judged.result.estimate, evidence.definitions
    if estimate is None:
        single = result.tau if result.tau is not None else result.ratio
        return {"estimate": _cell(single)}
    level = definitions.level_beside(result.margin is not None and result.supports)
    shown = math.exp if result.logarithms else float
    tests = max(1, len(judged.family))
    low, high = estimate.interval(level)
    low_adjusted, high_adjusted = estimate.interval(1 - (1 - level) / tests)
    alpha = definitions.alpha / tests
    return {
        "estimate": shown(estimate.value),
        "low": shown(low),
        "high": shown(high),
        "level": level,
        "low_adjusted": shown(low_adjusted),
        "high_adjusted": shown(high_adjusted),
        "detectable": _cell(_detectable(result, estimate, alpha, definitions.power)),
        **_effect(judged.claim, result, estimate, definitions.level),
    }


def _detectable(result: Result, estimate: Estimate, alpha: float, power: float) -> float:
    if result.margin is not None:
        smallest = statistics.detectable_within(estimate, alpha, power)
        return math.exp(smallest) if result.logarithms else smallest
    smallest = statistics.detectable(estimate, alpha, power)
    if result.logarithms:
        return math.exp(result.null + result.way * smallest)
    return result.null + result.way * smallest if result.null else smallest


def _effect(claim: Claim, result: Result, estimate: Estimate, level: float) -> dict[str, float]:
    """Hedges' g, positive in the claim's direction, and the ends of the interval in the same deviations."""
    samples = [runs.sample for runs in result.samples]
    if len(samples) != 2 or math.isnan(statistics.hedges_g(1.0, samples)):
        return {}
    ends = (estimate.value, *sorted(estimate.interval(level), key=lambda end: result.way * end))
    effects = (result.way * statistics.hedges_g(end, samples) for end in ends)
    own: dict[str, float] = dict(zip(("effect", "effect_low", "effect_high"), effects, strict=True))
    numbers = [number for number in claim.printed if number]
    printed = [Sample(one.value, one.std, one.runs or PAPER_RUNS) for one in numbers if one.std is not None]
    if len(printed) < 2 or claim.kind == "gain":
        return own
    theirs = result.way * statistics.hedges_g(printed[0].mean - printed[1].mean, printed)
    return own | ({} if math.isnan(theirs) else {"published_effect": theirs})


def _naive(evidence: Evidence, judged: Judged) -> dict[str, Any]:
    """The naive baseline that the gate holds models to, whether all that is ahead beats the best classical one, too
    (None where none is known), and the sampling error of the one test set."""
    runs = next((runs for runs in judged.result.samples if runs.naive), None)
    text = f"{runs.naive_name}: {plain(sum(runs.naive.values()) / len(runs.naive), 4)}" if runs else ""
    beaten = [own for runs in judged.result.ahead if (own := runs.beat(runs.classical, LEARNING)) is not None]
    return {
        "naive": text,
        "nothing_learned": judged.nothing_learned,
        "classical_beaten": all(beaten) if beaten else None,
        "test_error": _cell(_test_error(evidence, judged)),
    }


def _classical(judged: Judged) -> dict[str, str]:
    """The best classical baseline on the claim's task and metric, and which side is behind it. It decides nothing."""
    own = [runs for runs in judged.result.samples if runs.gains(runs.classical)]
    own = [runs for runs in own if runs.rows[0]["task"] == judged.claim.task]  # the other one of a gain has another
    if not own:
        return {}
    scores = own[0].classical.values()
    ahead, behind = ([runs.label for runs in own if runs.behind_classical == side] for side in (False, True))
    if len(own) > 2:
        beside = f"{len(behind)} of {len(own)} behind"
    elif ahead and behind:
        beside = f"{behind[0]} behind, {ahead[0]} ahead of"
    else:
        beside = ("both " if len(own) > 1 else "") + ("behind" if behind else "ahead of")
    best = f"{own[0].classical_name}: {plain(sum(scores) / len(scores), 4)}"
    return {"classical": best, "beside_classical": beside}


def _test_error(evidence: Evidence, judged: Judged) -> float | None:
    """Of an accuracy or an AUC on a test set that all seeds share, in the unit shown; not of time points."""
    claim, samples = judged.claim, judged.result.samples
    if not claim.subject or not samples or not samples[0].values or evidence.blocked(claim):
        return None
    if claim.metric not in ("test_accuracy", "test_auc"):
        return None
    size = json.loads(samples[0].rows[0]["test_set"] or "{}")
    factor = evidence.configuration.metrics[claim.metric].factor
    share = samples[0].sample.mean / factor if len(samples[0].values) > 1 else samples[0].values[0] / factor
    n, positive = size.get("size"), size.get("positive")
    if claim.metric == "test_accuracy" and n:
        return factor * statistics.error_of_share(share, n)
    if claim.metric == "test_auc" and n and positive:
        return factor * statistics.error_of_auc(share, positive, n - positive)
    return None


def _published(claim: Claim) -> str:
    texts = []
    for number in claim.printed:
        if number is not None:
            spread = f" ± {number.std:g}" if number.std is not None else ""
            mark = " (quoted)" if number.quoted else " (the best run)" if number.maximum else ""
            texts.append(f"{number.value:g}{spread}{mark}")
    return " against ".join(texts)


def _published_difference(judged: Judged) -> float | str:
    """The printed lead, where the estimate is such a difference."""
    claim, result = judged.claim, judged.result
    lead = claim.printed_lead if claim.kind == "better" and result.estimate and not result.logarithms else None
    return "" if lead is None else float(plain(lead, 6))


def _cell(value: object) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
