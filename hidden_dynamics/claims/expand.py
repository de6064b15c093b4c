"""From entries of published/claims.yaml to single claims, each comparison once, with the first artifact that has it.

`artifact`, here and in this package, is a table or figure (hidden_dynamics.artifacts.base.Artifact); that package is
above this one.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hidden_dynamics.claims.claim import BY_CLOCKS, Claim
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.entries import listed
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import KINDS, ORIGIN, ClaimEntry, load_claims
from hidden_dynamics.papers.deviations import first_part
from hidden_dynamics.papers.published import NOTHING, Number, published_task, within_sentence


def all_claims(artifacts: Mapping[str, Any]) -> dict[str, list[Claim]]:
    """The claims that are judged with each artifact: each comparison with the first that has it. A `UserError` where an
    entry does not fit its artifact, or two claims have one id."""
    first: dict[tuple, Claim] = {}
    for artifact in artifacts.values():
        for entry in load_claims().about(artifact.name):
            for claim in _claims(artifact, entry):
                before = first.setdefault(claim.same, claim)
                if before is not claim:
                    first[claim.same] = _said_again(before, claim, by_table=entry.kind == "ordering")
    judged = list(first.values())
    twice = sorted(name for name, times in Counter(claim.id for claim in judged).items() if times > 1)
    if twice:
        raise UserError(f"{ORIGIN} says twice: {', '.join(twice)}.", file=ORIGIN, key=twice[0])
    return {name: [claim for claim in judged if claim.artifact == name] for name in artifacts}


def _claims(artifact: Any, entry: ClaimEntry) -> Iterator[Claim]:
    """The claims of an entry, each with the sentence on what was run of it (`ran`)."""
    here = (claim.statement for claim in _Maker(artifact, entry, as_run=True).claims())
    return (replace(claim, ran=ran) for claim, ran in zip(_Maker(artifact, entry).claims(), here, strict=True))


def _said_again(claim: Claim, other: Claim, by_table: bool) -> Claim:
    """A claim that another entry has, too; what its own table's entry says of it is nothing more."""
    text = "" if by_table and claim.artifact == other.artifact else f"{other.says} ({other.source})"
    gaps = [gap for gap in (claim.hidden_gap, other.hidden_gap) if gap is not None]
    return replace(
        claim,
        also="; ".join(filter(None, (claim.also, text))),
        entries=claim.entries + other.entries,
        hidden_gap=min(gaps, default=None),
        plan=claim.plan or other.plan,
        critic=claim.critic or other.critic,
    )


def strata(cells: Iterable[Case]) -> list[list[Case]]:
    """The cells of a ranking by size, within which they are ranked; all in one where a size is a setting's name."""
    found: dict[object, list[Case]] = {}
    for cell in cells:
        found.setdefault(None if isinstance(cell.size, str) else cell.size, []).append(cell)
    return list(found.values())


def smallest_p(cells: Iterable[Case]) -> float:
    """The two-sided p of rankings within strata that agree in full: one of all orders, and its reverse."""
    return min(1.0, 2 / math.prod(math.factorial(len(cells)) for cells in strata(cells)))


