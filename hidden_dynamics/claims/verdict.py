"""The verdict on a headline claim, flat: a line of results/<scale>/claims.csv. Quick to import."""

from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from hidden_dynamics.results.measured import read_measured
from hidden_dynamics.results.rows import as_text, write_rows


class Outcome(Enum):
    """What was found of a claim, with the sentence that says so."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    AGREES = "in the paper’s direction"
    DISAGREES = "against the paper’s direction"
    OPEN = "direction open"
    UNLEARNED = "no learning shown"
    BARRED = "no verdict"
    NOT_RUN = "not run"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]

    @property
    def of_the_paper(self) -> bool:
        """Whether it is said of the paper's own claim, at its own settings."""
        return self in (Outcome.REPRODUCED, Outcome.CONTRADICTED, Outcome.INCONCLUSIVE)


_SENTENCES = {
    Outcome.REPRODUCED: "At the paper’s own settings the claim is reproduced.",
    Outcome.CONTRADICTED: "At the paper’s own settings the claim is contradicted.",
    Outcome.INCONCLUSIVE: "At the paper’s own settings the runs allow both.",
    Outcome.AGREES: "The difference has the paper’s direction; this is no verdict on the paper’s claim.",
    Outcome.DISAGREES: "The difference is against the paper’s direction; this is no verdict on the paper’s claim.",
    Outcome.OPEN: "The runs allow either direction.",
    Outcome.UNLEARNED: "No learning is shown.",
    Outcome.BARRED: "The runs lean one way, but this is no verdict.",
    Outcome.NOT_RUN: "There are no runs that answer the claim.",
}


def _truth(value: object) -> object:
    return False if value is None else value


def _text(value: object) -> object:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
Truth = Annotated[bool, BeforeValidator(_truth)]


class Verdict(BaseModel):
    """The verdict on one claim.

    Attributes:
        paper: the name of its directory in published/; a claim is known by paper and id.
        ran: what ran, with the paper's setting in brackets where it differs.
        deviations: "" at the paper's own settings.
        sentence: what was found, in words.
        difference, low, high: the subject's mean less the reference's, in the metric's unit, with its 95 % interval
            over seeds; of `faster` the ratio of iterations.
        items_low, items_high: the same interval over seeds and test items.
        control_difference: the subject's mean less that of a model with its scale and no momentum.
        p_adjusted: Holm's, over the `tests` of the paper's family that were begun.
        robust: the share of `analyses` that have the same outcome.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    id: str
    paper: str
    says: Text
    place: Text
    kind: Text
    task: Text = ""
    metric: Text = ""
    subject: Text = ""
    reference: Text = ""
    size: Text = ""
    dagger: Truth = False
    plan: Text = "no"
    critic: Text = ""
    critic_address: Text = ""
    against_table: Truth = False
    ran: Text = ""
    deviations: Text = ""
    outcome: Outcome
    reason: Text = ""
    sentence: Text = ""
    remark: Text = ""
    printed: Text = ""
    printed_difference: float | None = None
    unit: Text = ""
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
    test: Text = ""
    items_low: float | None = None
    items_high: float | None = None
    control_label: Text = ""
    control_difference: float | None = None
    control_low: float | None = None
    control_high: float | None = None
    logs: Text = ""
    logs_difference: float | None = None
    logs_low: float | None = None
    logs_high: float | None = None
    naive: Text = ""
    classical: Text = ""
    robust: float | None = None
    analyses: int = 0
    runs: Text = ""

    def row(self) -> dict[str, str]:
        """Its line, by column; nothing as ""."""
        return as_text(self.model_dump(mode="json"))


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    write_rows(path, list(Verdict.model_fields), [verdict.row() for verdict in verdicts])


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a file; a `UserError` that names file and line where it is missing or damaged."""
    return list(read_measured(path, Verdict))
