"""The recurrent baselines of the Latent-ODE family. Their plain form: tests/test_latent_family_in_plain_form.py."""

import numpy as np
import pytest
import torch
from cases import assert_all_close, assert_close, randomised

from hidden_dynamics.models.latent_family.objective import LABEL_WEIGHT, label_loss, negative_bound
from hidden_dynamics.models.latent_family.series_batch import SeriesBatch
from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.rnn_series import RNNGRUD, RNNVAE, RNNDecay, RNNDelta, RNNImpute
from hidden_dynamics.models.rnn_series.fed_back_gru import generated

D, H, SERIES = 3, 4, 5
CHOICES = {
    RNNDelta: {"gap": ("to_last", "to_next")},
    RNNImpute: {"gap": ("to_last", "to_next"), "mean": ("observed", "union"), "carried": ("all", "released")},
    RNNDecay: {"carried": ("all", "released")},
    RNNGRUD: {"mean": ("observed", "union"), "carried": ("all", "released")},
    RNNVAE: {"order": ("time", "patients")},
}
PUBLISHED, RELEASED = (
    {cls: {name: values[which] for name, values in choices.items()} for cls, choices in CHOICES.items()}
    for which in (0, 1)
)
readings = pytest.mark.parametrize("reading", [PUBLISHED, RELEASED], ids=["published", "released"])
networks = pytest.mark.parametrize("cls", CHOICES, ids=lambda cls: cls.__name__)
recurrent = pytest.mark.parametrize("cls", [cls for cls in CHOICES if cls is not RNNVAE], ids=lambda cls: cls.__name__)
classified = pytest.mark.parametrize("labels", ["series", "rows", None])


class Task:
    def __init__(self, features=D, labels="series", classes=1):
        self.features, self.labels, self.classes = features, labels, classes


