# pyright: reportUnknownMemberType=false
"""Device choice, deterministic arithmetic, and places on a shared GPU."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, cast

import torch

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.locks import one_of
from hidden_dynamics.system.memory import keep_memory
from hidden_dynamics.system.shell import GPU_IS_ASSIGNED, has_nvidia_gpu

# cuBLAS is deterministic only with a workspace of its own; it reads this when it starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

# The locks of the places on this machine's GPUs: one directory for all checkouts of a user.
PLACES = Path(tempfile.gettempdir(), f"hidden-dynamics-gpus-{os.getuid()}")


def choose(device: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda". Where torch can use no GPU, "auto" takes the CPU, and says why if there
    is an NVIDIA driver. A `UserError` says why where "cuda" is asked for."""
    if device == "cpu" or (obstacle := _obstacle()) is None:
        return torch.device("cpu" if device == "cpu" else "cuda")
    if device == "cuda":
        raise UserError(f"device is cuda, but {obstacle}. Use device=cpu, or see docs/install.md.", key="device")
    if has_nvidia_gpu():
        print(f"device: auto takes the CPU, though there is an NVIDIA driver: {obstacle}.", file=sys.stderr, flush=True)
    return torch.device("cpu")


def _obstacle() -> str | None:
    """Why torch can use no GPU here; None where it can."""
    if torch.version.cuda is None:
        return "this torch is built for the CPU alone"
    if not torch.cuda.is_available():
        try:
            torch.cuda.init()
        except (RuntimeError, AssertionError) as error:  # which tells a missing driver from one that is too old
            return str(error).split("\n")[0].rstrip(".")
        return "torch finds no NVIDIA GPU"
    known = torch.cuda.get_arch_list()
    for index in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(index)
        if not has_kernels(capability, known):
            name = torch.cuda.get_device_name(index)
            return f"{name} is of capability {capability}, and this torch has kernels for {', '.join(known)}"
    return None


def has_kernels(capability: tuple[int, int], architectures: Sequence[str]) -> bool:
    """Whether a GPU runs what was compiled for these: "sm_86" for all of its major version from its minor version on,
    "compute_80" (PTX) for all that are no older."""
    for architecture in architectures:
        kind, _, number = architecture.rstrip("af").partition("_")
        major, minor = divmod(int(number), 10)
        if (major == capability[0] or kind == "compute") and (major, minor) <= capability:
            return True
    return False


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
    """Hold one of the `runs_per_gpu` places on each GPU of this machine for the block; wait for it before, and say so.

    A place is a locked file in `directory`, named by the GPU's UUID, which the system frees when its process ends,
    however it ends. In a job of a cluster's, to which its scheduler has assigned a GPU, and on the CPU nobody waits. A
    `UserError` where the GPU's memory does not suffice for what is done within the block.
    """
    with contextlib.ExitStack() as held:
        if device.type == "cuda" and GPU_IS_ASSIGNED not in os.environ:
            gpus = range(torch.cuda.device_count())
            places = [(gpu, f"{_properties(gpu).uuid}-{place}.lock") for place in range(runs_per_gpu) for gpu in gpus]
            waiting = f"all {len(places)} places on GPUs are taken (runs_per_gpu: {runs_per_gpu}); waiting for one"
            locks = [directory / name for _, name in places]
            device = torch.device("cuda", places[held.enter_context(one_of(locks, waiting))][0])
        try:
            yield device
        except torch.OutOfMemoryError as error:
            raise out_of_memory(device) from error


def out_of_memory(device: torch.device) -> UserError:
    """What there is to say where a GPU's memory did not suffice, and what helps."""
    peak, gpu = torch.cuda.max_memory_allocated(device), _properties(device)
    return UserError(
        f"the memory of {gpu.name} did not suffice: this process had {peak / 1e9:.1f} GB of "
        f"{gpu.total_memory / 1e9:.1f} when it asked for more. Run fewer at a time (runs_per_gpu), take a smaller "
        "batch_size, or end what else is on the GPU (nvidia-smi).",
        key="runs_per_gpu",
    )


def _properties(device: torch.device | int) -> Any:  # torch has no type for them
    return cast(Any, torch.cuda.get_device_properties(device))


@contextlib.contextmanager
def generators_kept(device: torch.device) -> Generator[None]:
    """Leave torch's generators as they are, whatever is drawn within the block."""
    fork = torch.random.fork_rng  # pyright: ignore[reportUnknownVariableType] has no types
    with fork([device] if device.type == "cuda" else []):
        yield
