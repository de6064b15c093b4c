"""Device choice, deterministic arithmetic, and places on a shared GPU."""

import contextlib
import os
from collections.abc import Generator
from pathlib import Path

import torch

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.locks import one_of
from hidden_dynamics.system.memory import keep_memory

# cuBLAS is deterministic only with a workspace of its own; it reads this when it starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

PLACES = Path(".snakemake/gpu-places")  # the locks of the places on this machine's GPUs


def choose(device: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda"; a UserError where cuda is asked for and there is none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "device is cuda, but torch finds no usable NVIDIA GPU here: use device=cpu, or check the driver."
        )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


def name_of(device: torch.device) -> str:
    """The device's name in records: the GPU's, or "cpu"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def set_arithmetic(threads: int, precision: str) -> None:
    """Deterministic arithmetic in `threads` threads, as far as torch has it, in a process that keeps its memory
    (hidden_dynamics.system.memory).

    In several threads, and where there is a GPU, torch takes its deterministic algorithms, and warns of an operation
    that has none. One thread of a CPU adds in one order in any case, and keeps the faster algorithms. Denormal numbers
    are flushed to zero: where gradients vanish, they make a training step on the CPU several times slower.
    """
    keep_memory()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    # Not torch.use_deterministic_algorithms: it loads the settings of torch's compiler, seconds for a flag.
    torch.set_deterministic_debug_mode("warn" if threads > 1 or torch.cuda.is_available() else "default")
    # Else every torch.empty is filled: work, for no result. torch defines the flag where type checkers do not look.
    torch.utils.deterministic.fill_uninitialized_memory = False  # pyright: ignore[reportAttributeAccessIssue]
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


@contextlib.contextmanager
def turn(device: torch.device, runs_per_gpu: int, directory: Path = PLACES) -> Generator[torch.device]:
    """Hold one of the `runs_per_gpu` places on each GPU of this machine for the block; wait for it before.

    A place is a locked file in `directory`, which the system frees when its process ends, however it ends. Under a
    cluster's scheduler, which assigns GPUs itself, and on the CPU nothing is waited for.
    """
    if device.type != "cuda" or "SLURM_JOB_ID" in os.environ:
        yield device
        return
    places = [(gpu, place) for place in range(runs_per_gpu) for gpu in range(torch.cuda.device_count())]
    locks = [directory / f"gpu{gpu}-{place}.lock" for gpu, place in places]
    with one_of(locks) as held:
        yield torch.device("cuda", places[held][0])


@contextlib.contextmanager
def generators_kept(device: torch.device) -> Generator[None]:
    """Leave torch's generators as they are, whatever is drawn within the block."""
    fork = torch.random.fork_rng  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] has no types
    with fork([device] if device.type == "cuda" else []):
        yield
