"""The publication described for machines: a Workflow Run RO-Crate (https://w3id.org/ro/wfrun/workflow/0.5).

The workflow is the Snakefile; one action, the run of it, has the configuration and the data as objects and the
published files as results. Nothing records who ran it: the action has no agent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.publication.command import as_given, settings_of
from hidden_dynamics.results.rows import Row
from hidden_dynamics.system.files import ROOT

WORKFLOW = "Snakefile"
WORKFLOWS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
FORMATS = {"md": "text/markdown", "csv": "text/csv", "html": "text/html", "png": "image/png", "xz": "application/x-xz"}
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}


def metadata(configuration: Configuration, runs: Sequence[Row], ended: datetime, files: Mapping[str, bytes]) -> bytes:
    """ro-crate-metadata.json of the files of a publication, by path.

    Args:
        runs: the rows of runs.csv.
        ended: of what time the last of their files is.
    """
    about, scale = read_yaml(ROOT / "CITATION.cff"), configuration.scale_name
    crate: Any = ROCrate(version="1.1")  # has no types
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"

    def context(identifier: str, kind: str, **properties: object) -> Any:
        return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))

    parts = [crate.add_file(dest_path=path, properties=_file(path, files[path])) for path in files if path != WORKFLOW]
    authors = context("#authors", "Organization", name=", ".join(author["name"] for author in about["authors"]))
    licence = context(f"https://spdx.org/licenses/{about['license']}", "CreativeWork", name=about["license"])
    locked = re.findall(r"^snakemake==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    workflow = crate.add_workflow(dest_path=WORKFLOW, main=True, lang="snakemake", lang_version=locked[0])
    objects = [
        context(f"#setting-{name}", "PropertyValue", name=name, value=as_given(value))
        for name, value in settings_of(configuration).items()
    ]
    data = dict.fromkeys((row["dataset_title"], row["data"], row["data_digest"]) for row in runs)
    objects += [
        context(f"#data-{number}", "CreativeWork", name=name, description=prepared, sha256=digest)
        for number, (name, prepared, digest) in enumerate(data)
    ]
    profiles = [context(place, "CreativeWork", name=own[0], version=own[1]) for place, own in PROFILES.items()]
    own = {"name": about["title"], "description": about["abstract"].strip(), "license": licence, "creator": authors}
    commits = sorted({row["commit"] for row in runs} - {""})
    own |= {"conformsTo": {"@id": WORKFLOWS}, "version": ".".join([about["version"], *commits])}
    own = _file(WORKFLOW, files[WORKFLOW]) | own | {"encodingFormat": "text/plain"}
    root = {"name": f"{about['title']}: evidence of the {scale} scale", "description": configuration.scale.about}
    root |= {"license": licence, "author": authors, "publisher": authors, "conformsTo": profiles}
    root |= {"datePublished": ended.isoformat(), "mentions": {"@id": "#run"}}
    action = dict.fromkeys(("name", "description"), f"{len(runs)} runs at the {scale} scale")
    action |= {"@type": "CreateAction", "endTime": ended.isoformat()}
    crate.add_action(workflow, "#run", object=objects, result=parts, properties=action)
    crate.get("README.md")["about"] = crate.root_dataset
    for entity, properties in ((workflow, own), (crate.root_dataset, root)):
        for name, value in properties.items():
            entity[name] = value
    return (json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n").encode()


def _file(path: str, content: bytes) -> dict[str, Any]:
    kind = FORMATS.get(path.rpartition(".")[2], "application/octet-stream")
    about = {"name": path, "encodingFormat": kind, "contentSize": str(len(content))}
    return about | {"sha256": sha256(content).hexdigest()}
