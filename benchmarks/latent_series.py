"""Time and memory of a training step of the Latent-ODE family on a batch of patients, in two forms.

    python benchmarks/latent_series.py --networks Latent-ODE "RNN GRU-D"
    python benchmarks/latent_series.py --series 6 --rows 20 --rounds 1 --threads 1 --clock cpu

Sizes are those of the released code: 20 latent dimensions, 40 of recognition, five linear maps of 50 units in each
dynamics. Variants are the published ones; GRU-D's, and where "released" is said, the released ones. The batch is the
first of its training part where `--mirror` names a directory with PhysioNet 2012 as downloaded
(DIR/physionet2012/set-a.tar.gz and Outcomes-a.txt). Otherwise it has the shape of one and is filled with noise: 50
series of 75 rows each at some minutes of 48 hours, about 2,050 union times, a row with 6 of 41 features.

The plain form is that of the tests (tests/plain_latent_ode.py, tests/plain_rnn_series.py), the released loops: dense
over the union times, one after another, autograd through all of it, torchdiffeq called as it is, the MSE computed in
each step. Likelihood and MSE are expressions over all that is dense: the released loops over each feature of each
series take most of a released step, and a ratio to them says nothing of the rest. GRU-D's loops over missing entries
are the released ones. Both forms have the same weights and noise.

- steps: forward, loss and backward of each network in each form. "Alternating" is a step of each part in turn
  (ACE-NODE, Algorithm 1);
- attention: the steps of ACE-Latent-ODE against that of Latent-ODE, without plain forms;
- memory: the peak of a training step.
"""

import argparse
import functools
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import plain_latent_ode as plain  # noqa: E402
import torch  # noqa: E402
from plain_rnn_series import plain_classic, plain_rnn_vae  # noqa: E402
from shared import add_parts, compared, parse, peak_mib, peak_of, row_of, run_parts, times  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.nn import functional  # noqa: E402

from hidden_dynamics.data import physionet2012  # noqa: E402
from hidden_dynamics.models.continuous.attention import RandomRate  # noqa: E402
from hidden_dynamics.models.latent_family.ace_latent_ode import ACELatentODE  # noqa: E402
from hidden_dynamics.models.latent_family.family import LatentNetwork, SeriesBatch  # noqa: E402
from hidden_dynamics.models.latent_family.latent_ode import SOLVER, LatentODE  # noqa: E402
from hidden_dynamics.models.latent_family.ode_rnn import ODERNN  # noqa: E402
from hidden_dynamics.models.latent_family.poisson_latent_ode import LatentODEPoisson  # noqa: E402
from hidden_dynamics.models.latent_family.rnn_baselines import RNNBaseline  # noqa: E402
from hidden_dynamics.models.latent_family.rnn_vae import RNNVAE  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402
from hidden_dynamics.tasks.mortality import Mortality  # noqa: E402

PLAIN, ALTERNATING = ", plain", ", alternating"
MINUTES, DENSITY, EPOCH = 48 * 60, 0.145, 20
TASK = {
    "validation": 0.0,
    "placeholders": "missing",
    "normalisation": "range",
    "zero_times": "kept",
    "scores": "averaged",
}
PENALTY = {"penalty": {"weight": 0.01}}
RELEASED = {
    "mixing": "raw",
    "rate": "random",
    "tied": True,
    "label_from": "start",
    "samples": 2,
    "solver": SOLVER | {"rtol": 1e-3, "atol": 1e-4},
}
NETWORKS: dict[str, tuple[type[LatentNetwork], dict[str, Any]]] = {
    "Latent-ODE": (LatentODE, {}),
    "ACE-Latent-ODE": (ACELatentODE, PENALTY),
    "ACE-Latent-ODE, alternating": (ACELatentODE, PENALTY),
    "ACE-Latent-ODE, released": (ACELatentODE, PENALTY | RELEASED),
    "Latent-ODE (RNN Enc.)": (LatentODE, {"encoder": "rnn"}),
    "Latent-ODE + Poisson": (LatentODEPoisson, {}),
    "ODE-RNN": (ODERNN, {}),
    "RNN-VAE": (RNNVAE, {}),
    "RNN Delta": (RNNBaseline, {"gap": "to_last"}),
    "RNN GRU-D": (RNNBaseline, {"decay": True, "mean": "union", "decay_gaps": "released"}),
}


class Patients:
    """What a network asks of the task."""

    features, labels, classes = 41, "series", 1


class Given(NamedTuple):
    """
    Attributes:
        batch: what a network is given.
        dense: the same, as its plain form is given it.
    """

    batch: SeriesBatch
    dense: plain.Dense


