"""Checkpoints that survive kills and damage: written atomically, digested, and the one before kept.

A checkpoint holds a fingerprint of all that determines the run: that of another run, or of an earlier format, is
ignored.
"""

import hashlib
import io
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

from hidden_dynamics.configuration.runs import Run, code_of
from hidden_dynamics.system.files import FULL, atomic

NEUTRAL = "when and where a state is kept changes no result; that it is kept whole is tested"

FORMAT = 2  # of a state; the first one lost, at a run's end, all weights but the tested ones
DIGEST_LENGTH = 64
SECONDS = 60.0
SECONDS_AFTER_AN_EVALUATION = 5.0
TIMES_A_SAVING = 50  # and not before so many times the last saving took: a large network's takes seconds


class Checkpoint:
    """The resume point of one run.

    Args:
        fingerprint: of the run's specification, code and data.
        equal: others that its checkpoint may have: those by code that was tried and found equal.
        code: that of the run's code; of a run that goes on, that by which it was begun, once `load` has found it.
    """

    def __init__(self, directory: Path, fingerprint: str, equal: Collection[str] = (), code: str = ""):
        self.path, self.previous = directory / "checkpoint.pt", directory / "checkpoint.previous.pt"
        self.fingerprint, self.equal, self.code = fingerprint, equal, code
        self._saved, self._took, self._warned = time.monotonic(), 0.0, False

    def due(self, after_evaluation: bool) -> bool:
        """Whether to save: every minute, soon after an evaluation, and for two per cent of the time at most."""
        wait = SECONDS_AFTER_AN_EVALUATION if after_evaluation else SECONDS
        return time.monotonic() - self._saved > max(wait, TIMES_A_SAVING * self._took)

    def save(self, state: Mapping[str, object]) -> None:
        """Write `state`; the checkpoint that was there becomes the previous one.

        On a full disk the training goes on, and is warned once: to stop would lose what was done since the last
        checkpoint, which stays. The next one that is due is tried again.
        """
        start = time.monotonic()
        buffer = io.BytesIO()
        header = {"format": FORMAT, "fingerprint": self.fingerprint, "code": self.code}
        torch.save({**header, **state}, buffer)
        content = buffer.getvalue()
        try:
            if self.path.exists():  # not after a failed writing: the previous one is the newest then
                self.path.replace(self.previous)
            with atomic(self.path, "wb") as handle:
                handle.write(hashlib.sha256(content).hexdigest().encode())
                handle.write(content)
            self._warned = False
        except OSError as error:
            if error.errno not in FULL:
                raise
            if not self._warned:
                advice = "Make room: the training goes on, but if it stops, what it does from here on is done again."
                warning = f"warning: {self.path} could not be written ({error.strerror}). {advice}"
                print(warning, file=sys.stderr, flush=True)
            self._warned = True
        self._saved = time.monotonic()
        self._took = self._saved - start

    def load(self) -> dict[str, Any] | None:
        """The newest state of this very run, on the CPU, or None; a file that is damaged is reported on stderr, and the
        previous one used."""
        for state in map(_read, (self.path, self.previous)):
            if state and state.get("format") == FORMAT and state["fingerprint"] in {self.fingerprint, *self.equal}:
                self.code = state.get("code", self.code)
                return state
        return None

    def epochs(self) -> float | None:
        """The epochs that `load` would go on from; None where it would give nothing."""
        state = self.load()
        return None if state is None else state["epochs"]

    def drop_previous(self) -> None:
        if self.path.exists():
            self.previous.unlink(missing_ok=True)

    def remove(self) -> None:
        for path in (self.path, self.previous):
            path.unlink(missing_ok=True)


def checkpoint_of(run: Run, data: str) -> Checkpoint:
    return Checkpoint(Path(run.directory), run.fingerprint(data), run.fingerprints(data), code_of(run))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    digest, state = content[:DIGEST_LENGTH], content[DIGEST_LENGTH:]
    if hashlib.sha256(state).hexdigest().encode() != digest:
        print(f"{path} is damaged (its digest differs): it is ignored.", file=sys.stderr)
        return None
    return torch.load(io.BytesIO(state), map_location="cpu", weights_only=True)  # no code in it is run