@dataclass(frozen=True)
class _Maker:
    """Makes the claims of one entry.

    Attributes:
        as_run: whether statements name the data, the size and the epochs that are run, with the paper's in brackets.
    """

    artifact: Any
    entry: ClaimEntry
    as_run: bool = False

    def claims(self) -> Iterator[Claim]:
        """A `UserError` where the entry does not fit the artifact."""
        if self.entry.kind == "ordering":
            return itertools.chain(self.table_pairs(), self.rankings(), self.values())
        if self.entry.kind in ("listed", "identity") and not self.entry.subject:
            return iter([self.claim(self.entry.kind, self.entry.says, "", "")])
        ways = {"ranking": self.rankings, "value": self.values, "ratio": self.ratios, "gain": self.gains}
        return ways.get(self.entry.kind, self.comparisons)()

    def claim(self, kind: str, statement: str, task: str, metric: str, *cells: Case, **more: Any) -> Claim:
        entry = self.entry
        places = [f"{cell.model}-{cell.size}" if cell.size is not None else cell.model for cell in cells]
        return Claim(
            id=":".join(filter(None, [entry.id, kind if kind != entry.kind else "", task, metric, *places])),
            kind=kind,
            statement=statement,
            task=task,
            metric=metric,
            artifact=entry.artifact,
            source=entry.source,
            says=entry.says,
            entries=(entry.id,),
            variant=self.variant(task) if task else "",
            against_table=bool(entry.against_table),
            plan=f"{entry.plan}, {load_claims().definitions.plan.commit}" if entry.plan else "",
            critic=f"{entry.critic.says} ({entry.critic.address})" if entry.critic else "",
            **dict(zip(("subject", "reference"), cells, strict=False)),
            **more,
        )

    def comparisons(self) -> Iterator[Claim]:
        """Every combination of the entry's tasks, metrics, sizes, subjects and references."""
        entry, kind = self.entry, self.entry.kind
        for (task, metric), (sizes, subject, reference) in itertools.product(self.places(), entry.combinations):
            if reference is None:  # held to the naive baseline
                cell = Case(task, subject, sizes[0])
                threshold, more = load_claims().definitions.naive[metric], self.about(metric).better
                about = f"{self.model(cell)}’s {self.title(metric)} is {more} than {threshold:g}"
                statement = f"{about} on {self.place(cell.task, cell.size)}."
                yield self.claim(kind, statement, task, metric, cell)
                continue
            pair = Case(task, subject, sizes[0]), Case(task, reference, sizes[1])
            statement = self.compared(kind, metric, *pair)
            printed = (None, None) if KINDS[kind].metric else self.both(metric, *pair)
            yield self.claim(kind, statement, task, metric, *pair, printed=printed)

    def gains(self) -> Iterator[Claim]:
        """The subject's lead over the reference is larger on the first task than on the second."""
        entry, (task, other) = self.entry, listed(self.entry.tasks)
        for metric, ((size, _), subject, reference) in itertools.product(self.metrics(task), entry.combinations):
            models = list(filter(None, (subject, reference)))
            pair, than = ([Case(at, model, size) for model in models] for at in (task, other))
            one, theirs, first = self.model(pair[0]), self.model(pair[1]), self.place(task)
            lead = f"{one}’s lead over {theirs} in {self.title(metric)}"
            statement = f"{lead} is larger on {first} than on {self.place(other, pair[0].size)}."
            yield self.claim("gain", statement, task, metric, *pair, printed=self.both(metric, *pair), than=tuple(than))

    def places(self) -> list[tuple[str, str]]:
        """Every task of the entry with every metric of the entry, or else with those that the artifact shows of it."""
        tasks = self.entry.tasks or self.artifact.tasks()
        return [(task, metric) for task in tasks for metric in self.metrics(task)]

    def metrics(self, task: str) -> list[str]:
        fixed = KINDS[self.entry.kind].metric
        known(task, self.artifact.configuration.tasks, "task", self.origin)
        return [fixed] if fixed else self.entry.metrics or self.artifact.metrics_on(task)

    def table_pairs(self) -> Iterator[Claim]:
        """Every row of a table of results against its baseline, in the printed direction."""
        for cell, baseline, metric in self.artifact.pairs():
            pair, (one, other) = (cell, baseline), self.both(metric, cell, baseline)
            if one is None or other is None or abs(one.value - other.value) < NOTHING:
                continue
            if (one.value - other.value) * self.about(metric).sign < 0:
                pair, one, other = pair[::-1], other, one
            statement = self.compared("better", metric, *pair)
            yield self.claim("better", statement, cell.task, metric, *pair, printed=(one, other))

    def rankings(self) -> Iterator[Claim]:
        """Of every task and metric, the order of its rows within each size; not of so few that any order is likely."""
        for task, metric, ranked in self.artifact.rankings():
            if smallest_p(ranked) >= load_claims().definitions.alpha:
                continue
            sizes = {cell.size for cell in ranked if isinstance(cell.size, int)}
            within = " within each size" if len(sizes) > 1 else ""
            where = self.place(task)
            about = f"{len(ranked)} {self.artifact.ranked_as} on {where} by {self.title(metric)}{within}"
            statement = f"Our order of the {about} agrees with the printed one, more than by chance."
            yield self.claim("ranking", statement, task, metric, ranked=ranked)

    def values(self) -> Iterator[Claim]:
        """Every mean that the paper measured itself, and printed with its ±; a quoted one is no claim of its own.

        How far a mean without its ± may be from ours cannot be said: taken as exact, it would be called different
        10 times in a hundred where both are of five runs that are alike.
        """
        for cell, metric in self.artifact.printed():
            number = self.artifact.number(cell, metric)
            if number is not None and number.std is not None and not number.quoted:
                text = f"{number.value:g} ± {number.std:g} on {self.place(cell.task, cell.size)}"
                title = self.title(metric)
                statement = f"{self.model(cell)} has {_article(title)} {title} of {text}."
                more = {"printed": (number, None), "hidden_gap": self.hidden_gap(cell, metric)}
                yield self.claim("value", statement, cell.task, metric, cell, **more)

    def hidden_gap(self, cell: Case, metric: str) -> float | None:
        """The smallest published gap between a row and one that it is held to: its margin must not hide it.

        Where the artifact has no baseline, every row is held to every other one.
        """
        pairs = [(one, other) for one, other, of in self.artifact.pairs() if of == metric and cell in (one, other)]
        gaps = self.gaps(metric, pairs)
        if not gaps:
            others = [one for one, of in self.artifact.printed() if (one.task, of) == (cell.task, metric)]
            gaps = self.gaps(metric, [(cell, other) for other in others])
        return min(gaps, default=None)

    def gaps(self, metric: str, pairs: list[tuple[Case, Case]]) -> list[float]:
        """The published gaps that there are, but for those that are nothing."""
        numbers = (self.both(metric, *pair) for pair in pairs)
        gaps = [abs(one.value - other.value) for one, other in numbers if one and other]
        return [gap for gap in gaps if gap > NOTHING]

    def ratios(self) -> Iterator[Claim]:
        """Every cost against the baseline's: its side of it and, where it is measured apart, the printed ratio."""
        margin = load_claims().definitions.costs
        for subject, reference, quantity in self.artifact.ratios():
            printed = self.both(quantity, subject, reference)
            ratio = ratio_of(printed)
            about = f"{self.model(subject)}’s {quantity.replace('_', ' ')}"
            theirs = f"{self.model(reference)}’s on {self.place(subject.task, subject.size, trained=False)}."
            side = {1: "more than", -1: "less than", 0: "about the same as"}[region_of(ratio, margin)]
            said = {"ratio": side} | ({"value": f"{ratio:.2f} times"} if quantity != BY_CLOCKS else {})
            for kind, comparison in said.items():
                statement = f"{about} is {comparison} {theirs}"
                yield self.claim(kind, statement, subject.task, quantity, subject, reference, printed=printed)

    def both(self, metric: str, subject: Case, reference: Case) -> tuple[Number | None, Number | None]:
        return self.artifact.number(subject, metric), self.artifact.number(reference, metric)

    def variant(self, task: str) -> str:
        """The task itself where the artifact shows the paper's task in more than one variant, else ""."""
        configuration = self.artifact.configuration
        known(task, configuration.tasks, "task", self.origin)
        theirs = [published_task(configuration, other) for other in self.artifact.tasks()]
        return task if theirs.count(published_task(configuration, task)) > 1 else ""

    def compared(self, kind: str, metric: str, subject: Case, reference: Case) -> str:
        """The comparison in words."""
        one, other = self.model(subject), self.model(reference)
        if subject.size == reference.size:
            where = f"on {self.place(subject.task, subject.size)}"
        else:
            where = f"on {self.place(subject.task)}"
            one, other = (f"{name} ({self.size(cell)})" for name, cell in ((one, subject), (other, reference)))
        title, more = self.title(metric), self.about(metric).better
        return {
            "better": f"{one} has a {more} {title} than {other} {where}.",
            "not_better": f"{one} does not have a {more} {title} than {other} {where}.",
            "similar": f"{one} has about the {title} of {other} {where}.",
            "listed": f"{self.entry.says} {one} and {other}, {title}, {where}.",
            "faster": f"{one} reaches a train loss in fewer iterations than {other} {where}.",
        }[kind]

    def about(self, metric: str) -> Metric:
        metrics = self.artifact.configuration.metrics
        return metrics[known(metric, metrics, "metric", self.origin)]

    def title(self, metric: str) -> str:
        """A metric within a sentence: the paper's heading, or else its title."""
        published = self.artifact.published
        return within_sentence((published.heading(metric) if published else None) or self.about(metric).title)

    def model(self, cell: Case) -> str:
        models = self.artifact.configuration.models
        return models[known(cell.model, models, "model", self.origin)].label

    def place(self, task: str, size: int | str | None = None, trained: bool = True) -> str:
        """The paper's task and size, whatever a scale makes of it: a claim is the paper's.

        As run: "Free Spoken Digit Dataset, previous frame, N = 79, 25 epochs (the paper: TIMIT, previous frame,
        N = 158, 700 epochs)".

        Args:
            trained: whether it matters how long the models are trained.
        """
        configuration, sized = self.artifact.configuration, isinstance(size, int)
        papers = configuration.papers_tasks[known(task, configuration.papers_tasks, "task", self.origin)]
        theirs, own = papers.title + (f", N = {size}" if sized else ""), configuration.tasks[task]
        if not self.as_run:
            return theirs
        ours = configuration.title_as_run(task) + (f", N = {own.sizes.get(size, size)}" if sized else "")
        if trained and (part := first_part(configuration, task)):
            return f"{ours}, {part}" if ours == theirs else f"{ours}, {part} (the paper: {theirs})"
        if trained and own.training.epochs != papers.training.epochs:
            epochs = (f"{n} epoch{'s' * (n != 1)}" for n in (own.training.epochs, papers.training.epochs))
            ours, theirs = (f"{text}, {count}" for text, count in zip((ours, theirs), epochs, strict=True))
        return ours if ours == theirs else f"{ours} (the paper: {theirs})"

    def size(self, cell: Case) -> str:
        ours = self.artifact.configuration.tasks[cell.task].sizes.get(cell.size, cell.size)
        return f"N = {ours}; the paper: {cell.size}" if self.as_run and ours != cell.size else f"N = {cell.size}"

    @property
    def origin(self) -> str:
        return f"{ORIGIN}: {self.entry.id}"


def _article(title: str) -> str:
    """Before a heading: an MSE, a NegLL, a test MSE."""
    spelt = title.split()[0].isupper()
    return "an" if title[0] in ("AEFHILMNORSX" if spelt else "aeio") else "a"


def ratio_of(printed: tuple[Number | None, Number | None]) -> float:
    """Of a cost to the baseline's; the paper prints both."""
    one, other = printed
    assert one and other
    return one.value / other.value


def region_of(ratio: float, margin: float) -> int:
    """1 above 1 + margin, -1 below 1 / (1 + margin), 0 between; statements and tests have the same three regions."""
    return int(ratio > 1 + margin) - int(ratio < 1 / (1 + margin))
