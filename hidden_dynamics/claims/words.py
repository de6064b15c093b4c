"""The columns and sentences of a verdict: what ran, what is printed, what was found."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hidden_dynamics.claims.comparison import Values
from hidden_dynamics.claims.kinds import Result
from hidden_dynamics.claims.statistics import Sample, paired, welch
from hidden_dynamics.claims.verdict import Outcome, Verdict
from hidden_dynamics.configuration import Case, Configuration
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.papers.deviations import in_sentence, ran_of
from hidden_dynamics.papers.logs import Log, Point, load_logs, whole
from hidden_dynamics.papers.published import Number, load_published
from hidden_dynamics.results.seeds import FEWEST, LEVEL, best_classical, mean_and_std

UNITS = {"percent": "points", "one": ""}
SYMBOLS = {"mu": "μ", "s": "s", "beta": "β", "restart": "F"}
RATIO_DECIMALS = 2
COPIED = ("id", "says", "place", "kind", "dagger", "plan", "against_table", "remark")
FOR, AGAINST = (Outcome.REPRODUCED, Outcome.AGREES), (Outcome.CONTRADICTED, Outcome.DISAGREES)
UNDECIDED = Outcome.INCONCLUSIVE, Outcome.OPEN
VERBS = {
    "better": {**dict.fromkeys(FOR, "is better than"), **dict.fromkeys(AGAINST, "is worse than")},
    "faster": {**dict.fromkeys(FOR, "is faster than"), **dict.fromkeys(AGAINST, "is slower than")},
}


def columns_of(configuration: Configuration, paper: str, entry: ClaimEntry, result: Result) -> dict[str, Any]:
    """All columns of a verdict but those on its family and its control."""
    runs = dict.fromkeys(run.run.id for side in result.sides for run in side.runs)
    metric = configuration.metrics.get(entry.shown_metric)
    ratio = entry.kind == "faster"
    return {
        **{name: getattr(entry, name) for name in COPIED},
        **_names(configuration, entry, result),
        "task": entry.task,
        "metric": entry.shown_metric,
        "size": " ".join(map(str, entry.size)) if isinstance(entry.size, list) else entry.size,
        "critic": entry.critic.says if entry.critic else "",
        "critic_address": entry.critic.address if entry.critic else "",
        "ran": _what_ran(configuration, entry, result),
        "unit": _unit(configuration, entry),
        "decimals": RATIO_DECIMALS if ratio or not metric else metric.decimals,
        **_printed(configuration, paper, entry, result),
        **numbers_of(entry, result),
        **_baselines(configuration, entry, result),
        **_logged(configuration, paper, entry),
        "runs": " ".join(runs),
    }


def _unit(configuration: Configuration, entry: ClaimEntry) -> str:
    """The unit of a difference; "" where it has none."""
    if entry.kind == "count":
        return "parameters"
    metric = None if entry.kind == "faster" else configuration.metrics.get(entry.shown_metric)
    return UNITS.get(metric.unit, metric.unit) if metric else ""


def _what_ran(configuration: Configuration, entry: ClaimEntry, result: Result) -> str:
    """What ran; "" where nothing did."""
    if entry.task is None:
        return "untrained cells in float64" if result.test else ""
    sizes = entry.size if isinstance(entry.size, list) else [entry.size]
    return ran_of(configuration, entry.task, sizes, trained=entry.kind != "count") if result.sides else ""


def _names(configuration: Configuration, entry: ClaimEntry, result: Result) -> dict[str, str]:
    """The labels of the sides that were compared; of all that were to be, where none was."""
    every = {"subject": entry.subjects, "reference": entry.references}
    compared = dict(zip(every, ([case] for case in result.cases), strict=False)) or every
    models = configuration.models
    return {side: in_sentence([models[case.model].label for case in cases] or [""]) for side, cases in compared.items()}


def numbers_of(entry: ClaimEntry, result: Result) -> dict[str, Any]:
    """The columns of both sides and their difference; of `faster` iterations, by geometric means, and their ratio."""
    if len(result.shown) < 2:
        return {"test": result.test}
    exp = math.exp if entry.kind == "faster" else float
    columns: dict[str, Any] = {"test": result.test, "p": result.p}
    means = []
    for name, side in zip(("subject", "reference"), result.shown, strict=True):
        mean, std = mean_and_std(side.by_seed.values())
        means.append(mean)
        columns[f"n_{name}"] = len(side.by_seed)
        columns[f"{name}_mean"] = _finite(exp(mean))
        columns[f"{name}_std"] = None if entry.kind in ("faster", "count") else _finite(std)
    columns["difference"] = _finite(exp(means[0] - means[1]))
    if result.estimate:
        low, high = result.estimate.interval(LEVEL)
        columns |= {"low": exp(low), "high": exp(high)}
    return columns


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _baselines(configuration: Configuration, entry: ClaimEntry, result: Result) -> dict[str, str]:
    """The best naive baseline, and the best classical one with the sides that are behind it."""
    known = next((side for side in result.sides if side.naive), None)
    columns = {"naive": f"{known.baseline} {_plain(float(np.mean([*known.naive.values()])))}"} if known else {}
    metric = configuration.metrics.get(entry.shown_metric)
    runs = [run for side in result.sides for run in side.runs]
    if metric is None or entry.kind == "faster":
        return columns
    best = best_classical(runs, entry.shown_metric, metric.sign, metric.factor)
    if best is None:
        return columns
    name, scores = best
    gains = [(side.label, _gain(side, scores)) for side in result.sides if side.by_seed]
    behind = [label for label, gain in gains if gain < 0]
    both = len(gains) == len(result.sides)  # have numbers
    who = "both models ahead in the mean" if both else ""
    if behind:
        who = f"{'both models' if len(behind) == len(result.sides) else in_sentence(behind)} behind in the mean"
    mean = _plain(float(np.mean([*scores.values()])))
    difference = _difference_from(result.sides[0], scores, metric.decimals, _unit(configuration, entry))
    return columns | {"classical": "; ".join(filter(None, (f"{name} {mean}", difference, who)))}


def _difference_from(side: Values, scores: Mapping[int, float], digits: int, unit: str) -> str:
    """A side less a baseline, seed by seed, with its interval; "" with too few seeds, or without spread."""
    seeds = [seed for seed in side.by_seed if seed in scores]
    own, others = ([numbers[seed] for seed in seeds] for numbers in (side.by_seed, scores))
    estimate = paired(own, others, side.overlap) if len(seeds) >= FEWEST else None
    if estimate is None:
        return ""
    return f"{side.label} minus it {effect_text(estimate.value, *estimate.interval(LEVEL), digits)} {unit}".strip()


def _gain(side: Values, scores: Mapping[int, float]) -> float:
    """The sum of the leads of runs over a baseline's scores by seed."""
    return sum(side.sign * (value - scores[seed]) for seed, value in side.by_seed.items() if seed in scores)


