"""The publication of a scale: its files and their place, where they stand complete or not at all."""

import csv
import io
import json
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.needed import tasks_of_claims
from hidden_dynamics.configuration import Configuration, all_runs, read_yaml
from hidden_dynamics.configuration.loading import PARTS
from hidden_dynamics.errors import UserError
from hidden_dynamics.pages.index import index_page
from hidden_dynamics.pages.sections import drawn_of, in_order
from hidden_dynamics.publication.command import settings_of
from hidden_dynamics.publication.restoring import CONFIGURATION, METADATA, RECORDS, Publication
from hidden_dynamics.publication.texts import findings_page, readme
from hidden_dynamics.results.archives import archives, files_of_run, packed, write
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import COLUMNS, RunRecord, line_of
from hidden_dynamics.results.rows import csv_text
from hidden_dynamics.results.run_files import RECORD
from hidden_dynamics.system.files import ROOT, naming_the_disk

WIDTH, COLOURS = 1200, 128  # of a figure, at most: a quarter of its bytes, and sharp on a page of text
LEFT_OUT = ("scale", "directory", "hyperparameters", "training", "split", "solver")
CRATE = "https://w3id.org/ro/crate/1.1"
FORMATS = {"md": "text/markdown", "csv": "text/csv", "html": "text/html", "png": "image/png", "xz": "application/x-xz"}
RUN_COLUMNS = ("run", *(column for column in COLUMNS if column not in LEFT_OUT), "evaluation_seconds")


def publication(configuration: Configuration, root: Path) -> dict[str, bytes]:
    """The content of every file by its path, the description of them all last; `root` is where the results directory
    is. A `UserError` where a run is missing or damaged."""
    paths = configuration.paths
    runs = {run.run.id: run for run in Evidence.read(configuration, all_runs(configuration), root).runs}
    records = {name: files_of_run(root / run.run.directory) for name, run in runs.items()}
    artifacts = {place_of(one): one for one in in_order(configuration)}
    made = artifacts.values()
    measured = [path for one in made for path in (*one.inputs().values(), *one.floors().values())]
    measured += [paths.measured("floors", task) for task in tasks_of_claims(configuration)]
    summaries = {"verdicts": paths.verdicts, "statistics": paths.statistics, "comparisons": paths.comparisons}
    files = {
        "findings.md": findings_page(configuration, list(runs.values()), root).encode(),
        "README.md": readme(configuration, list(runs.values()), artifacts).encode(),
        "runs.csv": csv_text(RUN_COLUMNS, map(run_row, runs.values())).encode(),
        **{f"{name}.csv": (root / path).read_bytes() for name, path in summaries.items()},
        **{path: content for one in made for path, content in _drawn(one, root).items()},
        **{"/".join(Path(path).parts[-2:]): (root / path).read_bytes() for path in dict.fromkeys(measured)},
        **{f"{RECORDS}/{name}": content for name, content in archives(records).items()},
        CONFIGURATION: packed(_configuration(configuration)),
    }
    files["index.html"] = index_page(configuration, root, files).encode()
    ended = max((root / run.run.directory / RECORD).stat().st_mtime for run in runs.values())
    files[METADATA] = metadata(configuration, len(runs), datetime.fromtimestamp(int(ended), UTC), files)
    return files


def run_row(run: RunRecord) -> dict[str, str]:
    """The line of a run in runs.csv; of its variants those that are not the paper's text."""
    variants = {variant: value for variant, value in run.variants.items() if value != "published"}
    about = {"run": run.run.id, "variants": json.dumps(variants, sort_keys=True)}
    about |= {"evaluation_seconds": str(run.seconds["evaluation"])}
    line = line_of(run) | about
    return {column: line[column] for column in RUN_COLUMNS}


