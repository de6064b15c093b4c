"""From an entry of published/claims.yaml to single claims: one comparison or one number each."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell
from hidden_dynamics.configuration.schema import Metric
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.claims import ORIGIN, ClaimEntry, load_claims
from hidden_dynamics.papers.published import NOTHING, Number

FIXED = {"faster": "train_loss", "overfitting": "test_loss", "gradients": "gradient_norm", "smaller": "parameters"}
FEWEST_RANKED = 5  # with four, even the same order has p = 2 / 24


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says and runs can contradict.

    Attributes:
        kind: names its test (hidden_dynamics.claims.judge).
        says: the paper's sentence or table, in other words; `statement` is this claim's share of it.
        printed: the published numbers of subject and reference, None where there is none.
        ranked: of a ranking, the cells and their published numbers.
        against_table: whether the paper's own table contradicts it.
    """

    id: str
    artifact: str
    source: str
    says: str
    kind: str
    statement: str
    task: str
    metric: str
    subject: Cell | None = None
    reference: Cell | None = None
    printed: tuple[Number | None, Number | None] = (None, None)
    ranked: Mapping[Cell, float] = field(default_factory=dict)
    against_table: bool = False

    @property
    def paper(self) -> str:
        return self.artifact.split("_")[0]

    @property
    def cells(self) -> list[Cell]:
        """The cells whose runs the claim needs."""
        return [*filter(None, (self.subject, self.reference)), *self.ranked]


def claims_of(artifact: Shown) -> list[Claim]:
    """All claims that rest on an artifact, in the order of the file; a pair that a sentence has is not repeated.

    Raises:
        UserError: an entry does not fit the artifact, or two claims are one.
    """
    claims: list[Claim] = []
    for entry in load_claims().about(artifact.name):
        known_pairs = {_pair(claim) for claim in claims if claim.kind == "better" and not claim.against_table}
        new = list(_expanded(_Maker(artifact, entry)))
        claims += [claim for claim in new if entry.kind != "ordering" or _pair(claim) not in known_pairs]
    _refuse_repetitions(claims)
    return claims


def _pair(claim: Claim) -> tuple:
    return claim.kind == "better", claim.task, claim.metric, frozenset((claim.subject, claim.reference))


def _refuse_repetitions(claims: Sequence[Claim]) -> None:
    names = [claim.id for claim in claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"{ORIGIN} says twice: {', '.join(twice)}.", file=ORIGIN, key=twice[0])


def _expanded(make: "_Maker") -> Iterator[Claim]:
    if make.entry.kind == "ordering":
        return itertools.chain(make.table_pairs(), make.rankings(), make.values())
    if make.entry.kind == "value":
        return make.values()
    if make.entry.kind == "ratio":
        return make.ratios()
    return make.comparisons()


