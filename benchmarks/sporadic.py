"""Time and memory of a training step of GRU-ODE-Bayes and ACE-GRU-ODE-Bayes, against the released loops in plain form.

    python benchmarks/sporadic.py
    python benchmarks/sporadic.py --series 20 --rows 40 --rounds 1 --threads 1 --clock cpu

The shape is that of the climate data at the paper's settings: 300 series of 316 rows each at some of the 1,491 times
within 200 units, a row with one of 5 features; 50 hidden units, prep 20, steps of 0.25, dropout 0.2. The values are
noise. The plain form is the loop as it was released: p of the whole batch, its dropout drawn anew, at every step and
after every jump; a product for each row and feature of a jump; losses added where they arise; the correlation by numpy
after each union time's jump. What the released loops do without any effect (zeros added, checks for NaN, lists of times
that nothing reads) is left out. Of an attention that evolves nothing was released: its plain form is ours. Both forms
have the same weights.

- steps: forward, loss and backward of each network in each form; a ratio is the median over the rounds of the ratios
  within a round;
- memory: the peak of a training step beyond what was held before: the resident memory of a fresh process for each, on a
  GPU what torch allocated.
"""

import argparse
import functools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from shared import add_parts, compared, parse, peak_mib, peak_of, row_of, run_parts, times  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.nn import functional  # noqa: E402

from hidden_dynamics.models.continuous.attention import correlation, pairwise  # noqa: E402
from hidden_dynamics.models.observations import Observations, Rows, batch_of  # noqa: E402
from hidden_dynamics.models.sporadic.ace_gru_ode_bayes import ACEGRUODEBayes  # noqa: E402
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes  # noqa: E402
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import GRUODE, BayesJump  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402

PLAIN, TIMES, SIZES = ", plain", 1491, ("series", "rows", "span")
NETWORKS = {"GRU-ODE-Bayes": None, "ACE-GRU-ODE-Bayes, released": "released", "ACE-GRU-ODE-Bayes": "evolving"}


class Climate:
    """What a network asks of the task."""

    features, covariates = 5, 1


def plain_loss(network: GRUODEBayes, observations: Observations) -> Tensor:
    """The loss of a batch, as the released loop reads."""
    drop = functools.partial(functional.dropout, p=network.dropout, training=network.training)
    p_of = functools.partial(plain_p, network, drop)
    start = observations.values.new_zeros(observations.size, network.covariates_in.in_features)
    h = torch.tanh(network.covariates_out(drop(torch.relu(network.covariates_in(start)))))
    p, a, now, jumped = p_of(h), plain_correlation(network, h), 0.0, h
    before, after, norms, released = 0.0, 0.0, 0.0, getattr(network, "attention", None) == "released"
    for u, time in enumerate(observations.times.tolist()):
        while now < time - 0.001 * network.delta:
            h, a = plain_step(network, jumped if released else h, a)
            p, now = p_of(h), now + network.delta
        rows = slice(int(observations.offsets[u]), int(observations.offsets[u + 1]))
        series, values, mask = observations.series[rows], observations.values[rows], observations.mask[rows]
        before = before + plain_likelihood(p[series], values, mask)
        h = jumped = plain_jump(network.jump, h, p, series, values, mask)
        p = p_of(h)
        if released:
            a = plain_correlation(network, h)
            norms = norms + network.weight * torch.linalg.vector_norm(a)
        after = after + plain_divergence(p[series], values, mask)
    return (before + network.mixing * (after + norms)) / observations.size


def plain_p(network: GRUODEBayes, drop: Any, h: Tensor) -> Tensor:
    return network.p_out(drop(torch.relu(network.p_in(h))))


def plain_rate(dynamics: GRUODE, x: Tensor) -> Tensor:
    r, z = torch.sigmoid(x @ dynamics.reset.t()), torch.sigmoid(x @ dynamics.update.t())
    return (1 - z) * (torch.tanh((r * x) @ dynamics.candidate.t()) - x)


