"""What Snakemake asks of `conda`, done by py-rattler (conda's solver and installer as a library).

    conda --version | conda info --json | conda config --get channel_priority --json | conda clean ...
    conda env create --quiet --no-default-packages --file FILE --prefix PREFIX

CONDA_LAB is the lab's directory, where conda is installed and whose channels/ holds what `channels:` names. The pip
section is installed by pip, as conda does it.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

VERSION = "24.7.1"  # the lowest that Snakemake accepts
LAB = Path(os.environ["CONDA_LAB"])


def main() -> None:
    match sys.argv[1:]:
        case ["--version"]:
            print(f"conda {VERSION}")
        case ["info", "--json"]:
            print(json.dumps({"conda_prefix": str(LAB), "platform": "linux-64"}))
        case ["config", "--get", "channel_priority", "--json"]:
            print(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["clean", *_]:
            pass
        case ["env", "create", "--quiet", "--no-default-packages", "--file", file, "--prefix", prefix]:
            create(yaml.safe_load(Path(file).read_text(encoding="utf-8")), Path(prefix))
        case other:
            sys.exit(f"this conda cannot do {' '.join(other)}")


def create(environment: dict, prefix: Path) -> None:
    specifications = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    requirements = [text for entry in environment["dependencies"] if isinstance(entry, dict) for text in entry["pip"]]
    asyncio.run(install_packages(environment["channels"], specifications, prefix))
    command = [prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-input", *requirements]
    subprocess.run(command, check=True)


async def install_packages(channels: list[str], specifications: list[str], prefix: Path) -> None:
    from rattler import Channel, ChannelConfig, VirtualPackage, install, solve

    config = ChannelConfig(channel_alias=f"{(LAB / 'channels').as_uri()}/")
    sources = [Channel(name, config) for name in channels if name != "nodefaults"]
    records = await solve(
        sources, specifications, platforms=["linux-64", "noarch"], virtual_packages=VirtualPackage.detect()
    )
    await install(records, target_prefix=prefix, show_progress=False, cache_dir=LAB / "cache")


if __name__ == "__main__":
    main()