def _printed(configuration: Configuration, paper: str, entry: ClaimEntry, result: Result) -> dict[str, Any]:
    """The printed numbers: the subject's, and the best of the references'; and the printed difference of what was
    compared."""
    if entry.published is None:
        return {"printed": entry.printed}
    metric = configuration.metrics[entry.shown_metric]
    published = load_published(f"{paper}/{entry.published}.yaml")

    def printed(cases: Iterable[Case]) -> list[Number]:
        return [number for case in cases if (number := published.number(configuration, case, entry.shown_metric))]

    subjects, references = printed(entry.subjects), printed(entry.references)
    if not subjects or not references:
        return {}
    subject, reference = subjects[0], max(references, key=lambda number: metric.sign * number.value)
    text = f"{_number_text(subject)} against {_number_text(reference)}"
    values = [number.value for number in (printed(result.cases) if result.cases else (subject, reference))]
    return {"printed": text, "printed_difference": round(values[0] - values[1], 9) if len(values) == 2 else None}


def _number_text(number: Number) -> str:
    spread = f" ± {number.std:g}" if number.std is not None else ""
    return f"{number.value:g}{spread}{' (quoted)' if number.quoted else ' (the best run)' if number.maximum else ''}"


def _logged(configuration: Configuration, paper: str, entry: ClaimEntry) -> dict[str, Any]:
    """What the authors' own logs say, in which no run of ours enters: the subject's loss less that of the best
    reference after the last epoch that all have; nothing where the paper has no logs of both."""
    subjects, references = (_logs(configuration, paper, entry, cases) for cases in (entry.subjects, entry.references))
    if not subjects or not references:
        return {}
    last = max(set.intersection(*(set(whole(log)) for log in (*subjects, *references))))
    subject, reference = (
        min((whole(log)[last] for log in logs), key=lambda point: point.mean) for logs in (subjects, references)
    )
    text = f"{subject.split} loss, epoch {last}, N = {subject.size}, {subject.n} and {reference.n} runs"
    numbers = difference_of(subject, reference)
    return {"logs": text, **{f"logs_{name}": numbers.get(name) for name in ("difference", "low", "high")}}


def difference_of(point: Point, other: Point) -> dict[str, float]:
    """Of two logged means, with its interval and p; without these where a side has fewer than three seeds."""
    estimate = welch(*(Sample(of.mean, of.sd, of.n) for of in (point, other)))
    if estimate is None or min(point.n, other.n) < FEWEST:
        return {"difference": point.mean - other.mean}
    low, high = estimate.interval(LEVEL)
    return {"difference": estimate.value, "low": low, "high": high, "p": estimate.p()}


def _logs(configuration: Configuration, paper: str, entry: ClaimEntry, cases: Sequence[Case]) -> list[Log]:
    if entry.logs is None:
        return []
    logs = load_logs(f"{paper}/logs.yaml")
    of_cases = (logs.of_the_paper(configuration, case._replace(size=entry.logs)) for case in cases)
    return [log for log in of_cases if log]


# ---------------------------------------------------------------------------------------------------- What was found


