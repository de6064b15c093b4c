"""Code that was tried and found equal: its list, what counts as of this code by it, and how trials are compared."""

import json

import attest
import numpy as np
import pytest
from conftest import ROOT, refused

from hidden_dynamics.configuration import equal_code
from hidden_dynamics.configuration.runs import find
from hidden_dynamics.publication.restoring import Publication
from hidden_dynamics.results.run_files import disagreement

# Published runs that are not of the code that is here, neither by digest nor by trial: list them where they are lost.
LOST: set[str] = set()
PUBLISHED = 1_380


def test_published_runs_are_of_the_code_that_is_here():
    lost, count = set(), 0
    for place in ("paper", "dtriv/paper", "evening"):
        publication = Publication(ROOT / "docs/evidence" / place)
        for name, files in publication.runs():
            task, model, seed = name.split("/")
            run = find(publication.configuration, task, model, int(seed.removeprefix("seed")))
            lost |= {f"{place} {name}"} if disagreement(run, json.loads(files["run.json"])) else set()
            count += 1
    assert (lost, count) == (LOST, PUBLISHED)


HEADER = ",".join(equal_code.Equal._fields)
equals_of = equal_code.equals_of.__wrapped__  # nothing is kept


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """The path of another equal_code.csv, which is not there yet; it is read whenever it is asked for."""
    monkeypatch.setattr(equal_code, "PATH", tmp_path / "equal_code.csv")
    monkeypatch.setattr(equal_code, "all_equal", equal_code.all_equal.__wrapped__)
    return equal_code.PATH


def test_code_is_equal_over_several_steps(listed):
    assert equals_of("c") == {"c"}  # without a list
    lines = "a,b,1,2,mnist/lstm,x\nb,c,2,3,mnist/lstm,x\nb,d,2,4,mnist/lstm,\nc,b,3,5,mnist/lstm,x\n"
    listed.write_text(f"{HEADER}\n{lines}")
    assert equals_of("c") == {"a", "b", "c"}
    assert equals_of("d") == {"a", "b", "c", "d"}
    assert equals_of("e") == {"e"}


@pytest.mark.parametrize("text", ["", "old,new\na,b\n", f"{HEADER}\na,b\n", f"{HEADER}\na,b,1,2,x,y,z\n"])
def test_a_damaged_list_is_refused_by_its_name(listed, text):
    listed.write_text(text)
    with refused(file=listed):
        equals_of("a")


TRIAL = attest.Trial("demo", "mnist", "lstm-n32", 0, {"training": {"epochs": 4}, "model": "lstm"}, [], "")
GIVEN = {
    "losses": {"": np.array([0.5, 0.0])},
    "weights": {"w": np.zeros(2, np.float32)},
    "run.json: status": {"": "finished"},
    "run.json: reported": {"value": 0.5, "iteration": 2},
}


@pytest.mark.parametrize(
    "changed",
    [
        {"losses": {"": np.array([0.5, -0.0])}},
        {"losses": {"": np.array([0.5, np.nextafter(0, 1)])}},
        {"losses": {"": np.array([0.5])}},
        {"weights": {"w": np.zeros(2, np.float64)}},
        {"weights": {"v": np.zeros(2, np.float32)}},
        {"run.json: reported": {"value": np.nextafter(0.5, 1), "iteration": 2}},
        {"run.json: reported": {"value": 0.5, "iteration": 2.0}},
        {"run.json: status": {"": "diverged"}},
        {"error": {"": "UserError"}},
    ],
)
def test_a_trial_that_differs_in_a_bit_or_does_not_end_is_not_equal(changed):
    assert not attest._compared(TRIAL, GIVEN, GIVEN).difference
    assert attest._compared(TRIAL, GIVEN, GIVEN | changed).difference
    assert attest._compared(TRIAL, GIVEN | changed, GIVEN | changed).difference or "status" not in f"{changed}"


def test_what_only_the_code_of_now_leaves_is_named_and_what_only_the_code_of_then_left_differs():
    reported = {"run.json: reported": GIVEN["run.json: reported"] | {"solver": 0.1}}
    more = GIVEN | reported | {"items.npz": {"loss": np.zeros(2)}}
    named = ["run.json: reported solver only now", "items.npz only now"]
    assert attest._compared(TRIAL, GIVEN, more)[1:3] == ("", named)
    assert attest._compared(TRIAL, more, GIVEN).difference
