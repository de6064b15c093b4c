"""Every network of irregular series: its batches, what it refuses, what has no influence, what trains it, and what was
released."""

from dataclasses import replace
from math import e, log

import numpy as np
import pytest
import torch
from cases import assert_all_close
from hypothesis import given
from hypothesis import strategies as st
from series_cases import (
    FORECASTERS,
    LATENT,
    NETWORKS,
    RECONSTRUCTING,
    batch_for,
    count,
    drawn_rows,
    learnt,
    made,
    shaken,
    task_of,
    whole,
)
from torch import nn

from hidden_dynamics.errors import ObservationError
from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.training.optimisers import groups_of

ROWS = Rows(
    times=np.float32([0, 1, 2, 0.5, 1]),
    values=np.arange(15, dtype=np.float32).reshape(5, 3) / 15,
    mask=np.arange(15).reshape(5, 3) % 4 > 0,
    lengths=np.array([3, 2]),
)
every_network = pytest.mark.parametrize("name", NETWORKS)


def fault(call, *arguments, **options):
    with pytest.raises(ObservationError) as raised:
        call(*arguments, **options)
    return raised.value.series, raised.value.row, raised.value.feature


@pytest.mark.parametrize(
    ("array", "place", "value", "expected"),
    [
        *(("times", 4, value, (1, 1, None)) for value in (np.nan, np.inf, -1.0, 0.5)),
        ("times", 0, np.nan, (0, 0, None)),
        *(("values", (2, 1), value, (0, 2, 1)) for value in (np.nan, -np.inf)),
    ],
)
def test_a_fault_is_named_by_its_series_row_and_feature(array, place, value, expected):
    wrong = getattr(ROWS, array).copy()
    wrong[place] = value
    for until in (None, 1.0):
        assert fault(batch_of, ROWS._replace(**{array: wrong}), np.array([1, 0]), until) == expected


def listed(rows, chosen, until):
    """(time, series, its values and mask), in order, one by one."""
    found, starts = [], np.concatenate([[0], np.cumsum(rows.lengths)])
    for place, series in enumerate(chosen):
        for row in range(starts[series], starts[series + 1]):
            if until is None or rows.times[row] <= until:
                values = [value if seen else 0.0 for value, seen in zip(rows.values[row], rows.mask[row], strict=True)]
                found.append((float(rows.times[row]), place, values, list(rows.mask[row])))
    return sorted(found, key=lambda item: item[:2])


@given(seed=st.integers(0, 10**6), until=st.sampled_from([None, 5.0, 2.25, -1.0]))
def test_a_batch_holds_the_rows_of_its_series_by_time_and_series(seed, until):
    rows = drawn_rows(seed, series=5, most=7, unit=4)
    rows = rows._replace(values=np.where(rows.mask, rows.values, np.nan).astype(np.float32))
    chosen = np.random.default_rng(seed).integers(0, 5, 4)
    batch, expected = batch_of(rows, chosen, until), listed(rows, chosen, until)
    assert batch.size == 4 and batch.times.tolist() == sorted({time for time, *_ in expected})
    assert batch.times[batch.rows_of_times()].tolist() == [time for time, *_ in expected]
    assert batch.offsets.tolist() == [0, *np.cumsum([sum(t == time for t, *_ in expected) for time in batch.times])]
    assert batch.series.tolist() == [place for _, place, *_ in expected]
    assert batch.values.tolist() == [values for *_, values, _ in expected]
    assert batch.mask.tolist() == [mask for *_, mask in expected]


def test_rows_that_do_not_fit_are_refused():
    for wrong in ({"mask": ROWS.mask[:2]}, {"mask": ROWS.mask.astype(int)}, {"lengths": np.array([1, 1])}):
        with pytest.raises(ValueError, match="mask|lengths"):
            batch_of(ROWS._replace(**wrong), np.arange(2))


def test_a_batch_made_by_hand_is_held_to_the_same():
    good, unknown = whole(ROWS), torch.full((5, 3), torch.nan)
    values = torch.where(good.mask > 0, good.values, unknown)
    assert torch.equal(replace(good, values=values).values, good.values)
    assert fault(replace, good, values=torch.where(torch.arange(5)[:, None] == 3, unknown, values)) == (1, 1, 1)
    for times, expected in (
        ([0, 0.5, np.nan, 2], (0, 1, None)),
        ([0, -0.5, 1, 2], (1, 0, None)),
        ([0, 0.5, 1, 1], (None, None, None)),
    ):
        assert fault(replace, good, times=torch.tensor(times).double()) == expected
    for wrong in ({"size": 0}, {"mask": good.mask[:, :2]}, {"series": good.series[:4]}, {"offsets": good.offsets[1:]}):
        assert fault(replace, good, **wrong) == (None, None, None)
    assert fault(SeriesBatch, good, batch_of(ROWS, np.arange(1))) == (None, None, None)


