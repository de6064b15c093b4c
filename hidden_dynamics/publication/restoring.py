"""A publication that is there: its files, verified by their digests, and its runs, put back as finished runs.

It may be anybody's, and its digests are its own: nothing is written outside the results, whatever it names.
"""

import functools
import itertools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import Configuration, load, read_yaml
from hidden_dynamics.configuration.runs import find
from hidden_dynamics.errors import UserError
from hidden_dynamics.publication.command import SETTINGS
from hidden_dynamics.results.archives import KEPT, RUNS, unpacked, write
from hidden_dynamics.results.run_files import RECORD, disagreement
from hidden_dynamics.system.files import ROOT

METADATA = "ro-crate-metadata.json"
RECORDS = "records"
CONFIGURATION = f"{RECORDS}/configuration.tar.xz"
MEASURED = ("costs", "features", "floors", "jacobian")  # directories of what is measured beside the runs
PARTS = re.compile(r"config\.yaml|config/[a-z]+\.yaml")
PUT_BACK, THERE = "put back", "there already"


class Publication:
    """The publication in a directory.

    Attributes:
        entities: of its description by id, its files' paths among them; none where there is no description.

    Raises:
        UserError: its description is damaged.
    """

    def __init__(self, directory: Path):
        self.directory, path = directory, directory / METADATA
        try:
            self.entities: Mapping[str, Any] = {str(one["@id"]): one for one in json.loads(path.read_bytes())["@graph"]}
        except (FileNotFoundError, NotADirectoryError):
            self.entities = {}
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path} is damaged: restore it with git.", file=path) from None

    def read(self, path: str) -> bytes:
        """A `UserError` where the file is missing, or is not what was published."""
        file, published = self.directory / path, self.entities.get(path, {}).get("sha256")
        if not file.is_file() or sha256(content := file.read_bytes()).hexdigest() != published:
            raise UserError(f"{file} is missing, or not of its digest in {METADATA}: restore it with git.", file=file)
        return content

    def under(self, folder: str) -> list[str]:
        return [path for path in self.entities if path.startswith(f"{folder}/")]

    @functools.cached_property
    def configuration(self) -> Configuration:
        """The configuration with which it was made; its results under a root, wherever they were.

        Of its config.yaml the settings that decide results are taken; the others are those that are here.
        """
        files = unpacked(self.read(CONFIGURATION), PARTS, self.directory / CONFIGURATION)
        with tempfile.TemporaryDirectory() as place:
            write(Path(place), files)
            theirs, here = read_yaml(Path(place, "config.yaml")), read_yaml(ROOT / "config.yaml")
            settings = {name: value for name, value in here.items() if name not in SETTINGS} | {"results": "results"}
            return load(settings | {name: theirs[name] for name in SETTINGS if name in theirs}, Path(place))

    def runs(self) -> Iterator[tuple[str, dict[str, bytes]]]:
        """(id, files by name) of each run, task by task."""
        for path in self.under(RECORDS):
            if path != CONFIGURATION:
                files = unpacked(self.read(path), RUNS, self.directory / path)
                task = Path(path).name.removesuffix(".tar.xz")
                for name, own in itertools.groupby(sorted(files), key=lambda file: file.rpartition("/")[0]):
                    yield f"{task}/{name}", {Path(file).name: files[file] for file in own}


def put_all_back(publication: Publication, root: Path, configuration: Configuration | None = None) -> dict[str, str]:
    """Put runs back as finished runs, and then what was measured of their tasks; what is there already stays.

    Args:
        root: where the results directory is.
        configuration: with which a run's specification and code must agree, and its data where they are prepared; None:
            all runs are put back, where the configuration that was published has them.

    Returns:
        By id: `PUT_BACK`, `THERE`, or why it is not put back ("of other code").

    Raises:
        UserError: a file of the publication was altered, or is none; nothing is written.
    """
    if not publication.under(RECORDS):
        text = f"{publication.directory} is no publication of runs: it has no {METADATA}, or one that names no records."
        raise UserError(text, file=publication.directory)
    measured = {path: publication.read(path) for folder in MEASURED for path in publication.under(folder)}
    place, outcome = configuration or publication.configuration, {}
    for name, files in publication.runs():  # all archives are read once before anything of them is written
        if RECORD not in files:
            raise UserError(f"{publication.directory}: {name} has no {RECORD}.", publication.directory, name)
    for name, files in publication.runs():
        directory = root / place.results / "runs" / name
        record = json.loads(files[RECORD])
        why = refusal(configuration, name, record, root) if configuration else ""
        why = "that failed" if record["status"] == "failed" else why
        outcome[name] = why or (THERE if (directory / RECORD).is_file() else PUT_BACK)
        if outcome[name] == PUT_BACK:
            write(directory / KEPT, files)
            write(directory, files)
    refused = {name.partition("/")[0] for name, what in outcome.items() if what not in (PUT_BACK, THERE)}
    tasks = {place.paths.measured("floors", task): {task} for task in place.tasks}
    tasks |= {path: {*one.tasks()} for one in load_artifacts(place).values() for path in one.inputs().values()}
    for path, content in measured.items():
        file = f"{place.results}/{path}"
        if file in tasks and not refused & tasks[file] and not (root / file).is_file():
            write((root / file).parent, {Path(file).name: content})
    return outcome


def refusal(configuration: Configuration, name: str, record: Mapping[str, Any], root: Path) -> str:
    """Why a published run cannot be put back ("of other code"); "" where it can."""
    task, sized_model, seed = name.split("/")
    try:
        run = find(configuration, task, sized_model, int(seed.removeprefix("seed")))
    except UserError:
        return "not configured"
    prepared = root / Path(configuration.paths.prepared(run.spec["dataset"], run.spec["data"])).with_suffix(".json")
    data = json.loads(prepared.read_bytes())["digest"] if prepared.is_file() else record["dataset"]["digest"]
    what = disagreement(run, record) or ("data" if data != record["dataset"]["digest"] else "")
    return f"of other {what}" if what else ""
