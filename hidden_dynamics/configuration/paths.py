"""The paths of all files and directories, from one object, relative to the working directory."""

from collections.abc import Mapping

from hidden_dynamics.configuration.entries import value_text

ENDINGS = {"table": ("csv", "md", "html", "json"), "figure": ("md", "pdf", "png", "csv", "json")}


class Paths:
    """Those in `data`, the directory of downloads and prepared datasets, and in `results`, that of a scale."""

    def __init__(self, data: str, results: str):
        self.data, self.results = data, results
        self.all_runs = f"{results}/summary/runs.csv"  # a row for each run
        self.statistics = f"{results}/statistics.csv"  # for each case and metric: over seeds
        self.comparisons = f"{results}/comparisons.csv"  # for each comparison of a table's row with its baseline
        self.verdicts = f"{results}/claims.csv"
        self.index = f"{results}/index.html"  # the page of everything
        self.calibration = f"{results}/calibration.json"
        self.logs = f"{results}/logs"

    def raw(self, dataset: str, file: str = "") -> str:
        """A download, or the directory of a dataset's downloads."""
        return f"{self.data}/raw/{dataset}" + (f"/{file}" if file else "")

    def prepared(self, dataset: str, settings: Mapping[str, object]) -> str:
        """The arrays of a dataset; the settings that it is prepared with are in the name."""
        name = "-".join([dataset, *(f"{key}{value_text(value)}" for key, value in sorted(settings.items()))])
        return f"{self.data}/prepared/{name}.npz"

    def run(self, task: str, sized_model: str, seed: int | str) -> str:
        return f"{self.results}/runs/{task}/{sized_model}/seed{seed}"

    def measured(self, what: str, name: str) -> str:
        """A measurement: "costs", "features" or "jacobian" for an artifact, "floors" of a task."""
        return f"{self.results}/{what}/{name}.csv"

    def maps(self, artifact: str) -> str:
        """The maps of features in the plane, as arrays."""
        return f"{self.results}/features/{artifact}.npz"

    def drawn(self, form: str, artifact: str, ending: str) -> str:
        """A file of a table or figure."""
        return f"{self.results}/{form}s/{artifact}.{ending}"
