"""The jobs of the workflow: their shell environment, and whether this machine has a GPU for them."""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

GPU_IS_ASSIGNED = "HIDDEN_DYNAMICS_GPU_IS_ASSIGNED"  # set in jobs that a cluster's scheduler has given a GPU, or none


def environment_of_jobs(
    root: str, settings: Mapping[str, object], environments: str | None, assigned: bool = False
) -> str:
    """A shell command that prepares a job, as Snakemake's prefix of every command.

    Every job finds the library, modules in the working directory, and the settings as they are after Snakemake's
    command line, in conda environments and on cluster nodes too. Without conda, `python` is the one that runs
    Snakemake. With conda, it is that of the job's environment: a job is told where environments are, and stops if it
    finds itself elsewhere (scripts/_bootstrap.py); packages of the user's own (~/.local) would come before theirs.
    `assigned`: a scheduler has started the job and assigned its GPU; in an allocation of the user's own, in which
    Snakemake runs itself, none has.
    """
    variables = {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([root, os.getcwd()])),
        "HIDDEN_DYNAMICS_CONFIG": json.dumps(settings),
        "HIDDEN_DYNAMICS_ENVIRONMENTS": os.path.abspath(environments) if environments else "",
    }
    if assigned:
        variables[GPU_IS_ASSIGNED] = "1"
    if environments:
        variables["PYTHONNOUSERSITE"] = "1"
    else:
        variables["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
    return f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}; "


def in_a_command(text: str) -> str:
    """Text as it stands in a rule's command, which Snakemake formats."""
    return text.replace("{", "{{").replace("}", "}}")


def has_nvidia_gpu() -> bool:
    """Whether the NVIDIA driver is loaded, found without a numerical library; the second place is Windows' (WSL 2)."""
    return any(Path(place).exists() for place in ("/proc/driver/nvidia/version", "/usr/lib/wsl/lib/libcuda.so.1"))