def plain_loss(network: LatentNetwork, given: Given) -> Tensor:
    """The loss of a batch, as the released loops read, in which likelihood and MSE are vectorised."""
    predicted, logits, divergence, extra = plain_prediction(network, given.dense)
    plain.vectorised_mse(predicted, given.dense)
    likelihoods, weight = plain.vectorised_likelihood(predicted, given.dense), given.batch.divergence_weight
    labels = given.batch.labels.expand_as(logits)
    labelled = functional.binary_cross_entropy_with_logits(logits, labels) / len(logits)
    return -torch.logsumexp(likelihoods - weight * divergence, 0) + 100 * labelled + extra


def plain_prediction(
    network: LatentNetwork, dense: plain.Dense
) -> tuple[Tensor, Tensor, Tensor | float, Tensor | float]:
    """Predictions (K, N, U, D), logits (K, N), the divergence, and what the network adds to the loss."""
    if isinstance(network, LatentODE):
        return plain_latent(network, dense)
    if isinstance(network, ODERNN):
        predicted, _, last = plain.plain_ode_rnn(network, dense, network.way)
        return predicted, network.classifier(last).t(), 0.0, 0.0
    if isinstance(network, RNNVAE):
        noise = torch.randn(len(dense.values), network.generator.hidden_size, device=dense.values.device)
        predicted, _, mean, deviation = plain_rnn_vae(network, dense, dense.times, noise, network.order)
        return predicted, network.classifier(mean).t(), plain.plain_divergence(mean, deviation), 0.0
    imputation, decay = network.imputation, network.decay
    predicted, states = plain_classic(
        network,
        dense,
        network.gap,
        None if imputation is None else imputation.mean,
        None if decay is None else decay.kind,
    )
    return predicted, network.classifier(states[:, :, -1]).squeeze(2), 0.0, 0.0


def plain_latent(network: LatentODE, dense: plain.Dense) -> tuple[Tensor, Tensor, Tensor, Tensor | float]:
    noise = torch.randn(network.samples, len(dense.values), network.latent, device=dense.values.device)
    dynamics, options = network.integral.dynamics, {}
    if isinstance(network, ACELatentODE):
        variant = ("raw", "random") if isinstance(dynamics.g, RandomRate) else ("softmax", "moments")
        rate = plain.PlainRate(dynamics.f.network, dynamics.g.cell.network, *variant)
        options["below"] = plain.plain_correlations
    elif isinstance(network, LatentODEPoisson):
        rate = plain.PoissonRate(dynamics.flow.network, dynamics.rate, dense.values.shape[2])
        options["beside"] = dense.values.shape[2]
    else:
        rate = plain.Flow(dynamics.network)
    walk = plain.plain_latent_ode(network, dense, dense.times, noise, rate, **options)
    read = walk.z if network.label_from == "start" else walk.end[..., : network.size]
    extra: Tensor | float = 0.0
    if isinstance(network, LatentODEPoisson):
        logs = dynamics.rate(walk.states[..., network.latent // 2 : network.latent])
        extra = -0.1 * ((logs * dense.mask).sum(2) - 100 * walk.end[..., network.latent :]).mean()
    divergence = plain.plain_divergence(walk.mean, walk.deviation)
    return walk.predicted, network.classifier(read).squeeze(2), divergence, extra


def main() -> None:
    run_parts(PARTS, peak_memory, parse_arguments())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_parts(parser, PARTS)
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), default=list(NETWORKS), help="default: all")
    parser.add_argument("--mirror", type=Path, help="a directory whose physionet2012/ has the archive as downloaded")
    parser.add_argument("--series", type=positive, default=50, help="of a batch (default: 50)")
    parser.add_argument("--rows", type=positive, default=75, help="of a series that is made up (default: 75)")
    parser.add_argument(
        "--rounds", type=positive, default=2, help="timed rounds (default: 2; some plain steps take minutes)"
    )
    parser.add_argument("--batch", type=Path, help=argparse.SUPPRESS)  # what torch saved
    return parse(parser, "latent_series")


def given_by(options: argparse.Namespace) -> Given:
    if options.batch is not None:
        batch = torch.load(options.batch, weights_only=False).to(torch.device(options.device))
    else:
        arrays = made_up(options) if options.mirror is None else archived(options.mirror)
        batch = Mortality(arrays, TASK, 0, torch.device(options.device)).batch(EPOCH, np.arange(options.series))
    return Given(batch, plain.dense_of(batch.context))


def archived(mirror: Path) -> dict[str, np.ndarray]:
    """Set A of PhysioNet 2012."""
    with tempfile.TemporaryDirectory() as raw:
        for name, found in (("set-a.tar", "set-a.tar.gz"), ("Outcomes-a.txt", "Outcomes-a.txt")):
            Path(raw, name).symlink_to((mirror / "physionet2012" / found).resolve())
        return physionet2012.prepare(Path(raw), {"sets": ["a"]})


