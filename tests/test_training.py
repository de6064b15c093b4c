"""The training loop, its optimisers, checkpoints and outputs, and what scripts/train.py says to bad input."""

import json
import math
import signal
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import train as script
from conftest import ROOT, refused
from hypothesis import given
from hypothesis import strategies as st
from loops import RMSPROP, Linear, Regression, assert_same, run_loop, spec_of, state_of, stopped
from made import record_of
from torch import nn
from workplaces import Workplace

from hidden_dynamics.configuration import equal_code, load, runs
from hidden_dynamics.configuration.runs import FAILURES, GRADIENTS, OUTPUTS, WEIGHTS
from hidden_dynamics.data import adding, prepared
from hidden_dynamics.errors import SolverFailure, UserError
from hidden_dynamics.models.continuous.integral import FunctionEvaluations
from hidden_dynamics.models.recurrent.lstm import MomentumLSTM
from hidden_dynamics.models.recurrent.orthogonal import MomentumDTRIV
from hidden_dynamics.models.recurrent_network import RecurrentNetwork
from hidden_dynamics.results import rows, run_files, writing
from hidden_dynamics.results.archives import files_of_run as archived
from hidden_dynamics.results.run_files import ITEMS, UNDERWAY, RunFiles, is_finished
from hidden_dynamics.system import memory
from hidden_dynamics.system.commit import commit_of
from hidden_dynamics.tasks.items import of_classes
from hidden_dynamics.tasks.schedule import Schedule
from hidden_dynamics.tasks.task import PredictingTask, TaskOfParts, ValidatedTask
from hidden_dynamics.training import checkpoint, devices, loop, optimisers
from hidden_dynamics.training.checkpoint import Checkpoint
from hidden_dynamics.training.interruption import Interrupted
from hidden_dynamics.training.reported import chosen, of_history


class Breaking(Regression):
    """The loss of the batch number `at`, counted from 1, is `value`; everything depends on the parameters as before."""

    def __init__(self, at, value):
        super().__init__()
        self.at, self.value = at, value

    def loss(self, network, batch):
        loss = super().loss(network, batch)
        return loss * self.value if network.training and self.batches == self.at else loss


@given(
    given=st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 150)),
    every=st.one_of(st.none(), st.integers(1, 400)),
    seed=st.integers(0, 10),
)
def test_every_example_comes_once_per_epoch_and_evaluations_every_so_many_iterations_and_at_the_end(given, every, seed):
    epochs, batch_size, train_size = given
    training = {"epochs": epochs, "batch_size": batch_size} | ({} if every is None else {"evaluate_every": every})
    schedule, seen = Schedule(training, train_size, seed), {epoch: [] for epoch in range(epochs)}
    per_epoch = math.ceil(train_size / batch_size)
    end, every = epochs * per_epoch, every or per_epoch
    assert schedule.iterations == end
    for iteration in range(end):
        epoch, indices = schedule.indices(iteration)
        last_of_epoch = (iteration + 1) % per_epoch == 0
        assert len(indices) == ((train_size - 1) % batch_size + 1 if last_of_epoch else batch_size)
        seen[epoch].extend(indices.tolist())
    assert all(sorted(examples) == list(range(train_size)) for examples in seen.values())
    evaluated = [iteration for iteration in range(end + 1) if schedule.evaluates(iteration)]
    assert evaluated == sorted({*range(every, end + 1, every), end})


def test_the_order_of_the_examples_differs_between_epochs_and_between_seeds_and_is_otherwise_the_same():
    schedules = [Schedule({"epochs": 3, "batch_size": 100}, 100, seed) for seed in range(3)]
    orders = {(seed, epoch): tuple(schedules[seed].indices(epoch)[1]) for seed in range(3) for epoch in range(3)}
    assert len(set(orders.values())) == 9
    assert orders[1, 2] == tuple(Schedule({"epochs": 9, "batch_size": 100}, 100, 1).indices(2)[1])


def test_endless_data_has_epochs_of_the_iterations_configured():
    training = {"epochs": 4, "batch_size": 32, "iterations_per_epoch": 25}
    schedule = Schedule(training, None, 0)
    assert (schedule.per_epoch, schedule.iterations, schedule.evaluate_every) == (25, 100, 25)
    assert schedule.samples_per_epoch == 800
    assert schedule.indices(0) == (0, (0, 32)) and schedule.indices(51) == (2, (51, 32))


OTHER_GROUPS = [RMSPROP, {"slow": RMSPROP["main"]}, {}, dict.fromkeys(("slow", "fast", "main"), RMSPROP["main"])]


@pytest.mark.parametrize(
    ("groups", "settings", "complaint"),
    [
        *((("slow", "fast"), given, "Linear has slow, fast") for given in OTHER_GROUPS),
        (("main",), {"main": {"name": "RMSprop", "lr": 0.1, "betas": [0.9, 0.99]}}, "main: RMSprop .*betas"),
        (("main",), {"main": {"name": "Adam", "lr": 0.1, "betas": [0.9, 1.5]}}, "main: Adam .*1.5"),
        (("main",), {"main": {"name": "RMSprop", "lr": 0.1, "alpha": -1.0}}, "main: RMSprop .*-1.0"),
    ],
)
def test_optimisers_that_do_not_fit_the_groups_or_refuse_their_arguments(groups, settings, complaint):
    with pytest.raises(UserError, match=complaint):
        optimisers.build(Linear(groups), settings)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_ends_the_training_before_it_touches_a_parameter(tmp_path, value):
    history, network = run_loop(tmp_path / "diverges", task=Breaking(at=7, value=value))
    assert (history.diverged_at, history.iteration, len(history.losses)) == (7, 6, 6)
    assert [row["iteration"] for row in history.metrics] == [3, 6]
    _, two_epochs = run_loop(tmp_path / "stops", spec_of(epochs=2))
    assert state_of(network) == state_of(two_epochs)
    assert all(math.isfinite(loss) for loss in history.losses)
    again, same = run_loop(tmp_path / "diverges", task=Breaking(at=1, value=value))  # it is not taken up again
    assert vars(again) == vars(history) and state_of(same) == state_of(network)


