"""Memory: what this machine has, what a process took, and what the C library does with what a process frees."""

import ctypes
import os
import platform
import re
from pathlib import Path

NEUTRAL = "what happens to freed memory changes no result"

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of glibc's malloc.h


def keep_memory() -> bool:
    """Keep the memory of freed tensors in this process, for the tensors that follow; whether the C library is glibc.

    glibc maps each block above 32 MB anew and returns it when it is freed, so that the kernel fills every page of it
    with zeros again: a third to a half of nn.LSTM's training step on a CPU over 784 inputs. The process holds its peak
    until it ends, and the peak itself is 20 to 40 percent higher, because what one size leaves free does not fit
    another; `ctypes.CDLL(None).malloc_trim(0)` returns what is free.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, -1))


def of_this_machine(root: Path = Path("/")) -> int:
    """The MB that all processes here may take together: the machine's, or those of the control group (version 2) that
    they are in (a container, a job of SLURM's), if these are fewer."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    groups, mounted = root / "proc/self/cgroup", root / "sys/fs/cgroup"
    if groups.exists() and (group := re.search("^0::/(.*)", groups.read_text(), re.MULTILINE)):
        for directory in (mounted / group[1], *(mounted / group[1]).parents):
            file = directory / "memory.max"
            if directory.is_relative_to(mounted) and file.is_file() and (text := file.read_text().strip()).isdigit():
                limits.append(int(text))
    return min(limits) // 10**6


def status(field: str) -> int:
    """Bytes of a field of /proc/self/status: VmRSS, what this process holds, or VmHWM, the most that it held."""
    return int(Path("/proc/self/status").read_text(encoding="utf-8").split(f"{field}:")[1].split()[0]) * 1024


def peak() -> int:
    """The MB that this process had at most until now; getrusage's would include those of the process forked from."""
    return status("VmHWM") // 10**6
