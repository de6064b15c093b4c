"""Damaged checkpoints, data and results: they are noticed, nothing wrong is shown, and the way back is named."""

import json
import random
import re
import secrets
import shutil
import subprocess
import sys

import pytest
from places import PARITY, SETTINGS, TARGETS, finished_workflow, outputs_of, records_of, results_of, start
from repository import Workflow
from test_training import Regression, run_loop, state_of, stopped

from hidden_dynamics.errors import UserError
from hidden_dynamics.training.interruption import Interrupted

pytestmark = pytest.mark.faults

DAMAGED_CHECKPOINTS = 60
MNIST, PMNIST = (f"out/demo/runs/{task}/lstm-n4/seed0" for task in ("mnist", "pmnist"))
ALL = [*TARGETS, f"{MNIST}/run.json", f"{MNIST}/metrics.csv", f"{PMNIST}/run.json"]  # as `evidence` has them


@pytest.fixture
def dice():
    seed = secrets.randbits(32)
    print(f"the damages are those of random.Random({seed})")
    return random.Random(seed)


def flip(path, dice, low=0, high=None):
    """Another value for one byte of a file."""
    content = bytearray(path.read_bytes())
    place = dice.randrange(low, high or len(content))
    content[place] ^= dice.randrange(1, 256)
    path.write_bytes(content)


def cut(path, dice):
    """Some or all of a file's end is lost."""
    content = path.read_bytes()
    path.write_bytes(content[: dice.choice([0, dice.randrange(64), dice.randrange(len(content) - 10)])])


def test_training_goes_on_from_whatever_checkpoint_is_whole_to_the_same_numbers(tmp_path, dice, capsys):
    """One or both of the checkpoints after steps 4 and 6 of 9 flipped or cut; the digest comes first in the file."""
    whole, expected = run_loop(tmp_path / "whole")
    for steps in (4, 2):
        with pytest.raises(Interrupted):
            run_loop(tmp_path / "stopped", task=stopped(Regression(), steps))
    names, left = ("checkpoint.pt", "checkpoint.previous.pt"), {1: 5, 2: 9}
    for k in range(DAMAGED_CHECKPOINTS):
        run = tmp_path / str(k)
        shutil.copytree(tmp_path / "stopped", run)
        count = dice.choice([1, 1, 2])
        for name in names[:count]:
            damage = dice.choice([flip, cut, lambda path, dice: flip(path, dice, 0, 64)])
            damage(run / name, dice)
        rest = Regression()
        history, network = run_loop(run, task=rest)
        assert rest.batches == left[count]  # steps made from there on
        assert capsys.readouterr().err.count("is damaged (its digest differs): it is ignored.") == count
        assert (history.losses, history.metrics) == (whole.losses, whole.metrics)
        assert state_of(network) == state_of(expected)


