"""A `conda` command and a channel of its own, so that Snakemake can create the environments of envs/ as they stand.

conda-forge is not asked: lab/channel.py makes a channel of that name on disk with this machine's `python` and `pip`
under the versions that envs/ ask for, and lab/stand_in.py does what Snakemake asks of conda. Every other package is in
an environment's pip section.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import environments

HERE = Path(__file__).resolve().parent / "lab"
CALL = '#!/bin/sh\nexec "{python}" "{stand_in}" "$@"\n'


def missing() -> str | None:
    """What this machine lacks to make a lab."""
    absent = [name for name in ("rattler", "uv") if importlib.util.find_spec(name) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (PyPI's py-rattler and uv)"
    if shutil.which("patchelf") is None:
        return "not installed: patchelf"
    if not environments.PYTHON.startswith(sysconfig.get_python_version()):
        return f"envs/ ask for Python {environments.PYTHON}, and the channel is made from the one that runs the tests"
    if not list(Path(sysconfig.get_path("stdlib"), "ensurepip", "_bundled").glob("pip-*.whl")):
        return f"the Python of {sys.base_prefix} comes without pip's wheel, and is no tree of its own to pack"
    return None


def lab_in(root: Path) -> dict[str, str]:
    """Make a lab in a directory: bin/conda and bin/activate, as in a conda installation, and the channel.

    Returns:
        The variables of a shell in which this conda is installed.
    """
    versions = [environments.PYTHON, environments.PIP]
    subprocess.run([sys.executable, HERE / "channel.py", root / "channels/conda-forge", *versions], check=True)
    (root / "bin").mkdir(parents=True)
    (root / "bin/conda").write_text(CALL.format(python=sys.executable, stand_in=HERE / "stand_in.py"))
    (root / "bin/conda").chmod(0o755)
    shutil.copy(HERE / "activate", root / "bin/activate")
    path = f"{root}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {key: value for key, value in os.environ.items() if key != "CONDA_PREFIX"}
    return variables | {"PATH": path, "CONDA_LAB": str(root)}