@given(
    st.lists(st.sampled_from([1.0, 2.0, 3.0, math.nan, math.inf]), max_size=6), st.sampled_from(["max", "min", "last"])
)
def test_the_reported_number_is_the_first_of_the_best_that_are_finite_or_the_last(values, rule):
    rows = [{"iteration": k, "epoch": k / 2, "test_loss": value} for k, value in enumerate(values, 1)]
    finite = [row for row in rows if math.isfinite(row["test_loss"])]
    about, expected = {"metric": "test_loss", "rule": rule}, None
    if finite:
        best = {"max": max, "min": min, "last": lambda of: of[-1]}[rule]([row["test_loss"] for row in finite])
        row = finite[-1] if rule == "last" else next(row for row in finite if row["test_loss"] == best)
        expected = {**about, "value": best, "iteration": row["iteration"], "epoch": row["epoch"], "metrics": row}
    assert chosen(rows, about) == expected


@pytest.mark.parametrize("asked", [{"report": {"rule": "min"}}, {"averaging": {"nonmonotone": 5}}])
def test_a_metric_that_no_evaluation_gives_is_refused_at_the_first_one_and_not_at_the_end(tmp_path, asked):
    ((key, settings),), task = asked.items(), Regression()
    with refused("Did you mean 'test_loss'", "task regression", f"training.{key}.metric"):
        run_loop(tmp_path, spec_of(**{key: settings | {"metric": "tets_loss"}}), task)
    assert task.batches == 3  # of the 9 of this training


@pytest.mark.parametrize("every", [1, 2, 3, 100])
def test_the_train_loss_of_an_evaluation_is_the_mean_over_the_steps_since_the_one_before(tmp_path, every):
    history, _ = run_loop(tmp_path, spec_of(evaluate_every=every))
    ends = sorted({*range(every, 10, every), 9})
    assert [row["iteration"] for row in history.metrics] == ends
    for start, end, row in zip([0, *ends], ends, history.metrics, strict=False):
        assert row["train_loss"] == pytest.approx(sum(history.losses[start:end]) / (end - start), rel=1e-12)
        assert row["epoch"] == pytest.approx(end / 3)


class Recording(Linear):
    """Its core's norms are known: the gradient of the weight, row by row."""

    class Core(nn.Module):
        record_gradients, gradient_norms = False, None

    def __init__(self, **options):
        super().__init__(**options)
        self.core = self.Core()
        self.weight.register_hook(self.note)

    def note(self, gradient):
        self.core.gradient_norms = gradient.norm(dim=1) if self.core.record_gradients else None


@pytest.mark.parametrize(("every", "diverges_at"), [(1, None), (2, None), (4, None), (100, None), (4, 1), (2, 4)])
def test_gradients_are_recorded_every_so_many_iterations_and_written_with_them(tmp_path, every, diverges_at):
    spec, task = spec_of(epochs=4, record_gradients=every), Breaking(diverges_at, math.nan)
    history, network = run_loop(tmp_path, spec, task, Recording())
    writing.write(tmp_path, {}, history, network, spec["training"])
    with np.load(tmp_path / GRADIENTS) as written:
        assert written["iterations"].tolist() == [*range(0, diverges_at - 1 if diverges_at else 12, every)]  # of 12
        assert written["norms"].tolist() == [norms.tolist() for norms in history.gradient_norms]
        assert written["norms"].dtype == np.float32 and written["norms"].ndim == 2
    assert all(norms.shape == (4,) and (norms > 0).all() for norms in history.gradient_norms)


@pytest.mark.parametrize(
    ("network", "ragged", "complaint"), [(Linear, False, "my.Core cannot"), (Recording, True, "length")]
)
def test_gradients_that_cannot_be_recorded_are_refused(tmp_path, network, ragged, complaint):
    task, spec = Regression(), spec_of(record_gradients=2) | {"core": "my.Core", "network": "my.Network"}
    task.ragged = ragged
    with pytest.raises(UserError, match=f"task regression: training.record_gradients: .*{complaint}"):
        run_loop(tmp_path, spec, task, network())


def test_numbers_of_a_whole_run_are_among_what_it_measured(tmp_path):
    """By hand: the first two of eight steps have 1/8 of the last two's norm, then 2 times it: sqrt(1/8 * 2) = 1/2."""
    norms = [[1.0, 3.0, *[9.0] * 4, 20.0, 12.0], [6.0, 10.0, *[9.0] * 4, 4.0, 4.0]]
    metrics = [{"iteration": k, "epoch": k, "train_loss": 1.0, "test_loss": loss} for k, loss in ((1, 0.5), (2, 1.25))]
    history = loop.History(metrics=metrics, gradient_norms=[torch.tensor(each) for each in norms])
    writing.write(tmp_path, {}, history, Linear(), spec_of(record_gradients=4)["training"])
    measured = RunFiles(tmp_path).record()["reported"]["metrics"]
    assert measured["test_loss"] == 0.5  # reported is the first evaluation, and the gap is of the last
    assert measured["generalisation_gap"] == 0.25 and measured["gradient_share"] == pytest.approx(0.5)
    assert of_history([{"train_loss": 1.0}], torch.zeros(2, 4)) == {"gradient_share": pytest.approx(1.0)}
    assert of_history([], [[0.0, 1.0]]) == {"gradient_share": pytest.approx(1e-12)} and of_history([], []) == {}


