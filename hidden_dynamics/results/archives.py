"""Records of runs: the files of a finished run without its weights, in one archive for each task of a publication.

A record that is restored lies in `record/` in its run's directory, and the run's files beside it are made of it: now,
and again wherever the run's job is done again.
"""

import io
import lzma
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration.runs import GRADIENTS, OUTPUTS, PREDICTIONS, WEIGHTS, Run
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.run_files import ITEMS, RECORD, disagreement, is_long_enough, verified
from hidden_dynamics.system.files import atomic

KEPT = "record"
FILES = "|".join(re.escape(name) for name in (*OUTPUTS, GRADIENTS, PREDICTIONS, ITEMS) if name != WEIGHTS)
RUNS = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]*/seed[0-9]+/({FILES})")  # the names in a task's archive


def files_of_run(directory: Path) -> dict[str, bytes]:
    """The files of the run in `directory` by name, each verified by its digest in run.json; without its weights. A
    `UserError` where one is missing or was altered, or the run has not finished, or failed."""
    path = directory / RECORD
    record = verified(path)
    if record["status"] == "failed":  # no result; and its message may tell of the machine
        raise UserError(f"{path} says that its run failed: mend the cause, and run snakemake again.", file=path)
    names = [name for name in (RECORD, *record["files"]) if re.fullmatch(FILES, name)]  # earlier runs have others
    for name in names:
        verified(directory / name)
    return {name: (directory / name).read_bytes() for name in names}


def restored(run: Run, data: str) -> dict[str, Any] | None:
    """The content of run.json of the record that was restored for the run; None where there is none, or one of another
    specification, code or data (of this digest). A `UserError` where it was altered."""
    path = Path(run.directory, KEPT, RECORD)
    record = verified(path) if path.is_file() else None
    return record if record and record["dataset"]["digest"] == data and not disagreement(run, record) else None


def put_back(run: Run, data: str) -> bool:
    """Make the run's files of the record that was restored for it; False, and nothing is made, where there is none, or
    it is of the run's first part alone. A `UserError` where the record was altered."""
    record, directory = restored(run, data), Path(run.directory)
    if record is None or not is_long_enough(run, record):
        return False
    write(directory, files_of_run(directory / KEPT))
    return True


def write(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths, run.json last: where it is, the run is whole."""
    for name in sorted(files, key=lambda name: (name == RECORD, name)):
        with atomic(directory / name, "wb") as handle:
            handle.write(files[name])


def archives(records: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """The archive of each task's records, by its file's name; records are by the ids of their runs."""
    tasks: dict[str, dict[str, bytes]] = {}
    for run, files in records.items():
        task, _, folder = run.partition("/")
        tasks.setdefault(task, {}).update({f"{folder}/{name}": content for name, content in files.items()})
    return {f"{task}.tar.xz": packed(files) for task, files in tasks.items()}


def packed(files: Mapping[str, bytes]) -> bytes:
    """A .tar.xz of files by their paths: the same bytes of the same files, whoever packs them, and when.

    Files of one name stand together, which packs them smaller.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(files, key=lambda path: (path.rpartition("/")[2], path)):
            member = tarfile.TarInfo(path)  # nobody's, of 1970
            member.size = len(files[path])
            archive.addfile(member, io.BytesIO(files[path]))
    return lzma.compress(buffer.getvalue(), preset=6 | lzma.PRESET_EXTREME)


def unpacked(content: bytes, names: re.Pattern[str], archive: object = "") -> dict[str, bytes]:
    """The files in an archive such as `packed` makes, which anybody may have made: its names are not believed.

    Args:
        names: what a file in it may be called.
        archive: its own file, for messages.

    Raises:
        UserError: it is no such archive, or has a member, the error's key, that is no file of such a name.
    """
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(content)), mode="r:") as members:
            for member in members:
                if not member.isreg() or not names.fullmatch(member.name):
                    text = f"{archive} holds {member.name!r}, which is no file of a publication: nothing is restored."
                    raise UserError(text, archive, member.name)
                file = members.extractfile(member)
                assert file is not None  # of a regular file
                files[member.name] = file.read()
    except (lzma.LZMAError, tarfile.TarError, ValueError, OverflowError) as error:
        raise UserError(f"{archive} is no archive of a publication ({error}): nothing is restored.", archive) from None
    return files
