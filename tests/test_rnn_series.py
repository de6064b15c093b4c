"""The recurrent baselines of the Latent-ODE family: held to plain loops over the dense union of times."""

import numpy as np
import pytest
import torch
from cases import assert_all_close, randomised

from hidden_dynamics.models.observations import Rows, batch_of
from hidden_dynamics.models.rnn_series import RNNGRUD, RNNVAE, RNNDecay, RNNDelta, RNNImpute
from hidden_dynamics.models.series_batch import SeriesBatch

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


def dense(observations):
    """Values and mask over the union of times, (N, U, D), and the place of every row."""
    union, series = observations.rows_of_times(), observations.series
    shape = observations.size, len(observations.times), D
    values, mask = (torch.zeros(shape, dtype=torch.float64) for _ in range(2))
    values[series, union], mask[series, union] = observations.values, observations.mask
    return values, mask, series, union


def next_gaps(times):
    return [*(float(b - a) for a, b in zip(times[:-1], times[1:], strict=True)), 0.0]


def plain_carried(kind, mask, times):
    """Cumulative times, added up entry by entry."""
    (size, union, _), gaps = mask.shape, next_gaps(times)
    if kind == "all":
        gaps = [0.0, *gaps[:-1]]
    found = torch.zeros_like(mask)
    for i in range(size):
        for u in range(union):
            for k in range(D):
                found[i, u, k] = gaps[u]
                kept = u > 0 and not mask[i, u - 1, k]
                if kept and (u > 1 or kind == "all"):
                    found[i, u, k] += found[i, u - 1, k]
    return found / found.max()


def clamped(y):
    return torch.exp(-torch.min(torch.max(torch.zeros_like(y), y), torch.full_like(y, 1000)))


def plain_imputed(network, values, mask, times):
    part = network.imputation
    gamma = clamped(part.weight * plain_carried(part.kind, mask, times) + part.bias)
    last, missing = values.clone(), mask == 0
    for u in range(1, values.shape[1]):
        last[:, u] = torch.where(missing[:, u], last[:, u - 1], values[:, u])
    counts = values.shape[1] if part.mean == "union" else mask.sum(1, keepdim=True).clamp(min=1)
    return values * mask + (1 - mask) * (gamma * last + (1 - gamma) * values.sum(1, keepdim=True) / counts)


def plain_gru(cell, x, h):
    of_x, of_h = (x @ cell.weight_ih.T + cell.bias_ih).chunk(3, 1), (h @ cell.weight_hh.T + cell.bias_hh).chunk(3, 1)
    r, z = torch.sigmoid(of_x[0] + of_h[0]), torch.sigmoid(of_x[1] + of_h[1])
    return (1 - z) * torch.tanh(of_x[2] + r * of_h[2]) + z * h


def plain_recurrent(network, observations, fed_back=None):
    """Predictions and states after every union time, (N, U, ...)."""
    values, mask, *_ = dense(observations)
    times, seen = observations.times, values
    if network.imputation is not None:
        seen = plain_imputed(network, values, mask, times)
    if network.decay is not None:
        decay = clamped(network.decay.rate(plain_carried(network.decay.kind, mask, times)))
    h = torch.zeros(observations.size, H, dtype=torch.float64)
    latest, states = torch.zeros(observations.size, 1, dtype=torch.float64), []
    for u, gap in enumerate(next_gaps(times)):
        x = seen[:, u] if u == 0 or not (fed_back is not None and fed_back[u]) else network.decoder(h)
        beside = [mask[:, u]]
        if network.gap == "to_next":
            beside.append(torch.full_like(latest, gap))
        elif network.gap == "to_last":
            beside.append(times[u] - latest if u else torch.zeros_like(latest))
        updated = plain_gru(network.cell, torch.cat([x, *beside], 1), h if network.decay is None else h * decay[:, u])
        changes = (mask[:, u].sum(1, keepdim=True) > 0) | torch.tensor(u == 0)
        h, latest = torch.where(changes, updated, h), torch.where(changes, times[u], latest)
        states.append(h)
    states = torch.stack(states, 1)
    return torch.cat([values[:, :1], network.decoder(states[:, :-1])], 1), states


def plain_vae(network, given, asked, noise):
    """Predictions and the decoder's states at every union time asked, (N, U, ...), with mean and deviation of z."""
    values, mask, *_ = dense(given)
    start, against = values[:, 0], asked.times[0] < given.times[-1]
    gaps = next_gaps(given.times)
    if against:
        gaps = [*gaps[:-1][::-1], 0.0]
        values, mask = (each.flip(0 if network.order == "patients" else 1) for each in (values, mask))
        start = values[:, 0] if network.order == "patients" else start
    h = torch.zeros(given.size, network.encoder.hidden_size, dtype=torch.float64)
    for u, gap in enumerate(gaps):
        x = torch.cat([values[:, u], mask[:, u], torch.full_like(h[:, :1], gap)], 1)
        h = torch.where(
            (mask[:, u].sum(1, keepdim=True) > 0) | torch.tensor(u == 0), plain_gru(network.encoder, x, h), h
        )
    mean, deviation = network.posterior(h).chunk(2, 1)
    h = mean + deviation.abs() * noise
    states = [h]
    for u, gap in enumerate([0.0, *next_gaps(asked.times)][: len(asked.times) - 1]):
        x = start if u == 0 else network.decoder(h)
        h = plain_gru(network.generator, torch.cat([x, torch.ones_like(x), torch.full_like(x[:, :1], gap)], 1), h)
        states.append(h)
    states = torch.stack(states, 1)
    return torch.cat([start[:, None], network.decoder(states[:, :-1])], 1), states, mean, deviation.abs()


def expected(network, given_batch, seed):
    """(values, labels) of the rows asked."""
    torch.manual_seed(seed)
    given, asked = given_batch.given, given_batch.asked
    *_, series, union = dense(asked)
    if isinstance(network, RNNVAE):
        noise = torch.randn(given.size, H, dtype=torch.float64)
        read, states, *latent = plain_vae(network, given, asked, noise)
        last = latent[0]
    else:
        fed_back = torch.rand(len(given.times)) < 0.5 if network.labels is None else None
        read, states = plain_recurrent(network, given, fed_back)
        last = states[:, -1]
    if network.labels is None:
        return [read[series, union][None]]
    seen = last if network.labels == "series" else states[series, union]
    logits = network.classifier(seen)
    return [read[series, union][None], logits.T if network.labels == "series" else logits[None]]


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


@pytest.mark.parametrize("seed", range(3))
@classified
@readings
@networks
def test_it_is_a_loop_over_the_dense_union_of_times(cls, reading, labels, seed):
    network, given = made(cls, labels, reading), batch(drawn(seed))
    outputs, plain = answered(network, given, seed), expected(network, given, seed)
    assert_all_close(outputs, plain)
    assert_all_close(gradients(outputs, network), gradients(plain, network), 1e-11)
