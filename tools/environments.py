"""Write the conda environments of envs/, and the lock without CUDA's packages, from the lock, requirements.txt.

    python tools/environments.py            # write them
    python tools/environments.py --check    # fail if they are not what the lock says

Python and pip come from conda-forge; every other package stands in the pip section, at exactly the lock's version.
Snakemake copies an environment into its record of each output: what another package pins is left to that one.
Which packages a step needs directly is in pyproject.toml ([tool.hidden-dynamics.environments]); the lock's "via"
comments tell what these need.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # where the library is
from hidden_dynamics.errors import UserError, run_main  # noqa: E402
from hidden_dynamics.system.files import atomic  # noqa: E402

PYTHON, PIP = "3.11.13", "25.2"  # of conda-forge
LINUX = " ; sys_platform == 'linux'"  # the only one that is supported
CUDA = ("nvidia-", "cuda-", "triton")  # what torch's builds for a CPU do without
PINNED = "nvidia-"  # such names are pinned exactly by torch and cuda-toolkit, which stand in the environment


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    check = parser.parse_args().check
    for path, content in environments(ROOT).items():
        if check and (not path.exists() or path.read_text(encoding="utf-8") != content):
            raise UserError(
                f"{path} is not what requirements.txt says: run python tools/environments.py and commit it."
            )
        if not check:
            with atomic(path) as handle:
                handle.write(content)


def environments(root: Path) -> dict[Path, str]:
    """The content of each envs/<name>.yaml, and of requirements-cpu.txt."""
    pins, needed_by = read_lock((root / "requirements.txt").read_text(encoding="utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["tool"]["hidden-dynamics"]["environments"]
    files = {
        root / "envs" / f"{name}.yaml": _yaml(closure(direct, pins, needed_by), pins) for name, direct in wanted.items()
    }
    return files | {root / "requirements-cpu.txt": _without_cuda(pins)}


def read_lock(text: str) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Each package's requirement without hashes ("name==version ; marker"), and the packages that need it."""
    pins: dict[str, str] = {}
    needed_by: dict[str, set[str]] = {}
    for entry in re.finditer(r"^([a-z0-9._-]+)==.*(?:\n .*)*", text, flags=re.MULTILINE):  # with its indented lines
        pins[entry[1]] = entry[0].split(" \\")[0]
        via = re.findall(r"^\s+#\s+(?:via\s+)?([a-z0-9._-]+)\s*(?:\(.*\))?$", entry[0], flags=re.MULTILINE)
        needed_by[entry[1]] = set(via) - {"via"}
    return pins, needed_by


def closure(direct: list[str], pins: dict[str, str], needed_by: dict[str, set[str]]) -> list[str]:
    """`direct` and everything these packages need, sorted.

    Raises:
        UserError: a package is not in the lock.
    """
    found = set(direct)
    if missing := sorted(found - set(pins)):
        raise UserError(
            f"requirements.txt has no {', '.join(missing)}: add it to pyproject.toml and make the lock again."
        )
    while more := {package for package, users in needed_by.items() if users & found} - found:
        found |= more
    return sorted(found)


def _without_cuda(pins: dict[str, str]) -> str:
    """The lock for a CPU: no digests, since PyTorch's builds for a CPU have others."""
    head = "# Written by tools/environments.py: uv pip install --torch-backend cpu -r requirements-cpu.txt\n"
    return head + "".join(f"{pin}\n" for package, pin in pins.items() if not package.startswith(CUDA))


def _yaml(packages: list[str], pins: dict[str, str]) -> str:
    lines = [
        "# Written by tools/environments.py from requirements.txt.",
        "channels:",
        "  - conda-forge",
        "  - nodefaults",
        "dependencies:",
        f"  - python ={PYTHON}",
        f"  - pip ={PIP}",
        "  - pip:",
        *(f"    - {pins[package]}".replace(LINUX, "") for package in packages if not package.startswith(PINNED)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_main(main)