def part_of(part: str, iteration: int | None) -> str:
    """The part of the paper's training that a verdict is of: "by epoch 13"; "" where it is of all.

    Args:
        part: "after 13 of 150 epochs" (or iterations), where the claim is of the first part of the schedule.
        iteration: whose loss counts, where the claim names one: it, or the last of shorter runs.
    """
    if iteration:
        return f"by iteration {iteration:,}"
    return f"by {part.split()[-1][:-1]} {part.split()[1]}" if part else ""


def sentence_of(verdict: Verdict) -> str:
    """What was found, in a few sentences, with the numbers; "" where nothing ran."""
    numbers, reason = _means(verdict), verdict.reason[:1].upper() + verdict.reason[1:]
    if verdict.outcome is Outcome.NOT_RUN:
        return f"Not judged: {verdict.reason}. So far: {numbers}." if numbers else ""
    when = f"{verdict.part[:1].upper()}{verdict.part[1:]}: " if verdict.part else ""
    said_otherwise = _verb(verdict) or verdict.outcome is Outcome.UNLEARNED  # the reason says who has not learned
    told = verdict.part or not verdict.outcome.of_the_paper  # a part does not make the whole claim reproduced
    decided_otherwise = verdict.outcome in UNDECIDED and reason  # which the reason tells
    sentence = f"The claim is {verdict.outcome.value}." if verdict.kind == "identity" else verdict.outcome.sentence
    outcome = "" if (said_otherwise and told) or decided_otherwise else sentence
    found = f"{when}{numbers}." if numbers else ""
    control = _beside_control(verdict) if verdict.outcome in FOR else ""
    said = [found, outcome, control, _beside_printed(verdict), f"{reason}." if reason else ""]
    return " ".join(filter(None, said))


def _beside_control(verdict: Verdict) -> str:
    """That the control of a claim that holds may do as much; "" where it is shown not to, or has no interval."""
    low, high = verdict.control_low, verdict.control_high
    if not verdict.has_control or low is None or high is None or verdict.difference is None:
        return ""
    none = 1 if verdict.kind == "faster" else 0
    ahead = low > none if verdict.difference > none else high < none  # as it is of the reference
    return "" if ahead else f"{verdict.subject} is not shown to be ahead of its control, {verdict.control_label}."


def _beside_printed(verdict: Verdict) -> str:
    """Whether the printed difference lies in the interval of ours; "" where it is not of the same runs."""
    printed, low, high = verdict.printed_difference, verdict.low, verdict.high
    if printed is None or low is None or high is None or verdict.part or not verdict.outcome.of_the_paper:
        return ""
    where = "inside" if low <= printed <= high else "outside"
    difference = effect_text(printed, None, None, verdict.decimals)
    return f"The printed difference of these two, {difference}, is {where} the interval."


def _verb(verdict: Verdict) -> str:
    """How the subject of a claim stands to the reference; "" where nothing is said of that."""
    undecided = verdict.kind in VERBS and verdict.outcome in UNDECIDED and not verdict.reason
    return "is not told apart from" if undecided else VERBS.get(verdict.kind, {}).get(verdict.outcome, "")


def _means(verdict: Verdict) -> str:
    """Both means, and p: "MomentumLSTM 61.31 is not told apart from LSTM 60.50, p = 0.68 (Holm: 1)"."""
    subject, reference, ratio = verdict.subject_mean, verdict.reference_mean, verdict.kind == "faster"
    if subject is None or reference is None:
        return ""
    digits, labelled = 0 if ratio else verdict.decimals, ((verdict.subject, subject), (verdict.reference, reference))
    sides = [f"{label} {mean:,.{digits}f}" for label, mean in labelled]
    p = "" if verdict.p is None else f", p = {_plain(verdict.p, 2)}"
    adjusted = "" if verdict.p_adjusted is None else f" (Holm: {_plain(verdict.p_adjusted, 2)})"
    compared = f" {_verb(verdict) or 'against'} ".join(sides)
    return f"{compared}{' (iterations)' * ratio}{p}{adjusted}"


def _plain(value: float, digits: int = 4) -> str:
    """So many significant digits, without an exponent from 0.0001 to a million."""
    return f"{float(f'{value:.{digits}g}'):.6g}"


def named(label: str, settings: Mapping[str, object]) -> str:
    """A model with the settings of its filter: "MomentumLSTM (μ = 0.6, s = 0.6)"; the label alone without a filter."""
    texts = [f"{symbol} = {settings[key]:g}" for key, symbol in SYMBOLS.items() if settings.get(key) is not None]
    return f"{label} ({', '.join(texts)})" if texts else label


def effect_text(difference: float | None, low: float | None, high: float | None, digits: int) -> str:
    """ "+0.005 (−0.001 to +0.012)"; "" without a difference."""
    if difference is None:
        return ""
    text, *ends = (f"{value:+.{digits}f}".replace("-", "−") for value in (difference, low, high) if value is not None)
    return f"{text} ({' to '.join(ends)})" if len(ends) == 2 else text
