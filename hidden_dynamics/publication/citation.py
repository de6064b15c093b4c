"""The software as CITATION.cff and the lock name it."""

import re
from dataclasses import dataclass
from pathlib import Path

from hidden_dynamics.configuration import read_yaml


@dataclass(frozen=True)
class Citation:
    """
    Attributes:
        authors: their names, as they stand there.
        licence: an SPDX identifier.
        address: where the code is; "" where that is not said.
        snakemake: the version of the lock.
    """

    title: str
    abstract: str
    version: str
    licence: str
    authors: list[str]
    address: str
    snakemake: str


def citation(repository: Path) -> Citation:
    content = read_yaml(repository / "CITATION.cff")
    lock = (repository / "requirements.txt").read_text(encoding="utf-8")
    return Citation(
        title=content["title"],
        abstract=content["abstract"].strip(),
        version=content["version"],
        licence=content["license"],
        authors=[author["name"] for author in content["authors"]],
        address=content.get("repository-code", ""),
        snakemake=re.search(r"^snakemake==(\S+)", lock, flags=re.MULTILINE)[1],
    )