def _configuration(configuration: Configuration) -> dict[str, bytes]:
    """config.yaml, of which the settings that decide results alone (others have paths of the user's), and config/."""
    settings = settings_of(configuration)
    parts = {f"config/{name}.yaml": (ROOT / f"config/{name}.yaml").read_bytes() for name in PARTS}
    return {"config.yaml": yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).encode(), **parts}


def place_of(artifact: Artifact) -> str:
    """The file in the publication of a table, or of a figure's notes."""
    return f"{artifact.form}s/{artifact.name}.md"


def _drawn(artifact: Artifact, root: Path) -> dict[str, bytes]:
    """A table as text; of a figure its notes and, if anything is drawn, the picture and its numbers; by path."""
    files = {place_of(artifact): (root / artifact.file("md")).read_bytes()}
    if artifact.form == "figure" and not drawn_of(artifact, root).instead:
        files[f"figures/{artifact.name}.png"] = reduced(root / artifact.file("png"), WIDTH, COLOURS)
        files[f"figures/{artifact.name}.csv"] = (root / artifact.file("csv")).read_bytes()
    return files


def reduced(path: Path, width: int, colours: int) -> bytes:
    """The PNG, at most so many pixels wide and high, in at most so many colours."""
    with Image.open(path, formats=["PNG"]) as image:
        small = image.convert("RGB")
    small.thumbnail((width, width))
    buffer = io.BytesIO()
    small.quantize(colours, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def metadata(configuration: Configuration, count: int, ended: datetime, files: Mapping[str, bytes]) -> bytes:
    """Files by path, with their digests, described for machines as an RO-Crate (https://w3id.org/ro/crate/1.1).

    Args:
        count: of the runs.
        ended: of what time the last of their files is.
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
    this = {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": CRATE}, "about": {"@id": "./"}}
    terms = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
    graph = [this, root, *(_file(path, content) for path, content in files.items())]
    crate = {"@context": [f"{CRATE}/context", terms], "@graph": graph}
    return (json.dumps(crate, indent=1, ensure_ascii=False) + "\n").encode()


def _file(path: str, content: bytes) -> dict[str, Any]:
    kind = FORMATS.get(path.rpartition(".")[2], "application/octet-stream")
    about = {"@id": path, "@type": "File", "name": path, "encodingFormat": kind, "contentSize": str(len(content))}
    return about | {"sha256": sha256(content).hexdigest()}


def publish(files: Mapping[str, bytes], directory: Path) -> None:
    """Put the files in the place of what was published there before; they are written beside it first. A `UserError`
    names what else is in the directory, or a run in it that is not among these; an OSError a disk that is full or
    read-only."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    _refuse(directory, files["runs.csv"])
    with naming_the_disk(directory), tempfile.TemporaryDirectory(dir=directory.parent, prefix=".published") as beside:
        old, new = Path(beside, "old"), Path(beside, "new")
        write(new, files)
        try:
            if directory.exists():
                directory.rename(old)
            new.rename(directory)
        finally:
            if old.exists() and not directory.exists():
                old.rename(directory)


def _refuse(directory: Path, runs: bytes) -> None:
    """Refuse a directory with files that its description does not name, or with runs that are not among these."""
    published = Publication(directory)
    there = sorted(path for path in [directory, *directory.rglob("*")] if path.exists() and not path.is_dir())
    others = [path for path in there if path.relative_to(directory).as_posix() not in published.entities]
    if others:
        text = f"{others[0]} is of no publication: move it, or name another directory (evidence in config.yaml)."
        raise UserError(text, file=others[0], key="evidence")
    lost = sorted(_run_ids(published.read("runs.csv")) - _run_ids(runs)) if there else []
    if lost:
        text = f"{directory} has {len(lost)} runs that these lack, such as {lost[0]}: restore them"
        raise UserError(f"{text}, or publish elsewhere (evidence in config.yaml).", file=directory, key=lost[0])


def _run_ids(table: bytes) -> set[str]:
    return {row["run"] for row in csv.DictReader(io.StringIO(table.decode()))}