def test_the_checkpoint_of_another_run_or_format_is_ignored_and_one_of_equal_code_taken(tmp_path, capsys):
    assert Checkpoint(tmp_path, "then").load() is None
    Checkpoint(tmp_path, "then").save({"x": 1})
    assert Checkpoint(tmp_path, "now", {"then"}).load()["x"] == 1 and Checkpoint(tmp_path, "now").load() is None
    Checkpoint(tmp_path, "now").save({"x": 2})
    assert Checkpoint(tmp_path, "now").load()["x"] == 2
    assert Checkpoint(tmp_path, "then").load()["x"] == 1  # the previous file is still that run's
    assert capsys.readouterr().err == ""
    Checkpoint(tmp_path, "now").save({"x": 3, "format": None})  # as the first ones
    (tmp_path / "checkpoint.previous.pt").unlink()
    assert Checkpoint(tmp_path, "now").load() is None


def test_a_checkpoint_is_due_every_minute_or_soon_after_an_evaluation_and_takes_two_per_cent(tmp_path, monkeypatch):
    clock, save = SimpleNamespace(now=0.0, took=0.0), torch.save

    def slowly(*given):
        clock.now += clock.took
        save(*given)

    monkeypatch.setattr("hidden_dynamics.training.checkpoint.time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(torch, "save", slowly)
    one = Checkpoint(tmp_path, "abc")
    for clock.took, after_evaluation, wait in ((0.0, False, 60), (0.0, True, 5), (2.0, True, 100), (2.0, False, 100)):
        one.save({"x": 1})
        for more, due in ((wait - 0.1, False), (0.2, True)):
            clock.now += more
            assert one.due(after_evaluation) == due


@pytest.mark.parametrize(
    "asked, value, fails, expected",
    [(False, 1.0, False, None), (True, 1.0, False, [2.0]), (True, math.nan, False, []), (True, 1.0, True, [])],
)
def test_predictions_are_made_where_they_are_asked_for_by_a_network_that_was_evaluated(asked, value, fails, expected):
    class Predicting(Regression, PredictingTask):
        def predictions(self, network):
            assert not network.training and not torch.is_grad_enabled()
            if fails:
                raise SolverFailure("step size underflow", 0.5, 3, "forward")
            return {"values": np.array([2.0])}

    spec = spec_of(record_predictions=asked)
    history = loop.History(metrics=[{"iteration": 1, "epoch": 1.0, "test_loss": value}])
    found = loop.predictions(spec, Predicting(), Linear().train(), history)
    assert (found if found is None else [*map(float, found.get("values", []))]) == expected
    if asked:
        with pytest.raises(UserError, match="makes none"):
            loop.predictions(spec, Regression(), Linear(), history)


@given(position=st.integers(0, 10**9), bit=st.integers(0, 7))
def test_no_single_flipped_bit_of_a_checkpoint_goes_unnoticed(tmp_path_factory, position, bit):
    checkpoint = Checkpoint(tmp_path_factory.mktemp("checkpoint"), "abc")
    checkpoint.save({"x": torch.arange(10)})
    content = bytearray(checkpoint.path.read_bytes())
    content[position % len(content)] ^= 1 << bit
    checkpoint.path.write_bytes(content)
    assert checkpoint.load() is None


@pytest.mark.parametrize(("damaged", "left"), [(["checkpoint"], 5), (["checkpoint", "checkpoint.previous"], 9)])
def test_training_continues_with_the_same_numbers_from_the_last_checkpoint_that_is_whole(
    tmp_path, capsys, damaged, left
):
    """After step 4 and after step 6 of 9 there is one."""
    whole = run_loop(tmp_path / "whole")
    for steps in (4, 2):
        with pytest.raises(Interrupted):
            run_loop(tmp_path / "stopped", task=stopped(Regression(), steps))
    for name in damaged:
        path = tmp_path / "stopped" / f"{name}.pt"
        path.write_bytes(path.read_bytes()[:-7])
    rest = Regression()
    assert_same(*run_loop(tmp_path / "stopped", task=rest), whole)
    assert rest.batches == left and capsys.readouterr().err.count("is damaged") == len(damaged)


SIGNALS = [signal.SIGTERM, signal.SIGINT]


def linear(name, **options):
    """Its loss has random numbers, its optimiser a state, and its gradients are recorded."""
    settings = {"main": {"name": name, "lr": 0.05, **options}}
    return spec_of(optimisers=settings, record_gradients=2), Regression, lambda: Recording(noise=1.0)


def orthogonal(K):
    """Two groups of parameters, and a base that moves every K-th step."""

    def network():
        torch.manual_seed(0)
        task = SimpleNamespace(input_size=1, output_size=3, every_step=False)
        return RecurrentNetwork(task, MomentumDTRIV, hidden_size=5, mu=0.6, s=0.9, K=K)

    class Steps(Regression):
        def batch(self, epoch, indices):
            x, y = super().batch(epoch, indices)
            return x.t().unsqueeze(-1), y

        def evaluate(self, network):
            return {"test_loss": self.loss(network, (self.x.t().unsqueeze(-1), self.y)).item()}

    return spec_of(optimisers={"main": RMSPROP["main"], "orthogonal": RMSPROP["main"]}), Steps, network


class WithATest(ValidatedTask, Regression):
    """It measures, beside the test loss, a number that grows; and it has a test."""

    def measure(self, part, network):
        if part == "test":
            return {"tested": network.weight.sum().item()}
        return Regression.evaluate(self, network) | {"size": network.weight.abs().sum().item()}


class Solved(Linear):
    """Evaluations are counted, of another number in every step."""

    def __init__(self, **options):
        super().__init__(**options)
        self.function_evaluations = FunctionEvaluations()

    def forward(self, x):
        self.function_evaluations.forward += 1 + int(torch.randint(9, ())) if self.training else 1
        return super().forward(x)


class Turns(Linear):
    def parts(self):
        return {"hidden": [self.weight], "attention": [self.bias]}


class OfParts(Regression, TaskOfParts):
    def loss(self, network, batch, part=None):
        return super().loss(network, batch) + (0.1 * network.bias.square().sum() if part == "attention" else 0)


@pytest.mark.parametrize(
    ("count", "left"),
    [(10_000, None), (14_000, ["2.class", "2.loss", "4.class"]), (26_032, ["2.class", "4.class"]), (120_000, [])],
)
def test_items_are_left_out_beyond_what_a_record_may_have(tmp_path, count, left):
    """As of images, whose classes are all alike and whose losses differ; more of the reported evaluation than of the
    last."""
    rng = np.random.default_rng(0)
    logits, labels = (torch.from_numpy(rng.normal(0, 3, (count, 10))), torch.from_numpy(rng.integers(0, 10, count)))
    items = {name: torch.from_numpy(each) for name, each in of_classes(logits, labels).items()}
    metrics = [{"iteration": k, "epoch": k, "train_loss": 1.0, "test_loss": k} for k in (2, 4)]
    writing.write(
        tmp_path, {}, loop.History(metrics=metrics, items={2: items, 4: items}), Linear(), spec_of()["training"]
    )
    found = RunFiles(tmp_path).items()
    assert (tmp_path / ITEMS).stat().st_size <= 25_000
    whole = ["2.class", "2.loss", "4.class", "4.loss"]
    assert sorted(f"{at}.{name}" for at in found for name in found[at]) == (whole if left is None else left)
    losses = nn.functional.cross_entropy(logits, labels, reduction="none").numpy()
    assert "loss" not in found.get(2, {}) or np.allclose(found[2]["loss"], losses, rtol=1 / 16, atol=1e-4)


def test_a_run_without_items_is_named(tmp_path):
    writing.write(tmp_path, {}, loop.History(), Linear(), spec_of()["training"])
    with refused(file=tmp_path / ITEMS):
        RunFiles(tmp_path).items()


# Its weights are averaged from the second evaluation on, and its rates fall.
AVERAGED = spec_of(
    averaging={"metric": "size", "nonmonotone": 1}, evaluate_every=2, rates={"drops": [1], "factor": 0.1}
)
KINDS = {
    "RMSprop": linear("RMSprop"),
    "Adam": linear("Adam"),
    "SGD": linear("SGD", momentum=0.9),
    **{f"K = {K}": orthogonal(K) for K in (1, 3, "∞")},
    "averaged and tested": (AVERAGED, WithATest, lambda: Linear(noise=1.0)),
    "in turns": (spec_of(alternating=True), OfParts, lambda: Turns(noise=1.0)),
    "solved": (spec_of(), Regression, lambda: Solved(noise=1.0)),
}


@pytest.mark.parametrize(("kind", "signum"), [*((kind, signal.SIGTERM) for kind in KINDS), ("RMSprop", signal.SIGINT)])
def test_a_signal_lets_the_step_end_and_every_kind_of_training_goes_on_to_the_same_bits(tmp_path, kind, signum):
    """Stopped within each step once; of two parts in turn, in the first one's or the second one's."""
    spec, task, network = KINDS[kind]
    whole = run_loop(tmp_path / "whole", spec, task(), network())
    assert (whole[0].averaged_since is not None) == (kind == "averaged and tested")
    for at in range(1, 10):
        directory, turns = tmp_path / str(at), 2 if kind == "in turns" else 1
        with pytest.raises(Interrupted) as interruption:
            run_loop(directory, spec, stopped(task(), turns * at - at % turns, signum), network())
        assert interruption.value.signum == signum
        rest = task()
        assert_same(*run_loop(directory, spec, rest, network()), whole)
        assert rest.batches == 9 - at
        assert [path.name for path in directory.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [[2, 4], [1, 3]])
def test_a_training_that_has_ended_goes_on_to_the_bits_of_one_of_its_whole_length(tmp_path, kind, lengths):
    """It is stopped on the way, too, and taken up when it has ended."""
    spec, task, network = KINDS[kind]
    every = spec["training"].get("evaluate_every", 1)
    lengths = [length for length in lengths if 3 * length % every == 0]  # of epochs of 3 steps
    whole = run_loop(tmp_path / "whole", of_epochs(spec, 6), task(), network())
    assert whole[0].averaged_since == (6 if kind == "averaged and tested" else None)
    for epochs in lengths:
        part = run_loop(tmp_path / "grown", of_epochs(spec, epochs), task(), network())
        assert_same(*part, run_loop(tmp_path / f"{epochs}", of_epochs(spec, epochs), task(), network()))
    with pytest.raises(Interrupted):
        run_loop(tmp_path / "grown", of_epochs(spec, 6), stopped(task(), 2), network())
    for _ in range(2):
        rest = task()
        assert_same(*run_loop(tmp_path / "grown", of_epochs(spec, 6), rest, network()), whole)
    assert rest.batches == 0


def of_epochs(spec, epochs):
    return spec | {"training": spec["training"] | {"epochs": epochs}}


def test_a_test_that_fails_or_is_stopped_is_taken_back_and_a_training_that_diverged_stays_so(tmp_path):
    spec, task, network = KINDS["averaged and tested"]

    class Failing(task):
        def evaluate_test(self, network):
            raise SolverFailure("step size underflow", 0.5, 3, "forward")

    class Stopping(task):
        def evaluate_test(self, network):
            network.weight.detach().zero_()
            torch.rand(1)
            signal.raise_signal(signal.SIGTERM)

    failed, _ = run_loop(tmp_path / "grown", of_epochs(spec, 2), Failing(), network())
    assert (failed.diverged_at, failed.failure["during"], len(failed.metrics)) == (6, "test", 3)
    assert_same(*run_loop(tmp_path / "grown", of_epochs(spec, 2), Regression(), network()), (failed, _))
    with pytest.raises(Interrupted):
        run_loop(tmp_path / "grown", of_epochs(spec, 4), Stopping(), network())
    whole = run_loop(tmp_path / "whole", of_epochs(spec, 6), task(), network())
    assert_same(*run_loop(tmp_path / "grown", of_epochs(spec, 6), task(), network()), whole)
    run_loop(tmp_path / "diverged", spec_of(epochs=4), Breaking(at=7, value=math.nan))
    history, _ = run_loop(tmp_path / "diverged", spec_of(epochs=6))
    assert (history.diverged_at, history.iteration) == (7, 6)


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_ends_an_evaluation_at_once_and_it_is_made_again(tmp_path, signum):
    class Long(Regression):
        def evaluate(self, network):
            if self.batches == 6:
                signal.raise_signal(signum)
                pytest.fail("the evaluation goes on")
            return super().evaluate(network)

    with pytest.raises(Interrupted) as interruption:
        run_loop(tmp_path / "stopped", task=Long())
    assert interruption.value.signum == signum
    assert_same(*run_loop(tmp_path / "stopped"), run_loop(tmp_path / "whole"))


@pytest.mark.parametrize(("owner", "name", "calls"), [(loop.time, "perf_counter", 24), (Checkpoint, "save", 13)])
def test_a_signal_at_any_reading_of_the_clock_or_saving_leaves_nothing_half_done(
    tmp_path, monkeypatch, owner, name, calls
):
    """Every step and evaluation reads the clock when it begins and ends, and is saved; so is the end, once more."""
    for constant, value in {"SECONDS": -1, "SECONDS_AFTER_AN_EVALUATION": -1, "TIMES_A_SAVING": 0}.items():
        monkeypatch.setattr(checkpoint, constant, value)
    whole, real = run_loop(tmp_path / "whole"), getattr(owner, name)
    for at in range(calls):
        count = iter(range(1000))

        def signalling(*arguments, at=at, count=count):
            if next(count) == at:
                signal.raise_signal(signal.SIGINT)
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, signalling)
            with pytest.raises(Interrupted):
                run_loop(tmp_path / str(at))
        assert_same(*run_loop(tmp_path / str(at)), whole)


