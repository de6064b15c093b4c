"""The test of each kind of claim, and the verdicts on all claims of an artifact. docs/claims.md gives the rules."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from hidden_dynamics.claims.bootstrap import FEWEST, block_bootstrap, bootstrap_t
from hidden_dynamics.claims.effect_size import hedges_g
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.claims.equivalence import equivalence
from hidden_dynamics.claims.evidence import Evidence, Side
from hidden_dynamics.claims.expansion import Cell, Claim, higher_is_better, region_of
from hidden_dynamics.claims.holm import holm
from hidden_dynamics.claims.kendall import kendall
from hidden_dynamics.claims.variances import variance_ratio
from hidden_dynamics.claims.verdict import Outcome, decide, missing
from hidden_dynamics.claims.welch import Sample, welch
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.configuration.runs import resolve

COLUMNS = (
    *("id", "paper", "artifact", "source", "kind", "statement", "says", "task", "metric", "subject", "reference"),
    *("verdict", "reason", "test", "estimate", "low", "high", "level", "p", "p_adjusted", "family"),
    *("effect", "effect_name", "n_subject", "n_reference", "found", "published", "against_table"),
    *("stand_in", "data", "departures", "runs"),
)
PAPER_RUNS = 5  # "averaged over 5 runs" (MomentumRNN, 3), "five different random seeds" (ACE-NODE, 4)


def verdicts(configuration: Configuration, claims: Sequence[Claim], evidence: Evidence) -> list[dict[str, Any]]:
    """A row for each claim (`COLUMNS`); a family is the claims of one kind that rest on one artifact."""
    judge = _Judge(configuration, evidence, load_claims()["definitions"])
    outcomes = [judge.outcome(claim) for claim in claims]
    adjusted: dict[int, float] = {}
    families: dict[str, list[int]] = {}
    for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True)):
        if outcome.p is not None:
            families.setdefault(claim.kind, []).append(index)
    for members in families.values():
        adjusted |= dict(zip(members, holm([outcomes[index].p for index in members]), strict=True))
    return [
        judge.row(claim, outcome, adjusted.get(index), len(families.get(claim.kind, ())))
        for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True))
    ]


@dataclass(frozen=True)
class _Judge:
    configuration: Configuration
    evidence: Evidence
    definitions: Mapping[str, Any]

    @property
    def level(self) -> float:
        return self.definitions["level"]

    def outcome(self, claim: Claim) -> Outcome:
        absent = [cell for cell in self.cells(claim) if not self.rows(claim, cell)]
        if absent and claim.kind != "ranking":
            cells = ", ".join(f"{self.label(cell)}{f' of size {cell.size}' if cell.size else ''}" for cell in absent)
            return missing(f"no runs of {cells} on {claim.task}")
        test: Callable[[Claim], Outcome] = getattr(self, claim.kind)
        return test(claim)

    def cells(self, claim: Claim) -> list[Cell]:
        return [*filter(None, (claim.subject, claim.reference)), *claim.ranked]

    def rows(self, claim: Claim, cell: Cell) -> list[Mapping[str, str]]:
        """What was run or measured of a cell: its runs, or its costs where these are what is claimed."""
        cost = self.evidence.cost(cell, claim.metric)
        return [cost] if cost else self.evidence.rows(cell)

    def label(self, cell: Cell) -> str:
        return self.configuration.models[cell.model]["label"]

    # The kinds of claims.

    def better(self, claim: Claim) -> Outcome:
        sides = [self.evidence.numbers(cell, claim.metric) for cell in (claim.subject, claim.reference)]
        return self.compared(*sides, sign=1 if higher_is_better(claim.metric) else -1)

    def overfitting(self, claim: Claim) -> Outcome:
        return self.compared(*(self.evidence.rise(c, claim.metric) for c in (claim.subject, claim.reference)), sign=-1)

    def faster(self, claim: Claim) -> Outcome:
        *sides, level = self.evidence.iterations(claim.subject, claim.reference, self.definitions["smoothing"])
        logs = [Side(side.label, side.rows, [math.log(value) for value in side.values]) for side in sides]
        found = f"{_listed(sides[0])} against {_listed(sides[1])} iterations to a loss of {plain(level, 4)}"
        return self.of_logarithms(*logs, found, resampled=min(len(side.values) for side in sides) >= FEWEST)

    def ratio(self, claim: Claim) -> Outcome:
        """Costs: on the printed side of the baseline's. Times to an accuracy: shorter or longer than the baseline's."""
        printed = claim.printed[0].value / claim.printed[1].value
        if claim.metric == "time_to_accuracy":
            return self.sooner(claim, printed)
        return self.within_region(claim, region_of(printed, self.definitions["costs"]))

    def sooner(self, claim: Claim, printed: float) -> Outcome:
        sides = self.times(claim)
        if sides[0].bounded == len(sides[0].values) and sides[1].bounded == len(sides[1].values):
            return Outcome(reason="no run of either reached the accuracy", **_counts(*sides))
        minutes = [Side(side.label, side.rows, [math.exp(v) for v in side.values]) for side in sides]
        found = f"{_listed(minutes[0])} against {_listed(minutes[1])} minutes"
        missed = [f"{side.bounded} of {len(side.values)} runs of {side.label} did not reach it" for side in sides]
        bars = tuple(text if side.bounded else "" for text, side in zip(missed, sides, strict=True))
        return self.of_logarithms(
            *sides, found, sign=-1 if printed < 1 else 1, bars=bars if printed < 1 else bars[::-1]
        )

    def times(self, claim: Claim) -> list[Side]:
        entry = self.configuration.artifacts[claim.artifact]
        cells = (claim.subject, claim.reference)
        return [self.evidence.minutes(cell, entry["metric"], entry["target"]) for cell in cells]

    def gradients(self, claim: Claim) -> Outcome:
        found = [self.evidence.reach(cell, self.definitions["early"]) for cell in (claim.subject, claim.reference)]
        sides, series = [side for side, _ in found], [runs for _, runs in found]
        text = " against ".join(", ".join(f"{10**value:.3g}" for value in side.values) for side in sides)
        share = f"{self.definitions['early']:.0%} of the steps"
        text = f"first over last {share}: {text}"
        if [len(runs) for runs in series] != [1, 1]:
            logs = [Side(side.label, side.rows, [value * math.log(10) for value in side.values]) for side in sides]
            return self.of_logarithms(*logs, text, sign=1, bars=(self.not_vanished(sides[1]), ""))
        together = min(len(series[0][0]), len(series[1][0]))
        difference = series[0][0][:together] - series[1][0][:together]
        if together < 20:
            return Outcome(reason=f"{together} recorded iterations are too few", found=text, **_counts(*sides))
        estimate, low, high, p = block_bootstrap(difference, self.level)
        return Outcome(
            test="bootstrap over blocks of iterations",
            supports=estimate > 0,
            **{"estimate": 10**estimate, "low": 10**low, "high": 10**high, "p": p},
            effect=10**estimate,
            effect_name="ratio",
            reason="one run each: it speaks of their course, and not of other seeds",
            doubt="the course of the training allows both",
            found=text,
            bars=(self.bars(*sides, sign=1)[0] or self.not_vanished(sides[1]), self.bars(*sides, sign=1)[1]),
            **_counts(*sides),
        )

    def not_vanished(self, reference: Side) -> str:
        """Why nothing can be alleviated; "" where the reference's gradients vanish."""
        share = 10 ** float(np.mean(reference.values)) if reference.values else 0.0
        if share < self.definitions["vanished"]:
            return ""
        return f"{reference.label}’s gradients do not vanish here ({plain(share)} of the last reach the first steps)"

    def steadier(self, claim: Claim) -> Outcome:
        sides = [self.evidence.numbers(cell, claim.metric) for cell in (claim.subject, claim.reference)]
        few = self.too_few(*sides)
        found = None if few else variance_ratio(sides[0].values, sides[1].values, self.level)
        if found is None:
            return few or Outcome(reason="a model's seeds have no spread at all", **_counts(*sides))
        ratio, low, high, p = found
        return Outcome(
            test="F test of variances",
            supports=ratio < 1,
            **{"estimate": ratio, "low": low, "high": high, "p": p},
            effect=ratio,
            effect_name="ratio of variances",
            found=_means(*sides),
            bars=self.bars(*sides, sign=1),
            **_counts(*sides),
        )

    def similar(self, claim: Claim) -> Outcome:
        sides = [self.evidence.numbers(cell, claim.metric) for cell in (claim.subject, claim.reference)]
        few = self.too_few(*sides)
        if few:
            return few
        return self.equal(claim.metric, Sample.of(sides[0].values), Sample.of(sides[1].values), sides)

    def value(self, claim: Claim) -> Outcome:
        """Our mean, or ratio of costs, against the printed one; on the paper's own data, sizes and schedule only."""
        departures = self.departures(claim)
        if departures:
            return missing(departures)
        if claim.metric == "time_to_accuracy":
            return self.time_ratio(claim)
        if claim.reference is not None:
            return self.cost_ratio(claim)
        side, number = self.evidence.numbers(claim.subject, claim.metric), claim.printed[0]
        few = self.too_few(side)
        if few:
            return few
        printed = Sample(number.value, number.std or 0.0, math.inf if number.std is None else PAPER_RUNS)
        return self.equal(claim.metric, Sample.of(side.values), printed, [side])

    def cost_ratio(self, claim: Claim) -> Outcome:
        printed = claim.printed[0].value / claim.printed[1].value
        margin = self.definitions["margins"]["cost_ratio"]["relative"]
        return self.within_region(claim, 0, margin, printed)

    def time_ratio(self, claim: Claim) -> Outcome:
        sides = self.times(claim)
        if any(side.bounded for side in sides):
            return Outcome(reason="not every run reached the accuracy", **_counts(*sides))
        few = self.too_few(*sides)
        difference = None if few else welch(*(Sample.of(side.values) for side in sides))
        if difference is None:
            return few or _no_spread(sides)
        difference = difference.cautious()
        printed = math.log(claim.printed[0].value / claim.printed[1].value)
        margin = math.log1p(self.definitions["margins"]["cost_ratio"]["relative"])
        shifted = type(difference)(difference.estimate - printed, difference.error, difference.degrees)
        found, (low, high) = equivalence(shifted, margin), difference.interval(self.level)
        return Outcome(
            test="equivalence, Welch's t of logarithms",
            supports=found.within,
            estimate=math.exp(difference.estimate),
            low=math.exp(low),
            high=math.exp(high),
            p=found.p,
            effect=math.exp(difference.estimate),
            effect_name="ratio",
            bars=self.bars(*sides),
            **_counts(*sides),
        )

    def smaller(self, claim: Claim) -> Outcome:
        counts = [
            {int(row["parameters"]) for row in self.evidence.rows(cell)} for cell in (claim.subject, claim.reference)
        ]
        if any(len(count) != 1 for count in counts):
            raise UserError(f"{claim.artifact}: runs of one model have different numbers of parameters.")
        subject, reference = (count.pop() for count in counts)
        ratio = subject / reference
        return Outcome(
            test="count",
            supports=ratio < 1 if ratio != 1 else None,
            reason="" if ratio != 1 else "they have as many",
            estimate=ratio,
            effect=ratio,
            effect_name="ratio",
            found=f"{subject:,} against {reference:,} parameters",
        )

    def ranking(self, claim: Claim) -> Outcome:
        sides = {cell: self.evidence.numbers(cell, claim.metric) for cell in claim.ranked}
        ours = {cell: float(np.mean(side.values)) for cell, side in sides.items() if side.values}
        if len(ours) < 3:
            return missing("fewer than three of its rows were run")
        tau, p = kendall([claim.ranked[cell] for cell in ours], list(ours.values()))
        failed = sum(side.failed for side in sides.values())
        return Outcome(
            test="Kendall's tau of means, exact",
            supports=tau > 0,
            estimate=tau,
            p=p,
            effect=tau,
            effect_name="tau",
            n_subject=len(ours),
            doubt="chance agrees with the printed order as well as this",
            reason=f"{failed} runs have no number and are left out" if failed else "",
        )

    # What the kinds share.

    def compared(self, subject: Side, reference: Side, sign: int) -> Outcome:
        """Welch's t of the seeds' numbers; the claim is that the difference has this sign."""
        few = self.too_few(subject, reference)
        if few:
            return few
        difference = welch(Sample.of(subject.values), Sample.of(reference.values))
        if difference is None:
            return _no_spread([subject, reference])
        difference = difference.cautious()
        low, high = difference.interval(self.level)
        return Outcome(
            test="Welch's t",
            supports=difference.estimate * sign > 0,
            **{"estimate": difference.estimate, "low": low, "high": high, "p": difference.p},
            effect=hedges_g(subject.values, reference.values),
            effect_name="g",
            found=_means(subject, reference),
            bars=self.bars(subject, reference, sign=1),
            **_counts(subject, reference),
        )

    def of_logarithms(
        self,
        subject: Side,
        reference: Side,
        found: str,
        sign: int = -1,
        bars: tuple[str, str] = ("", ""),
        resampled: bool = False,
    ) -> Outcome:
        """Of logarithms: the ratio subject / reference, below 1 where `sign` is -1."""
        few = self.too_few(subject, reference)
        if few:
            return few
        if resampled:
            test, result = (
                "bootstrap-t over seeds, of logarithms",
                bootstrap_t(subject.values, reference.values, self.level),
            )
        else:
            test, difference = "Welch's t of logarithms", welch(Sample.of(subject.values), Sample.of(reference.values))
            result = difference and (
                difference.estimate,
                *difference.cautious().interval(self.level),
                difference.cautious().p,
            )
        if result is None:
            return _no_spread([subject, reference], found)
        estimate, low, high, p = result
        own = self.bars(subject, reference, sign=1)
        return Outcome(
            test=test,
            supports=estimate * sign > 0,
            **{"estimate": math.exp(estimate), "low": math.exp(low), "high": math.exp(high), "p": p},
            effect=math.exp(estimate),
            effect_name="ratio",
            found=found,
            bars=tuple("; ".join(filter(None, pair)) for pair in zip(own, bars, strict=True)),
            **_counts(subject, reference),
        )

    def equal(self, metric: str, subject: Sample, reference: Sample, sides: Sequence[Side]) -> Outcome:
        """Whether two means differ by less than the metric's margin."""
        ((of, share),) = self.definitions["margins"][metric].items()
        margin = share * (100 - reference.mean if of == "errors" else abs(reference.mean))
        difference = welch(subject, reference)
        if difference is None:
            return _no_spread(sides)
        difference = difference.cautious()
        found, (low, high) = equivalence(difference, margin), difference.interval(self.level)
        return Outcome(
            test=f"equivalence within {margin:.3g}",
            supports=found.within,
            **{"estimate": difference.estimate, "low": low, "high": high, "p": found.p},
            effect=hedges_g(*(side.values for side in sides)) if len(sides) == 2 else math.nan,
            effect_name="g" if len(sides) == 2 else "",
            found=f"{_mean(subject)} against {_mean(reference)}",
            bars=self.bars(*sides),
            **_counts(*sides),
        )

    def within_region(self, claim: Claim, region: int, margin: float | None = None, centre: float = 1.0) -> Outcome:
        """Whether all, or nothing, of a measured cost's interval is in a region: above, below or about `centre`."""
        row = self.evidence.cost(claim.subject, claim.metric)
        if not row["ratio"]:
            return Outcome(reason="the baseline's cost was not measurable")
        margin = self.definitions["costs"] if margin is None else margin
        ratio = float(row["ratio"])
        low, high = (float(row[key]) if row[key] else ratio for key in ("ratio_low", "ratio_high"))
        regions = region_of(low / centre, margin), region_of(high / centre, margin)
        inside, outside = set(regions) == {region}, not regions[0] <= region <= regions[1]
        rounds = int(row["rounds"])
        decided = inside or outside
        test, reason = (
            f"lowest and highest of {rounds} interleaved rounds",
            "the rounds’ range is partly in the claimed region",
        )
        if not row["ratio_low"]:
            counted = row["device"] != "cpu"  # what torch allocated on a GPU is exact, resident memory is not
            decided, test = decided and counted, "measured once"
            reason = reason if counted else "resident memory, measured once: its error is not known"
        return Outcome(
            test=test,
            supports=inside if decided else None,
            reason="" if decided else reason,
            **{"estimate": ratio, "low": low, "high": high},
            effect=ratio,
            effect_name="ratio",
            n_subject=rounds,
            n_reference=rounds,
        )

    def too_few(self, *sides: Side) -> Outcome | None:
        short = [side for side in sides if len(side.values) < 2]
        if not short:
            return None
        failed = [side.without for side in sides if side.failed]
        text = ", ".join(f"n = {len(side.values)} for {side.label}" for side in short)
        return Outcome(reason="; ".join([f"{text}: no spread over seeds to test with", *failed]), **_counts(*sides))

    def bars(self, *sides: Side, sign: int = 0) -> tuple[str, str]:
        """What failed runs forbid: no claim for a model of which some failed, nor against one when others' did.

        Without a sign (equality), any failed run forbids the claim's reproduction.
        """
        texts = [side.without if side.failed else "" for side in sides]
        if not sign:
            return "; ".join(filter(None, texts)), ""
        return texts[0], texts[1]

    def departures(self, claim: Claim) -> str:
        """What of data, size and settings is not the paper's; a cost depends on data and size alone."""
        texts = []
        for cell in self.cells(claim):
            rows = self.rows(claim, cell)
            texts += [self.stand_in(row) for row in rows if row["stand_in_for"]]
            if isinstance(cell.size, int):
                texts += [f"N = {row['size']}, not {cell.size}" for row in rows if row["size"] != str(cell.size)]
        cost = self.evidence.cost(claim.subject, claim.metric) if claim.subject else None
        changes = {} if cost else self.changed(claim.task)
        texts += [f"changed from the paper’s: {', '.join(changes)}"] if changes else []
        return "; ".join(dict.fromkeys(texts))

    def stand_in(self, row: Mapping[str, str]) -> str:
        return f"{row['dataset_title']} in place of {self.configuration.title_of(row['stand_in_for'])}"

    def changed(self, task: str) -> list[str]:
        """The keys of a task that scale or user set otherwise than config/tasks.yaml."""
        changes = self.configuration.scale["tasks"], self.configuration.settings["overrides"].get("tasks", {})
        words = {"dataset": "", "title": "", "sizes": "", "data": "preparation of the data", "settings": "the task"}
        words["models"] = "the models’ hyperparameters"
        keys = chain.from_iterable(change.get(task, {}) for change in changes)
        return [text for text in dict.fromkeys(words.get(key, key) for key in keys) if text]

    def row(self, claim: Claim, outcome: Outcome, p_adjusted: float | None, family: int) -> dict[str, Any]:
        verdict, reason = decide(outcome, p_adjusted, self.level, family)
        rows = [row for cell in self.cells(claim) for row in self.rows(claim, cell)]
        own = {key: getattr(claim, key) for key in COLUMNS if hasattr(claim, key)}
        found = {key: getattr(outcome, key) for key in COLUMNS if hasattr(outcome, key)}
        return {
            **own,
            **{key: _cell(value) for key, value in found.items()},
            "subject": self.variant(claim.subject),
            "reference": self.variant(claim.reference),
            "verdict": verdict,
            "reason": reason,
            "level": self.level if not math.isnan(outcome.low) and outcome.p is not None else "",
            "p_adjusted": _cell(p_adjusted),
            "family": f"{claim.artifact}, {claim.kind}: {family}" if outcome.p is not None else "",
            "published": _published(claim),
            "against_table": _truth(claim.against_table),
            "stand_in": _truth(any(row["stand_in_for"] for row in rows)),
            "data": "; ".join(
                dict.fromkeys(self.stand_in(r) if r["stand_in_for"] else r["dataset_title"] for r in rows)
            ),
            "departures": self.departures(claim),
            "runs": " ".join(dict.fromkeys(row["directory"] for row in rows if "directory" in row)),
        }

    def variant(self, cell: Cell | None) -> str:
        """The model with its size as run; with the paper's, where it is not configured at this scale."""
        if cell is None:
            return ""
        try:
            return resolve(self.configuration, cell.task, cell.model, cell.size, self.configuration.seeds[0]).variant
        except UserError:
            return f"{cell.model}-{cell.size}"


