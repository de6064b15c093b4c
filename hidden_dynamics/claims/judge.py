"""The verdicts on the headline claims. docs/claims.md gives the rules."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import false_discovery_control

from hidden_dynamics.claims.comparison import Values
from hidden_dynamics.claims.items import over_items
from hidden_dynamics.claims.kinds import PRIMARY, Analysis, At, Result, compared, tested
from hidden_dynamics.claims.statistics import holm
from hidden_dynamics.claims.verdict import Outcome, Verdict
from hidden_dynamics.claims.words import columns_of, effect_text, named, numbers_of, part_of, sentence_of
from hidden_dynamics.papers.claims import ClaimEntry, Iteration, load_claims
from hidden_dynamics.papers.deviations import deviations, first_part
from hidden_dynamics.results.evidence import Evidence

ALPHA = 0.05
EXACT = ("identity", "count")  # kinds that leave nothing to chance


@dataclass(frozen=True)
class Standing:
    """A claim beside the runs that there are of it.

    Attributes:
        at: the evaluation that counts.
        part: "after 13 of 150 epochs", where a first part of the paper's schedule answers the claim; else "".
        deviations: from the paper; "" at its own settings.
        reason: why it is not judged; "" where it is.
        absent: whether that is because there are no runs.
    """

    entry: ClaimEntry
    at: At
    part: str = ""
    deviations: str = ""
    reason: str = ""
    absent: bool = False


@dataclass(frozen=True)
class Judged:
    """A claim with the result that decides it, its p among the `tests` of the family, and the outcome."""

    standing: Standing
    result: Result
    outcome: Outcome
    reason: str
    p_adjusted: float | None = None
    tests: int = 0


def verdicts(evidence: Evidence) -> list[Verdict]:
    """A verdict on each headline claim, paper after paper; a paper’s tests marked † are one family."""
    rows: list[Verdict] = []
    for paper, content in load_claims().items():
        standings = [standing_of(evidence, entry) for entry in content.claims]
        judged = judge(evidence, standings)
        sensitivity = _sensitivity(evidence, standings, judged)
        rows += [_verdict(evidence, paper, *claim) for claim in zip(judged, sensitivity, strict=True)]
    return rows


def standing_of(evidence: Evidence, entry: ClaimEntry) -> Standing:
    """Whether there are runs of a claim that answer it, and how.

    Runs that deviate from the paper do at scales that ask for directions. The first part of the paper's own training
    does where the claim is of such a part; it also answers for its course (`faster`), but is no verdict on the paper's.
    """
    configuration = evidence.configuration
    if reason := _absent(evidence, entry):
        return Standing(entry, entry.at, reason=reason, absent=True)
    runs = [run for case in (*entry.subjects, *entry.references) for run in evidence.of(case)]
    part = first_part(configuration, entry.task) if entry.task and _reaches(evidence, entry) else ""
    deviating, unanswered = (
        "; ".join(deviations(configuration, runs, trained=entry.kind not in EXACT, course=course))
        for course in (bool(part), bool(part) or entry.kind == "faster")
    )
    reason = "" if configuration.scale.directions else unanswered
    return Standing(entry, "last" if part and entry.at == "reported" else entry.at, part, deviating, reason)


def _reaches(evidence: Evidence, entry: ClaimEntry) -> bool:
    """Whether runs are as long as the part of the schedule that a claim is of."""
    training = evidence.configuration.tasks[str(entry.task)].training
    if isinstance(entry.at, Iteration):
        return training.epochs * (training.iterations_per_epoch or 0) >= entry.at.iteration
    return entry.by_epoch is not None and training.epochs >= entry.by_epoch


def _absent(evidence: Evidence, entry: ClaimEntry) -> str:
    """The reason why a claim has no runs; "" where it has."""
    configuration = evidence.configuration
    if entry.kind == "identity":
        return "" if evidence.gradients else "no gradients were measured"
    missing = [case for case in (*entry.subjects, *entry.references) if not evidence.of(case)]
    here = {task.title for name, task in configuration.tasks.items() if name not in configuration.left_out}
    out = [title for case in missing if (title := configuration.left_out.get(case.task))]
    if out and out[0] not in here:  # two tasks are called PMNIST
        return f"{out[0]} is left out"
    labels = ", ".join(f"{configuration.models[case.model].label} (N = {case.size})" for case in missing)
    return f"no runs of {labels} on {configuration.tasks[missing[0].task].title}" if missing else ""


def judge(evidence: Evidence, standings: Sequence[Standing], analysis: Analysis = PRIMARY) -> list[Judged]:
    """The claims of a paper by one analysis, all of its family anew."""
    claims: list[tuple[Standing, list[Result]]] = []
    for standing in standings:
        at = _evaluation(standing, analysis)
        claims.append((standing, [] if standing.absent else tested(evidence, standing.entry, at, analysis)))
    # A test that was begun is in the family, whatever it shows.
    family = [test for standing, tests in claims if standing.entry.dagger and not standing.reason for test in tests]
    if not evidence.configuration.scale.directions:
        begun = [standing.entry for standing in standings if standing.reason and standing.entry.begun]
        family += [Result() for entry in begun for _ in entry.subjects]
    p = [1.0 if test.p is None else test.p for test in family]
    adjusted = [float(q) for q in false_discovery_control(p)] if analysis.by_fdr and p else holm(p)
    by_test = {id(test): q for test, q in zip(family, adjusted, strict=True) if test.p is not None}
    judged = []
    for standing, tests in claims:
        result = tests[0] if tests else Result()
        q = by_test.get(id(result))
        in_family = 0 if q is None else len(family)
        judged.append(Judged(standing, result, *outcome_of(standing, result, q), q, in_family))
    return judged


def outcome_of(standing: Standing, result: Result, p_adjusted: float | None) -> tuple[Outcome, str]:
    """The outcome and its reason (docs/claims.md): first whether there is a number, then the gate, p, failed runs, and
    what bars a verdict. `p_adjusted` is None outside the family."""
    entry, supports, ahead = standing.entry, result.supports, result.ahead
    official = not standing.deviations and (entry.dagger or entry.kind in EXACT)
    undecided = Outcome.INCONCLUSIVE if official else Outcome.OPEN
    if standing.reason:
        return Outcome.NOT_RUN, standing.reason
    if supports is None:
        return undecided, result.reason
    if ahead and ahead.learned is False:
        return Outcome.UNLEARNED, f"{ahead.label} is ahead, and not shown to beat {ahead.baseline}"
    p = result.p if p_adjusted is None else p_adjusted
    if p is not None and p >= ALPHA:
        return undecided, ""
    if ahead and ahead.failed:
        return undecided, _without(ahead)
    if entry.against_table:
        return Outcome.BARRED, "the paper’s own table denies the claim"
    if failed := [side for side in result.sides if side.failed]:  # none of the side ahead has
        return Outcome.BARRED, _without(failed[0])
    if official:
        return (Outcome.REPRODUCED if supports else Outcome.CONTRADICTED), result.reason
    return (Outcome.AGREES if supports else Outcome.DISAGREES), result.reason


def _without(side: Values) -> str:
    return f"{side.failed} of {len(side.runs)} runs of {side.label} diverged or have no finite number"


def _sensitivity(
    evidence: Evidence, standings: Sequence[Standing], judged: Sequence[Judged]
) -> list[dict[str, Outcome]]:
    """For each claim its outcome by each other analysis that applies: the other test, the other adjustment, other
    evaluations, each seed left out."""
    analyses = {
        "the other of the paired and the unpaired test": Analysis(other_test=True),
        "Benjamini–Hochberg": Analysis(by_fdr=True),
        "the reported epoch": Analysis(at="reported"),
        "the last epoch": Analysis(at="last"),
        "the mean of the last evaluations": Analysis(at="mean"),
    }
    analyses |= {f"without seed {seed}": Analysis(without=seed) for seed in sorted({run.seed for run in evidence.runs})}
    others = {name: judge(evidence, standings, analysis) for name, analysis in analyses.items()}
    return [
        {name: of[place].outcome for name, of in others.items() if _applies(claim, of[place], analyses[name])}
        for place, claim in enumerate(judged)
    ]


def _applies(claim: Judged, other: Judged, analysis: Analysis) -> bool:
    sides, others = claim.result.sides, other.result.sides
    if claim.result.p is None or other.result.p is None or claim.standing.reason:
        return False
    if analysis.other_test:
        return claim.result.tests > 1
    if analysis.at:
        complete = all(len(there.by_seed) >= len(here.by_seed) for there, here in zip(others, sides, strict=True))
        same = [side.by_seed for side in others] == [side.by_seed for side in sides]  # of one evaluation in all
        return _has_evaluations(claim.standing) and complete and not same
    if analysis.without is not None:
        return any(analysis.without in side.by_seed for side in sides)
    return claim.standing.entry.dagger


def _evaluation(standing: Standing, analysis: Analysis) -> At:
    """The evaluation that counts by an analysis; of the loss at an iteration the mean of the last ones up to it may."""
    fixed = not _has_evaluations(standing) or (isinstance(standing.at, Iteration) and analysis.at != "mean")
    return standing.at if fixed else analysis.at or standing.at


def _has_evaluations(standing: Standing) -> bool:
    """Whether a claim is of one evaluation among others."""
    return standing.entry.kind == "better" and not standing.entry.measurement


def _verdict(evidence: Evidence, paper: str, judged: Judged, sensitivity: Mapping[str, Outcome]) -> Verdict:
    standing, result, entry = judged.standing, judged.result, judged.standing.entry
    ends = over_items(evidence.configuration, result, entry, standing.at)
    columns = {
        **columns_of(evidence.configuration, paper, entry, result),
        **_control(evidence, standing, result),
        **dict(zip(("items_low", "items_high"), ends or (), strict=False)),
        **{name: getattr(judged, name) for name in ("outcome", "reason", "p_adjusted", "tests")},
    }
    by_outcome: dict[Outcome, list[str]] = {}
    for name, outcome in sensitivity.items():
        by_outcome.setdefault(outcome, []).append(name)
    agreeing = by_outcome.pop(judged.outcome, [])
    columns["robust"] = len(agreeing) / len(sensitivity) if sensitivity else None
    columns["differing"] = "; ".join(f"{outcome.value} ({', '.join(names)})" for outcome, names in by_outcome.items())
    lengths = [run.iterations for side in result.sides for run in side.runs if run.seed in side.by_seed]
    iteration = min([entry.at.iteration, *lengths]) if isinstance(entry.at, Iteration) else None
    columns["part"] = part_of(standing.part, iteration)
    verdict = Verdict(paper=paper, deviations=standing.deviations, analyses=len(sensitivity), **columns)
    earlier = [said for asked in entry.before if (said := _earlier(evidence, asked, verdict.decimals))]
    return verdict.model_copy(update={"earlier": "; ".join(earlier), "sentence": sentence_of(verdict)})


def _earlier(evidence: Evidence, entry: ClaimEntry, decimals: int) -> str:
    """What runs that are older than the plan say: "as released, less LSTM: +0.1 (−0.2 to 0.4)"; "" without any, or
    where they deviate from the paper by more than being the first part of its schedule."""
    runs = [evidence.of(case) for case in (*entry.subjects, *entry.references)]
    if not all(runs) or deviations(evidence.configuration, list(itertools.chain(*runs)), course=True):
        return ""
    result, *_ = tested(evidence, entry, "reported", PRIMARY)
    numbers, reference = numbers_of(entry, result), evidence.configuration.models[result.cases[1].model].label
    shown = effect_text(numbers.get("difference"), numbers.get("low"), numbers.get("high"), decimals)
    return f"{entry.says}, less {reference}: {shown}" if shown else ""


def _control(evidence: Evidence, standing: Standing, result: Result) -> dict[str, Any]:
    """The subject's mean less its control's; nothing without a control that was run."""
    controls = [case for case in standing.entry.controls if evidence.of(case)]
    if not controls or not result.cases:
        return {}
    pair = result.cases[0], controls[0]
    numbers = numbers_of(standing.entry, compared(evidence, standing.entry, pair, standing.at))
    columns = {f"control_{name}": numbers.get(name) for name in ("difference", "low", "high")}
    label, (run, *_) = evidence.configuration.models[controls[0].model].label, evidence.of(controls[0])
    settings = {} if controls[0] == result.cases[1] else run.hyperparameters  # the reference goes by its label alone
    return columns | {"control_label": named(label, settings)}
