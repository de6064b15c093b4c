"""The publication described for machines: an RO-Crate (https://w3id.org/ro/crate/1.1), its files with their digests."""

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.system.files import ROOT

CRATE = "https://w3id.org/ro/crate/1.1"
FORMATS = {"md": "text/markdown", "csv": "text/csv", "html": "text/html", "png": "image/png", "xz": "application/x-xz"}


def metadata(configuration: Configuration, count: int, ended: datetime, files: Mapping[str, bytes], own: str) -> bytes:
    """The description of the files of a publication, by path.

    Args:
        count: of the runs.
        ended: of what time the last of their files is.
        own: its own path.
    """
    about, scale = read_yaml(ROOT / "CITATION.cff"), configuration.scale_name
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{about['title']}: evidence of the {scale} scale",
        "description": f"{count} runs. {configuration.scale.about}",
        "datePublished": ended.isoformat(),
        "license": {"@id": f"https://spdx.org/licenses/{about['license']}"},
        "hasPart": [{"@id": path} for path in files],
    }
    this = {"@id": own, "@type": "CreativeWork", "conformsTo": {"@id": CRATE}, "about": {"@id": "./"}}
    terms = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
    graph = [this, root, *(_file(path, content) for path, content in files.items())]
    crate = {"@context": [f"{CRATE}/context", terms], "@graph": graph}
    return (json.dumps(crate, indent=1, ensure_ascii=False) + "\n").encode()


def _file(path: str, content: bytes) -> dict[str, Any]:
    kind = FORMATS.get(path.rpartition(".")[2], "application/octet-stream")
    about = {"@id": path, "@type": "File", "name": path, "encodingFormat": kind, "contentSize": str(len(content))}
    return about | {"sha256": sha256(content).hexdigest()}
