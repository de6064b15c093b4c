"""The publication as a whole: its files, its size, and its place, where it stands complete or not at all."""

import csv
import io
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.errors import UserError
from hidden_dynamics.measurements import costs, features
from hidden_dynamics.publication.changed_settings import COLUMNS as SETTING_COLUMNS
from hidden_dynamics.publication.changed_settings import changed_settings
from hidden_dynamics.publication.citation import citation
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.publication.crate import METADATA, WORKFLOW, described, metadata, scale_of
from hidden_dynamics.publication.findings import findings
from hidden_dynamics.publication.readme import path_in, readme
from hidden_dynamics.publication.results_read import Results
from hidden_dynamics.publication.run_rows import NUMBERED, RUN_COLUMNS
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.system.files import atomic, naming_the_disk

LIMIT = 4_000_000  # bytes
WIDTH, COLOURS = 1200, 128  # of a figure, at most: a quarter of its bytes, and sharp on a page of text
NAMED = 5  # of files that are too large, or not of a publication
MEASURED = {"costs": costs.COLUMNS, "features": features.COLUMNS}  # of artifacts' inputs
PLACES = ("directory", "embeddings")


def publication(results: Results, repository: Path, root: Path) -> dict[str, bytes]:
    """The content of every file by its path, the description of them all last.

    Args:
        repository: where Snakefile, CITATION.cff and the lock are.
        root: where the results directory is.

    Raises:
        UserError: a result is missing or damaged, or all together is larger than `LIMIT`.
    """
    command = command_of(results.configuration)
    why = {name: _why(results, artifact, root) for name, artifact in results.artifacts.items()}
    there = {name: artifact for name, artifact in results.artifacts.items() if not why[name]}
    absent = [(artifact, why[name]) for name, artifact in results.artifacts.items() if why[name]]
    shown = {name: path_in(artifact) for name, artifact in there.items()}
    measured = _measured(there.values(), root)
    files = {
        "README.md": readme(results, shown, absent, list(measured), command).encode(),
        **{name: content.encode() for name, content in findings(results, command).items()},
        "verdicts.csv": _csv(NUMBERED, results.claims),
        "runs.csv": _csv(RUN_COLUMNS, results.runs),
        "settings.csv": _csv(SETTING_COLUMNS, _settings(results)),
        **{shown[name]: _content(artifact, root) for name, artifact in there.items()},
        **measured,
        WORKFLOW: (repository / WORKFLOW).read_bytes(),
    }
    files[METADATA] = metadata(results, citation(repository), files)
    _check_size(files)
    return files


def _settings(results: Results) -> list[Row]:
    return changed_settings(results.configuration, dict.fromkeys(row["task"] for row in results.summary))


def _rendered(artifact: Artifact, root: Path) -> Path:
    """The file of an artifact that is published."""
    paths = artifact.configuration.paths
    table = artifact.form == "table"
    return root / (paths.table(artifact.name, "md") if table else paths.figure(artifact.name, "png"))


def _content(artifact: Artifact, root: Path) -> bytes:
    path = _rendered(artifact, root)
    return path.read_bytes() if artifact.form == "table" else reduced(path, WIDTH, COLOURS)


def reduced(path: Path, width: int, colours: int) -> bytes:
    """The PNG, at most so many pixels wide and high, in at most so many colours.

    Raises:
        UserError: the file is no PNG.
    """
    try:
        image = Image.open(path, formats=["PNG"])
    except OSError:
        raise UserError(f"{path} is not a PNG: remove it and run snakemake again.", file=path) from None
    with image:
        small = image.convert("RGB")
    small.thumbnail((width, width))
    buffer = io.BytesIO()
    small.quantize(colours, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _measured(artifacts: Iterable[Artifact], root: Path) -> dict[str, bytes]:
    """What was measured apart from the runs, without the columns that say where a machine has its files."""
    named = [(kind, path) for one in artifacts for kind, path in one.inputs().items() if kind in MEASURED]
    found = {}
    for kind, path in dict.fromkeys(named):
        if (root / path).is_file():
            columns = [column for column in MEASURED[kind] if column not in PLACES]
            rows = [{column: row[column] for column in columns} for row in read_rows(root / path, MEASURED[kind])]
            found[f"{kind}/{Path(path).name}"] = _csv(columns, rows)
    return found


def _why(results: Results, artifact: Artifact, root: Path) -> str:
    """The reason why an artifact is not shown, "" where it is: its data, which is named, is left out or has no runs, or
    it was not rendered."""
    if artifact.is_left_out:
        left_out = dict.fromkeys(results.configuration.left_out[task] for task in artifact.tasks())
        return f"{', '.join(left_out)}: left out (leave_out)"
    tasks, lacking = {cell.task for cell in artifact.shown()}, results.lacking(artifact)
    if tasks and tasks == lacking.keys():
        return f"there are no runs on {', '.join(dict.fromkeys(lacking.values()))}"
    return "" if _rendered(artifact, root).is_file() else "it was not rendered"


def _csv(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def _check_size(files: Mapping[str, bytes]) -> None:
    whole = sum(map(len, files.values()))
    if whole <= LIMIT:
        return
    largest = sorted(files, key=lambda path: len(files[path]), reverse=True)[:NAMED]
    raise UserError(
        f"The publication would have {whole:,} bytes, {whole - LIMIT:,} more than the {LIMIT:,} that are kept with the "
        f"code. Its largest files: {', '.join(f'{path} ({len(files[path]):,})' for path in largest)}.",
        file=largest[0],
        key="evidence",
    )


def publish(files: Mapping[str, bytes], directory: Path) -> None:
    """Put the files in the place of what was published there before.

    They are written beside it and moved there when they are whole. A kill between the two moves leaves neither there,
    and both beside it under a hidden name.

    Raises:
        UserError: the directory has something else in it, which is named, or the publication of another scale.
        OSError: the disk is full or read-only, and is named.
    """
    _refuse(directory, files)
    with naming_the_disk(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}.") as beside:
            new, old = Path(beside, "new"), Path(beside, "old")
            for path, content in files.items():
                with atomic(new / path, "wb") as handle:
                    handle.write(content)
            if directory.exists():
                directory.rename(old)
            try:
                new.rename(directory)
            except OSError:
                if old.exists():
                    old.rename(directory)
                raise


def _refuse(directory: Path, files: Mapping[str, bytes]) -> None:
    """Where the directory has what is of no publication, or of that of another scale."""
    there = _description(directory)
    others = _others(directory, there)
    if others:
        raise UserError(
            f"{directory} has what is of no publication: {', '.join(map(str, others[:NAMED]))}. Nothing in it was "
            "changed. Move that elsewhere, or name another directory (evidence in config.yaml).",
            file=others[0],
            key="evidence",
        )
    before, own = scale_of(there), scale_of(described(files[METADATA]))
    if before not in (None, own):
        raise UserError(
            f"{directory} is the publication of the scale {before}, not of {own}. Nothing in it was changed. Name "
            "another directory (evidence in config.yaml), or move that one elsewhere.",
            file=directory,
            key="evidence",
        )


def _description(directory: Path) -> Mapping[str, Mapping[str, Any]]:
    """The entities of the publication that is there, by their ids; none where none is."""
    path = directory / METADATA
    return described(path.read_bytes()) if path.is_file() else {}


def _others(directory: Path, description: Collection[str]) -> list[Path]:
    """The files there which no publication wrote: all that the description of the one before does not name."""
    if not directory.is_dir():
        return [directory] if directory.exists() else []
    there = sorted(path for path in directory.rglob("*") if not path.is_dir())
    return [path for path in there if path.relative_to(directory).as_posix() not in description]
