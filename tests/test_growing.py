"""Runs that are asked for more epochs than they have, or fewer; checkpoints that travel; lengths that matter."""

import shutil
from types import SimpleNamespace

import pytest
import train as script
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st
from made import change_record, make_run
from workplaces import Workplace

from hidden_dynamics.configuration.runs import OUTPUTS, WEIGHTS, all_runs
from hidden_dynamics.configuration.spec import length_matters
from hidden_dynamics.results.archives import KEPT, files_of_run, write
from hidden_dynamics.results.run_files import RunFiles, is_to_grow
from hidden_dynamics.tasks.schedule import Schedule, SegmentSchedule
from hidden_dynamics.tasks.task import schedule_of
from hidden_dynamics.training import checkpoint

# A rate so large that the loss rises, and averaging begins, whatever the text, which is that of the version of Python.
SGD = {"optimisers": {"main": {"name": "SGD", "lr": 150}}}
RUNS = {  # by kind: the task, the model, the epochs at first and then, other settings of the training
    "pixels, orthogonal, RMSprop twice, gradients": ("pmnist_gradients", "momentum_dtriv-n24", (1, 2, 3), {}),
    "endless, the last reported": ("copying_1k", "lstm-n32", (15, 45), {}),
    "text, averaged, SGD, tested": ("ptb_ablation", "momentum_lstm-mu0.9-s0.1", (3, 5), SGD),
    "series, KL, predictions, tested": ("physionet_extrapolation", "latent_ode-n8", (1, 2), {}),
    "series, rates that decay": ("physionet_released", "rnn_delta-n8", (1, 2), {}),
}


@pytest.fixture
def workplace(tmp_path):
    return Workplace(tmp_path, "pmnist", "momentum_lstm-n32")


@pytest.fixture
def train(ended):
    """Trains by scripts/train.py, in this process; gives what it says."""

    def trained(workplace, results, epochs, *more):
        said = ended(script.main, *workplace.arguments(results, *more, epochs=epochs))
        assert said.code == 0, said.err
        return said.out + said.err

    return trained


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_a_run_that_grew_has_left_what_one_long_training_leaves(tmp_path, train, kind):
    task, model, lengths, training = RUNS[kind]
    workplace = Workplace(tmp_path, task, model, **training)
    train(workplace, "whole", lengths[-1])
    whole = workplace.files("whole")
    for epochs in lengths:
        assert is_to_grow(workplace.of("grown", epochs=epochs)) == (epochs != lengths[0])
        train(workplace, "grown", epochs)
        assert (workplace.files("grown") == whole) == (epochs == lengths[-1])
    assert (whole[0]["averaged_since"] is not None) == ("averaged" in kind)
    if "tested" in kind:
        rows = RunFiles(workplace.directory("grown")).metrics()
        assert len([row for row in rows if any(name.startswith("test_") for name in row)]) == 1


def test_the_runs_of_a_job_grow_and_asked_for_fewer_epochs_they_stay(workplace, train, monkeypatch):
    """Whether their files are there or were removed, as Snakemake does before a job, or their checkpoint was."""
    job = ("--model", "lstm-n32", workplace.model, "--seed", "0", "1")
    train(workplace, "whole", 3)
    for epochs in (1, 3):
        train(workplace, "grown", epochs, *job)
    monkeypatch.setattr(script.loop, "_step", None)
    for gone in ([], OUTPUTS, ["checkpoint.pt"]):
        for name in gone:
            (workplace.directory("grown") / name).unlink()
        assert not is_to_grow(workplace.of("grown", epochs=2))
        train(workplace, "grown", 2)
        assert workplace.files("grown") == workplace.files("whole")


def test_a_training_that_was_stopped_further_than_is_asked_for_ends_with_its_epoch(workplace, train, monkeypatch):
    monkeypatch.setattr(checkpoint.Checkpoint, "due", lambda self, after_evaluation: not after_evaluation)
    step, left = script.loop._step, [2 * 23 + 5]  # of 23 iterations an epoch

    def dying(run):
        left[0] -= 1
        if not left[0]:
            raise OSError("killed")
        step(run)

    monkeypatch.setattr(script.loop, "_step", dying)
    with pytest.raises(AssertionError, match="killed"):
        train(workplace, "grown", 6)
    monkeypatch.setattr(script.loop, "_step", step)
    train(workplace, "grown", 2)
    train(workplace, "whole", 3)
    assert workplace.files("grown") == workplace.files("whole")


def test_a_restored_record_without_a_checkpoint_says_that_it_cannot_go_on(workplace, train):
    train(workplace, "grown", 1)
    directory = workplace.directory("grown")
    write(directory / KEPT, files_of_run(directory))
    (directory / "checkpoint.pt").unlink()
    for name in OUTPUTS:
        (directory / name).unlink()
    assert "put back" in train(workplace, "grown", 1)
    assert is_to_grow(workplace.of("grown", epochs=2))
    assert "its record has 1 of 2 epochs, and no checkpoint is there" in train(workplace, "grown", 2)
    train(workplace, "whole", 2)
    assert workplace.files("grown") == workplace.files("whole")


