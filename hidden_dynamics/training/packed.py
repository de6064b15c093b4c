"""Checkpoints of runs in one file, with which they go on elsewhere: a tar of their files, each of which begins with its
SHA-256. It may be anybody's: nothing of it is believed."""

import io
import json
import pickle
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, find
from hidden_dynamics.errors import UserError
from hidden_dynamics.system.files import ROOT, atomic
from hidden_dynamics.training import checkpoint
from hidden_dynamics.training.checkpoint import NAME, Checkpoint, checkpoint_of

NAMES = re.compile(rf"(\w+)/([A-Za-z0-9][A-Za-z0-9._-]*)/seed([0-9]+)/{re.escape(NAME)}")
NEEDED = {"fingerprint": str, "data": str, "epochs": int | float}
PUT_BACK, THERE = "put back", "there already"


def pack(file: Path, runs: Iterable[Run]) -> list[str]:
    """Write the checkpoints that the runs have; the ids of these runs.

    A `UserError` where there is none, one is damaged, or the file would lie in the repository.
    """
    if file.resolve().is_relative_to(ROOT):
        raise UserError(f"{file} is in the repository, whose history would keep it: name one outside.", file)
    packed: list[str] = []
    with atomic(file, "wb") as handle, tarfile.open(fileobj=handle, mode="w") as archive:
        for run, path in ((run, Path(run.directory, NAME)) for run in runs):
            if path.is_file():
                content = path.read_bytes()  # at once: a training may write the next one
                if not checkpoint.is_whole(content):
                    raise UserError(f"{path} is damaged (its digest differs): remove it, or choose other runs.", path)
                member = tarfile.TarInfo(f"{run.id}/{NAME}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
                packed.append(run.id)
        if not packed:
            raise UserError(f"none of these runs has a checkpoint: {file} is not written.", file)
    return packed


def put_back(file: Path, root: Path, configuration: Configuration) -> dict[str, str]:
    """Put checkpoints in the directories of their runs, where specification and code are as there, and the data, where
    they are prepared; one that is there and as far stays. `root` is where the results directory is.

    What is returned is, by the name of each, `PUT_BACK`, `THERE`, or why it is not put back. A `UserError` where the
    file is none of `pack`, or holds something else, which is the error's key: then nothing is written.
    """
    outcome = {name: _outcome(configuration, root, name, _state(file, name, held)) for name, held in _members(file)}
    for name, content in _members(file):
        if outcome[name] == PUT_BACK:
            with atomic(root / configuration.results / "runs" / name, "wb") as handle:
                handle.write(content)
    return outcome


def _members(file: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of its members, one after another: none is larger than the file."""
    try:
        with tarfile.open(file, mode="r:") as archive:
            for member in archive:
                extracted = archive.extractfile(member) if member.isreg() and not member.issparse() else None
                if extracted is None or not NAMES.fullmatch(member.name):
                    raise _refused(file, member.name, "which is no checkpoint")
                yield member.name, extracted.read()
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise UserError(f"{file} is no file of scripts/checkpoints.py ({error}): nothing is restored.", file) from None


def _state(file: Path, name: str, content: bytes) -> Mapping[str, Any]:
    if not checkpoint.is_whole(content):
        raise _refused(file, name, "which is not of its digest")
    try:
        state = checkpoint.state_in(content)
    except (pickle.UnpicklingError, EOFError, RuntimeError, ValueError) as error:
        raise _refused(file, name, f"which cannot be read ({' '.join(str(error).split())[:80]})") from None
    whole = all(isinstance(state.get(key), kind) for key, kind in NEEDED.items())
    if not whole or state.get("format") != checkpoint.FORMAT:
        raise _refused(file, name, "which is of another version of this project")
    return state


def _refused(file: Path, name: str, why: str) -> UserError:
    return UserError(f"{file} holds {name!r}, {why}: nothing is restored.", file, name)


def _outcome(configuration: Configuration, root: Path, name: str, state: Mapping[str, Any]) -> str:
    task, model, seed, _ = name.split("/")
    try:
        run = find(configuration, task, model, int(seed.removeprefix("seed")))
    except UserError:
        return "not configured"
    expected = checkpoint_of(run, state["data"])
    if state["fingerprint"] not in expected.equal:
        return "of other specification or code"
    data = root / Path(configuration.paths.prepared(run.spec["dataset"], run.spec["data"])).with_suffix(".json")
    if data.is_file() and json.loads(data.read_bytes())["digest"] != state["data"]:
        return "of other data"
    there = Checkpoint(root / run.directory, expected.fingerprint, expected.equal).epochs()
    record, epochs = root / run.directory / "run.json", -1.0 if there is None else there
    if record.is_file():
        epochs = max(epochs, json.loads(record.read_bytes())["spec"]["training"]["epochs"])
    return THERE if epochs >= state["epochs"] else PUT_BACK