@every_network
def test_another_number_of_features_is_refused(name):
    narrow = whole(ROWS._replace(values=ROWS.values[:, :2], mask=ROWS.mask[:, :2]))
    assert fault(made(name), batch_for(name, narrow)) == (None, None, None)
    if name in FORECASTERS:
        series, times = torch.zeros(1).long(), np.float32([1.0])
        assert fault(made(name).predict, narrow, series, times) == (None, None, None)
        for wrong in (np.nan, np.inf, -1.0):
            assert fault(made(name).predict, whole(ROWS), series, times * 0 + wrong) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "context", "targets"),
    [(name, None, None) for name in NETWORKS]
    + [(name, *pair) for name in LATENT for pair in ((None, 3.0), (3.0, None))],
)
def test_of_nothing_the_likelihood_is_1_and_what_is_latent_is_inferred_all_the_same(name, context, targets):
    """None: no rows."""
    context, targets = (batch_of(ROWS, np.arange(2), until or -1.0) for until in (context, targets))
    called = batch_for(name, context, None if len(context.series) == len(targets.series) else targets)
    network = made(name)
    assert all(each.isfinite().all() for each in learnt(network, called))
    if name in FORECASTERS:
        assert network.predict(context, torch.zeros(0).long(), np.float32([])).shape == (0, 6)
        assert network.predict(context, torch.tensor([1]), np.float32([2])).isfinite().all()
        return
    prediction = network(called)
    samples, *shape = prediction.values.shape
    assert shape == [len(targets.series), 3] and prediction.labels.shape == (samples, 2)
    if not len(targets.series):
        bound = replace(called, labels=None)
        expected = called.divergence_weight * prediction.divergence + prediction.extra
        loss = network.loss(prediction, bound)
        torch.testing.assert_close(loss, torch.as_tensor(expected - log(len(prediction.values))).to(loss))


@every_network
def test_one_union_time_suffices(name):
    """The released recurrent networks divide by the longest gap, which is 0; the second series has no observation."""
    rows = Rows(np.zeros(2, np.float32), np.ones((2, 3)), np.array([[True] * 3, [False] * 3]), np.ones(2, dtype=int))
    assert all(each.isfinite().all() for each in learnt(shaken(made(name)), batch_for(name, whole(rows))))


def test_rnn_vae_as_released_labels_a_series_by_what_another_one_observed():
    """It turns round the series of a batch in place of time: of five, the first decides the last one's label alone."""
    network, rows = shaken(made("RNN-VAE", order="patients")), drawn_rows(3, lengths=[5, 4, 3, 2, 6])
    changed = rows._replace(values=np.where(np.arange(len(rows.values))[:, None] < 5, 1.0, rows.values))
    given = [batch_for("RNN-VAE", whole(each)) for each in (rows, changed)]
    labels = [(torch.manual_seed(0), network(each))[1].labels[0] for each in given]
    assert (labels[0] != labels[1]).tolist() == [False] * 4 + [True]


ZERO = 43.1685  # nats in float32: -1 / 2 - log of the root of the smallest normal number
ENTRIES = {"Neural-ODE-VAE": 2 * 4, "Sequential VAE": 5 * 4}  # where none is averaged


@pytest.mark.parametrize("name", [*LATENT, "Neural-ODE-VAE", "Sequential VAE"])
def test_a_deviation_of_0_is_the_same_event_in_every_family(name):
    """A posterior of mean 0 and deviation 0, and the prior N(0, 1): the run goes on."""
    network, called = made(name), batch_for(name, whole(ROWS))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        if name in ENTRIES:  # which read a logarithm, or softplus
            network.posterior.bias.view(2, -1)[1] = -1000
        if name == "Sequential VAE":
            network.transition.spread.bias.fill_(log(e - 1))
    assert all(each.isfinite().all() for each in learnt(network, called))
    torch.testing.assert_close(network(called).divergence.item() / ENTRIES.get(name, 1), ZERO, rtol=1e-5, atol=0)


