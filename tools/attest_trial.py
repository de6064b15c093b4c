"""Train trials by the code of one tree, and keep what they gave: tools/attest.py starts it once for each tree.

    python tools/attest_trial.py TREE TRIALS OUT [--codes]

Of the tree's code it takes what both trees have, whatever else has changed: scripts/train.py, and the files that a run
leaves. OUT/<number>.pickle has what a trial gave, {part: {name: number, text or array}}, or the error that ended it.
With --codes nothing is trained: OUT/codes.json has the digest of each trial's code.
"""

import contextlib
import csv
import dataclasses
import gc
import importlib
import io
import json
import os
import pickle
import random
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

TREE, OUT = Path(sys.argv[1]), Path(sys.argv[3])
STOPPED = 128 + signal.SIGTERM
ENDED = (STOPPED, 128 + signal.SIGINT)  # by somebody else
# Of the record, what a training decides; of its history in a checkpoint, what is no time.
RECORDED = ("status", "diverged_at", "failure", "averaged_since", "iterations", "parameters", "naive", "test_set")
RECORDED += ("split", "limits", "reported")
STATE = ("network", "optimisers", "average", "hidden_state", "rng")
HISTORY = ("losses", "metrics", "function_evaluations", "gradient_norms", "averaged_since", "iteration")

Parts = dict[str, dict[str, Any]]


def main() -> None:
    trials = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    os.chdir(OUT)
    sys.path[:0] = [str(TREE / "scripts"), str(TREE)]
    configuration = importlib.import_module("hidden_dynamics.configuration")
    runs = importlib.import_module("hidden_dynamics.configuration.runs")
    settings = {"results": "results", "data": {"directory": "data", "mirror": None, "copies": {}}}
    loaded = {
        scale: configuration.load(configuration.parse_settings(json.dumps(settings | {"scale": scale})))
        for scale in {trial["scale"] for trial in trials}
    }
    found = [runs.find(loaded[trial["scale"]], trial["task"], trial["model"], trial["seed"]) for trial in trials]
    if "--codes" in sys.argv:
        Path("codes.json").write_text(json.dumps([runs.code_of(run) for run in found]), encoding="utf-8")
        return
    specified = [dataclasses.replace(run, spec=trial["spec"]) for run, trial in zip(found, trials, strict=True)]
    chosen: list[int] = []  # the number of the trial at hand; scripts/train.py gets its run, whatever it asks for
    configuration.load = lambda *_, **__: loaded[trials[chosen[-1]]["scale"]]
    runs.find = lambda *_, **__: specified[chosen[-1]]
    script = importlib.import_module("train")
    gc.enable()  # a script turns it off where it is imported
    for number, trial in enumerate(trials):
        chosen.append(number)
        with Path("log.txt").open("a") as log, contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            path = loaded[trial["scale"]].paths.prepared(trial["spec"]["dataset"], trial["spec"]["data"])
            try:
                given = tried(script.main, specified[number], trial, Path(path))
            except (Exception, SystemExit) as error:
                traceback.print_exc()
                given = {"error": {"": f"{type(error).__name__}: {' '.join(str(error).split())}"}}
        Path(f"{number}.pickle").write_bytes(pickle.dumps(given))


def tried(train: Callable[[], int], run: Any, trial: Mapping[str, Any], path: Path) -> Parts:
    """What a training by `scripts/train.py` gave, stopped after each of the trial's `stops` (backward passes) and
    continued."""
    import numpy as np
    import torch

    prepared = importlib.import_module("hidden_dynamics.data.prepared")
    spec, directory, parts = trial["spec"], Path(run.directory), {}
    about = {"dataset": spec["dataset"], "settings": spec["data"], "title": spec["dataset"]}
    with np.load(trial["arrays"]) as arrays:
        prepared.save(path, dict(arrays), about)
    random.seed(0)
    np.random.seed(0)
    names = ("--task", run.task, "--model", run.sized_model, "--seed", str(run.seed))
    sys.argv = ["train.py", *names, "--device", "cpu", "--threads", "1"]
    with _stops(trial["stops"]) as sent:
        stop = 1
        while (code := train()) == STOPPED and len(sent) == stop:
            parts |= _state(_read(directory / "checkpoint.pt"), f"stop {stop}")
            stop += 1
    if code in ENDED:
        raise KeyboardInterrupt
    if code:
        raise RuntimeError(f"scripts/train.py ends with {code}")
    parts |= _left(directory)
    parts["generators at the end"] = {
        "torch": torch.get_rng_state().numpy(),
        "numpy": repr(np.random.get_state()),
        "python": repr(random.getstate()),
    }
    return parts


@contextlib.contextmanager
def _stops(after: list[int]) -> Iterator[list[int]]:
    """A SIGTERM after these backward passes; gives those after which one was sent."""
    import torch

    backward, count, sent = torch.Tensor.backward, 0, []

    def counted(*arguments: Any, **named: Any) -> None:
        nonlocal count
        backward(*arguments, **named)
        count += 1
        if count in after:
            sent.append(count)
            os.kill(os.getpid(), signal.SIGTERM)

    torch.Tensor.backward = counted
    try:
        yield sent
    finally:
        torch.Tensor.backward = backward


def _read(path: Path) -> Any:
    """A file of torch's, whatever stands before it."""
    import torch

    content = path.read_bytes()
    return torch.load(io.BytesIO(content[content.index(b"PK\x03\x04") :]), map_location="cpu", weights_only=True)


def _state(checkpoint: Mapping[str, Any], stop: str) -> Parts:
    history = {f"{stop}: history: {name}": checkpoint.get("history", {}).get(name, ...) for name in HISTORY}
    states = {f"{stop}: {name}": checkpoint.get(name, ...) for name in STATE}
    return {part: _flat(content) for part, content in {**history, **states}.items() if content is not ...}


def _left(directory: Path) -> Parts:
    """What the run left: losses, evaluations by metric, weights, arrays, and what its record says of them."""
    import numpy as np

    parts: Parts = {"losses": {"": np.load(directory / "train_loss.npy")}}
    with (directory / "metrics.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for column in dict.fromkeys(name for row in rows for name in row):
        parts[f"metric {column}"] = {str(number): row[column] for number, row in enumerate(rows)}
    parts["weights"] = _flat(_read(directory / "model.pt"))
    for path in sorted(directory.glob("*.npz")):
        with np.load(path) as arrays:
            parts[path.name] = dict(arrays)
    record = json.loads((directory / "run.json").read_bytes())
    return parts | {f"run.json: {name}": _flat(record[name]) for name in RECORDED if name in record}


def _flat(content: Any, name: str = "") -> dict[str, Any]:
    """Numbers, texts and arrays by their place in nested dictionaries and lists."""
    if hasattr(content, "detach"):
        return {name: content.detach().numpy()}
    if isinstance(content, list | tuple):
        content = dict(enumerate(content))
    if not isinstance(content, dict):
        return {name: content}
    flat: dict[str, Any] = {}
    for key, value in content.items():
        flat |= _flat(value, f"{name}.{key}" if name else str(key))
    return flat


if __name__ == "__main__":
    main()