def plain_jump(jump: BayesJump, h: Tensor, p: Tensor, series: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """One product per row and feature, for which torch repeats the weights row by row."""
    mean, logvar = p[series].chunk(2, 1)
    seen = torch.stack([values, mean, logvar, (values - mean) / torch.exp(0.5 * logvar)], 2).unsqueeze(2)
    prepared = torch.relu(torch.matmul(seen, jump.weight).squeeze(2) + jump.bias)
    jumped = h.clone()
    jumped[series] = jump.gru((prepared * mask.unsqueeze(2)).flatten(1), h[series])
    return jumped


def plain_correlation(network: GRUODEBayes, h: Tensor) -> Tensor | None:
    """By numpy where the released code does it, and 0 where that has no number: at first, all series may be alike."""
    if not isinstance(network, ACEGRUODEBayes):
        return None
    if network.attention != "released":
        return correlation(h.detach())
    with np.errstate(invalid="ignore"):
        found = np.nan_to_num(np.corrcoef(h.detach().cpu().numpy(), rowvar=False), copy=False)
    np.fill_diagonal(found, 1)
    return torch.from_numpy(found).to(h)


def plain_step(network: GRUODEBayes, h: Tensor, a: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Both dynamics are evaluated, whether g's result is used or not."""
    if a is None:
        return h + network.delta * plain_rate(network.dynamics, h), None
    attended = pairwise(h, a)
    rate = plain_rate(network.g, attended)
    if network.attention == "evolving":
        a = a + network.delta * rate.t() @ attended / len(h)
    return h + network.delta * plain_rate(network.dynamics, attended), a


def plain_likelihood(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    mean, logvar = p.chunk(2, 1)
    error = (values - mean) / torch.exp(0.5 * logvar)
    return (0.5 * (error**2 + logvar + math.log(2 * math.pi)) * mask).sum()


def plain_divergence(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    mean, logvar = p.chunk(2, 1)
    sigma = torch.exp(0.5 * logvar)
    each = math.log(0.01) - torch.log(sigma) + (sigma**2 + (mean - values) ** 2) / (2 * 0.01**2) - 0.5
    return (each * mask).sum()


def main() -> None:
    run_parts(PARTS, peak_memory, parse_arguments())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_parts(parser, PARTS)
    parser.add_argument("--series", type=positive, default=300, help="of a batch (default: 300)")
    parser.add_argument("--rows", type=positive, default=316, help="of a series (default: 316)")
    parser.add_argument("--span", type=float, default=200.0, help="of the times (default: 200)")
    parser.add_argument("--rounds", type=positive, default=5, help="timed rounds, after two that are not (default: 5)")
    return parse(parser, "sporadic")


def batch(options: argparse.Namespace) -> Observations:
    rng = np.random.default_rng(0)
    times = np.round(np.arange(TIMES) * options.span / TIMES, 2).astype(np.float32)
    chosen = [np.sort(rng.choice(times, options.rows, replace=False)) for _ in range(options.series)]
    count = options.series * options.rows
    mask = np.arange(5) == rng.integers(0, 5, count)[:, None]
    values = rng.standard_normal((count, 5), dtype=np.float32)
    lengths = np.full(options.series, options.rows)
    made = batch_of(Rows(np.concatenate(chosen), values, mask, lengths), np.arange(options.series))
    return made.to(torch.device(options.device))


def network_of(name: str, options: argparse.Namespace) -> GRUODEBayes:
    torch.manual_seed(0)
    attention, settings = NETWORKS[name.removesuffix(PLAIN)], {"prep": 20, "delta": 0.25, "end": options.span}
    if attention is None:
        return GRUODEBayes(Climate(), 50, **settings).to(options.device)
    penalty = {"weight": 0.1, "of": "correlation" if attention == "released" else "parameters"}
    return ACEGRUODEBayes(Climate(), 50, penalty, attention=attention, **settings).to(options.device)


def step(name: str, network: GRUODEBayes, observations: Observations) -> None:
    """Forward, loss and backward."""
    if name.endswith(PLAIN):
        plain_loss(network, observations).backward()
    else:
        network.loss(network(observations), observations).backward()


def steps(options: argparse.Namespace) -> Iterator[dict]:
    """Each network's step in both forms, network after network."""
    observations = batch(options)
    for name in NETWORKS:
        check_alike(name, observations, options)
        forms = (name, name + PLAIN)
        actions = {form: functools.partial(step, form, network_of(name, options), observations) for form in forms}
        rounds = times(actions, options)
        for form, baseline in (forms, forms[::-1]):
            yield row_of(what(form, options), "to the other form", *compared(rounds, form, baseline), options)


def check_alike(name: str, observations: Observations, options: argparse.Namespace) -> None:
    """Without dropout both forms have one loss."""
    network = network_of(name, options).eval()
    with torch.no_grad():
        losses = [network.loss(network(observations), observations).item(), plain_loss(network, observations).item()]
    if not math.isclose(*losses, rel_tol=1e-3):
        raise SystemExit(f"the two forms of {name} have different losses: {losses}")


def memory(options: argparse.Namespace) -> Iterator[dict]:
    sizes = {size: getattr(options, size) for size in SIZES}
    for name in NETWORKS:
        for form in (name, name + PLAIN):
            peak = peak_of(__file__, peak_memory, form, options, **sizes)
            yield row_of(what(form, options), "MiB", peak, None, options)


def peak_memory(name: str, options: argparse.Namespace) -> float:
    """MiB by which a training step raises the peak of what is held; on the CPU for a process that did nothing else."""
    few = argparse.Namespace(**vars(options) | {"series": 2, "rows": 3})
    step(name, network_of(name, options), batch(few))  # what the libraries load at their first use is not counted
    network, observations = network_of(name, options), batch(options)
    return peak_mib(functools.partial(step, name, network, observations), options)


PARTS = {"steps": steps, "memory": memory}


def what(variant: str, options: argparse.Namespace) -> dict:
    """What a row of the CSV is of."""
    return {"variant": variant, "series": options.series, "rows": options.rows}


if __name__ == "__main__":
    main()