def unused(name, labels):
    """The parts that have no gradient: covariates are 0, rows with labels are not predicted, and released errors."""
    found = {"covariates_in.weight"} if "GRU-ODE" in name else set()
    if name.endswith("GRU-ODE-Bayes, released"):
        found |= {"g.reset", "g.update", "g.candidate"}
    if labels == "rows" and name != "RNN-VAE":
        found.add("decoder")
    return found


@pytest.mark.parametrize(
    ("name", "labels"),
    [(name, kind) for name in NETWORKS for kind in ([None] if name in FORECASTERS else ["series", "rows", None])],
)
def test_training_reaches_every_parameter_and_draws_from_torchs_generator_alone(name, labels):
    network = shaken(made(name, labels))
    called = batch_for(name, whole(drawn_rows(3, most=8)), labels=labels)
    if "Decay" in name:  # below 0, its exponent has no gradient
        network.decay.rate.bias.data.fill_(0.2)
    first, again = learnt(network, called), learnt(network, called)
    assert all(map(torch.equal, first, again)) and all(each.isfinite().all() for each in first)
    names = [key for key, _ in network.named_parameters()]
    reached = {key for key, gradient in zip(names, first[1:], strict=True) if gradient.any()}
    parts = unused(name, labels)
    assert {key for key in names if any(key.startswith(part) for part in parts)} == set(names) - reached


@every_network
def test_parts_are_all_parameters_and_the_penalty_is_of_the_attention_alone(name):
    network = made(name)
    assert network.penalty(None, "hidden") == 0 and set(groups_of(network)) == {"main"}
    if not hasattr(network, "parts"):
        assert network.penalty(None) == 0
        return
    network.weight, parts = 0.3, network.parts()
    assert {id(p) for part in parts.values() for p in part} == {id(p) for p in network.parameters()}
    theta = network.attention_parameters()
    assert [*parts] == ["hidden", *(["attention"] if theta else [])]  # Algorithm 1 trains them in this order
    assert [id(p) for p in parts.get("attention", [])] == [id(p) for p in theta]
    assert sum(map(len, parts.values())) == len(list(network.parameters())) + (len(theta) if network.tied else 0)
    for network.norm in (1, 2) if theta else ():
        expected = 0.3 * torch.cat([p.flatten() for p in theta]).norm(network.norm)
        torch.testing.assert_close(network.penalty(None, "attention"), expected)
        torch.testing.assert_close(network.penalty(None), expected)
    assert theta or network.penalty(None) == 0


CERTAIN = [name for name in NETWORKS if "random" not in name]


def answers(name, network, context):
    """Of each series, (N, ...), whatever is drawn put to its mean."""
    if name in FORECASTERS:
        times = np.full(context.size, 2.5, np.float32)
        return network.eval().predict(context, torch.arange(context.size), times)
    return network(batch_for(name, context)).labels.t()


@pytest.fixture
def means(monkeypatch):
    """What is drawn is 0."""
    for draw in ("randn", "randn_like"):
        drawn = getattr(torch, draw)
        monkeypatch.setattr(torch, draw, lambda *sizes, drawn=drawn, **options: 0 * drawn(*sizes, **options))


@pytest.mark.parametrize("name", CERTAIN)
def test_the_order_of_series_has_no_influence(name, means):
    network, rows, order = shaken(made(name)), drawn_rows(5), np.array([3, 0, 5, 4, 1, 2])
    found, turned = (answers(name, network, whole(rows, chosen)) for chosen in (None, order))
    assert_all_close([turned], [found[order]], 1e-8)