def _no_spread(sides: Sequence[Side], found: str = "") -> Outcome:
    """Seeds that all give one number: the test has nothing to hold the difference to."""
    return Outcome(
        reason="no spread between seeds: nothing to test with", found=found or _means(*sides), **_counts(*sides)
    )


def _counts(subject: Side, reference: Side | None = None) -> dict[str, int | None]:
    return {"n_subject": len(subject.values), "n_reference": None if reference is None else len(reference.values)}


def _means(*sides: Side) -> str:
    return " against ".join(_mean(Sample.of(side.values)) for side in sides)


def _mean(sample: Sample) -> str:
    return plain(sample.mean, 4) + (f" ± {plain(sample.std, 2)}" if sample.n != math.inf else "")


def _listed(side: Side) -> str:
    return ", ".join(plain(value) if value < 1000 else f"{value:.0f}" for value in side.values) or "none"


def plain(value: float, digits: int = 3) -> str:
    """So many significant digits, without an exponent below a million."""
    return f"{float(f'{value:.{digits}g}'):.6g}"


def _published(claim: Claim) -> str:
    texts = []
    for number in claim.printed:
        if number is not None:
            spread = f" ± {number.std:g}" if number.std is not None else ""
            texts.append(f"{number.value:g}{spread}{' (quoted)' if number.quoted else ''}")
    return " against ".join(texts)


def _cell(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return ""
    return "" if value is None else value


def _truth(value: bool) -> str:
    return str(value).lower()