def made_up(options: argparse.Namespace) -> dict[str, np.ndarray]:
    """Series enough for a training part of a batch."""
    rng, series = np.random.default_rng(0), math.ceil(options.series / 0.8) + 1
    minutes = [np.sort(rng.choice(MINUTES, options.rows - 1, replace=False)) + 1 for _ in range(series)]
    times = np.concatenate([np.concatenate([[0], each]) for each in minutes]) / 60
    mask = rng.random((len(times), 41), np.float32) < DENSITY
    return {
        "times": (np.round(times / 0.016) * 0.016).astype(np.float32),
        "values": rng.random(mask.shape, np.float32),
        "mask": mask,
        "lengths": np.full(series, options.rows),
        "died": rng.random(series) < 0.14,
    }


def network_of(name: str, options: argparse.Namespace) -> LatentNetwork:
    torch.manual_seed(0)
    cls, hyperparameters = NETWORKS[name.removesuffix(PLAIN)]
    return cls(Patients(), 20, **hyperparameters).to(options.device)


def loss_of(name: str, network: LatentNetwork, given: Given, part: str | None = None) -> Tensor:
    """The loss in either form, and the penalty; both draw the same numbers."""
    torch.manual_seed(1)
    prediction = None
    if name.endswith(PLAIN):
        loss = plain_loss(network, given)
    else:
        prediction = network(given.batch)
        loss = network.loss(prediction, given.batch)
    return loss + network.penalty(prediction, part)


def step(name: str, network: LatentNetwork, given: Given) -> None:
    """Forward, loss and backward; of each part in turn, the others held fixed, where training alternates."""
    if not name.removesuffix(PLAIN).endswith(ALTERNATING):
        loss_of(name, network, given).backward()
        return
    parts = network.parts()
    for part, parameters in parts.items():
        learning = {id(parameter) for parameter in parameters}
        for parameter in network.parameters():
            parameter.requires_grad_(id(parameter) in learning)
        loss_of(name, network, given, part).backward()


def steps(options: argparse.Namespace) -> Iterator[dict]:
    """Each network's step in both forms, network after network."""
    given, few = given_by(options), few_of(options)
    for name in options.networks:
        forms = (name, name + PLAIN)
        for form in forms:  # libraries load and kernels are chosen at their first use
            step(form, network_of(form, options), few)
        check_alike(name, few, options)
        actions = {form: functools.partial(step, form, network_of(form, options), given) for form in forms}
        rounds = times(actions, options, warm_up=0)
        for form, baseline in (forms, forms[::-1]):
            yield row_of(what(form, options), "to the other form", *compared(rounds, form, baseline), options)


def few_of(options: argparse.Namespace) -> Given:
    """A small batch."""
    return given_by(argparse.Namespace(**vars(options) | {"series": 4, "rows": 6, "mirror": None, "batch": None}))


def check_alike(name: str, given: Given, options: argparse.Namespace) -> None:
    """Both forms have one loss."""
    network = network_of(name, options)
    with torch.no_grad():
        losses = [loss_of(form, network, given).item() for form in (name, name + PLAIN)]
    if not math.isclose(*losses, rel_tol=1e-3):
        raise SystemExit(f"the two forms of {name} have different losses: {losses}")


def attention(options: argparse.Namespace) -> Iterator[dict]:
    """The step of each chosen network with attention, and that of Latent-ODE, in the same rounds."""
    given, few, baseline = given_by(options), few_of(options), "Latent-ODE"
    names = [baseline, *(name for name in options.networks if name.startswith("ACE"))]
    if len(names) == 1:
        return
    for name in names:
        step(name, network_of(name, options), few)
    actions = {name: functools.partial(step, name, network_of(name, options), given) for name in names}
    rounds = times(actions, options, warm_up=0)
    for name in names[1:]:
        yield row_of(what(name, options), f"to {baseline}", *compared(rounds, name, baseline), options)


def memory(options: argparse.Namespace) -> Iterator[dict]:
    """On the CPU by processes that only load the batch: the peak of making it may be higher than that of a step."""
    with tempfile.TemporaryDirectory() as directory:
        batch = Path(directory, "batch.pt")
        torch.save(given_by(options).batch.to("cpu"), batch)
        for name in options.networks:
            for form in (name, name + PLAIN):
                peak = peak_of(__file__, peak_memory, form, options, batch=batch)
                yield row_of(what(form, options), "MiB", peak, None, options)


def peak_memory(name: str, options: argparse.Namespace) -> float:
    """MiB by which a training step raises the peak of what is held; on the CPU for a process that did nothing else."""
    few = few_of(options)
    step(name, network_of(name, options), few)  # what the libraries load at their first use is not counted
    given = given_by(options)
    return peak_mib(functools.partial(step, name, network_of(name, options), given), options)


PARTS = {"steps": steps, "attention": attention, "memory": memory}


def what(variant: str, options: argparse.Namespace) -> dict:
    """What a row of the CSV is of."""
    return {
        "variant": variant,
        "batch": "made up" if options.mirror is None else "PhysioNet 2012",
        "series": options.series,
        "rows": options.rows if options.mirror is None else "",
    }


if __name__ == "__main__":
    main()
