"""Two results directories are compared by their numbers: runs, tables, verdicts."""

import json
import shutil

import compare_results
import pytest

RUN = "runs/mnist/lstm-n8/seed0"
SPEC = {"task": "mnist", "core": "hidden_dynamics.recurrent.LSTM", "network": None, "task_class": "a.Pixels", "seed": 0}
FILES = {
    f"{RUN}/run.json": json.dumps({"spec": SPEC}),
    f"{RUN}/metrics.csv": "iteration,epoch,test_loss\n1,1.0,0.5\n",
    "tables/momentumrnn_table1.csv": "model,mean,clock_minutes\nlstm,8.0,0.1\n",
    "claims.csv": "id,metric,verdict,estimate,low,high,p,p_adjusted,effect,published,statement\na,test_loss,reproduced,"
    "1,,,,,,,It is.\n",
}


@pytest.fixture
def places(tmp_path):
    """Old results, and the same as other code makes them: classes have moved, whole numbers have no point."""
    for name, content in FILES.items():
        path = tmp_path / "old" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    moved = {"spec": SPEC | {"core": "LSTM", "task_class": "Pixels"}}
    (tmp_path / "new" / RUN / "run.json").write_text(json.dumps(moved))
    (tmp_path / "new/tables/momentumrnn_table1.csv").write_text("model,mean,clock_minutes\nlstm,8,0.2\n")
    return tmp_path / "old", tmp_path / "new"


def test_the_same_numbers_are_the_same_wherever_classes_are_and_whatever_clocks_say(places, ended):
    code, said, _ = ended(compare_results.main, *places)
    assert code == 0
    assert "1 in both, 0 specified otherwise; metrics.csv is byte-identical in 1 of the 1" in said


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        (f"{RUN}/metrics.csv", "0.5", "0.50", f"{RUN}/run.json: metrics.csv"),
        ("tables/momentumrnn_table1.csv", "lstm,8", "lstm,9", "table1.csv, row 1: mean: 8.0 → 9"),
        ("claims.csv", "reproduced", "inconclusive", "claim a: verdict: reproduced → inconclusive"),
    ],
)
def test_what_differs_is_named(places, ended, file, old, new, named):
    path = places[1] / file
    path.write_text(path.read_text().replace(old, new))
    code, said, _ = ended(compare_results.main, *places)
    assert code == 1 and named in said


def test_a_run_of_another_specification_is_not_compared(places, ended):
    record = places[1] / RUN / "run.json"
    record.write_text(json.dumps({"spec": SPEC | {"seed": 1}}))
    (places[1] / RUN / "metrics.csv").write_text("iteration\n")
    code, said, _ = ended(compare_results.main, *places)
    assert code == 0 and "1 specified otherwise" in said