@dataclass(frozen=True)
class _Maker:
    """Makes the claims of one entry."""

    artifact: Shown
    entry: ClaimEntry

    def claim(self, kind: str, statement: str, task: str, metric: str, *cells: Cell, **more: Any) -> Claim:
        entry = self.entry
        places = [f"{cell.model}-{cell.size}" if cell.size is not None else cell.model for cell in cells]
        return Claim(
            id=":".join([entry.id, *([kind] if kind != entry.kind else []), task, metric, *places]),
            kind=kind,
            statement=statement,
            task=task,
            metric=metric,
            artifact=entry.artifact,
            source=entry.source,
            says=entry.says,
            against_table=bool(entry.against_table),
            **dict(zip(("subject", "reference"), cells, strict=False)),
            **more,
        )

    def comparisons(self) -> Iterator[Claim]:
        """Every combination of the entry's tasks, metrics, sizes, subjects and references."""
        entry, kind = self.entry, self.entry.kind
        metrics = [FIXED[kind]] if kind in FIXED else entry.metrics or self.artifact.metrics()
        combinations = itertools.product(
            entry.tasks or self.artifact.tasks(), metrics, entry.size_pairs, entry.subjects, entry.references
        )
        for task, metric, sizes, subject, reference in combinations:
            pair = Cell(task, subject, sizes[0]), Cell(task, reference, sizes[1])
            statement = self.compared(kind, metric, *pair)
            yield self.claim(kind, statement, task, metric, *pair, printed=self.both(metric, *pair))

    def table_pairs(self) -> Iterator[Claim]:
        """Every row of a table of results against its baseline, in the printed direction."""
        for cell, baseline, metric in self.artifact.pairs():
            pair, numbers = (cell, baseline), self.both(metric, cell, baseline)
            if None in numbers or abs(numbers[0].value - numbers[1].value) < NOTHING:
                continue
            if (numbers[0].value - numbers[1].value) * self.about(metric).sign < 0:
                pair, numbers = pair[::-1], numbers[::-1]
            statement = self.compared("better", metric, *pair)
            yield self.claim("better", statement, cell.task, metric, *pair, printed=numbers)

    def rankings(self) -> Iterator[Claim]:
        """Of every task and metric with enough rows, their order."""
        for task, metric, ranked in self.artifact.rankings():
            if len(ranked) >= FEWEST_RANKED:
                about = f"{len(ranked)} {self.artifact.ranked_as} by {self.title(metric)} on {self.task(task)}"
                statement = f"Our order of the {about} agrees with the printed one, more than by chance."
                yield self.claim("ranking", statement, task, metric, ranked=ranked)

    def values(self) -> Iterator[Claim]:
        """Every number that the paper measured itself; those that it quotes are no claims of its own."""
        for cell, metric in self.artifact.printed():
            number = self.artifact.number(cell, metric)
            if number is not None and not number.quoted:
                spread = "" if number.std is None else f" ± {number.std:g}"
                place = f"on {self.task(cell.task)}{_size(cell)}"
                statement = f"{self.model(cell)} has a {self.title(metric)} of {number.value:g}{spread} {place}."
                yield self.claim("value", statement, cell.task, metric, cell, printed=(number, None))

    def ratios(self) -> Iterator[Claim]:
        """Every cost against the baseline's: its side of it, and the printed ratio."""
        margin = load_claims().definitions.costs
        for subject, reference, quantity in self.artifact.ratios():
            printed = self.both(quantity, subject, reference)
            ratio = printed[0].value / printed[1].value
            about = f"{self.model(subject)}’s {_words(quantity)} on {self.task(subject.task)}"
            theirs = f"{self.model(reference)}’s{_size(subject)}."
            for kind, comparison in (("ratio", side_of(ratio, margin)), ("value", f"{ratio:.2f} times")):
                statement = f"{about} is {comparison} {theirs}"
                yield self.claim(kind, statement, subject.task, quantity, subject, reference, printed=printed)

    def both(self, metric: str, subject: Cell, reference: Cell) -> tuple[Number | None, Number | None]:
        return self.artifact.number(subject, metric), self.artifact.number(reference, metric)

    def compared(self, kind: str, metric: str, subject: Cell, reference: Cell) -> str:
        """The comparison in words."""
        where = f"on {self.task(subject.task)}"
        one, other = self.model(subject), self.model(reference)
        if subject.size == reference.size:
            where += _size(subject)
        else:
            one, other = f"{one} (N = {subject.size})", f"{other} (N = {reference.size})"
        title, more = self.title(metric), self.about(metric).better
        return {
            "better": f"{one} has a {more} {title} than {other} {where}.",
            "similar": f"{one} has about the {title} of {other} {where}.",
            "steadier": f"{one}’s {title} varies less between seeds than {other}’s {where}.",
            "faster": f"{one} reaches a train loss in fewer iterations than {other} {where}.",
            "overfitting": f"{one}’s test loss rises less above its lowest than {other}’s {where}.",
            "gradients": f"{one}’s gradients reach the early steps better than {other}’s {where}.",
            "smaller": f"{one} has fewer parameters than {other} {where}.",
        }[kind]

    def about(self, metric: str) -> Metric:
        metrics = self.artifact.configuration.metrics
        return metrics[known(metric, metrics, "metric", self.origin)]

    def title(self, metric: str) -> str:
        """A metric within a sentence: the paper's heading, or else its name."""
        published = self.artifact.published
        title = (published.heading(metric) if published else None) or _words(metric)
        return title if title[1:2].isupper() else title[0].lower() + title[1:]

    def model(self, cell: Cell) -> str:
        models = self.artifact.configuration.models
        return models[known(cell.model, models, "model", self.origin)].label

    def task(self, task: str) -> str:
        """The paper's name of a task, with the reading where the task stands for one of two."""
        tasks = self.artifact.configuration.tasks
        return tasks[known(task, tasks, "task", self.origin)].title

    @property
    def origin(self) -> str:
        return f"{ORIGIN}: {self.entry.id}"


def _size(cell: Cell) -> str:
    return f", N = {cell.size}" if isinstance(cell.size, int) else ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def side_of(ratio: float, margin: float) -> str:
    """In words, for statements; the interval is held to the same three regions."""
    return {1: "more than", -1: "less than", 0: "about the same as"}[region_of(ratio, margin)]


def region_of(ratio: float, margin: float) -> int:
    """1 above 1 + margin, -1 below 1 / (1 + margin), 0 between."""
    return int(ratio > 1 + margin) - int(ratio < 1 / (1 + margin))
