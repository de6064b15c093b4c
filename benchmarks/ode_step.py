"""Time and memory of a training step of ODE-Net and ACE-ODE-Net.

    python benchmarks/ode_step.py
    python benchmarks/ode_step.py --device cuda --rounds 20
    python benchmarks/ode_step.py --parts steps --tolerance 1e-5 --threads 1 --clock cpu

The networks and trainings are those of CIFAR-10 at the scale `paper` (config/), trained jointly; the images are
random, as many and as large as the real ones.

- steps: a training step on 128 crops of CIFAR-10 (64 channels, maps of 7x7), with and without the adjoint problem. Each
  network is held to itself, with the same weights, in the form that torchdiffeq's own MNIST example has: a channel of t
  is concatenated to the input of every convolution, torchdiffeq is called directly, and ACE-ODE-Net's attention stands
  below the hidden state in one batch, as in the released code. Both must evaluate their dynamics equally often.
- memory: the peak of a training step on 32 crops, for ever more steps of a solver with fixed ones (rk4).
"""

import argparse
import dataclasses
import functools
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from shared import (  # noqa: E402
    add_parts,
    compared,
    parse,
    peak_mib,
    peak_of,
    row_of,
    run_parts,
    times,
)
from torch import Tensor, nn  # noqa: E402
from torchdiffeq import odeint, odeint_adjoint  # noqa: E402

from hidden_dynamics.configuration import load, merge, parse_settings  # noqa: E402
from hidden_dynamics.configuration.runs import Run, resolve  # noqa: E402
from hidden_dynamics.measurements.interleaved import Subject, subject_of, training_step  # noqa: E402
from hidden_dynamics.models.continuous.convolution import ConvolutionalDynamics  # noqa: E402
from hidden_dynamics.models.continuous.integral import Integral  # noqa: E402
from hidden_dynamics.models.image_networks import ACEODENet, ODENet  # noqa: E402
from hidden_dynamics.models.solver import Solver  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402

BASELINE, PLAIN = "ODE-Net", ", plain"
MODELS = {BASELINE: "ode_net", "ACE-ODE-Net": "ace_ode_net"}
TIMED = [BASELINE, BASELINE + PLAIN, "ACE-ODE-Net", "ACE-ODE-Net" + PLAIN]
MEMORY_BATCH, STEPS = 32, (4, 16, 64)


class PlainConvolution(nn.Conv2d):
    """Of x and a channel of t, concatenated."""

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        return super().forward(torch.cat([t.expand(x.shape[0], 1, *x.shape[2:]), x], 1))


class PlainDynamics(nn.Module):
    """The dynamics of ODE-Net, as one would write them first."""

    def __init__(self, like: ConvolutionalDynamics):
        super().__init__()
        self.norm, self.norms = like.norm, like.norms
        self.convolutions = nn.ModuleList()
        for convolution in like.convolutions:
            plain = PlainConvolution(convolution.in_channels, convolution.out_channels, 3, padding=1)
            plain.weight, plain.bias = convolution.weight, convolution.bias
            self.convolutions.append(plain)

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        x = self.norm(x)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = norm(convolution(t, torch.relu(x)))
        return x


class PlainPair(nn.Module):
    """The dynamics of a hidden state and an attention that stand in one batch."""

    def __init__(self, f: ConvolutionalDynamics, g: ConvolutionalDynamics):
        super().__init__()
        self.f, self.g = PlainDynamics(f), PlainDynamics(g)

    def forward(self, t: Tensor, state: Tensor) -> Tensor:
        h, a = state.chunk(2)
        attended = h * torch.sigmoid(a)
        return torch.cat([self.f(t, attended), self.g(t, attended)])


class Counted(nn.Module):
    """Dynamics, and how often they were evaluated."""

    def __init__(self, dynamics: nn.Module):
        super().__init__()
        self.dynamics, self.evaluations = dynamics, 0

    def forward(self, t: Tensor, state: Tensor) -> Tensor:
        self.evaluations += 1
        return self.dynamics(t, state)


class PlainIntegral(nn.Module):
    """y(1), from torchdiffeq."""

    def __init__(self, dynamics: nn.Module, solver: Solver):
        super().__init__()
        self.counted, self.solver = Counted(dynamics), solver

    def forward(self, y: Tensor) -> Tensor:
        solve = odeint_adjoint if self.solver.adjoint else odeint
        times = torch.tensor([0.0, 1.0], device=y.device)
        return solve(self.counted, y, times, rtol=self.solver.rtol, atol=self.solver.atol, method=self.solver.method)[1]


