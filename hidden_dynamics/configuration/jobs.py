"""The grouping of a task's runs into jobs: one run each, or those that differ in the model or the seed alone."""

import hashlib
import math
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration.loading import Configuration
from hidden_dynamics.configuration.runs import FAILURES, Run, check_is_run, find, runs_on


@dataclass(frozen=True)
class TrainingJobs:
    """Jobs of a task. Their wildcards are `model` and `seed`, where these are not shared (`configuration.together`).

    Where seeds share a job, it is of the configured seeds, and is done again when one is added: the finished runs in it
    are written anew from their checkpoints. Where they do not, any seed has a job.
    """

    configuration: Configuration
    task: str

    @cached_property
    def _runs(self) -> dict[tuple[str, int], Run]:
        return {(run.sized_model, run.seed): run for run in runs_on(self.configuration, self.task)}

    @property
    def sized_models(self) -> list[str]:
        return list(dict.fromkeys(sized_model for sized_model, _ in self._runs))

    def chosen(self, models: list[str] | None, seeds: list[int] | None) -> tuple[list[str], list[int]]:
        """The given models and seeds; all of the task's models, the configured seeds, where none are given; a
        `UserError` where there is no such task, or it is left out."""
        check_is_run(self.configuration, self.task)
        return models or self.sized_models, seeds or self.configuration.seeds_of(self.task)

    @cached_property
    def shared(self) -> dict[str, list[Any]]:
        """The wildcards that `together` removes from a job, with the values that it trains."""
        everything = {"model": self.sized_models, "seed": self.configuration.seeds_of(self.task)}
        return {key: values for key, values in everything.items() if key in self.configuration.together}

    @property
    def name(self) -> str:
        """For its log, such as "train-mnist-{model}-{seed}"."""
        return "-".join(["train", self.task, *(f"{{{key}}}" for key in ("model", "seed") if key not in self.shared)])

    @property
    def runs_of_a_job(self) -> int:
        return math.prod(len(values) for values in self.shared.values())

    def options(self, wildcards: Any) -> str:
        """The command's, of the wildcards that a job has. What its runs share is not among them: Snakemake keeps the
        command with each output, and lists of all models and seeds would grow with the square of the runs."""
        return " ".join(f"--{key} {shlex.quote(str(value))}" for key, value in wildcards.items())

    def said(self, key: str) -> str:
        """The models or the seeds ("model" or "seed") of a job, for its message."""
        return " ".join(map(str, self.shared.get(key, [f"{{wildcards.{key}}}"])))

    def identity(self, wildcards: Any) -> str:
        """Digest of the identities of its runs, without their data, and of their failures until now: where one changes
        or has failed, the job is done again. It is, too, where a run is to grow (rules/common.smk)."""
        digest = hashlib.sha256()
        for run in self.runs(wildcards):
            failures = Path(run.directory, FAILURES)
            digest.update(f"{run.identity} {failures.stat().st_size if failures.exists() else 0} ".encode())
        return digest.hexdigest()

    def runs(self, wildcards: Any) -> list[Run]:
        models = self.shared.get("model") or [wildcards.model]
        seeds = self.shared.get("seed") or [int(wildcards.seed)]
        pairs = [(model, seed) for model in models for seed in seeds]
        return [self._runs.get(pair) or find(self.configuration, self.task, *pair) for pair in pairs]