def test_a_sigint_that_is_ignored_stays_so_sigterm_is_obeyed_even_then_and_both_handlers_are_put_back(tmp_path):
    """As in what a script runs in the background."""
    for signum in SIGNALS:
        signal.signal(signum, signal.SIG_IGN)
    ignoring = run_loop(tmp_path / "ignoring", task=stopped(Regression(), 2, signal.SIGINT))
    assert_same(*ignoring, run_loop(tmp_path / "whole"))
    with pytest.raises(Interrupted):
        run_loop(tmp_path / "stopped", task=stopped(Regression(), 2, signal.SIGTERM))
    assert [signal.getsignal(signum) for signum in SIGNALS] == 2 * [signal.SIG_IGN]


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_the_arithmetic_is_deterministic_and_of_the_precision_asked_for(precision, monkeypatch):
    """With a GPU, torch takes its deterministic algorithms and warns of what has none."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    torch.set_num_threads(2)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = True, False
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not tf32
    smallest = torch.tensor([torch.finfo(torch.float32).tiny])
    assert (smallest * 0.5).item() != 0
    devices.set_arithmetic(1, precision)
    assert (smallest * 0.5).item() == 0  # what is below is flushed
    assert torch.backends.cudnn.deterministic and not torch.backends.cudnn.benchmark
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == (tf32, tf32)
    assert torch.get_num_threads() == 1 and torch.get_deterministic_debug_mode() == 1
    assert torch.is_deterministic_algorithms_warn_only_enabled()


def test_several_threads_add_in_one_order():
    """The gradient of indexing: torch's fast algorithm adds in the order in which the threads come."""
    weight, rows = torch.zeros(200), torch.randint(0, 200, (200_000,))
    values = torch.randn(len(rows))
    devices.set_arithmetic(4, "fp32")
    sums = {weight.clone().index_put_((rows,), values, accumulate=True).numpy().tobytes() for _ in range(20)}
    assert len(sums) == 1
    assert not torch.utils.deterministic.fill_uninitialized_memory
    devices.set_arithmetic(1, "fp32")
    assert torch.are_deterministic_algorithms_enabled() == torch.cuda.is_available()