def drawn(seed=0, size=SERIES, most=7):
    """Series of up to six rows, some at the same times, the first seldom among them; rows without any feature too."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, most, size)
    lengths[0] = most
    times = [np.sort(rng.choice(20, length, replace=False)) / 20 for length in lengths]
    mask = rng.random((lengths.sum(), D)) < 0.5
    return Rows(np.concatenate(times), rng.standard_normal(mask.shape), mask, lengths)


def batch(rows, chosen=None, until=None, later=False):
    given = batch_of(rows, np.arange(len(rows.lengths)) if chosen is None else chosen, until)
    if not later:
        return SeriesBatch(given, given)
    late = np.repeat(np.arange(len(rows.lengths)), rows.lengths)[rows.times > until]
    lengths = np.bincount(late, minlength=len(rows.lengths))
    after = Rows(*(each[rows.times > until] for each in rows[:3]), lengths)
    return SeriesBatch(given, batch_of(after, np.arange(len(lengths))))


def made(cls, labels="series", reading=PUBLISHED, **options):
    classes = {"series": 1, "rows": 4, None: 0}[labels]
    options = {"units": 6, **({"recognition_size": 5} if cls is RNNVAE else {}), **reading[cls], **options}
    return randomised(cls(Task(D, labels, classes), H, **options).double())


def answered(network, given_batch, seed):
    torch.manual_seed(seed)
    answer = network(given_batch)
    return [answer.values] if answer.labels is None else [answer.values, answer.labels]


def gradients(outputs, network):
    """Of a sum with weights of its own for every entry."""
    generator = torch.Generator().manual_seed(1)
    total = sum((each * torch.randn(each.shape, dtype=each.dtype, generator=generator)).sum() for each in outputs)
    found = torch.autograd.grad(total, list(network.parameters()), allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for g, p in zip(found, network.parameters(), strict=True)]


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls, choices in CHOICES.items() for name in choices])
def test_each_released_value_changes_the_answer(cls, name):
    """By itself: it is no other name for the published one."""
    network, given = made(cls), batch(drawn())
    released = made(cls, **{name: RELEASED[cls][name]})
    released.load_state_dict(network.state_dict())
    one, other = answered(network, given, 0), answered(released, given, 0)
    assert all((each - its).abs().max() > 1e-3 for each, its in zip(one, other, strict=True))


@readings
@networks
def test_one_union_time_suffices(cls, reading):
    """Where the released code divides by the longest gap, which is 0."""
    mask = np.ones((2, D), dtype=bool)
    mask[1] = False
    network = made(cls, reading=reading)
    outputs = answered(network, batch(Rows(np.zeros(2), np.ones(mask.shape), mask, np.ones(2, dtype=int))), 0)
    assert all(torch.isfinite(each).all() for each in (*outputs, *gradients(outputs, network)))


@readings
@networks
def test_a_row_without_observations_changes_nothing(cls, reading):
    """At a union time that the batch has anyway, but for the first and last."""
    rows = drawn(4)
    times, lengths = rows.times[: rows.lengths[0]], rows.lengths.copy()
    new = next(t for t in np.unique(rows.times)[1:-1] if t not in times)
    place = int(np.searchsorted(times, new))
    lengths[0] += 1
    more = Rows(
        *(np.insert(each, place, row, 0) for each, row in zip(rows[:3], (new, 7.0, False), strict=True)), lengths
    )
    network, given, beside = made(cls, "rows", reading), batch(rows), batch(more)
    kept = ~((beside.given.series == 0) & (beside.given.times[beside.given.rows_of_times()] == new))
    one, other = answered(network, given, 0), answered(network, beside, 0)
    assert_all_close([each[:, kept] for each in other], one)


@networks
def test_the_order_of_series_changes_nothing_as_published(cls):
    network, order = made(cls, "series"), np.array([3, 0, 4, 1, 2])
    rows = drawn(2)
    labels, turned = answered(network, batch(rows), 0)[1], answered(network, batch(rows, order), 0)[1]
    assert_close(turned, labels[:, order])


def test_rnn_vae_as_released_encodes_the_series_from_the_other_end_of_the_batch():
    """Whatever a series but the middle one observed, its label is that of another: chance."""
    network, rows = made(RNNVAE, reading=RELEASED), drawn(3)
    changed = rows._replace(values=np.where(np.arange(len(rows.values))[:, None] < rows.lengths[0], 1.0, rows.values))
    labels, others = (answered(network, batch(each), 0)[1][0] for each in (rows, changed))
    assert (labels != others).tolist() == [False] * (SERIES - 1) + [True]


@pytest.mark.parametrize("labels", ["series", None])
@recurrent
def test_a_recurrent_network_is_told_a_row_after_it_was_predicted(cls, labels):
    rows = drawn(5)
    last = rows.lengths[0] - 1
    changed = rows._replace(values=rows.values + 3.0 * (np.arange(len(rows.values)) == last)[:, None])
    network = made(cls, labels, mean="union") if "mean" in CHOICES[cls] else made(cls, labels)
    if "mean" in CHOICES[cls]:
        network.imputation.weight.data.zero_()  # otherwise all rows know the mean of all
        network.imputation.bias.data.zero_()
    given = batch(rows)
    first, second = answered(network, given, 0)[0], answered(network, batch(changed), 0)[0]
    at_first = given.given.rows_of_times() == 0
    assert torch.equal(first[:, ~at_first], second[:, ~at_first])
    assert torch.equal(first[0, at_first], given.given.values[at_first])


@recurrent
def test_something_else_than_what_is_given_is_not_asked(cls):
    with pytest.raises(ValueError, match="only asked"):
        made(cls)(batch(drawn(), until=0.5, later=True))


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls, choices in CHOICES.items() for name in choices])
def test_an_unknown_choice_is_named(cls, name):
    with pytest.raises(ValueError, match="sideways"):
        cls(Task(), H, **{name: "sideways"})


@pytest.mark.parametrize(
    ("cls", "of_series", "of_rows"),
    [
        (RNNDelta, 9_441, 16_078),
        (RNNImpute, 9_523, 16_102),
        (RNNDecay, 9_423, 16_046),
        (RNNGRUD, 9_505, 16_070),
        (RNNVAE, 28_531, 119_708),
    ],
)
def test_it_has_as_many_parameters_as_the_released_network(cls, of_series, of_rows):
    """On PhysioNet without and with its classifier, and on Human Activity with 11 classes."""
    larger = {"recognition_size": 100} if cls is RNNVAE else {}
    assert count(cls(Task(41, None), 20)) == of_series
    assert count(cls(Task(41, "series"), 20)) == of_series + 96_901
    assert count(cls(Task(12, "rows", 11), 15, units=500, **larger)) == of_rows


def count(network):
    return sum(parameter.numel() for parameter in network.parameters())


@classified
@networks
def test_its_loss_has_finite_gradients(cls, labels):
    rows = drawn(1)
    given = batch(rows)
    of = {
        "series": torch.arange(SERIES).double() % 2,
        "rows": torch.arange(len(rows.times)) % 5 - 1,
        None: None,
    }
    labelled = SeriesBatch(given.given, given.given, of[labels], 0.5)
    network = made(cls, labels)
    answer = network(labelled)
    loss = network.loss(answer, labelled)
    assert all(torch.isfinite(each).all() for each in gradients([loss], network))
    if labels == "series":
        assert_close(loss, negative_bound(answer, labelled) + LABEL_WEIGHT * label_loss(answer.labels, labelled.labels))


def test_without_gradients_the_decoder_keeps_states_alone(monkeypatch):
    network, taken, new_empty = made(RNNVAE), [], torch.Tensor.new_empty
    arguments = network.generator, network.decoder, torch.randn(3, H).double(), torch.rand(9).double()
    expected = generated(*arguments)
    monkeypatch.setattr(
        torch.Tensor, "new_empty", lambda self, *shape: taken.append(shape[0]) or new_empty(self, *shape)
    )
    with torch.no_grad():
        assert torch.equal(generated(*arguments), expected)
    assert sorted(taken) == [1, 1, 10]  # steps of the gates and of n; states


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU")
@readings
@networks
def test_on_a_gpu_it_is_the_same(cls, reading):
    network, given = made(cls, "series", reading), batch(drawn())

    def learnt():
        labels = answered(network, given, 0)[1]
        return [labels, *torch.autograd.grad(labels.sum(), list(network.parameters()), allow_unused=True)]

    here = learnt()
    network, given = network.cuda(), given.to("cuda")
    assert_all_close(*([each for each in found if each is not None] for found in (learnt(), here)), 1e-10)
