"""The papers' claims (published/claims.yaml), typed; docs/claims.md says how an entry is read. Quick to import."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hidden_dynamics.configuration import Configuration, Entry, known, read_yaml, typed
from hidden_dynamics.configuration.entries import listed
from hidden_dynamics.configuration.schema import Names, Text, Whole
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

FILE = ROOT / "published" / "claims.yaml"
ORIGIN = "published/claims.yaml"
Share = Annotated[float, Field(gt=0, lt=1)]
ModelNames = str | Annotated[list[str], Field(min_length=1)]
Pair = Annotated[list[Whole], Field(min_length=2, max_length=2)]
PaperSize = Whole | Pair


@dataclass(frozen=True)
class Kind:
    """What is particular to a kind of claim; the function of its name in hidden_dynamics.claims.kinds is its test.

    Attributes:
        needs, may: the keys that an entry of it needs, and those that it may have beside them.
        metric: that of every claim of it; None where the entry or its artifact names them.
        directional: whether it has a direction that other conditions than the paper's can be asked for: its test holds
            runs to runs of the same conditions, and no printed number enters but as a sign, a side or an order.
        symmetric: whether its test is the same when subject and reference change places.
        tested: whether there is a test at all, with a p. A claim without one is listed, and not run.
        course: whether it is of a training's course, of which the first part of the paper's own says something.
    """

    needs: Sequence[str] = ()
    may: Sequence[str] = ()
    metric: str | None = None
    directional: bool = True
    symmetric: bool = False
    tested: bool = True
    course: bool = False


PAIR, PLACES = ("subject", "reference", "sizes"), ("tasks", "metrics")
KINDS = {
    "better": Kind(("subject", "sizes"), (*PLACES, "reference"), symmetric=True),
    "not_better": Kind(PAIR, PLACES),
    "similar": Kind(PAIR, PLACES),
    "gain": Kind((*PAIR, "tasks"), PLACES),
    "faster": Kind(PAIR, PLACES, metric="train_loss", symmetric=True, course=True),
    "ordering": Kind(),  # of every row of a table: becomes better, ranking and value
    "ranking": Kind(),
    "value": Kind(directional=False),
    "ratio": Kind(),
    "identity": Kind(),  # of what is derived, not measured: it holds in float64 or not, without runs and without a p
    "listed": Kind(may=(*PAIR, *PLACES), tested=False),  # of a comparison, or of several tables
}


class Margin(Entry):
    """The margin within which two numbers are called alike: a share of the number, or of the errors it leaves.

    Attributes:
        of: the number that leaves no errors: 100 (percent), or 1.
    """

    errors: Share | None = None
    relative: Share | None = None
    of: Literal[1, 100] = 100

    @model_validator(mode="after")
    def _is_of_one_thing(self) -> "Margin":
        if (self.errors is None) == (self.relative is None):
            raise PydanticCustomError("margin", "expected either errors or relative")
        return self

    def around(self, number: float) -> float:
        """The margin of a number, in its unit."""
        if self.errors is not None:
            return self.errors * (self.of - number)
        assert self.relative is not None, "a margin is of one thing"
        return self.relative * abs(number)


class Plan(Entry):
    """The commit of docs/evidence/PLAN.md."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]


class Critic(Entry):
    """What others say of a claim, and where."""

    says: Text
    address: Text


class Definitions(Entry):
    """The definitions by which claims are tested.

    Attributes:
        level: of intervals; a verdict needs p < 1 - level after Holm's adjustment over its family.
        smoothing: the share of a run's iterations under the triangle that smooths a train loss.
        costs: costs whose ratio is within 1 / (1 + costs) and 1 + costs are the same.
        exact: the share of a vector's length that rounding to float64 may make of an identity.
        margins: by metric, and of the ratios of costs, `cost_ratio`; of a published number.
        unprinted: where the paper prints no number, the margin as a share of the best naive baseline's score.
        naive: by metric, what counts as a prediction without learning where no task can compute one.
        power: the chance with which a detectable difference is found.
        plan: which some claims were asked by before their runs.
    """

    level: Share
    smoothing: Share
    costs: Share
    exact: Share
    margins: dict[str, Margin]
    unprinted: Share
    naive: dict[str, float]
    power: Share
    plan: Plan

    def margin(self, metric: str) -> Margin:
        """A `UserError` where no margin is defined for the metric."""
        return self.margins[known(metric, self.margins, "margin", f"{ORIGIN}: definitions.margins")]

    @property
    def alpha(self) -> float:
        """What p has to be below; 0.05, not what floating-point numbers make of 1 - 0.95."""
        return round(1 - self.level, 12)

    def level_beside(self, within: bool | None) -> float:
        """Of the interval beside a test: that a difference is within a margin is tested, at alpha, by whether its
        interval of level 1 - 2 alpha is; that it is outside, by a p that is doubled, and all else, by one of 1 - alpha.
        """
        return round(2 * self.level - 1, 12) if within else self.level


