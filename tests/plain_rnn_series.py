"""The recurrent networks beside Latent-ODE as the released loops read, in plain form and with a network's parameters.

Batches are dense over their union times (tests/plain_latent_ode.py), and every union time is a step of every series.
"""

import torch
from plain_latent_ode import shifted


def gaps_of(times, gap):
    """The gap after each union time, "to_next", 0 after the last; or before it, "to_last", 0 before the first: (U,)."""
    return torch.diff(times, append=times[-1:]) if gap == "to_next" else torch.diff(times, prepend=times[:1])


def gaps_since_change(times, mask):
    """The time since a series' state last changed, which it does where it is observed and at the first: (N, U)."""
    gaps, last = torch.zeros_like(mask[:, :, 0]), times[:1]
    for u, time in enumerate(times):
        gaps[:, u] = time - last
        last = torch.where(mask[:, u].any(1), time, last)
    return gaps


def summed_up(times, mask, decay_gaps):
    """The gaps of times summed up while a feature is missing, in units of the batch's largest sum: (N, U, D). As
    "released", they are those after the times, and nothing is carried on from the first; of "all", those before."""
    gaps = gaps_of(times, "to_next" if decay_gaps == "released" else "to_last")
    summed = gaps[None, :, None].repeat(len(mask), 1, mask.shape[2])
    for n, u, d in (mask == 0).nonzero().tolist():
        if (u != 0 or decay_gaps == "all") and u != len(times) - 1:
            summed[n, u + 1, d] = summed[n, u + 1, d] + summed[n, u, d]
    return summed / summed.max()


def decay_of(exponent):
    """exp(-x), with x cut to 0 .. 1000; where it is an end of these, half of the gradient comes through."""
    zero = exponent.new_zeros(1)
    return torch.exp(-torch.minimum(torch.maximum(zero, exponent), zero + 1000))


def plain_imputed(values, mask, cumulative, w, b, mean):
    """Missing values between the last one seen and the series' mean, the further the longer ago: by a decay, w and b
    (D,), of cumulative gaps (N, U, D). In the "union" mean, of all union times, what is missing counts as 0."""
    last = values.clone()
    for n, u, d in (mask == 0).nonzero().tolist():
        if u != 0:
            last[n, u, d] = last[n, u - 1, d]
    decay = decay_of(w * cumulative + b)
    counts = values.shape[1] if mean == "union" else mask.sum(1, keepdim=True).clamp(min=1)
    average = values.sum(1, keepdim=True) / counts
    return values * mask + (1 - mask) * (decay * last + (1 - decay) * average)


def plain_states(cell, values, mask, gaps=None, decay=None, cumulative=None):
    """States after each union time, (1, N, U, H). At the first, every series moves; later, only what is observed. Time
    enters by gaps, (U,) or (N, U), the last input, or by `decay` alone: of cumulative gaps, (N, U, D), it makes that by
    which all units of h decay alike."""
    size, times, _ = values.shape
    h, states = values.new_zeros(size, cell.weight_hh.shape[1]), []
    for u in range(times):
        x = [values[:, u], mask[:, u]]
        if gaps is not None:
            x.append(gaps.expand(size, times)[:, u : u + 1])
        before = h if decay is None else h * decay_of(cumulative[:, u] @ decay.weight.t() + decay.bias)
        new = cell(torch.cat(x, 1), before)
        seen = (mask[:, u].sum(1, keepdim=True) > 0).to(h)
        h = new if u == 0 else seen * new + (1 - seen) * h
        states.append(h)
    return torch.stack(states, 1)[None]


def plain_generated(cell, decoder, start, first, gaps):
    """States of a decoder that sees what it predicted itself, and `first` at first, (1, N, U, H); the first of them is
    `start`. Of the times it is told the gaps, (U,)."""
    h, x, states, ones = start, first, [start], torch.ones_like(first)
    for u in range(len(gaps) - 1):
        x = first if u == 0 else decoder(h)
        h = cell(torch.cat([x, ones, gaps[u].expand(len(h), 1)], 1), h)
        states.append(h)
    return torch.stack(states, 1)[None]


def plain_classic(network, dense, gap=None, mean=None, decay_gaps=None):
    """Of RNN Delta, -Impute, -Decay and GRU-D: predictions (1, N, U, D) and states (1, N, U, H)."""
    values, mask, times = dense.values, dense.mask, dense.times
    told = {"to_next": gaps_of(times, "to_next"), "to_last": gaps_since_change(times, mask)}
    rate, cumulative = None, None
    if network.imputation is not None:  # as released, what the decay needs, too, is found by itself
        w, b = network.imputation.weight, network.imputation.bias
        values = plain_imputed(values, mask, summed_up(times, mask, decay_gaps), w, b, mean)
    if network.decay is not None:
        rate, cumulative = network.decay.rate, summed_up(times, mask, decay_gaps)
    states = plain_states(network.cell, values, mask, told.get(gap), rate, cumulative)
    return shifted(network.decoder(states), dense.values), states


def plain_rnn_vae(network, context, times, noise, order, gap="to_last"):
    """Predictions (1, N, U, D) at `times`, the decoder's states (1, N, U, H), and mean and deviation of z, drawn from
    noise, (N, H) each. The order is what is turned round where a target lies before the context's last time."""
    values, mask, gaps = context.values, context.mask, gaps_of(context.times, "to_next")
    if times[0] < context.times[-1]:
        gaps = torch.cat([gaps[:-1].flip(0), gaps[-1:]])
        values, mask = (each.flip(0 if order == "patients" else 1) for each in (values, mask))
    last = plain_states(network.encoder, values, mask, gaps)[0, :, -1]
    mean, deviation = network.posterior(last).chunk(2, 1)
    deviation = torch.abs(deviation)
    first = context.values[:, 0] if order == "time" else values[:, 0]
    states = plain_generated(network.generator, network.decoder, mean + deviation * noise, first, gaps_of(times, gap))
    predicted = network.decoder(states)
    return torch.cat([first[None, :, None], predicted[:, :, :-1]], 2), states, mean, deviation
