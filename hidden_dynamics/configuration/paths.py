"""The paths of all files and directories, from one object, relative to the working directory."""

from collections.abc import Mapping
from dataclasses import dataclass

from hidden_dynamics.configuration.entries import value_text

ENDINGS = {"table": ("csv", "md", "html", "json"), "figure": ("md", "pdf", "png", "csv", "json")}


@dataclass(frozen=True)
class Paths:
    data: str  # directory of downloads and prepared datasets
    results: str  # of a scale

    def raw(self, dataset: str, file: str = "") -> str:
        """A download, or the directory of a dataset's downloads."""
        return f"{self.data}/raw/{dataset}" + (f"/{file}" if file else "")

    def prepared(self, dataset: str, settings: Mapping[str, object]) -> str:
        """The arrays of a dataset; the settings that it is prepared with are in the name."""
        name = "-".join([dataset, *(f"{key}{value_text(value)}" for key, value in sorted(settings.items()))])
        return f"{self.data}/prepared/{name}.npz"

    def run(self, task: str, sized_model: str, seed: int | str) -> str:
        return f"{self.results}/runs/{task}/{sized_model}/seed{seed}"

    @property
    def all_runs(self) -> str:
        """A row for each run."""
        return f"{self.results}/summary/runs.csv"

    def measured(self, what: str, name: str) -> str:
        """A measurement: "costs", "features" or "jacobian" for an artifact, "floors" of a task."""
        return f"{self.results}/{what}/{name}.csv"

    def maps(self, artifact: str) -> str:
        """The maps of features in the plane, as arrays."""
        return f"{self.results}/features/{artifact}.npz"

    @property
    def statistics(self) -> str:
        """A row for each case and metric: the statistics over seeds."""
        return f"{self.results}/statistics.csv"

    @property
    def verdicts(self) -> str:
        return f"{self.results}/claims.csv"

    @property
    def comparisons(self) -> str:
        """A row for each comparison of a table's row with its baseline."""
        return f"{self.results}/comparisons.csv"

    def drawn(self, form: str, artifact: str, ending: str) -> str:
        """A file of a table or figure."""
        return f"{self.results}/{form}s/{artifact}.{ending}"

    @property
    def index(self) -> str:
        """The page of everything."""
        return f"{self.results}/index.html"

    @property
    def calibration(self) -> str:
        return f"{self.results}/calibration.json"

    @property
    def logs(self) -> str:
        return f"{self.results}/logs"
