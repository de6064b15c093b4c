"""The grouping of a task's runs into jobs: one run each, or those that differ in the model or the seed alone."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hidden_dynamics.configuration.loading import Configuration
from hidden_dynamics.configuration.runs import Run, find, identity, runs_on


@dataclass(frozen=True)
class TrainingJobs:
    """The jobs of a task. Methods take Snakemake's wildcards: `model` and `seed`, where these are not shared."""

    configuration: Configuration
    task: str

    @cached_property
    def _runs(self) -> dict[tuple[str, int], Run]:
        return {(run.variant, run.seed): run for run in runs_on(self.configuration, self.task)}

    @cached_property
    def _all(self) -> dict[str, list[Any]]:
        variants = dict.fromkeys(variant for variant, _ in self._runs)
        return {"model": list(variants), "seed": self.configuration.seeds}

    @cached_property
    def shared(self) -> dict[str, list[Any]]:
        """The models, the seeds, or both, that one job trains together, by the wildcard that it does not have."""
        return {key: values for key, values in self._all.items() if key in self.configuration.together}

    @property
    def name(self) -> str:
        """For its log, such as "train-mnist-{model}-{seed}"."""
        return "-".join(["train", self.task, *(f"{{{key}}}" for key in self._all if key not in self.shared)])

    @property
    def runs_of_a_job(self) -> int:
        return math.prod(len(values) for values in self.shared.values())

    @property
    def variants(self) -> list[str]:
        return self._all["model"]

    def models(self, wildcards: Any) -> list[str]:
        return self.shared.get("model") or [wildcards.model]

    def seeds(self, wildcards: Any) -> list[int]:
        return self.shared.get("seed") or [int(wildcards.seed)]

    def identities(self, wildcards: Any) -> list[str]:
        """The identities of its runs, without their data: where one changes, the job is done again."""
        pairs = [(model, seed) for model in self.models(wildcards) for seed in self.seeds(wildcards)]
        return [identity(self._runs.get(pair) or find(self.configuration, self.task, *pair)) for pair in pairs]
