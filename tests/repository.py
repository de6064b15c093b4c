"""A copy of the repository to run Snakemake in, with what a user adds: a cell, a dataset, a task, a metric, and a kind.

Each addition is one module and one entry of config/. The kind is that of docs/extending.md, which shows another metric.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import yaml
from conftest import ROOT

FILES, FOLDERS = ["Snakefile", "config.yaml"], ["rules", "scripts", "hidden_dynamics", "config", "profiles", "envs"]
PARTS = [*FILES, *FOLDERS, "published", "docs"]
TINY = {"sizes": {128: 4, 256: 6}, "training": {"epochs": 1, "batch_size": 720}}
SETTINGS = {"results": "out", "seeds": [0], "device": "cpu", "overrides": {"tasks": {"mnist": TINY, "pmnist": TINY}}}
PARITY = "out/demo/runs/parity/lstm-n3/seed0"
TARGETS = ["momentumrnn_table11", "momentumrnn_figure9", "momentumrnn_table7", "mine_table1", f"{PARITY}/run.json"]

CELL = """
from hidden_dynamics.models.recurrent.lstm import LSTM


class MyLSTM(LSTM):
    def __init__(self, input_size, hidden_size, gain, **options):
        super().__init__(input_size, hidden_size, **options)
        self.gain = gain

    def forward(self, x, state=None):
        return super().forward(self.gain * x, state)
"""
TASK = """
import os
import time

import numpy as np
import torch
from torch.nn import functional

from hidden_dynamics.data.streams import generator
from hidden_dynamics.tasks.task import Task


def prepare(raw, settings):
    bits = generator(0, "parity").integers(0, 2, (settings["test_size"], settings["length"]), dtype=np.uint8)
    return {"test_bits": bits, "length": np.array(settings["length"])}


class Parity(Task):
    input_size, output_size, every_step = 1, 2, False

    def __init__(self, arrays, settings, seed, device):
        self.length, self.test, self.seed = int(arrays["length"]), arrays["test_bits"], seed

    def batch(self, epoch, indices):
        iteration, size = indices
        return generator(self.seed, "train", iteration).integers(0, 2, (size, self.length), dtype=np.uint8)

    def loss(self, network, bits):
        x = torch.from_numpy(bits.T[:, :, None].astype(np.float32))
        return functional.cross_entropy(network(x), torch.from_numpy(bits.sum(1) % 2).long())

    def evaluate(self, network):
        with open(os.environ.get("EVALUATIONS", "evaluations"), "a") as handle:  # shows how much was trained
            handle.write(".")
        while os.path.getsize(handle.name) == int(os.environ.get("STOPPED_AT", -1)):  # it waits for a signal
            time.sleep(0.01)
        x = torch.from_numpy(self.test.T[:, :, None].astype(np.float32))
        right = network(x).argmax(1).numpy() == self.test.sum(1) % 2
        return {"test_loss": self.loss(network, self.test).item(), "parity_rate": float(right.mean())}
"""


def append(root, part, entry):
    with open(root / "config" / f"{part}.yaml", "a", encoding="utf-8") as handle:
        handle.write("\n" + yaml.safe_dump(entry, sort_keys=False))


def parity_task(root, **training):
    """A task of the user's own, whose dataset is appended."""
    about = {"title": "Parity", "module": "my_task", "stand_in_for": None, "licence": "generated", "citation": "none"}
    append(root, "datasets", {"parity": about | {"files": {}}})
    task = {"title": "Parity", "class": "my_task.Parity", "dataset": "parity", "models": {"lstm": {"sizes": [3]}}}
    own = {"optimisers": {"main": {"name": "Adam", "lr": 0.01}}, "batch_size": 4}
    return task | {"training": own | training}


