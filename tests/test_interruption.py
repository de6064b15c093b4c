"""Trainings in real processes, killed at any place, and continued to the numbers of one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest
from conftest import ROOT
from workplaces import Workplace

from hidden_dynamics.configuration.runs import OUTPUTS
from hidden_dynamics.results.run_files import ITEMS

RUNS = {
    "pmnist": ("momentum_lstm-n32", {"epochs": 4}),
    # The filter's state is carried over segments, and the averaging of the weights begins on the way.
    "ptb": ("sr_lstm-n48", {"epochs": 1, "evaluate_every": 6, "optimisers": {"main": {"name": "SGD", "lr": 60}}}),
}  # the model and its training

# Trains by scripts/train.py's own main in one child process after another. The plan, in JSON, gives of each child its
# death, by SIGKILL at [place, passes], the files of the run "killed" that are removed before, and the arguments. One to
# die has a checkpoint after every step and evaluation. Each child's exit code, and the iteration that the checkpoint of
# "killed" has reached by then, is printed.
DRIVER = r"""
import json, os, pathlib, signal, sys
import torch
import train
from hidden_dynamics.system import files
from hidden_dynamics.models import language_model
from hidden_dynamics.models import recurrent_network as networks
from hidden_dynamics.errors import run_main
from hidden_dynamics.tasks import language
from hidden_dynamics.training import checkpoint

def die_in(owner, name, passes, when=lambda *arguments: True, before=lambda *arguments: None, after=False):
    real, left = getattr(owner, name), [passes]
    def passing(*arguments, **options):
        mine = when(*arguments)
        left[0] -= mine
        if mine and left[0] == 0:
            before(*arguments)
            if after:
                real(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    setattr(owner, name, passing)

def arm(place, passes):
    checkpoint.SECONDS = checkpoint.SECONDS_AFTER_AN_EVALUATION = -1
    checkpoint.TIMES_A_SAVING = 0
    if place in ("between gradients and update", "between update and record"):
        for optimiser in (torch.optim.RMSprop, torch.optim.SGD):
            die_in(optimiser, "step", passes, after=place == "between update and record")
    elif place == "in an evaluation":
        for network in (networks.RecurrentNetwork, language_model.LanguageModel):
            die_in(network, "forward", passes, when=lambda network, *inputs: not network.training)
    elif place == "in the test":
        die_in(language.LanguageModelling, "evaluate_test", passes)
    elif place == "in the writing of a checkpoint":
        halve = lambda descriptor: os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
        die_in(files.os, "fsync", passes, before=halve)
    elif place == "between two checkpoints":
        die_in(pathlib.Path, "replace", passes, after=True)
    elif place == "before dropping the previous checkpoint":
        die_in(checkpoint.Checkpoint, "drop_previous", passes)
    else:  # an output, by name
        die_in(files.os, "replace", passes, when=lambda source, target: pathlib.Path(target).name == place)

def reached(run):
    for name in ("checkpoint.pt", "checkpoint.previous.pt"):
        state = checkpoint._read(run / name)
        if state is not None:
            return state["history"]["iteration"]

# What takes a second the first time, once for all children: torch's optimisers load its compiler.
torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1).step()

plan, run = json.loads(sys.argv[1]), pathlib.Path(sys.argv[2])
for death, gone, sys.argv[1:] in plan:
    for name in gone:
        (run / name).unlink()
    child = os.fork()
    if child == 0:
        if death:
            arm(*death)
        try:
            run_main(train.main)
        except SystemExit as end:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(end.code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    there = sorted(path.name for path in run.glob("[!.]*"))
    print("child", json.dumps({"death": death, "code": code, "reached": reached(run), "there": there}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("task", RUNS)
def test_a_training_killed_anywhere_ends_with_the_numbers_of_one_left_alone(task, tmp_path):
    model, training = RUNS[task]
    workplace, dice = Workplace(tmp_path, task, model, seed=1, **training), random.Random(task)
    places = [
        "between gradients and update",
        "between update and record",
        "in an evaluation",
        "in the writing of a checkpoint",
        "between two checkpoints",
    ]
    deaths = [[place, dice.randint(1, 2 if place == "in an evaluation" else 7)] for place in places]
    dice.shuffle(deaths)
    if task == "ptb":
        deaths.append(["in the test", 1])
    deaths += [[name, 1] for name in ("before dropping the previous checkpoint", "metrics.csv", "model.pt", "run.json")]
    print(f"the deaths: {deaths}")
    plan = [[death, [], workplace.arguments("killed")] for death in (*deaths, None)]
    if task == "pmnist":  # its first quarter has been trained, and is to grow
        plan[0][1] = OUTPUTS
        plan.insert(0, [None, [], workplace.arguments("killed", epochs=1)])
    plan.insert(0, [None, [], workplace.arguments("alone")])
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(plan), str(workplace.directory("killed"))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")])},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0 and "damaged" not in ended.stderr, ended.stderr
    # A child may be killed between a line and its end.
    children = [json.loads(line.partition("child ")[2]) for line in ended.stdout.splitlines() if "child {" in line]
    assert len(children) == len(plan)
    for child in children:
        assert child["code"] == (-signal.SIGKILL if child["death"] else 0), child
        assert not child["death"] or "run.json" not in child["there"], child
    reached = [child["reached"] or 0 for child in children]
    assert reached == sorted(reached)  # nothing that was kept is lost again
    assert reached[-len(deaths) - 1 + len(places)] > 0
    alone = workplace.files("alone")
    assert (alone[0]["averaged_since"] is not None) == (task == "ptb")
    assert workplace.files("killed") == alone
    left = {path.name for path in workplace.directory("killed").glob("[!.]*")}
    assert left == {*OUTPUTS, ITEMS, "checkpoint.pt"}