def test_a_run_that_was_begun_elsewhere_goes_on_with_the_same_specification(workplace, train):
    train(workplace, "laptop", 1)
    for there in ("cluster", "other"):
        workplace.directory(there).mkdir(parents=True)
        shutil.copy(workplace.directory("laptop") / "checkpoint.pt", workplace.directory(there))
    assert "begins at iteration 1" not in train(workplace, "cluster", 2)
    train(workplace, "whole", 2)
    assert workplace.files("cluster") == workplace.files("whole")
    other = Workplace(workplace.root, workplace.task, workplace.model, batch_size=32)
    assert "no checkpoint is of its specification, code and data" in train(other, "other", 1)


RATES = st.fixed_dictionaries(
    {},
    optional={
        **{"drops": st.lists(st.integers(1, 4)), "factor": st.sampled_from([0.1, 0.5]), "scale": st.just(2.0)},
        **{"decay": st.just(0.9), "floor": st.just(0.3), "until": st.sampled_from([0.4, 1, 1.5, 2.0, 3])},
    },
)
BATCHES = {"drop_last": st.booleans(), "fixed_batches": st.booleans(), "rates": RATES}
TRAINING = st.fixed_dictionaries({"batch_size": st.integers(1, 7)}, optional={"evaluate_every": st.integers(1, 9)})


def course(schedule, iterations):
    """All that is done in the first iterations of a schedule, or in all of it."""
    for k in range(min(iterations, schedule.iterations)):
        yield str(schedule.indices(k)), schedule.rate(k), schedule.evaluates(k + 1), schedule.epochs(k + 1)


@given(data=st.data(), batches=TRAINING, epochs=st.sampled_from([0.5, 1, 1.25, 2, 3]), more=st.integers(1, 3))
def test_where_its_length_does_not_matter_a_schedule_begins_as_a_longer_one(data, batches, epochs, more):
    """Of both classes, of finite and of endless data."""
    kind = data.draw(st.sampled_from(["endless", "finite", "text"]))
    own = {"endless": {"iterations_per_epoch": st.integers(1, 5)}, "finite": {}, "text": {}}[kind]
    training = batches | data.draw(st.fixed_dictionaries(own, optional={} if kind == "text" else BATCHES))

    def of(epochs):
        if kind == "text":
            return SegmentSchedule(training | {"epochs": epochs}, 150, 6, 1)
        return Schedule(training | {"epochs": epochs}, 23 if kind == "finite" else None, 1)

    epochs = int(epochs + 0.5) if kind == "text" else epochs
    if not length_matters(training | {"epochs": epochs}):
        short = of(epochs)
        assert [*course(short, short.iterations)] == [*course(of(epochs + more), short.iterations)]


@pytest.mark.parametrize(
    ("training", "train_size"),
    [
        ({"epochs": 1.5}, 20),
        ({"epochs": 2, "rates": {"until": 1.5}}, 20),
        ({"epochs": 1, "evaluate_every": 3}, 20),
        ({"epochs": 1, "evaluate_every": 3, "iterations_per_epoch": 4}, None),
    ],
)
def test_where_its_length_matters_the_last_evaluation_is_none_of_a_longer_one(training, train_size):
    training = training | {"batch_size": 5}
    assert length_matters(training)
    rates = training.get("rates", {})
    longer = training | {"epochs": 3, "rates": {name: value for name, value in rates.items() if name != "until"}}
    short = Schedule(training, train_size, 0)
    assert short.evaluates(short.iterations) and not Schedule(longer, train_size, 0).evaluates(short.iterations)


def test_a_schedule_that_is_no_class_of_the_module_is_refused():
    class Own(Schedule):
        def rate(self, iteration):
            return 1 - iteration / self.iterations

    task = SimpleNamespace(schedule=lambda training, seed: Own(training, 10, seed))
    with refused("Own"):
        schedule_of(task, {"epochs": 1, "batch_size": 5}, 0)


def test_a_record_has_neither_weights_nor_what_earlier_runs_kept_of_this_machine(configured, tmp_path):
    configuration = configured(scale="demo")
    run = next(run for run in all_runs(configuration) if run.task == "adding")
    files = make_run(tmp_path, configuration, run)
    kept, own = {*files.record()["files"]}, [WEIGHTS, "uncommitted.diff.xz"]
    for name in own:
        (files.directory / name).write_bytes(b"of this machine")
    change_record(files, *own)
    assert set(files_of_run(files.directory)) == {"run.json", *kept} - {*own}