@pytest.fixture
def workplace(tmp_path):
    """The adding problem of 6 numbers: `lstm` with 4 units, 6 steps."""
    changes = {"data": {"length": 6, "test_size": 16}, "sizes": {128: 4}}
    training = {"epochs": 6, "iterations_per_epoch": 1, "evaluate_every": 4, "batch_size": 8}
    return Workplace(tmp_path, "adding", "lstm-n4", changes=changes, **training)


def left(workplace):
    """Every file under the results, but those on the way to their names."""
    paths = [path for path in workplace.root.glob("results/**/*") if path.is_file()]
    return sorted(path.name for path in paths if path.name[0] != ".")


@pytest.fixture
def call(ended):
    """The script's exit code, and what it wrote to stdout and stderr."""
    return lambda arguments: ended(script.main, *arguments)


def test_a_run_leaves_its_outputs_which_agree_with_each_other_and_its_checkpoint(workplace, call):
    code, out, err = call(workplace.arguments())
    assert (code, err) == (0, "") and "adding/lstm-n4/seed0: finished after 6 iterations" in out
    assert left(workplace) == sorted([*OUTPUTS, ITEMS, "checkpoint.pt"])
    files = RunFiles(workplace.run)
    about, losses, rows = files.record(), files.train_loss(), files.metrics()
    assert losses.dtype == np.float64 and losses.shape == (6,)
    assert [row["iteration"] for row in rows] == [4, 6]
    assert [row["train_loss"] for row in rows] == pytest.approx([losses[:4].mean(), losses[4:].mean()], rel=1e-12)
    assert (about["status"], about["diverged_at"], about["iterations"]) == ("finished", None, 6)
    assert about["naive"]["train_loss"] == {"best constant": 1 / 6} and about["test_set"]["size"] > 0
    assert about["commit"] == commit_of(ROOT) and about["processor"]
    items = files.items()  # the adding task's, whose evaluations are of the test set
    assert {at: each["squared_error"].mean() for at, each in items.items()} == pytest.approx({6: rows[-1]["test_loss"]})
    assert about["reported"]["iteration"] == 6 and set(archived(workplace.run)) == {*OUTPUTS, ITEMS} - {WEIGHTS}
    assert about["reported"]["value"] == rows[-1]["train_loss"]
    weights = torch.load(workplace.run / "model.pt")
    assert about["parameters"] == sum(weight.numel() for weight in weights.values())
    assert 0 < about["peak_memory_mb"] <= memory.peak()
    # 4 gates of 4 units with 2 inputs, 4 hidden units and two biases; a readout of 4 weights and a bias
    assert about["parameters"] == 16 * (2 + 4 + 2) + 4 + 1


