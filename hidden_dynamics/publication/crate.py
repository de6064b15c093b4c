"""The publication described for machines: a Workflow Run RO-Crate (https://w3id.org/ro/wfrun/workflow/0.5).

The root is the publication's directory. Its workflow is the Snakefile, with its language; one action, the run of it,
has the configuration and the data as objects and the published files as results. Nothing records who ran it: the
action has no agent. An entity's id is the path of its file, the address of what is elsewhere, or a name after "#".
Nothing is written: a file's bytes are given.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from hidden_dynamics.configuration.schema import RemoteFile
from hidden_dynamics.publication.citation import Citation
from hidden_dynamics.publication.command import SETTINGS
from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.run_rows import versions_of
from hidden_dynamics.publication.source_state import SourceState
from hidden_dynamics.results.rows import Row

METADATA = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
RESULTS = ("verdicts.csv", "runs.csv", "findings.md", "decided.md", "undecided.md")  # beside the directories
CRATE = "1.1"  # of RO-Crate, which the profiles below rest on
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
TERMS = {name: f"https://w3id.org/ro/terms/workflow-run#{name}" for name in ("resourceUsage", "sha256")}
FORMATS = {".md": "text/markdown", ".csv": "text/csv", ".png": "image/png"}
ADDRESSES = {"python": "https://www.python.org/"}  # of a version's software, where it is on no package index


def metadata(results: Results, about: Citation, files: Mapping[str, bytes]) -> bytes:
    """ro-crate-metadata.json of the files of a publication, by path."""
    crate = ROCrate(version=CRATE)
    crate.metadata.extra_terms.update(TERMS)
    parts = _files(crate, files)
    workflow = _workflow(crate, about, results.source, files[WORKFLOW])
    inputs, outputs = _settings(crate, results), [parts[name] for name in RESULTS]
    outputs += [entity for name, entity in parts.items() if name.endswith("/")]
    _parameters(crate, workflow, "input", inputs)
    _parameters(crate, workflow, "output", outputs)
    workflow["softwareRequirements"] = [_software(crate, name, own) for name, own in versions_of(results.runs).items()]
    _root(crate, results, about, parts)
    _action(crate, results, workflow, [*inputs, *_data(crate, results)], outputs)
    return (json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n").encode()


def described(content: bytes) -> dict[str, Mapping[str, Any]]:
    """The entities in a publication's description by their ids, its files' paths among them; {} of another text."""
    try:
        return {entity["@id"]: entity for entity in json.loads(content)["@graph"]}
    except (ValueError, KeyError, TypeError):
        return {}


def scale_of(entities: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The scale that a description is of, by its entities; None where it says none."""
    return entities.get("#setting-scale", {}).get("value")


