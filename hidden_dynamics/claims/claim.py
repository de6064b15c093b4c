"""A claim: one comparison or one number. Each comparison is judged once, with the first artifact that has it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.claims import KINDS
from hidden_dynamics.papers.published import Number

BY_CLOCKS = "time_to_accuracy"  # the cost that is not measured apart: the clocks of the trained runs tell it


@dataclass(frozen=True)
class Claim:
    """One thing that the paper says and runs can contradict.

    Attributes:
        kind: names its test (hidden_dynamics.claims.kinds).
        says: the paper's sentence or table, in other words; `statement` is this claim's share of it.
        ran: the same of what is run here: its data, size and epochs, with the paper's in brackets where they differ.
        entries: the ids of the entries of published/claims.yaml that say it.
        also: what the other entries say, with their places.
        variant: the task, where the artifact shows the paper's in two variants; else "".
        printed: the published numbers of subject and reference, None where there is none.
        hidden_gap: of a value, the smallest published gap that a margin could hide, in the unit shown.
        than: of `gain`, subject and reference on the other task.
        ranked: of a ranking, the cells and their published numbers.
        against_table: whether the paper's own table contradicts it.
        plan: the row of the plan that asks it, and the plan's commit; "" where none does.
        critic: what others say of it, with the address.
    """

    id: str
    artifact: str
    source: str
    says: str
    kind: str
    statement: str
    task: str
    metric: str
    ran: str = ""
    entries: tuple[str, ...] = ()
    also: str = ""
    variant: str = ""
    subject: Case | None = None
    reference: Case | None = None
    printed: tuple[Number | None, Number | None] = (None, None)
    hidden_gap: float | None = None
    than: tuple[Case, ...] = ()
    ranked: Mapping[Case, float] = field(default_factory=dict)
    against_table: bool = False
    plan: str = ""
    critic: str = ""

    @property
    def paper(self) -> str:
        return self.artifact.split("_")[0]

    @property
    def cases(self) -> list[Case]:
        """The cells whose runs the claim needs."""
        return [*filter(None, (self.subject, self.reference)), *self.than, *self.ranked]

    @property
    def printed_lead(self) -> float | None:
        """The subject's printed mean less the reference's; None where one is not printed, or is the best of several."""
        one, other = self.printed
        return None if not (one and other) or one.maximum or other.maximum else one.value - other.value

    @property
    def same(self) -> tuple:
        """Equal for two claims that say the same of the same cells."""
        number = self.printed[0].value if self.kind == "value" and self.printed[0] else None
        said = self.says if self.kind in ("listed", "identity") else number
        cells = self.subject, self.reference, self.than, frozenset(self.ranked)
        return self.kind, self.task, self.metric, *cells, said

    @property
    def test(self) -> tuple:
        """Equal for two claims that one test decides, one way or the other."""
        kind, task, metric, subject, reference, *rest = self.same
        pair = frozenset((subject, reference)) if KINDS[kind].symmetric else (subject, reference)
        return kind, task, metric, pair, *rest

    @property
    def family(self) -> str:
        """The tests over which p is adjusted: of one kind, on one metric of one table or figure, in one variant."""
        return ", ".join(filter(None, (self.artifact, self.kind, self.metric, self.variant)))
