"""Fresh processes to measure in, and peak memory: on a GPU what torch allocated, on a CPU what is resident."""

import multiprocessing
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import torch

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.memory import status


def in_fresh_process(
    method: str, about: str, function: Callable, *arguments: object, preload: Sequence[str] = ("torch",)
) -> Any:
    """The result of a function in a process of its own; a `UserError` about what is measured where it is killed.

    By "spawn", it shares nothing with this one; by "forkserver", all have imported `preload` and done nothing else, and
    share the places that the libraries have in memory.
    """
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(list(preload))  # once for all: it takes longer than the measurement
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            return executor.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise UserError(
                f"{about}: the process that measured it was killed; did this machine run out of memory?"
            ) from None


def allocated_beyond(action: Callable[[], object], device: torch.device) -> int:
    """Bytes by which an action raises the memory that torch has allocated on a GPU, at its peak."""
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    action()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


def resident_beyond(actions: Sequence[Callable[[], object]]) -> list[int]:
    """Bytes by which each action raises the peak of this process's resident memory beyond what it holds now: right
    where nothing before had a higher peak, as the system knows one for the life of a process."""
    before = status("VmRSS")
    peaks = []
    for action in actions:
        action()
        peaks.append(max(status("VmHWM") - before, 0))
    return peaks


def processor() -> str:
    """The model of this machine's CPU, as the system names it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())  # an ARM's has none