class ClaimEntry(Entry):
    """A claim of the paper in one place, for every combination of tasks, metrics, subjects, references and sizes.

    Attributes:
        artifact: whose runs it rests on, or under which it is listed.
        says: what the paper says, in other words.
        kind: one of `KINDS`.
        reference: of `better`, none where the subject is held to the naive baseline.
        tasks, metrics: all that the artifact shows, where they are not given. A `gain` is larger on the first of two
            tasks than on the second.
        sizes: one of the paper's sizes each, or a pair: the subject's and the reference's.
        against_table: the paper's own table contradicts the sentence.
        plan: the row of docs/evidence/PLAN.md that asks exactly this.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    artifact: str
    source: Text
    says: Text
    kind: Literal[tuple(KINDS)]  # pyright: ignore[reportInvalidTypeForm] pydantic reads the names, a checker cannot
    tasks: Names | None = None
    metrics: Names | None = None
    subject: ModelNames | None = None
    reference: ModelNames | None = None
    sizes: Annotated[list[PaperSize], Field(min_length=1)] | None = None
    against_table: Literal[True] | None = None
    plan: Annotated[str, Field(pattern=r"^[AM][0-9]+[a-z]?$")] | None = None
    critic: Critic | None = None

    @model_validator(mode="after")
    def _has_the_keys_of_its_kind(self) -> "ClaimEntry":
        needed, possible = set(KINDS[self.kind].needs), set(KINDS[self.kind].may)
        given = self.model_fields_set - {"id", "artifact", "source", "says", "kind", "against_table", "plan", "critic"}
        wrong = [f"needs {key}" for key in sorted(needed - given)]
        wrong += [f"has no {key}: leave it out" for key in sorted(given - needed - possible)]
        if wrong:
            text = f"a claim of kind {self.kind} {', '.join(wrong)}"
            raise PydanticCustomError("keys", "{text}", {"text": text})
        if self.kind == "gain" and len(listed(self.tasks)) != 2:
            raise PydanticCustomError("tasks", "a claim of kind gain needs two tasks")
        return self

    @property
    def combinations(self) -> list[tuple[tuple[int, int], str, str | None]]:
        """((the subject's size, the reference's), subject, reference) of each claim at one place."""
        sizes = [(size[0], size[1]) if isinstance(size, list) else (size, size) for size in self.sizes or ()]
        return list(itertools.product(sizes, listed(self.subject), listed(self.reference) or (None,)))


class Claims(Entry):
    definitions: Definitions
    claims: Annotated[list[ClaimEntry], Field(min_length=1)]

    def about(self, artifact: str) -> list[ClaimEntry]:
        """The entries that rest on an artifact's runs."""
        return [entry for entry in self.claims if entry.artifact == artifact]


@cache
def load_claims(path: Path = FILE) -> Claims:
    """A `UserError` where the file is missing, is not as it should be, names two entries alike, or one has neither a
    reference nor a naive baseline to be held to."""
    content = typed(Claims, read_yaml(path), ORIGIN)
    names = [entry.id for entry in content.claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        text = f"{ORIGIN}: the id {', '.join(twice)} stands twice: give each entry its own."
        raise UserError(text, file=ORIGIN, key=twice[0])
    for entry in content.claims:
        if entry.kind == "better" and entry.reference is None:  # held to a naive baseline that no task computes
            for metric in entry.metrics or [""]:
                known(metric, content.definitions.naive, "naive baseline", f"{ORIGIN}: {entry.id}")
    return content


def artifacts_with_claims(configuration: Configuration) -> list[str]:
    """The artifacts that claims rest on, in the order of config/artifacts.yaml; a `UserError` where an entry names an
    artifact that is not configured."""
    content = load_claims()
    for entry in content.claims:
        known(entry.artifact, configuration.artifacts, "artifact", f"{ORIGIN}: {entry.id}")
    return [artifact for artifact in configuration.artifacts if content.about(artifact)]
