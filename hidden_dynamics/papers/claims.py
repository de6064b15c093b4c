"""The papers' headline claims (published/<paper>/claims.yaml), typed.

docs/claims.md says how an entry is read. A paper is a directory of published/ with such a file. Quick to import.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from hidden_dynamics.configuration import Case, Configuration, Entry, known, listed, read_yaml, typed
from hidden_dynamics.configuration.schema import Size, Text, Whole
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import PUBLISHED

CLAIMS = "claims.yaml"
MOST = 12  # claims of a paper: what a reader remembers of it
PLAN = "482fee51"  # the commit of docs/evidence/PLAN.md, which is older than the first of its runs
ModelNames = str | Annotated[list[str], Field(min_length=1)]
Kind = Literal["better", "faster", "identity", "count"]
NEEDS: dict[str, tuple[str, ...]] = {  # the keys that an entry of a kind needs beside those of all
    "better": ("task", "metric", "subject", "reference"),
    "faster": ("task", "subject", "reference"),
    "identity": ("measurement",),
    "count": ("task", "subject", "reference"),
}
METRICS = {"faster": "train_loss", "count": "parameters"}  # of kinds that name none


class Paper(Entry):
    """A paper, as page and findings name it; the papers stand in the order of their years."""

    title: Text
    year: Whole


class Iteration(Entry):
    """The mean of the last train losses up to an iteration."""

    iteration: Whole


class Earlier(Entry):
    """Runs that are older than the plan: shown as what they are, and never judged.

    Attributes:
        says: what they are, such as "one split, as released".
        size: another one of the paper's than the claim's.
    """

    task: str
    says: Text
    size: Size | None = None


class Critic(Entry):
    """An objection of others to a claim, and its address."""

    says: Text
    address: Text


class ClaimEntry(Entry):
    """One headline claim: one comparison.

    Attributes:
        says: what the paper says, in its words or nearly; `place` is where.
        published: the file of the paper's directory with the printed numbers; else `printed` says what is printed.
        subject: of several models the one for which the claim is worst shown counts, and each is a test.
        reference: of several models the best counts.
        size: the paper's; a pair is the subject's and the reference's.
        metric: with `measurement`, of what is measured beside the runs for that table or figure.
        at: the evaluation whose number counts.
        by_epoch: a first part of the paper's own schedule answers the claim, if it has as many epochs.
        control: the subject without what the paper credits: with its scale and no momentum, without attention.
        dagger: whether the test is one of the paper's family in docs/evidence/PLAN.md.
        begun: the plan's runs of it have begun: where they do not answer here, its test is in the family all the same.
        plan: whether claim, test and rule are older than the first run.
        earlier: runs that are older than the plan.
        against_table: the paper's own table denies the claim.
        logs: the size at which the authors' logs of the task speak to it.
        remark: what is to be known of what runs, or of the claim.
    """

    id: Annotated[str, Field(pattern=r"^[A-Z]+[0-9]+[a-z]?$")]
    says: Text
    place: Text
    kind: Kind
    published: Text | None = None
    printed: Text | None = None
    task: str | None = None
    subject: ModelNames | None = None
    reference: ModelNames | None = None
    size: Size | Annotated[list[Whole], Field(min_length=2, max_length=2)] | None = None
    metric: str | None = None
    measurement: str | None = None
    at: Literal["reported", "last"] | Iteration = "reported"
    by_epoch: Whole | None = None
    control: str | None = None
    dagger: bool = False
    begun: bool = False
    plan: Literal["yes", "widened", "changed", "no"] = "no"
    logs: Whole | None = None
    critic: Critic | None = None
    earlier: list[Earlier] = []
    against_table: bool = False
    remark: Text = ""

    @model_validator(mode="after")
    def _has_the_keys_of_its_kind(self) -> "ClaimEntry":
        if missing := [name for name in NEEDS[self.kind] if getattr(self, name) is None]:
            raise ValueError(f"a claim of kind {self.kind} needs {' and '.join(missing)}")
        if (self.published is None) == (self.printed is None):
            raise ValueError("expected either published or printed")
        if isinstance(self.at, Iteration) and self.metric != "train_loss":
            raise ValueError("the loss at an iteration is a train_loss")
        if self.begun and not self.dagger:
            raise ValueError("only a test of the family (dagger) has begun")
        if self.kind != "better" and not all(isinstance(side, str | None) for side in (self.subject, self.reference)):
            raise ValueError("only a claim of kind better has several models on a side")
        return self

    @property
    def shown_metric(self) -> str:
        """The metric that is compared; "" of an identity."""
        return METRICS.get(self.kind) or self.metric or ""

    @property
    def subjects(self) -> list[Case]:
        return self._cases(self.subject, 0)

    @property
    def references(self) -> list[Case]:
        return self._cases(self.reference, 1)

    @property
    def controls(self) -> list[Case]:
        return self._cases(self.control, 0)

    @property
    def before(self) -> "list[ClaimEntry]":
        """The claim as it is asked of each of the earlier runs; `says` is what these are."""
        changes = {"at": "reported", "control": None, "earlier": []}
        of_runs = ({"task": runs.task, "size": runs.size or self.size, "says": runs.says} for runs in self.earlier)
        return [self.model_copy(update=changes | about) for about in of_runs]

    @property
    def cases(self) -> list[Case]:
        """The cases of the claim, its control and its earlier runs, each once."""
        earlier = [case for entry in self.before for case in entry.cases]
        return list(dict.fromkeys([*self.subjects, *self.references, *self.controls, *earlier]))

    def _cases(self, models: ModelNames | None, side: int) -> list[Case]:
        size = self.size[side] if isinstance(self.size, list) else self.size
        return [Case(self.task, model, size) for model in listed(models)] if self.task else []


class PaperClaims(Entry):
    """The content of published/<paper>/claims.yaml."""

    paper: Paper
    claims: Annotated[list[ClaimEntry], Field(min_length=1, max_length=MOST)]


@cache
def load_claims(directory: Path = PUBLISHED) -> dict[str, PaperClaims]:
    """The claims of each paper, by the name of its directory, in the order of their years; a `UserError` where a file
    is not as it should be, or names two claims alike."""
    papers: dict[str, PaperClaims] = {}
    for path in sorted(directory.glob(f"*/{CLAIMS}")):
        origin = f"published/{path.parent.name}/{CLAIMS}"
        papers[path.parent.name] = content = typed(PaperClaims, read_yaml(path), origin)
        ids = [entry.id for entry in content.claims]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise UserError(f"{origin}: the id {twice[0]} stands twice: give each claim its own.", origin, twice[0])
    return dict(sorted(papers.items(), key=lambda item: item[1].paper.year))


def check(configuration: Configuration) -> None:
    """Hold the names in all claims to what is configured; a `UserError` that names file and claim."""
    for paper, entry in ((paper, entry) for paper, content in load_claims().items() for entry in content.claims):
        origin = f"published/{paper}/{CLAIMS}: {entry.id}"
        if entry.shown_metric:
            known(entry.shown_metric, configuration.metrics, "metric", origin)
        if entry.measurement:
            known(entry.measurement, configuration.artifacts, "artifact", origin)
        for case in entry.cases:
            known(case.task, configuration.tasks, "task", origin)
            known(case.model, configuration.models, "model", origin)
            ours, papers = (tasks[case.task].models for tasks in (configuration.tasks, configuration.papers_tasks))
            known(case.model, ours, f"model of {case.task}", origin)
            entries = [models[case.model] for models in (ours, papers) if case.model in models]
            sizes = [size for one in entries for size in one.run_sizes]  # a user may run some of the paper's
            known(case.size, map(str, sizes), f"size of {case.model}", origin)
