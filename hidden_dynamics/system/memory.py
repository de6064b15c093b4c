"""Memory: what this machine has, what a process took, and what the C library does with what a process frees."""

import ctypes
import os
import platform
import re
import resource
from pathlib import Path

NEUTRAL = "what happens to freed memory changes no result"

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of glibc's malloc.h


def keep_memory() -> bool:
    """Keep the memory of freed tensors in this process, for the tensors that follow.

    glibc maps each block above 32 MB anew and returns it when it is freed, so that the kernel fills every page of it
    with zeros again. That is a third to a half of nn.LSTM's training step on a CPU over 784 inputs. The numbers stay
    the same to the bit. The process holds its peak until it ends, and the peak itself is 20 to 40 percent higher,
    because what one size leaves free does not fit another; `ctypes.CDLL(None).malloc_trim(0)` returns what is free.

    Returns:
        Whether the C library is glibc; any other is left as it is.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, -1))


def of_this_machine(root: Path = Path("/")) -> int:
    """The MB that all processes here may take together: the machine's, or those of the control group that they are in
    (a container, a job of SLURM's), if these are fewer."""
    limits, groups = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")], root / "proc/self/cgroup"
    for line in groups.read_text().splitlines() if groups.exists() else ():
        _, controllers, place = line.split(":", 2)
        kinds = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}  # versions 2 and 1
        if controllers in kinds:
            mounted, name = root / "sys/fs/cgroup" / kinds[controllers][0], kinds[controllers][1]
            above = [mounted / place.lstrip("/"), *(mounted / place.lstrip("/")).parents]
            files = [directory / name for directory in above if directory.is_relative_to(mounted)]
            limits += [int(text) for file in files if file.is_file() and (text := file.read_text().strip()).isdigit()]
    return min(limits) // 10**6


def peak() -> int:
    """The MB that this process had at most until now."""
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return int(found[1]) * 1024 // 10**6
    unit = (
        1 if platform.system() == "Darwin" else 1024
    )  # of the next line: after a fork, its parent's peak counts there
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit // 10**6