def _files(crate: ROCrate, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The entities of the files and their directories, by path; the workflow's own is another."""
    found = {
        path: crate.add_file(dest_path=path, properties=_file(path, content))
        for path, content in files.items()
        if path != WORKFLOW
    }
    folders: dict[str, list[Any]] = {}
    for path in found:
        folders.setdefault(path.rpartition("/")[0], []).append(found[path])
    for folder, own in folders.items():
        if folder:
            about = {"name": folder.capitalize(), "hasPart": _one(own)}
            found[f"{folder}/"] = crate.add_dataset(dest_path=f"{folder}/", properties=about)
    return found


def _file(path: str, content: bytes) -> dict[str, Any]:
    return {
        "name": path,
        "encodingFormat": FORMATS[path[path.rindex(".") :]],
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _workflow(crate: ROCrate, about: Citation, source: SourceState, content: bytes) -> Any:
    """The Snakefile, a copy of the repository's: its rules are there, at the commit that its version names."""
    commit = f"+{source.commit}{'.changed' if source.changed else ''}" if source.commit else ""
    workflow = crate.add_workflow(dest_path=WORKFLOW, main=True, lang="snakemake", lang_version=about.snakemake)
    properties = {
        "name": about.title,
        "description": about.abstract,
        "version": f"{about.version}{commit}",
        "license": _licence(crate, about),
        "creator": _authors(crate, about),
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        "encodingFormat": "text/plain",
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        **({"url": about.address} if about.address else {}),
    }
    for name, value in properties.items():
        workflow[name] = value
    return workflow


def _root(crate: ROCrate, results: Results, about: Citation, parts: Mapping[str, Any]) -> None:
    scale = results.configuration.scale_name
    properties = {
        "name": f"{about.title}: evidence of the {scale} scale",
        "description": f"Tables, figures, verdicts and runs of the {scale} scale: {results.configuration.scale.about}.",
        "datePublished": results.time.end.isoformat(),
        "license": _licence(crate, about),
        "author": _authors(crate, about),
        "publisher": _authors(crate, about),
        "conformsTo": [
            _context(crate, profile, {"@type": "CreativeWork", "name": name, "version": version})
            for profile, (name, version) in PROFILES.items()
        ],
    }
    for name, value in properties.items():
        crate.root_dataset[name] = value
    parts["README.md"]["about"] = crate.root_dataset


def _settings(crate: ROCrate, results: Results) -> list[Any]:
    """The configuration that decides results, as property values."""
    given = results.configuration.settings.given() | {"seeds": results.configuration.seeds}
    return [
        _context(crate, f"#setting-{name}", {"@type": "PropertyValue", "name": name, "value": _text(given[name])})
        for name in SETTINGS
        if name in given
    ]


def _parameters(crate: ROCrate, workflow: Any, way: str, entities: Iterable[Any]) -> None:
    """A formal parameter of the workflow for each of what it was given, or gave."""
    kinds = {"File": "File", "Dataset": "Dataset", "PropertyValue": "Text"}
    for entity in entities:
        identifier = f"#{way}-{entity.id.strip('#/').removeprefix('setting-').replace('/', '-')}"
        name = entity["name"]
        parameter = crate.add_formal_parameter(name, kinds[entity.type], identifier, properties={"workExample": entity})
        entity["exampleOfWork"] = parameter
        workflow.append_to(way, parameter)


def _data(crate: ROCrate, results: Results) -> list[Any]:
    """Each dataset as it was prepared, with the files that it was made of."""
    prepared: dict[str, Row] = {}
    for row in results.summary:
        prepared.setdefault(row["data_digest"], row)
    return [_dataset(crate, results, digest, row) for digest, row in prepared.items()]


def _dataset(crate: ROCrate, results: Results, digest: str, row: Row) -> Any:
    entry = results.configuration.datasets.get(row["dataset"])
    about: dict[str, Any] = {"@type": "CreativeWork", "name": row["dataset_title"], "sha256": digest}
    about["description"] = f"Prepared arrays, with the settings {row['data']}; the digest is of their content."
    if entry is not None:
        sources = [_source(crate, row["dataset"], *item) for item in entry.files.items()]
        about |= {"license": entry.licence, "citation": entry.citation}
        about |= {"isBasedOn": _one(sources)} if sources else {}
    return _context(crate, f"#data-{row['dataset']}-{digest[:12].replace(' ', '-')}", about)


def _source(crate: ROCrate, dataset: str, name: str, file: RemoteFile) -> Any:
    """A file that is downloaded, where it is to be had, and the digest that it is held to."""
    of = f"the list that `sha256sum {file.members}` prints" if file.archive else "its content once decompressed"
    about = {"@type": "CreativeWork", "name": f"{dataset}/{name}", "sha256": file.sha256}
    about |= {"description": f"The digest is of {of}.", **({"url": _one(file.urls)} if file.urls else {})}
    return _context(crate, f"#file-{dataset}-{name}", about)


def _action(crate: ROCrate, results: Results, workflow: Any, objects: list[Any], outputs: list[Any]) -> None:
    time, scale = results.time, results.configuration.scale_name
    action = crate.add_action(
        workflow,
        identifier="#run",
        object=objects,
        result=outputs,
        properties={
            "@type": "CreateAction",
            "name": f"The workflow at the {scale} scale",
            "description": f"{len(results.runs)} runs, and what is made of them. It began with the first job and ended "
            "with the last, each as it last ran; there may be pauses between them.",
            "startTime": time.start.isoformat(),
            "endTime": time.end.isoformat(),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "resourceUsage": _usage(crate, results),
        },
    )
    crate.root_dataset["mentions"] = action


def _usage(crate: ROCrate, results: Results) -> list[Any]:
    """The machine, and what was used of it."""
    time, found = results.time, {"wall-time": ("h", f"{results.time.wall_hours:.3f}")}
    found["device-time"] = ("h", f"{time.device_hours:.3f}")
    found["device"] = ("", ", ".join(sorted({row["device"] for row in results.runs})))
    if results.processors:
        found["processor-of-measured-costs"] = ("", ", ".join(results.processors))
    return [
        _context(
            crate,
            f"#usage-{name}",
            {"@type": "PropertyValue", "name": name, "value": value, **({"unitText": unit} if unit else {})},
        )
        for name, (unit, value) in found.items()
    ]


def _software(crate: ROCrate, name: str, versions: list[str]) -> Any:
    address = ADDRESSES.get(name, f"https://pypi.org/project/{name}/")
    about = {"@type": "SoftwareApplication", "name": name, "url": address, "softwareVersion": ", ".join(versions)}
    return _context(crate, address, about)


def _licence(crate: ROCrate, about: Citation) -> Any:
    address = f"https://spdx.org/licenses/{about.licence}"
    return _context(crate, address, {"@type": "CreativeWork", "name": about.licence, "url": address})


def _authors(crate: ROCrate, about: Citation) -> Any:
    """The organisations that CITATION.cff names."""
    address = {"url": about.address} if about.address else {}
    entities = {
        f"#{name.replace(' ', '-')}": {"@type": "Organization", "name": name, **address} for name in about.authors
    }
    return _one([_context(crate, identifier, entity) for identifier, entity in entities.items()])


def _one(values: list[Any]) -> Any:
    """A list, or its only value: an array of one is not recommended."""
    return values[0] if len(values) == 1 else values


def _context(crate: ROCrate, identifier: str, properties: Mapping[str, Any]) -> Any:
    """The entity of an id, made where it is not there."""
    return crate.get(identifier) or crate.add(ContextEntity(crate, identifier, properties=dict(properties)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
