"""The verdict on a headline claim, flat: a line of results/<scale>/claims.csv. Quick to import."""

from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from hidden_dynamics.results.rows import read_typed, write_rows


class Outcome(Enum):
    """The outcome of a claim, with the sentence that says it."""

    REPRODUCED = "reproduced", "At the paper’s own settings the claim is reproduced."
    CONTRADICTED = "contradicted", "At the paper’s own settings the claim is contradicted."
    INCONCLUSIVE = "inconclusive", "At the paper’s own settings the runs allow both."
    AGREES = "in the paper’s direction", "The difference has the paper’s direction."
    DISAGREES = "against the paper’s direction", "The difference is against the paper’s direction."
    OPEN = "open", "The runs allow either direction."
    UNLEARNED = "no learning shown", "No learning is shown."
    BARRED = "no verdict", "The runs lean one way, but this is no verdict."
    NOT_RUN = "not run", "There are no runs that answer the claim."

    sentence: str

    def __new__(cls, text: str, sentence: str) -> Self:
        outcome = object.__new__(cls)
        outcome._value_, outcome.sentence = text, sentence
        return outcome

    @property
    def of_the_paper(self) -> bool:
        """Whether it is said of the paper's own claim, at its own settings."""
        return self in (Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE)


class Verdict(BaseModel):
    """The verdict on one claim.

    Attributes:
        paper: the name of its directory in published/; a claim is known by paper and id.
        ran: what ran, with the paper's setting in brackets where it differs.
        deviations: "" at the paper's own settings.
        part: "by epoch 13", "by iteration 2,000", where it is of the first part of the paper's training, or of a loss
            there.
        sentence: what was found, in words.
        earlier: what runs that are older than the plan say; no part of the verdict.
        difference, low, high: the subject's mean less the reference's, in the metric's unit, with its 95 % interval
            over seeds; of `faster` the ratio of iterations.
        items_low, items_high: the same interval over seeds and test items.
        control_difference: the subject's mean less that of its control, which lacks what the paper credits.
        p_adjusted: Holm's, over the `tests` of the paper's family that were begun.
        robust: the share of `analyses` that have the same outcome; `differing` are the others, with theirs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    id: str
    paper: str
    says: str
    place: str
    kind: str
    task: str = ""
    metric: str = ""
    subject: str = ""
    reference: str = ""
    size: str = ""
    dagger: bool = False
    plan: str = "no"
    critic: str = ""
    critic_address: str = ""
    against_table: bool = False
    ran: str = ""
    deviations: str = ""
    outcome: Outcome
    part: str = ""
    reason: str = ""
    sentence: str = ""
    remark: str = ""
    earlier: str = ""
    printed: str = ""
    printed_difference: float | None = None
    unit: str = ""
    decimals: int = 2
    subject_mean: float | None = None
    subject_std: float | None = None
    n_subject: int = 0
    reference_mean: float | None = None
    reference_std: float | None = None
    n_reference: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    tests: int = 0
    test: str = ""
    items_low: float | None = None
    items_high: float | None = None
    control_label: str = ""
    control_difference: float | None = None
    control_low: float | None = None
    control_high: float | None = None
    logs: str = ""
    logs_difference: float | None = None
    logs_low: float | None = None
    logs_high: float | None = None
    naive: str = ""
    classical: str = ""
    robust: float | None = None
    analyses: int = 0
    differing: str = ""
    runs: str = ""

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_the_default(cls, columns: Mapping[str, object]) -> dict[str, object]:
        return {name: value for name, value in columns.items() if value is not None}

    @property
    def has_control(self) -> bool:
        """Whether a control was run that is not the reference itself."""
        return self.control_label not in ("", self.reference)


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    write_rows(path, list(Verdict.model_fields), [verdict.model_dump(mode="json") for verdict in verdicts])


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a file; a `UserError` that names file and line where it is missing or damaged."""
    return read_typed(path, Verdict)