@pytest.fixture
def steps(monkeypatch):
    """Counts the steps that are trained, as `call_count`."""
    monkeypatch.setattr(loop, "_step", Mock(wraps=loop._step))
    return loop._step


def test_a_finished_run_is_not_trained_again_and_its_outputs_are_rewritten_as_they_were(
    workplace, call, steps, monkeypatch
):
    assert call(workplace.arguments())[0] == 0
    assert steps.call_count == 6
    before = {name: (workplace.run / name).read_bytes() for name in OUTPUTS}
    for name in OUTPUTS:
        (workplace.run / name).unlink()
    assert call(workplace.arguments())[0] == 0
    assert {name: (workplace.run / name).read_bytes() for name in OUTPUTS} == before
    assert steps.call_count == 6
    monkeypatch.setattr(script, "commit_of", lambda repository: "another")
    assert call(workplace.arguments())[0] == 0
    assert {name: (workplace.run / name).read_bytes() for name in OUTPUTS} == before  # it names the one that ran it
    options = {"length": 6, "seed": 1, "test_size": 16}  # other data of the same name, and nothing else is another
    prepared.save(workplace.data, adding.prepare(None, options), prepared.load(workplace.data).provenance)
    call(workplace.arguments())
    assert steps.call_count == 12
    assert RunFiles(workplace.run).record()["dataset"]["digest"] == prepared.load(workplace.data).digest
    assert call(workplace.arguments(epochs=7))[0] == 0  # another specification
    assert steps.call_count == 19


def test_a_run_that_is_written_again_by_equal_code_says_by_which_it_was_begun(workplace, call, monkeypatch, steps):
    call(workplace.arguments())
    begun = RunFiles(workplace.run).record()["code"]
    line = equal_code.Equal(old=begun, new="new", old_commit="", new_commit="", tried="", result="")
    monkeypatch.setattr(equal_code, "all_equal", lambda: (line,))
    for module in (runs, checkpoint, run_files):
        monkeypatch.setattr(module, "code_of", lambda run: "new")
    equal_code.equals_of.cache_clear()
    assert call(workplace.arguments())[0] == 0
    equal_code.equals_of.cache_clear()
    assert steps.call_count == 6 and RunFiles(workplace.run).record()["code"] == begun


def test_no_checkpoint_of_a_finished_run_is_kept_where_none_is_to_be(workplace, call, steps):
    keeping_none = [*workplace.arguments(), "--config", json.dumps(workplace.settings() | {"keep_checkpoints": "none"})]
    assert call(keeping_none)[0] == 0 and "checkpoint.pt" not in left(workplace)
    assert call(keeping_none)[0] == 0 and steps.call_count == 6


