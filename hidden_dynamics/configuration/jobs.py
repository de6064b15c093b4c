"""The grouping of a task's runs into jobs: one run each, or those that differ in the model or the seed alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hidden_dynamics.configuration.loading import Configuration
from hidden_dynamics.configuration.runs import Run, find, runs_on


def training_jobs(configuration: Configuration, task: str) -> dict[str, "TrainingJobs"]:
    """The jobs of a task, by the name of their rule; none of a task that is left out.

    Where a scale lets seeds share a job, these are its own. Every other seed has a job of its own: one that is added
    leaves the finished runs of the others alone, which their job would make anew. Where the user lets seeds share a
    job, these are all.
    """
    if task in configuration.left_out:
        return {}
    rule, together = f"train_{task}", configuration.together
    if "seed" not in together or configuration.settings.together is not None:
        return {rule: TrainingJobs(configuration, task, together, configuration.seeds)}
    usual = [seed for seed in configuration.scale.seeds if seed in configuration.seeds]
    alone = [key for key in together if key != "seed"]
    added = TrainingJobs(configuration, task, alone, configuration.seeds, besides=usual)
    return ({rule: TrainingJobs(configuration, task, together, usual)} if usual else {}) | {f"{rule}_added": added}


@dataclass(frozen=True)
class TrainingJobs:
    """Jobs of a task. Their wildcards are `model` and `seed`, where these are not shared.

    Attributes:
        together: the coordinates (model, seed) whose runs share a job.
        configured: the seeds that share one; where none do, any seed has a job.
        besides: the seeds of other jobs of the task.
    """

    configuration: Configuration
    task: str
    together: Sequence[str]
    configured: Sequence[int]
    besides: Sequence[int] = ()

    @cached_property
    def _runs(self) -> dict[tuple[str, int], Run]:
        return {(run.variant, run.seed): run for run in runs_on(self.configuration, self.task)}

    @cached_property
    def _all(self) -> dict[str, list[Any]]:
        variants = dict.fromkeys(variant for variant, _ in self._runs)
        return {"model": list(variants), "seed": list(self.configured)}

    @cached_property
    def shared(self) -> dict[str, list[Any]]:
        """The models, the seeds, or both, that one job trains together, by the wildcard that it does not have."""
        return {key: values for key, values in self._all.items() if key in self.together}

    @property
    def seed_pattern(self) -> str:
        """A regular expression of the wildcard `seed`."""
        return rf"(?!(?:{'|'.join(map(str, self.besides))})\b)\d+" if self.besides else r"\d+"

    @property
    def name(self) -> str:
        """For its log, such as "train-mnist-{model}-{seed}"."""
        return "-".join(["train", self.task, *(f"{{{key}}}" for key in self._all if key not in self.shared)])

    def trains(self, seed: int) -> bool:
        """Whether these are the jobs of a seed's runs."""
        return seed in self.configured if "seed" in self.together else seed not in self.besides

    @property
    def runs_of_a_job(self) -> int:
        return math.prod(len(values) for values in self.shared.values())

    @property
    def variants(self) -> list[str]:
        return self._all["model"]

    def trained(self, key: str) -> list[Any] | str:
        """The models or the seeds ("model" or "seed") of a job: those that it shares, or the wildcard's."""
        return self.shared.get(key, f"{{{key}}}")

    def identities(self, wildcards: Any) -> list[str]:
        """The identities of its runs, without their data: where one changes, the job is done again."""
        models = self.shared.get("model") or [wildcards.model]
        seeds = self.shared.get("seed") or [int(wildcards.seed)]
        pairs = [(model, seed) for model in models for seed in seeds]
        return [(self._runs.get(pair) or find(self.configuration, self.task, *pair)).identity for pair in pairs]
