"""The evidence that a table, a figure or a claim is made of: records of runs and measurements, each file read once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from hidden_dynamics.configuration import Case, Configuration, Run
from hidden_dynamics.results.measured import Cost, Features, Floor, GradientNorm
from hidden_dynamics.results.record import RunRecord
from hidden_dynamics.results.rows import read_typed


@dataclass(frozen=True)
class Evidence:
    """Records of runs, and what was measured beside them.

    Attributes:
        runs: a record for each case and seed. Two of the paper's sizes that a scale maps to one have records of one
            run each.
        costs, features, gradients: rows of measurements; none where none are asked for.
        maps: the file of the features' maps in the plane.
    """

    configuration: Configuration
    runs: Sequence[RunRecord] = ()
    costs: Sequence[Cost] = ()
    features: Sequence[Features] = ()
    gradients: Sequence[GradientNorm] = ()
    maps: Path | None = None

    @classmethod
    def read(
        cls,
        configuration: Configuration,
        runs: Iterable[Run],
        root: Path,
        floors: Mapping[str, str] = {},
        inputs: Mapping[str, str] = {},
    ) -> Self:
        """The evidence in the files of runs and measurements.

        Args:
            root: what all paths are relative to.
            floors: the file of a task's classical baselines, by task.
            inputs: the files of measurements: "costs", "features", "maps", "jacobian".

        Raises:
            UserError: a file is missing, damaged, or of something else than is configured.
        """
        scores = {task: read_typed(root / path, Floor) for task, path in floors.items()}
        features = read_typed(root / inputs["features"], Features) if "features" in inputs else []
        records = [RunRecord.read(configuration, run, root) for run in runs]
        return cls(
            configuration,
            [with_measured(record, scores.get(record.task, ()), features) for record in records],
            read_typed(root / inputs["costs"], Cost) if "costs" in inputs else (),
            features,
            read_typed(root / inputs["jacobian"], GradientNorm) if "jacobian" in inputs else (),
            root / inputs["maps"] if "maps" in inputs else None,
        )

    def of(self, case: Case) -> list[RunRecord]:
        """The runs of a case, by seed."""
        return [record for record in self.runs if record.case == case]

    def on(self, task: str, size: object = ...) -> list[RunRecord]:
        """The runs on a task; at one of the paper's sizes, where it is given."""
        return [run for run in self.runs if run.task == task and size in (..., run.paper_size)]


def with_measured(record: RunRecord, floors: Iterable[Floor] = (), features: Iterable[Features] = ()) -> RunRecord:
    """A record with what its task's classical baselines score on the data of its seed, and with its own silhouette."""
    scores = {metric: dict(named) for metric, named in record.classical.items()}
    for floor in floors:
        if floor.seed in (None, record.seed):
            scores.setdefault(floor.metric, {})[floor.name] = floor.score
    own = (row for row in features if (row.task, row.model, row.paper_size, row.seed) == (*record.case, record.seed))
    silhouette = next((row.silhouette for row in own), None)
    return replace(record, classical=scores, beside={} if silhouette is None else {"silhouette": silhouette})
