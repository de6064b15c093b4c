"""How long jobs take that wait for each other and share a machine."""

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """Something that runs on its own.

    Attributes:
        needs: how much of each resource it holds while it runs.
        after: names of the jobs that it waits for.
        priority: of those that could start, the highest start first, and of those alike the longest.
    """

    name: str
    seconds: float
    needs: Mapping[str, int]
    after: Collection[str] = ()
    priority: int = 0


def wall_time(jobs: Collection[Job], capacity: Mapping[str, int]) -> float:
    """Seconds until all jobs are done: list scheduling (Graham 1966), as soon as there is room, never looking ahead.

    What is waited for and is not among the jobs is done already. Of a resource, a job gets no more than there is.

    Raises:
        ValueError: jobs wait for each other in a circle.
    """
    named = {job.name: job for job in jobs}
    open_ = {job.name: {name for name in job.after if name in named} for job in jobs}
    ready = sorted((job for job in jobs if not open_[job.name]), key=_rank)
    free, running, now, done = dict(capacity), [], 0.0, 0
    while ready or running:
        for job in list(ready):
            wanted = _wanted(job, capacity)
            if all(free[name] >= amount for name, amount in wanted.items()):
                free = {name: amount - wanted.get(name, 0) for name, amount in free.items()}
                heapq.heappush(running, (now + job.seconds, job.name))
                ready.remove(job)
        now, name = heapq.heappop(running)
        done += 1
        for resource, amount in _wanted(named[name], capacity).items():
            free[resource] += amount
        freed = [other for other, waits in open_.items() if name in waits]
        for other in freed:
            open_[other].discard(name)
        ready = sorted([*ready, *(named[other] for other in freed if not open_[other])], key=_rank)
    if done < len(named):
        raise ValueError(f"jobs wait for each other: {', '.join(name for name, waits in open_.items() if waits)}")
    return now


def _rank(job: Job) -> tuple[int, float, str]:
    return -job.priority, -job.seconds, job.name


def _wanted(job: Job, capacity: Mapping[str, int]) -> dict[str, int]:
    return {name: min(amount, capacity[name]) for name, amount in job.needs.items()}