def test_made_up_records_have_what_a_training_writes(workplace, call):
    call(workplace.arguments())
    made = record_of(workplace.configuration(), workplace.of())
    written = RunFiles(workplace.run).record()
    assert set(written) == {*made, "files", "checksum"}
    for part in ("spec", "dataset", "reported", "seconds", "versions"):
        assert set(written[part]) == set(made[part])


def test_a_record_names_what_was_preloaded(workplace, call, monkeypatch):
    """Such a library can let MKL choose other code (docs/install.md)."""
    monkeypatch.setenv("LD_PRELOAD", "/nowhere/mkl_amd.so:other.so")
    call(workplace.arguments())
    assert RunFiles(workplace.run).record()["versions"]["preloaded"] == "mkl_amd.so, other.so"


def test_an_old_run_json_does_not_vouch_for_the_files_of_a_new_run(workplace, call, monkeypatch):
    """It is gone before another of the run's files is replaced."""
    call(workplace.arguments())
    written = []

    def noting(path, *how, **more):
        written.append((Path(path).name, (workplace.run / "run.json").exists()))
        return record_atomic(path, *how, **more)

    record_atomic = writing.atomic
    for module in (writing, rows):
        monkeypatch.setattr(module, "atomic", noting)
    call(workplace.arguments(epochs=7))
    order = ["metrics.csv", "clock.csv", "train_loss.npy", WEIGHTS, ITEMS, "run.json"]
    assert [name for name, _ in written] == order
    assert not any(there for _, there in written)


@pytest.mark.parametrize("end, code", [("stopped", 143), ("failed", 1)])
def test_what_a_run_under_way_has_written_is_the_beginning_of_what_it_leaves(workplace, call, monkeypatch, end, code):
    """Of one in whose directory another has finished, and which is stopped, or fails, on its way."""
    call(workplace.arguments(epochs=7))
    looks, write = [], writing.UnderWayWriter.__call__

    def writing_and_looking(writer, history, schedule):
        write(writer, history, schedule)
        looks.append(json.loads((workplace.run / UNDERWAY).read_bytes()))
        assert not (workplace.run / "run.json").exists()
        if len(looks) == 3:
            signal.raise_signal(signal.SIGTERM) if end == "stopped" else [].pop()

    monkeypatch.setattr(writing, "SECONDS", 0.0)
    monkeypatch.setattr(writing.UnderWayWriter, "__call__", writing_and_looking)
    assert call(workplace.arguments())[0] == code
    assert (workplace.run / UNDERWAY).exists() == (end == "stopped")
    assert call(workplace.arguments())[0] == 0 and not (workplace.run / UNDERWAY).exists()
    files, looks = RunFiles(workplace.run), looks if end == "stopped" else looks[3:]  # which are done again
    assert len(looks) == 8
    for done, record in enumerate(looks, 1):
        about = record["under_way"]
        assert set(record) == {*files.record(), "under_way"} - {"files", "checksum", "solver"}
        metrics, losses = about["evaluations"], about["losses"]
        assert metrics == files.metrics()[: len(metrics)]
        assert losses == files.train_loss().tolist()[: record["iterations"]] and len(losses) + len(metrics) == done
        assert (record["status"], about["iterations"], about["epoch"]) == ("running", 6, len(losses))


@pytest.mark.parametrize(("evaluate_every", "rows"), [(1, [1]), (4, [])])
def test_a_run_that_diverges_finishes_as_diverged_with_all_its_outputs(workplace, call, evaluate_every, rows):
    diverging = workplace.arguments(evaluate_every=evaluate_every, optimisers={"main": {"lr": 1e25}})
    code, out, _ = call(diverging)
    assert code == 0 and "diverged at iteration 2" in out
    files = RunFiles(workplace.run)
    about = files.record()
    assert (about["status"], about["diverged_at"], about["iterations"]) == ("diverged", 2, 1)
    assert (about["reported"] is None) == (not rows)
    assert files.train_loss().shape == (1,) and [row["iteration"] for row in files.metrics()] == rows
    assert all((workplace.run / name).is_file() for name in OUTPUTS)


def one_line(err):
    return err.startswith("error: ") and err.count("\n") == 1 and err.endswith("\n")


