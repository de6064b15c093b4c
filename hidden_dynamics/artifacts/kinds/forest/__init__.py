"""A forest plot of one question: the standardised differences of the comparisons that answer it, by verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hidden_dynamics.artifacts.base import Artifact, ArtifactSettings, Models
from hidden_dynamics.configuration import known
from hidden_dynamics.configuration.runs import Cell, find
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.results.departures import listed
from hidden_dynamics.results.rows import Row

MOST = 30  # rows that are drawn
WITH_A_WAY = ("better", "faster")  # kinds of claims whose effect says on which side of 0 they are
EFFECTS = ("effect", "effect_low", "effect_high", "published_effect")
IDLE = "nothing learned"


class Settings(ArtifactSettings):
    """
    Attributes:
        models, against: a comparison belongs to the question where one of its models is of `models`, the other of
            `against`.
        unless: {hyperparameter: value} with which a model is none of `models`: one with mu = 0 has no momentum.
        tables: the artifacts whose comparisons are drawn first, where there are too many.
    """

    models: Models
    against: Models
    unless: dict[str, float] = {}
    tables: list[str] = []


@dataclass(frozen=True)
class Comparison:
    """A judged comparison, seen from the question's model.

    Attributes:
        row: of claims.csv, as text by column.
        place: the task's, in the order of the configuration.
        about: "MNIST: test accuracy".
        names: "MomentumLSTM vs LSTM, N = 128", with * after the second where the paper has that one ahead, and † after
            one that is behind and has learned nothing.
        effects: by column of `EFFECTS`, positive where the question's model is better.
    """

    row: Row
    place: int
    about: str
    names: str
    effects: Mapping[str, float]

    @property
    def verdict(self) -> str:
        return IDLE if self.row["reason"].startswith(IDLE) else self.row["verdict"]


class Forest(Artifact):
    Settings = Settings

    def shown(self) -> list[Cell]:
        return []

    def inputs(self) -> dict[str, str]:
        return {"claims": self.configuration.paths.all_verdicts}

    def check(self, where: str) -> None:
        for model in (*self.settings.models, *self.settings.against):
            known(model, self.configuration.models, "model", where)
        for name in self.settings.tables:
            known(name, self.configuration.artifacts, "artifact", f"{where}.tables")

    def comparisons(self, claims: Sequence[Row], none: bool = False) -> list[Comparison]:
        """Those of the question that count, as mirrored ones and validation metrics do not.

        Args:
            claims: the rows of claims.csv.
            none: give those instead whose model is none of the question's for a hyperparameter (`unless`).
        """
        counted = [row for row in claims if row["counted"] == "true" and row["kind"] in WITH_A_WAY]
        asked = [(row, sides) for row in counted if (sides := self._sides(row))]
        return [self._compared(row, sides) for row, sides in asked if self._lacks(row, sides[0]) == none]

    def drawn(self, claims: Sequence[Row]) -> list[Comparison]:
        """Those with an effect, at most `MOST`: by task and measure, then by effect; where nothing was learned last.

        Of more, those of the question's tables are kept first, then those with the largest effect either way.
        """
        own, first = [one for one in self.comparisons(claims) if one.effects], self.settings.tables
        kept = sorted(own, key=lambda one: (one.row["artifact"] not in first, -abs(one.effects["effect"])))[:MOST]
        return sorted(kept, key=lambda one: (one.verdict == IDLE, one.place, one.about, -one.effects["effect"]))

    def _sides(self, row: Row) -> tuple[str, str] | None:
        """The column of the question's model, then that of the other one; None where it is not of the question."""
        subject, reference = (_model(row[side]) for side in ("subject", "reference"))
        models, against = self.settings.models, self.settings.against
        if subject in models and reference in against:
            return "subject", "reference"
        return ("reference", "subject") if reference in models and subject in against else None

    def _lacks(self, row: Row, side: str) -> bool:
        """Whether the model has a hyperparameter with which it is none of the question's."""
        run = find(self.configuration, row["task"], row[side], self.configuration.seeds[0])
        return any(run.spec["hyperparameters"].get(name) == value for name, value in self.settings.unless.items())

    def _compared(self, row: Row, sides: tuple[str, str]) -> Comparison:
        tasks, reverse = self.configuration.tasks, sides[0] == "reference"
        titles = list(dict.fromkeys(task.title for task in tasks.values()))
        metric = within_sentence(self.configuration.metrics[row["metric"]].title)
        measure = "iterations to a train loss" if row["kind"] == "faster" else metric
        title, way = tasks[row["task"]].title, -1 if reverse else 1
        columns = ("effect", "effect_high", "effect_low", "published_effect") if reverse else EFFECTS
        effects = {name: way * float(row[column]) for name, column in zip(EFFECTS, columns, strict=True) if row[column]}
        return Comparison(row, titles.index(title), f"{title}: {measure}", self._names(row, sides), effects)

    def _names(self, row: Row, sides: tuple[str, str]) -> str:
        sizes, names = [row[side].partition("-n")[2] for side in sides], []
        for side, size in zip(sides, sizes, strict=True):
            behind = row["nothing_learned"] in (side, "both") and not row["reason"].startswith(IDLE)
            marks = " (μ = 0)" if self._lacks(row, side) else ""
            marks += f" (N = {size})" if sizes[0] != sizes[1] else ""
            names.append(self.configuration.models[_model(row[side])].label + marks + ("†" if behind else ""))
        names[1] += "*" if sides[1] == "subject" else ""
        return " vs ".join(names) + (f", N = {sizes[0]}" if sizes[0] and sizes[0] == sizes[1] else "")


KIND = Forest


def _model(variant: str) -> str:
    """The model of "momentum_lstm-n128"."""
    return variant.partition("-")[0]


def departing(comparisons: Sequence[Comparison]) -> str:
    """A sentence: in how many something departs from the paper's setup, and with which data."""
    own = [one.row for one in comparisons if one.row["departures"]]
    if not own:
        return "Nothing departs from the paper’s setup: what holds is reproduced, what fails is contradicted."
    data = dict.fromkeys(part for row in own for part in row["data"].split("; ") if " in place of " in part)
    there = f", with {listed(list(data))}" if data else ""
    return f"{len(own)} of {len(comparisons)} depart from the paper’s setup{there}."
