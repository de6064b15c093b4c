"""A task's prepared data, and directories of results in which one run is trained on it."""

import importlib
import json

import torch

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.runs import find
from hidden_dynamics.data import prepared
from hidden_dynamics.results.run_files import RunFiles


class Workplace:
    """Of a task, a model with its size, and changes of the task and of its training, of which each directory may have
    others."""

    def __init__(self, root, task, model, seed=0, changes=None, **training):
        self.root, self.task, self.model, self.seed = root, task, model, seed
        self.changes, self.training, self.run = changes or {}, training, self.directory()
        configuration = self.configuration()
        spec = find(configuration, task, model, seed).spec
        about = {"dataset": spec["dataset"], "title": "Data", "stand_in_for": None}
        module = importlib.import_module(configuration.datasets[spec["dataset"]].module)
        self.data = root / configuration.paths.prepared(spec["dataset"], spec["data"])
        prepared.save(self.data, module.prepare(None, spec["data"]), about)

    def settings(self, results="results", changes=None, **training):
        at = {"results": str(self.root / results), "data": {"directory": str(self.root / "data")}, "device": "cpu"}
        task = self.changes | (changes or {}) | {"training": self.training | training}
        return at | {"overrides": {"tasks": {self.task: task}}}

    def configuration(self, results="results", **training):
        return load(parse_settings(json.dumps(self.settings(results, **training))))

    def of(self, results="results", **training):
        return find(self.configuration(results, **training), self.task, self.model, self.seed)

    def arguments(self, results="results", *named, **given):
        """Of scripts/train.py."""
        named = named or ("--model", self.model, "--seed", str(self.seed))
        config = json.dumps(self.settings(results, **given))
        return ["--task", self.task, *named, "--config", config, "--threads", "1"]

    def directory(self, results="results"):
        return self.root / results / "demo/runs" / self.task / self.model / f"seed{self.seed}"

    def files(self, results):
        """The run's record, files and weights to the bit, but for the times it took."""
        record = RunFiles(self.directory(results)).record()
        of_times = [record.pop("checksum"), record.pop("seconds"), record["files"].pop("clock.csv")]
        assert all(of_times)
        record.pop("peak_memory_mb")
        (record.get("solver") or {}).pop("seconds", None)
        files = {name: (self.directory(results) / name).read_bytes() for name in record["files"] if name != "model.pt"}
        weights = torch.load(self.directory(results) / "model.pt")
        return record, files, {name: weight.numpy().tobytes() for name, weight in weights.items()}
