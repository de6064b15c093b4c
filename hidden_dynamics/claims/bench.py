"""The material for a test of a claim: the artifact, its evidence, the definitions, departures from the paper."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from hidden_dynamics.claims.claim import Claim
from hidden_dynamics.claims.evidence import Evidence, Side
from hidden_dynamics.claims.shown import Shown
from hidden_dynamics.configuration import Configuration, known
from hidden_dynamics.configuration.runs import Cell, resampled, seeds_are_blocks
from hidden_dynamics.papers.claims import ORIGIN, Definitions, Margin, load_claims
from hidden_dynamics.papers.published import with_originals
from hidden_dynamics.results.departures import departures
from hidden_dynamics.results.rows import Row


@dataclass(frozen=True)
class Bench:
    artifact: Shown
    evidence: Evidence

    @property
    def configuration(self) -> Configuration:
        return self.artifact.configuration

    @cached_property
    def definitions(self) -> Definitions:
        return load_claims().definitions

    @property
    def level(self) -> float:
        return self.definitions.level

    def margin(self, metric: str) -> Margin:
        """
        Raises:
            UserError: published/claims.yaml defines no margin for the metric.
        """
        margins = self.definitions.margins
        return margins[known(metric, margins, "margin", f"{ORIGIN}: definitions.margins")]

    def sides(self, claim: Claim) -> list[Side]:
        """The metric over seeds of each of a claim's cells, in the unit that it is shown in."""
        factor = self.configuration.metrics[claim.metric].factor
        return self.over_seeds(claim, (self.evidence.numbers(cell, claim.metric, factor) for cell in claim.cells))

    def over_seeds(self, claim: Claim, sides: Iterable[Side]) -> list[Side]:
        """Sides of a claim that know whether their seeds' data are random parts of the same data."""
        share = max(resampled(self.configuration, cell.task, cell.model) for cell in claim.cells)
        return [replace(side, resampled=share) for side in sides]

    def rows(self, claim: Claim, cell: Cell) -> list[Row]:
        """The runs of a cell; its measured costs where the claim is of costs."""
        cost = self.evidence.cost(cell, claim.metric)
        return with_originals(self.configuration, claim.paper, [cost] if cost else self.evidence.rows(cell))

    def label(self, cell: Cell) -> str:
        return self.configuration.models[cell.model].label

    def blocked(self, claim: Claim) -> bool:
        """Whether a seed is a block (its data are its own), so that runs are compared seed by seed."""
        return all(seeds_are_blocks(self.configuration, cell.task, cell.model) for cell in claim.cells)

    def absent(self, claim: Claim) -> str:
        """The cells of a claim that have no runs, as the reason why it was not run; "" where all have some."""
        absent = [cell for cell in claim.cells if not self.rows(claim, cell)]
        left_out = [self.configuration.left_out.get(cell.task) for cell in absent]
        if any(left_out):
            return f"{' and '.join(dict.fromkeys(filter(None, left_out)))} is left out (leave_out)"
        cells = ", ".join(f"{self.label(cell)}{f' of size {cell.size}' if cell.size else ''}" for cell in absent)
        tasks = " and ".join(dict.fromkeys(cell.task for cell in absent))
        return f"no runs of {cells} on {tasks}" if absent else ""

    def departures(self, claim: Claim) -> str:
        """The departures from the paper in data, size and settings, also the artifact's own; "" without runs.

        A measured cost does not depend on the training.
        """
        rows = [row for cell in claim.cells for row in self.rows(claim, cell)]
        measured = claim.subject is not None and self.evidence.cost(claim.subject, claim.metric) is not None
        own = self.artifact.departures() if rows else []
        return "; ".join([*departures(self.configuration, rows, trained=not measured), *own])