@pytest.mark.parametrize(
    ("more", "given", "code", "complaint"),
    [
        (["--seed", "first"], {}, 2, "--seed: invalid seed value: 'first'"),
        (["--seed", "-1"], {}, 2, "--seed: -1 is not within 0 and 4294967295"),
        (["--seed", str(2**32)], {}, 2, "--seed: 4294967296 is not within"),
        *((["--threads", n], {}, 2, f"--threads: {n} is not within 1 and") for n in ("-2", "0", str(2**31))),
        (["--device", "tpu"], {}, 2, "--device: invalid choice: 'tpu'"),
        (["--task", "addign"], {}, 1, "unknown task 'addign'. Did you mean 'adding'"),
        (["--model", "lstm-n5"], {}, 1, "unknown model 'lstm-n5'. Did you mean 'lstm-n4'"),
        (["--device", "cuda"], {}, 1, "device=cpu"),
        ([], {"report": {"metric": "accuracy", "rule": "max"}}, 1, "unknown metric 'accuracy'"),
        ([], {"changes": {"class": "hidden_dynamics.tasks.adding.Subtracting"}}, 1, "Subtracting"),
        ([], {"changes": {"data": {"length": 7}}}, 1, "adding-length7-seed0-test_size128.npz cannot be used"),
        ([], {"results": "/dev/null/results"}, 1, "/dev/null"),
    ],
)
def test_what_cannot_be_begun_is_refused_in_one_line_or_with_the_usage(
    workplace, call, steps, monkeypatch, more, given, code, complaint
):
    """It is not configured, its data are missing, or its results cannot be written."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    ended, out, err = call([*workplace.arguments(**given), *more])
    assert (ended, out) == (code, "") and complaint in err
    assert one_line(err) if code == 1 else err.startswith("usage:") and err.count("error: ") == 1
    assert left(workplace) == [] and steps.call_count == 0


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"optimisers": {"other": {"name": "SGD", "lr": 0.1}}}, "one optimiser for each"),
        ({"changes": {"models": {"lstm": {"hyperparameters": {"hidden_size": "many"}}}}}, "cannot be built"),
        # The network asks something else of its task.
        ({"changes": {"network": "hidden_dynamics.models.image_networks.ResNet"}}, "cannot be built"),
    ],
)
def test_what_cannot_be_trained_is_said_in_one_line_and_recorded(workplace, call, given, complaint):
    code, _, err = call(workplace.arguments(**given))
    assert code == 1 and one_line(err) and complaint in err
    assert left(workplace) == sorted({*OUTPUTS, FAILURES} - {WEIGHTS})
    record = RunFiles(workplace.run).record()
    assert record["status"] == "failed" and complaint in record["failure"]["error"]


@pytest.mark.parametrize(
    ("file", "key", "place"),
    [
        ("config/models.yaml", "lstm.hyperparameters", "config/models.yaml"),
        ("config/tasks.yaml", "adding.models.lstm.hyperparameters", "config/tasks.yaml"),
        ("config/scales.yaml", "demo.tasks.adding.hyperparameters", "config/scales.yaml"),
        (None, {"hyperparameters": {"misspelt": 1}}, "config.yaml"),
    ],
)
def test_a_misspelt_hyperparameter_is_sought_where_it_is_set(workplace, call, project, monkeypatch, file, key, place):
    if file:
        project.set(file, key, {"misspelt": 1})
    monkeypatch.setattr(script, "load", lambda settings: load(settings, project.directory))
    code, _, err = call(workplace.arguments(changes=None if file else key))
    assert code == 1 and f"Check them in {place}." in err and "misspelt" in err


@pytest.fixture
def both(workplace, call):
    """Trains MomentumLSTM and then another one; the exit code, stderr and the records, None without one."""

    def train(*more):
        ended = call([*workplace.arguments(), "--model", "momentum_lstm-n4", "lstm-n4", *more])
        directories = [workplace.run.parents[1] / model / "seed0" for model in ("momentum_lstm-n4", "lstm-n4")]
        records = [RunFiles(own).record() if (own / "run.json").exists() else None for own in directories]
        return ended.code, ended.err, *records

    return train


@pytest.mark.parametrize("error", [RuntimeError("not enough memory:\n8 GB"), MemoryError(), ZeroDivisionError("by 0")])
def test_a_run_that_fails_is_recorded_so_and_alone_tried_again(both, steps, monkeypatch, error):
    with monkeypatch.context() as patch:
        patch.setattr(MomentumLSTM, "forward", Mock(side_effect=error))
        code, err, broken, other = both()
        before = steps.call_count
        assert both("--job")[0] == 0  # the workflow itself tells of it
    told = f"{type(error).__name__}: {' '.join(str(error).split())}"
    assert code == 1 and err.startswith("Traceback") and err.endswith(f"error: {broken['run']} failed: {told}\n")
    assert (broken["status"], broken["failure"], broken["reported"]) == ("failed", {"error": told}, None)
    assert broken["parameters"] > 0 and broken["naive"] == other["naive"] and WEIGHTS not in broken["files"]
    assert other["status"] == "finished"
    code, _, mended, same = both()
    assert (code, mended["status"], same) == (0, "finished", other)
    assert steps.call_count == before + 1 + 6


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_and_ctrl_c_concern_all_runs(both, monkeypatch, error):
    monkeypatch.setattr(MomentumLSTM, "forward", Mock(side_effect=error))
    assert both()[2:] == (None, None)


def test_a_failed_run_is_neither_finished_nor_published(workplace, call, monkeypatch):
    monkeypatch.setattr(RecurrentNetwork, "forward", Mock(side_effect=ValueError("/home/me/secret")))
    call(workplace.arguments())
    assert not is_finished(workplace.configuration(), workplace.of())
    with refused("failed", file=workplace.run / "run.json"):
        archived(workplace.run)


def test_a_full_disk_is_reported_and_leaves_nothing_at_a_final_name(workplace, call, monkeypatch):
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("hidden_dynamics.system.files.os.fsync", full)
    code, _, err = call(workplace.arguments())
    warning, error = err.splitlines()  # of the checkpoint, which a training can do without, and of its outputs
    assert code == 1 and warning.startswith("warning: ") and "checkpoint.pt could not be written" in warning
    assert error.startswith("error: No space left on device: the disk at ") and "metrics.csv" in error
    assert [path for path in workplace.root.glob("results/**/*") if path.is_file()] == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), Interrupted(signal.SIGINT), Interrupted(signal.SIGTERM)])
def test_being_stopped_outside_of_the_training_loop_is_said_in_one_line_too(workplace, call, monkeypatch, stop):
    monkeypatch.setattr(devices, "turn", Mock(side_effect=stop))
    code, _, err = call(workplace.arguments())
    terminated = isinstance(stop, Interrupted) and stop.signum == signal.SIGTERM
    assert code == (143 if terminated else 130)
    assert err == f"stopped by SIG{'TERM' if terminated else 'INT'}; the same command continues from the checkpoint\n"
