"""The publication described for machines: a Workflow Run RO-Crate (https://w3id.org/ro/wfrun/workflow/0.5).

The workflow is the Snakefile; one action, the run of it, has the configuration and the data as objects and the
published files as results. Nothing records who ran it: the action has no agent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from mimetypes import MimeTypes
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.publication.command import settings_of, text
from hidden_dynamics.results.rows import Row
from hidden_dynamics.system.files import ROOT

WORKFLOW = "Snakefile"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}


def metadata(configuration: Configuration, runs: Sequence[Row], ended: datetime, files: Mapping[str, bytes]) -> bytes:
    """ro-crate-metadata.json of the files of a publication, by path.

    Args:
        runs: the rows of runs.csv.
        ended: when the last of them had finished.
    """
    about, crate, scale = read_yaml(ROOT / "CITATION.cff"), ROCrate(version="1.1"), configuration.scale_name
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"

    def entity(identifier: str, kind: str, **properties: Any) -> Any:
        return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))

    parts = [crate.add_file(dest_path=path, properties=_file(path, files[path])) for path in files if path != WORKFLOW]
    authors = [entity(f"#{author['name']}", "Organization", name=author["name"]) for author in about["authors"]]
    licence = entity(f"https://spdx.org/licenses/{about['license']}", "CreativeWork", name=about["license"])
    lock = re.search(r"^snakemake==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    workflow = crate.add_workflow(dest_path=WORKFLOW, main=True, lang="snakemake", lang_version=lock[1])
    commits = "+".join(sorted({row.get("commit", "") for row in runs} - {""}))
    settings = [
        entity(f"#setting-{name}", "PropertyValue", name=name, value=text(value))
        for name, value in settings_of(configuration).items()
    ]
    data = {row["data_digest"]: row for row in runs}
    objects = [
        entity(
            f"#data-{digest[:12]}", "CreativeWork", name=row["dataset_title"], sha256=digest, description=row["data"]
        )
        for digest, row in data.items()
    ]
    profiles = [
        entity(identifier, "CreativeWork", name=name, version=version)
        for identifier, (name, version) in PROFILES.items()
    ]
    title = f"{about['title']}: evidence of the {scale} scale"
    said = {"license": licence, "version": f"{about['version']}+{commits}" if commits else about["version"]}
    _set(workflow, _file(WORKFLOW, files[WORKFLOW]) | said, name=about["title"], description=about["abstract"].strip())
    _set(workflow, {}, creator=authors, encodingFormat="text/plain")
    root = {"license": licence, "author": authors, "publisher": authors, "conformsTo": profiles}
    _set(crate.root_dataset, root, name=title, datePublished=ended.isoformat(), description=configuration.scale.about)
    action = {"@type": "CreateAction", "name": f"The workflow at the {scale} scale", "endTime": ended.isoformat()}
    action |= {"description": f"{len(runs)} runs, and what is made of them."}
    made = crate.add_action(workflow, "#run", object=[*settings, *objects], result=parts, properties=action)
    crate.root_dataset["mentions"] = made
    return (json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n").encode()


def _file(path: str, content: bytes) -> dict[str, Any]:
    kind = MimeTypes().guess_type(path)[0] or "application/octet-stream"
    about = {"name": path, "encodingFormat": kind, "contentSize": str(len(content))}
    return about | {"sha256": sha256(content).hexdigest()}


def _set(entity: Any, properties: Mapping[str, Any], **more: Any) -> None:
    for name, value in {**properties, **more}.items():
        entity[name] = value
