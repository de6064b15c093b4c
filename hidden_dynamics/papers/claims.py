"""The papers' claims (published/claims.yaml), typed; docs/claims.md says how an entry is read. Quick to import."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hidden_dynamics.configuration import Configuration, Entry, known, read_yaml, typed
from hidden_dynamics.configuration.reading import expecting, listed
from hidden_dynamics.configuration.schema import Names, Text, Whole
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT

FILE = ROOT / "published" / "claims.yaml"
ORIGIN = "published/claims.yaml"
Share = Annotated[float, Field(gt=0, lt=1), expecting("a number between 0 and 1")]
ModelNames = Annotated[
    str | Annotated[list[str], Field(min_length=1)], expecting("a model, or a list of models", within=True)
]
Pair = Annotated[list[Whole], Field(min_length=2, max_length=2)]
PaperSize = Annotated[
    Whole | Pair, expecting("one of the paper's sizes, or a pair: the subject's and the reference's", within=True)
]
Compared = Literal["better", "similar", "steadier", "faster", "overfitting", "gradients", "smaller"]
OfATable = Literal["ordering", "value", "ratio"]
COMPARED, OF_A_TABLE = get_args(Compared), get_args(OfATable)


class Margin(Entry):
    """The margin within which two numbers are called alike: a share of the number, or of the errors it leaves."""

    errors: Share | None = None
    relative: Share | None = None

    @model_validator(mode="after")
    def _is_of_one_thing(self) -> "Margin":
        if (self.errors is None) == (self.relative is None):
            raise PydanticCustomError("margin", "expected either errors or relative")
        return self

    def around(self, number: float) -> float:
        """The margin of a number, in its unit; errors are what a percentage leaves to 100."""
        return self.relative * abs(number) if self.errors is None else self.errors * (100 - number)


class Definitions(Entry):
    """The definitions by which claims are tested.

    Attributes:
        level: of intervals; a verdict needs p < 1 - level after Holm's adjustment over its family.
        smoothing: the share of a run's iterations under the triangle that smooths a train loss.
        early: the share of a sequence's steps that counts as first, and as last.
        costs: costs whose ratio is within 1 / (1 + costs) and 1 + costs are the same.
        margins: by metric, and of the ratios of costs, `cost_ratio`.
        vanished: gradients vanish where the first steps have less than this share of the last ones.
    """

    level: Share
    smoothing: Share
    early: Annotated[float, Field(gt=0, le=0.5), expecting("a number above 0, at most 0.5")]
    costs: Share
    margins: dict[str, Margin]
    vanished: Share


class ClaimEntry(Entry):
    """A claim of the paper in one place, for every combination of tasks, metrics, subjects, references and sizes.

    Attributes:
        says: what the paper says, in other words.
        kind: one of `COMPARED`, of models; or of `OF_A_TABLE`, of a whole table, and then no model is named.
        tasks, metrics: all that the artifact shows, where they are not given.
        sizes: one of the paper's sizes each, or a pair: the subject's and the reference's.
        against_table: the paper's own table contradicts the sentence.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$"), expecting("words in lower case, joined by hyphens")]
    artifact: str
    source: Text
    says: Text
    kind: Annotated[Literal[Compared, OfATable], expecting(f"one of {', '.join((*COMPARED, *OF_A_TABLE))}")]
    tasks: Names | None = None
    metrics: Names | None = None
    subject: ModelNames | None = None
    reference: ModelNames | None = None
    sizes: Annotated[list[PaperSize], Field(min_length=1), expecting("a list of sizes")] | None = None
    against_table: Annotated[Literal[True], expecting("true, or no such key")] | None = None

    OF_MODELS: ClassVar[tuple[str, ...]] = ("tasks", "metrics", "subject", "reference", "sizes", "against_table")

    @model_validator(mode="after")
    def _has_the_keys_of_its_kind(self) -> "ClaimEntry":
        given = self.model_fields_set & set(self.OF_MODELS)
        lacking = {"subject", "reference", "sizes"} - given
        if self.kind in COMPARED and lacking:
            text = f"a claim of kind {self.kind} needs {', '.join(sorted(lacking))}"
            raise PydanticCustomError("lacking", "{text}", {"text": text})
        if self.kind in OF_A_TABLE and given:
            text = f"a claim of kind {self.kind} stands for the whole table: leave out {', '.join(sorted(given))}"
            raise PydanticCustomError("superfluous", "{text}", {"text": text})
        return self

    @property
    def subjects(self) -> tuple[str, ...]:
        return listed(self.subject)

    @property
    def references(self) -> tuple[str, ...]:
        return listed(self.reference)

    @property
    def size_pairs(self) -> list[tuple[int, int]]:
        """(the subject's size, the reference's)."""
        return [tuple(size) if isinstance(size, list) else (size, size) for size in self.sizes or ()]


class Claims(Entry):
    definitions: Definitions
    claims: Annotated[list[ClaimEntry], Field(min_length=1)]

    def about(self, artifact: str) -> list[ClaimEntry]:
        return [entry for entry in self.claims if entry.artifact == artifact]


@cache
def load_claims(path: Path = FILE) -> Claims:
    """
    Raises:
        UserError: the file is missing, is not as it should be, or names two entries alike.
    """
    content = typed(Claims, read_yaml(path), ORIGIN)
    names = [entry.id for entry in content.claims]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        text = f"{ORIGIN}: the id {', '.join(twice)} stands twice: give each entry its own."
        raise UserError(text, file=ORIGIN, key=twice[0])
    return content


def artifacts_with_claims(configuration: Configuration) -> list[str]:
    """The artifacts that claims rest on, in the order of config/artifacts.yaml.

    Raises:
        UserError: an entry names an artifact that is not configured.
    """
    named = {entry.artifact: entry.id for entry in load_claims().claims}
    for artifact, name in named.items():
        known(artifact, configuration.artifacts, "artifact", f"{ORIGIN}: {name}")
    return [artifact for artifact in configuration.artifacts if artifact in named]


def stated(artifact: str) -> list[Any]:
    """All that the file says of claims about an artifact: where it changes, they are judged again."""
    content = load_claims()
    return [content.definitions.given(), [entry.given() for entry in content.about(artifact)]]