class PlainODENet(ODENet):
    """The same network, made as torchdiffeq's MNIST example is."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.integral = PlainIntegral(PlainDynamics(self.integral.dynamics), self.integral.solver)


class PlainACEODENet(ACEODENet):
    """The same network, made as the released code is."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        pair = self.integral.dynamics
        self.integral = PlainIntegral(PlainPair(pair.f, pair.g), self.integral.solver)

    def body(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.integral(torch.cat([x, self.q(x)])).chunk(2)


PLAIN_FORMS = {BASELINE + PLAIN: PlainODENet, "ACE-ODE-Net" + PLAIN: PlainACEODENet}


def main() -> None:
    run_parts(PARTS, peak_memory, parse_arguments(), label)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_parts(parser, PARTS)
    parser.add_argument("--tolerance", type=float, default=1e-4, help="of dopri5, rtol and atol (default: 1e-4)")
    parser.add_argument("--batch", type=positive, default=128, help="crops of a timed step (default: 128)")
    parser.add_argument("--rounds", type=positive, default=5, help="timed rounds, after two that are not (default: 5)")
    return parse(parser, "ode_step")


def run_of(name: str, **solver: Any) -> Run:
    """The run of a network on CIFAR-10, trained jointly; `solver` changes how a neural ODE is solved."""
    model = MODELS[name.removesuffix(PLAIN)]
    hyperparameters: dict[str, Any] = {"solver": solver} if solver else {}
    if model == "ace_ode_net":
        hyperparameters["penalty"] = {"of": "logits"}
    changes = {"training": {"alternating": False}, "hyperparameters": hyperparameters}
    configured = configured_run(model)
    plain = {"network": f"{__name__}.{PLAIN_FORMS[name].__name__}"} if name in PLAIN_FORMS else {}
    spec, classes = merge(configured.spec, changes), configured.classes | plain
    return dataclasses.replace(configured, spec=spec, classes=classes)


@functools.cache  # reading the configuration takes longer than a training step of a small network
def configured_run(model: str) -> Run:
    return resolve(load(parse_settings('{"scale": "paper"}')), "cifar10_images", model, 64, 0)


def few_images(batch: int) -> dict[str, np.ndarray]:
    """CIFAR-10's arrays, cut to what a batch needs."""
    held_out = configured_run("ode_net").spec["task_settings"]["validation"]
    random = np.random.default_rng(0)
    shape = (held_out + batch, 32, 32, 3)
    arrays = {"train_images": random.integers(256, size=shape, dtype=np.uint8), "levels": np.int64(255)}
    arrays["train_labels"] = random.integers(10, size=len(arrays["train_images"]), dtype=np.uint8)
    return arrays | {f"test_{kind}": arrays[f"train_{kind}"][:1] for kind in ("images", "labels")}


def steps(options: argparse.Namespace) -> Iterator[dict]:
    """A training step of each network, in our form and in the plain one."""
    for adjoint in (True, False):
        yield from _steps(adjoint, options)


def _steps(adjoint: bool, options: argparse.Namespace) -> list[dict]:
    solver = {"rtol": options.tolerance, "atol": options.tolerance, "adjoint": adjoint}
    arrays, device = few_images(options.batch), torch.device(options.device)
    subjects = {name: subject_of(run_of(name, **solver), arrays, device, options.batch) for name in TIMED}
    evaluations = {name: evaluations_of(subject) for name, subject in subjects.items()}
    for name in TIMED:
        if evaluations[name] != evaluations[name.removesuffix(PLAIN)]:
            raise SystemExit(f"the two forms of {name} are evaluated differently often: {evaluations}")
    rounds = times({name: functools.partial(train, subject) for name, subject in subjects.items()}, options)
    rows = []
    for name in TIMED:
        about = what(name, adjoint=adjoint, tolerance=options.tolerance, evaluations=evaluations[name])
        baselines = {"to the plain form": name.removesuffix(PLAIN) + PLAIN, f"to {BASELINE}": BASELINE}
        for measure, baseline in baselines.items():
            if name != baseline:
                rows.append(row_of(about, measure, *compared(rounds, name, baseline), options))
    return rows


def train(subject: Subject) -> None:
    """A training step that finds the weights of the first one: the solver takes the same steps in every round."""
    weights = [parameter.detach().clone() for parameter in subject.network.parameters()]
    training_step(subject, subject.batch)
    with torch.no_grad():
        for parameter, first in zip(subject.network.parameters(), weights, strict=True):
            parameter.copy_(first)


def evaluations_of(subject: Subject) -> int:
    """How often a training step evaluates the dynamics, forwards and backwards."""
    integral, before = subject.network.integral, _evaluations(subject.network.integral)
    train(subject)
    return _evaluations(integral) - before


def _evaluations(integral: Integral | PlainIntegral) -> int:
    if isinstance(integral, PlainIntegral):
        return integral.counted.evaluations
    return integral.evaluations.forward + integral.evaluations.backward


def memory(options: argparse.Namespace) -> Iterator[dict]:
    """The peak of a training step with ever more steps of rk4."""
    for name, adjoint, count in itertools.product((BASELINE, "ACE-ODE-Net"), (True, False), STEPS):
        peak = peak_of(__file__, peak_memory, f"{name}/{int(adjoint)}/{count}", options)
        about = what(name, adjoint=adjoint, evaluations=4 * count * (1 + adjoint))
        yield row_of(about, f"MiB, {count} steps", peak, None, options)


def peak_memory(chosen: str, options: argparse.Namespace) -> float:
    """MiB by which a training step raises the peak of what is held; on the CPU for a process that did nothing else."""
    name, adjoint, count = chosen.split("/")
    fixed = functools.partial(fixed_steps, name, bool(int(adjoint)))
    few = MEMORY_BATCH if options.device == "cuda" else 2
    train(fixed(1, options, few))  # what the libraries load or allocate at their first use is not counted
    return peak_mib(functools.partial(train, fixed(int(count), options)), options)


def fixed_steps(
    name: str, adjoint: bool, count: int, options: argparse.Namespace, batch: int = MEMORY_BATCH
) -> Subject:
    run = run_of(name, method="rk4", step_size=1 / count, adjoint=adjoint)
    return subject_of(run, few_images(batch), torch.device(options.device), batch)


PARTS = {"steps": steps, "memory": memory}


def what(variant: str, **about: Any) -> dict:
    """What a row of the CSV is of."""
    columns = dict.fromkeys(("variant", "task", "adjoint", "tolerance", "evaluations"), "")
    return columns | {"variant": variant, "task": "cifar10_images"} | about


def label(row: dict) -> str:
    adjoint = {True: "adjoint", False: "no adjoint"}.get(row["adjoint"], "")
    return f"{row['variant']:18} {row['task']:15} {adjoint:10} {row['evaluations']:>5} "


if __name__ == "__main__":
    main()
