"""What the C library does with memory that a process frees."""

import ctypes
import platform

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
