"""What this machine has, asked without importing a numerical library."""

from pathlib import Path


def has_nvidia_gpu() -> bool:
    """Whether the NVIDIA driver is loaded here."""
    return Path("/proc/driver/nvidia/version").exists()
