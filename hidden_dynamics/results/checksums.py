"""Integrity checks: a run's record (run.json) has the SHA-256 of the files beside it and its own.

Nothing here imports a numerical library: what is drawn of runs verifies what it reads.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hidden_dynamics.configuration.runs import WEIGHTS, Run
from hidden_dynamics.errors import UserError

RECORD = "run.json"


def with_checksums(record: Mapping[str, Any], directory: Path, names: Iterable[str]) -> dict[str, Any]:
    """`record` with the SHA-256 of the files `names` in `directory`, and with its own (`checksum`)."""
    record = {**record, "files": {name: _sha256(directory / name) for name in names}}
    return {**record, "checksum": _checksum_of(record)}


def verified(path: Path) -> dict[str, Any]:
    """The record of a run, `path` or the one beside it, where both are what the run left behind.

    Raises:
        UserError: one is missing or was altered.
    """
    record_path = path.with_name(RECORD)
    try:
        record = json.loads(record_path.read_bytes())
        if _checksum_of({name: value for name, value in record.items() if name != "checksum"}) != record["checksum"]:
            raise _altered(record_path, "its checksum")
        if path != record_path and _sha256(path) != record["files"].get(path.name):
            raise _altered(path, f"its digest in {RECORD}")
        return record
    except FileNotFoundError as error:
        text = f"{error.filename} is missing: its run has not finished, or it was removed; run snakemake again."
        raise UserError(text, file=error.filename) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{record_path} is not readable ({error!r}): {remedy(record_path)}", record_path) from None


def altered(files: Mapping[str, bytes]) -> list[str]:
    """The names of a run's files, run.json among them, that are not what this one vouches for."""
    record = json.loads(files[RECORD])
    found = [] if record.pop("checksum") == _checksum_of(record) else [RECORD]
    others = {name: content for name, content in files.items() if name != RECORD}
    return found + [name for name in others if hashlib.sha256(others[name]).hexdigest() != record["files"].get(name)]


def check_is_of(run: Run, record: Mapping[str, Any], path: Path) -> None:
    """Refuse a record (of `path`) of another run, or of this one specified otherwise than it is configured.

    Raises:
        UserError: it is; the message says what differs.
    """
    if record["run"] != run.id:
        raise UserError(f"{path} describes {record['run']}, not {run.id}: {remedy(path)}", file=path)
    configured = json.loads(json.dumps(run.spec))
    differing = sorted(key for key in {*configured, *record["spec"]} if configured.get(key) != record["spec"].get(key))
    if differing:
        text = f"{path}: its run's {', '.join(differing)} differ from what is configured: {remedy(path)}"
        raise UserError(text, file=path, key=", ".join(f"spec.{key}" for key in differing))


def remedy(path: Path) -> str:
    """The remedy for a damaged file of a run, in words; nothing is trained again while the checkpoint is whole."""
    gone = path.with_name(RECORD) if path.name == WEIGHTS else path  # Snakemake does not know of the weights
    return f"remove {gone} and run snakemake again (or: snakemake {gone}), which restores it from the run's checkpoint."


def _altered(path: Path, what: str) -> UserError:
    return UserError(f"{path} was altered since its run wrote it ({what} differs): {remedy(path)}", file=path)


def _checksum_of(record: Mapping[str, Any]) -> str:
    as_read = json.loads(json.dumps(record))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