def test_a_directory_in_the_place_of_a_checkpoint_is_named(tmp_path):
    (tmp_path / "checkpoint.pt").mkdir()
    with pytest.raises(UserError, match="checkpoint.pt is a directory, .*: remove it and run again"):
        run_loop(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_workflow(tmp_path_factory)[0]


@pytest.fixture
def workflow(finished, tmp_path):
    shutil.copytree(finished.root, tmp_path / "repository")
    return Workflow(tmp_path / "repository")


def run(workflow, *arguments, code):
    assert start(workflow, *arguments).wait() == code, (workflow.root / "said").read_text()[-3000:]
    said = (workflow.root / "said").read_text()
    assert "Traceback" not in said
    return said


@pytest.mark.representative
def test_prepared_data_that_was_damaged_is_made_anew_by_the_same_command(workflow, finished, dice):
    """Of two datasets at once, then of one the arrays and their description are another's."""
    data = workflow.root / "data/prepared"
    digits, parity = data / "digits.npz", data / "parity-length5-test_size8.npz"
    before = {path: path.read_bytes() for path in data.glob("*.npz")}
    assert set(before) == {digits, parity}
    flip(digits, dice, 2000, digits.stat().st_size - 2000)  # among the arrays
    cut(parity.with_suffix(".json"), dice)
    (workflow.root / PARITY / "run.json").unlink()  # a description is read when something trains
    said = run(workflow, *ALL, "--keep-going", code=1)
    for damaged, suffix in ((digits, ".npz"), (parity, ".json")):
        assert re.search(rf"error: \S*{damaged.stem}{suffix} cannot be used: it is truncated or altered", said), said
        assert f"{damaged.name}.unusable: run snakemake again, which makes it anew." in said
    run(workflow, *ALL, code=0)
    assert {path: path.read_bytes() for path in before} == before

    for suffix in (".npz", ".json"):
        shutil.copy(digits.with_suffix(suffix), parity.with_suffix(suffix))
    said = run(workflow, *ALL, code=1)
    assert "it was made for {'dataset': 'digits', 'settings': {}}, and {'dataset': 'parity'" in said
    run(workflow, *ALL, code=0)
    assert {path: path.read_bytes() for path in before} == before
    assert results_of(workflow) == results_of(finished)
    assert records_of(workflow) == records_of(finished)


def digit(path, dice):
    """Another digit in the place of one: a file that reads as well as before."""
    text = path.read_text()
    places = [match.start() for match in re.finditer(r"(?<=\.)\d", text)]
    place = dice.choice(places)
    path.write_text(text[:place] + str((int(text[place]) + 5) % 10) + text[place + 1 :])


RESULTS = [
    ("run.json", cut),
    ("run.json", digit),
    ("metrics.csv", digit),
    ("metrics.csv", cut),
    ("train_loss.npy", flip),
]


@pytest.mark.parametrize(("name", "damage"), RESULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_damaged_result_is_not_summarised_and_what_to_remove_is_named(finished, tmp_path, dice, name, damage):
    root = tmp_path / "root"
    shutil.copytree(finished.root / "out", root / "out")
    path = root / MNIST / name
    damage(path, dice)
    summary = root / "out/demo/summary"
    shutil.rmtree(summary)
    command = [sys.executable, "scripts/render.py", "--artifact", "momentumrnn_figure9", "--root", str(root)]
    done = subprocess.run(
        [*command, "--config", json.dumps(SETTINGS)], cwd=finished.root, capture_output=True, text=True
    )
    assert done.returncode == 1 and not (summary / "momentumrnn_figure9.curves.csv").exists()
    assert re.fullmatch(
        rf"error: {path} (was altered|is not readable).*: remove {path} and run snakemake again.*\n", done.stderr
    )


def test_a_workflow_shows_nothing_of_damaged_or_foreign_results_and_restores_them_from_checkpoints(
    workflow, finished, dice
):
    """A digit of metrics.csv; then the record of a run with another specification, trained by hand in its place."""
    evaluations = workflow.root / "evaluations"
    shown = {path: path.read_bytes() for path in workflow.root.glob("out/demo/[tf]*/*")}
    digit(workflow.root / MNIST / "metrics.csv", dice)
    said = run(workflow, *ALL, code=1)
    assert f"error: {MNIST}/metrics.csv was altered since its run wrote it" in said
    (workflow.root / MNIST / "metrics.csv").unlink()
    count = evaluations.stat().st_size
    assert "Training" in run(workflow, *ALL, code=0)
    assert evaluations.stat().st_size == count

    record = workflow.root / MNIST / "run.json"
    content = json.loads(record.read_text())
    content["spec"]["training"]["epochs"] = 99
    del content["seal"]  # as a record of before would have it
    record.write_text(json.dumps(content))
    said = run(workflow, *ALL, code=1)
    assert f"{MNIST}/run.json: its run's training differ from what is configured: remove {MNIST}/run.json" in said
    record.unlink()
    run(workflow, *ALL, code=0)
    assert {path: path.read_bytes() for path in shown} == shown
    assert results_of(workflow) == results_of(finished)
    assert records_of(workflow) == records_of(finished)
    assert outputs_of(workflow.root / PARITY) == outputs_of(finished.root / PARITY)