def add_what_a_user_adds(root):
    (root / "my_cells.py").write_text(CELL)
    (root / "my_task.py").write_text(TASK)
    extending = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    ((file, kind),) = re.findall(r"```python\n# (hidden_dynamics/artifacts/\S+)\n(.*?)```", extending, re.DOTALL)
    (root / file).write_text(kind.replace("test_accuracy", "parity_rate"))

    mine = {"label": "MyLSTM", "colour": "magenta", "core": "my_cells.MyLSTM"}
    append(root, "models", {"my_lstm": mine | {"tasks": {"mnist": {"sizes": [128], "hyperparameters": {"gain": 0.5}}}}})
    rate = {"title": "Parities", "unit": "percent", "better": "higher", "decimals": 1}
    append(root, "metrics", {"parity_rate": rate})
    task = parity_task(root, epochs=40, evaluate_every=20, report={"metric": "parity_rate", "rule": "max"})
    append(root, "tasks", {"parity": task | {"data": {"length": 5, "test_size": 8}}})
    scales = yaml.safe_load((root / "config/scales.yaml").read_text(encoding="utf-8"))
    scales["demo"]["together"] = ["model"]  # not the seeds: tests add one, and it alone is to be trained
    for name, together in (("separate", []), ("grouped", ["model", "seed"])):
        scales[name] = scales["demo"] | {"together": together}
    (root / "config/scales.yaml").write_text(yaml.safe_dump(scales))
    artifacts = yaml.safe_load((root / "config/artifacts.yaml").read_text(encoding="utf-8"))
    panels = artifacts["momentumrnn_figure9"]["panels"]
    artifacts["momentumrnn_figure9"]["panels"] = [panel for panel in panels if panel["task"] == "mnist"]
    artifacts["momentumrnn_table11"]["tasks"] = ["mnist"]
    mine = {"kind": "best_table", "title": "Best parity", "source": "Mine, Table 1"}
    artifacts["mine_table1"] = mine | {"task": "parity", "model": "lstm", "size": 3}
    (root / "config/artifacts.yaml").write_text(yaml.safe_dump(artifacts, sort_keys=False), encoding="utf-8")


END = "this invocation ended with "
INVOCATIONS = f"""
import json, sys
from snakemake.cli import main

for line in sys.stdin:
    try:
        main(json.loads(line))
    except SystemExit as end:
        print("\\n{END}" + str(end.code or 0), file=sys.stderr, flush=True)
"""


class Workflow:
    """A copy of the repository, and Snakemake in it.

    All that `run` invokes is of one process, which loads Snakemake and the library once and reads the workflow anew:
    it sees no change of hidden_dynamics/ that comes later.
    """

    def __init__(self, root: Path):
        self.root, self.process = root, None

    def command(self, *arguments: str, **settings) -> list[str]:
        given = {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in settings.items()}
        config = [f"{key}={value}" for key, value in given.items()]
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--config", *config]

    def run(self, *arguments: str, code: int = 0, **settings) -> str:
        """What snakemake prints; it must end with this exit code."""
        if self.process is None:
            own = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            self.process = subprocess.Popen([sys.executable, "-c", INVOCATIONS], cwd=self.root, **own)
            weakref.finalize(self, self.process.communicate)
        _python, _m, _snakemake, *command = self.command(*arguments, **(SETTINGS | settings))
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith(END):
                break
        assert said[-1:] == [f"{END}{code}\n"], "".join(said)[-6000:]
        return "".join(said)

    def start(self, *arguments: str, environment: dict[str, str] | None = None, **settings) -> subprocess.Popen:
        """Snakemake in a process group of its own, as in a terminal; what it says goes to the file `said`."""
        own = {"cwd": self.root, "env": os.environ | (environment or {}), "start_new_session": True}
        with open(self.root / "said", "w") as log:
            return subprocess.Popen(self.command(*arguments, **(SETTINGS | settings)), stdout=log, stderr=log, **own)

    def jobs(self, *targets: str, **settings) -> set[str]:
        """The messages of the jobs that a dry run lists."""
        said = self.run("--dry-run", *(targets or TARGETS), **settings)
        found = set(re.findall(r"^Job \d+: (.*)$", said, flags=re.MULTILINE))
        assert found or "Nothing to be done" in said or "Job stats" in said, said
        return found

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r} any more"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def files(self, folder: str, pattern: str) -> dict[str, bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in (self.root / folder).glob(pattern)}


def copy_repository(root):
    """What a workflow needs of the repository, into a directory that is there."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, root / part)
