"""The hardware of this machine, found without a numerical library."""

from pathlib import Path


def has_nvidia_gpu() -> bool:
    """True where the NVIDIA driver is loaded."""
    return Path("/proc/driver/nvidia/version").exists()