@pytest.mark.parametrize("name", [name for name in FORECASTERS if "ACE" not in name])
def test_a_series_is_answered_alike_alone_and_in_any_batch(name, means):
    """But where networks read all union times of a batch, or its correlations."""
    network, rows = shaken(made(name)), drawn_rows(6)
    together = answers(name, network, whole(rows))
    for series in range(6):
        assert_all_close([answers(name, network, whole(rows, np.array([series])))], [together[[series]]], 1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("name", CERTAIN)
def test_a_gpu_answers_and_learns_the_same(name, means):
    network, called = shaken(made(name)).eval(), batch_for(name, whole(drawn_rows(4)))
    for part in network.modules():
        part.train(isinstance(part, nn.RNNBase))  # in which alone cuDNN gives gradients; none of them has dropout
    here = learnt(network, called)
    there = learnt(network.cuda(), called.to("cuda"))
    assert_all_close([each.cpu() for each in there], here, 1e-8)
    if name in FORECASTERS:
        asked = called.series[:5], np.full(5, 2.5, np.float32)
        forecasts = [network.to(at).predict(called.to(at), asked[0].to(at), asked[1]) for at in ("cpu", "cuda")]
        assert_all_close([forecasts[1].cpu()], [forecasts[0]], 1e-8)


CLASSIFIER = 96_901  # of series, two hidden layers of 300 units above 20 entries
ACTIVITY = {"units": 500, "recognition_size": 100, "recognition_layers": 4, "generative_layers": 2}
COUNTS = {  # on PhysioNet without a classifier, and on Human Activity with 11 classes
    # Without the layers of z0 that the released ODE-RNN makes and never uses: 8,140 and 6,130.
    "ODE-RNN": (38_491, {}, 1_130_048, {"layers": 4, "units": 500, "classifier": "mlp"}),
    "RNN Delta": (9_441, {}, 16_078, {"units": 500}),
    "RNN-Impute": (9_523, {}, 16_102, {"units": 500}),
    "RNN-Decay": (9_423, {}, 16_046, {"units": 500}),
    "RNN GRU-D": (9_505, {}, 16_070, {"units": 500}),
    "RNN-VAE": (28_531, {}, 119_708, {"units": 500, "recognition_size": 100}),
    "Latent-ODE": (67_071, {}, 1_696_763, ACTIVITY),
    "Latent-ODE, RNN": (29_671, {}, 561_563, ACTIVITY),
    "Poisson": (78_822, {}, 1_979_485, ACTIVITY),
    "ACE, tied": (67_071, {}, 1_696_763, ACTIVITY),
}


@pytest.mark.parametrize("name", COUNTS)
def test_it_has_as_many_parameters_as_the_released_network(name):
    of_series, options, of_rows, larger = COUNTS[name]
    cls, own = NETWORKS[name]
    assert count(cls(task_of(features=41), 20, **own, **options)) == of_series
    more = CLASSIFIER + (20 * 300 if name == "Poisson" else 0)
    assert count(cls(task_of("series", 41), 20, **own, **options)) == of_series + more
    assert count(cls(task_of("rows", 12, 11), 15, **own | larger)) == of_rows


CHOICES = {
    "RNN GRU-D": ("mean", "decay_gaps"),
    "RNN Delta": ("gap",),
    "RNN-VAE": ("order",),
    "ODE-RNN": ("steps",),
    "Latent-ODE": ("encoder", "label_from", "start"),
    "Poisson": ("unobserved",),
    "ACE": ("attention", "mixing", "rate"),
    "GRU-ODE-Bayes": ("solver",),
    "ACE-GRU-ODE-Bayes, evolving": ("attention", "at_jump"),
}
OUT_OF_RANGE = [
    *((name, {"dropout": 1.0}) for name in FORECASTERS),
    ("GRU-ODE-Bayes", {"delta": 0.0}),
    ("ACE-GRU-ODE-Bayes, fc", {"at_jump": "renewed"}),
    ("ACE-GRU-ODE-Bayes, fc", {"solver": "still"}),
    *(
        (name, {"penalty": {"weight": 1.0} | wrong})
        for name in ("ACE", "ACE-GRU-ODE-Bayes, fc")
        for wrong in ({"weight": -1.0}, {"norm": 3}, {"of": "logits"})
    ),
    *(("Latent-ODE", wrong) for wrong in ({"samples": 0}, {"augmented": -1}, {"generative_layers": -1})),
    *(("GRU-ODE-Bayes", wrong) for wrong in ({"augmented": -1}, {"prep": 0})),
    *((name, {"units": 0}) for name in ("ODE-RNN", "RNN GRU-D")),
    ("Poisson", {"augmented": 5}),
    ("ODE-RNN", {"classifier": "deep", "labels": "rows"}),
]


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {choice: "sideways"}) for name, choices in CHOICES.items() for choice in choices), *OUT_OF_RANGE],
)
def test_a_value_out_of_its_range_is_refused_by_its_name(name, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        made(name, **options)


@pytest.mark.parametrize("labels", [None, "series", "rows"])
def test_labels_of_another_kind_are_refused(labels):
    network, rows = made("Latent-ODE", labels=labels), whole(ROWS)
    for others in {"series", "rows"} - {labels}:
        batch = batch_for("Latent-ODE", rows, labels=others)
        with pytest.raises(ValueError, match="labels"):
            network.loss(network(batch), batch)


@pytest.mark.parametrize("name", RECONSTRUCTING)
def test_targets_other_than_the_context_are_refused(name):
    with pytest.raises(ValueError, match="context only"):
        made(name)(batch_for(name, whole(ROWS), whole(ROWS, until=0.5)))
