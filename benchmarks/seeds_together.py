"""Time of a training step of models that differ in their seed: in one computation, and one after another.

    python benchmarks/seeds_together.py
    python benchmarks/seeds_together.py --device cuda --rounds 20
    python benchmarks/seeds_together.py --threads 1 --clock cpu --counts 1 2 --sizes 128 --rounds 3

What docs/seeds_together.md weighs. The step is that of pixel-by-pixel MNIST, for each seed with weights and a batch of
its own: 128 sequences of 784 scalars, forward, cross-entropy of a readout of the last hidden state, backward, clipping,
a step of RMSprop. The cores are an LSTM and DTRIV (K = 1), in these forms:

- one after another: each model by itself, as it is trained now: cuDNN's LSTM; the orthogonal core's own kernel;
- streams: the same on a CUDA stream for each model, so that what one leaves of the GPU is another's; needs a GPU;
- batched: weights and states with a leading axis of seeds, a product for all seeds (bmm) in a loop over time that is
  left to autograd, clipping per seed, one optimiser.

The batched form begins with the same weights, and must have the same losses, or the benchmark stops. Every round times
every form once; a ratio is the median over the rounds of the ratios within a round.
"""

import argparse
import functools
import itertools
import math
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from shared import add_clock, circumstances, compared, parse, prepare, times, write  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from hidden_dynamics.models.recurrent import DTRIV, LSTM  # noqa: E402
from hidden_dynamics.models.recurrent.modrelu import modrelu  # noqa: E402
from hidden_dynamics.system.arguments import positive  # noqa: E402

ALONE, STREAMS, BATCHED = "one after another", "streams", "batched"
CORES = {"LSTM": lambda n: LSTM(1, n), "DTRIV": lambda n: DTRIV(1, n, K=1)}
CLASSES, CLIP = 10, 1.0


class Classifier(nn.Module):
    """A core and a readout of its last hidden state."""

    def __init__(self, core: str, n: int, seed: int):
        super().__init__()
        torch.manual_seed(seed)
        self.core, self.readout = CORES[core](n), nn.Linear(n, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """(T, B, 1) to (B, classes)."""
        return self.readout(self.core(x)[0][-1])


class Batched(nn.Module):
    """The classifiers' weights and states with a leading axis of seeds, S; derived classes add the recurrence."""

    def __init__(self, models: Sequence[Classifier]):
        super().__init__()
        self.weight, self.bias = stacked(models, "readout.weight"), stacked(models, "readout.bias")

    def forward(self, x: Tensor) -> Tensor:
        """(S, T, B, 1) to (S, B, classes)."""
        return torch.baddbmm(self.bias.unsqueeze(1), self.last(x), self.weight.transpose(1, 2))

    def last(self, x: Tensor) -> Tensor:
        """h of the last step, (S, B, N)."""
        raise NotImplementedError

    def projected(self, x: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
        """W x of each step, (S, B, M), of W (S, M, 1)."""
        return torch.bmm(x.flatten(1, 2), weight.transpose(1, 2)).unflatten(1, x.shape[1:3]).unbind(1)


class BatchedLSTM(Batched):
    def __init__(self, models: Sequence[Classifier]):
        super().__init__(models)
        names = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
        self.weight_ih, self.bias_ih, self.weight_hh, self.bias_hh = (stacked(models, f"core.{name}") for name in names)

    def last(self, x: Tensor) -> Tensor:
        across, bias = self.weight_hh.transpose(1, 2).contiguous(), (self.bias_ih + self.bias_hh).unsqueeze(1)
        h = c = x.new_zeros(len(x), x.shape[2], across.shape[1])
        for y in self.projected(x, self.weight_ih):
            i, f, g, o = torch.baddbmm(y + bias, h, across).chunk(4, 2)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h


class BatchedDTRIV(Batched):
    """Each Q is made by itself: it costs little beside the steps."""

    def __init__(self, models: Sequence[Classifier]):
        super().__init__(models)
        self.weight_ih, self.threshold = stacked(models, "core.weight_ih"), stacked(models, "core.bias")
        self.orthogonal = nn.ModuleList(model.core.orthogonal for model in models)

    def last(self, x: Tensor) -> Tensor:
        matrices = torch.stack([orthogonal() for orthogonal in self.orthogonal])
        h, threshold = x.new_zeros(len(x), x.shape[2], matrices.shape[1]), self.threshold.unsqueeze(1)
        for y in self.projected(x, self.weight_ih):
            h = modrelu(torch.baddbmm(y, h, matrices), threshold)
        return h


def stacked(models: Sequence[Classifier], name: str) -> nn.Parameter:
    return nn.Parameter(torch.stack([model.get_parameter(name).detach() for model in models]))


class Alone:
    """Models that are trained one after another; where `streams` are given, each in its own."""

    def __init__(self, models: Sequence[Classifier], streams: Sequence[torch.cuda.Stream] | None = None):
        self.models, self.streams = models, streams
        self.optimisers = [torch.optim.RMSprop(model.parameters(), lr=1e-3) for model in models]

    def losses(self, x: Tensor, labels: Tensor) -> list[Tensor]:
        return [functional.cross_entropy(model(x[s]), labels[s]) for s, model in enumerate(self.models)]

    def step(self, x: Tensor, labels: Tensor) -> None:
        for s in range(len(self.models)):
            if self.streams is None:
                self._step(s, x[s], labels[s])
            else:
                with torch.cuda.stream(self.streams[s]):
                    self._step(s, x[s], labels[s])

    def _step(self, s: int, x: Tensor, labels: Tensor) -> None:
        self.optimisers[s].zero_grad()
        functional.cross_entropy(self.models[s](x), labels).backward()
        nn.utils.clip_grad_norm_(self.models[s].parameters(), CLIP)
        self.optimisers[s].step()


class Together:
    """Models whose steps are one computation."""

    def __init__(self, models: Sequence[Classifier], device: str):
        self.model = (BatchedLSTM if isinstance(models[0].core, LSTM) else BatchedDTRIV)(models).to(device)
        self.optimiser = torch.optim.RMSprop(self.model.parameters(), lr=1e-3)

    def losses(self, x: Tensor, labels: Tensor) -> Tensor:
        """(S,)."""
        each = functional.cross_entropy(self.model(x).flatten(0, 1), labels.flatten(), reduction="none")
        return each.view(labels.shape).mean(1)

    def step(self, x: Tensor, labels: Tensor) -> None:
        self.optimiser.zero_grad()
        self.losses(x, labels).sum().backward()
        self.clip(len(x))
        self.optimiser.step()

    @torch.no_grad()
    def clip(self, count: int) -> None:
        """Each seed's gradients to a norm of `CLIP` at most, as `clip_grad_norm_` does it for one."""
        ours = [parameter for name, parameter in self.model.named_parameters() if not name.startswith("orthogonal")]
        norms = [parameter.grad.flatten(1).norm(dim=1) for parameter in ours]
        skews = [module.skew for module in getattr(self.model, "orthogonal", ())]
        if skews:
            norms.append(torch.stack([skew.grad.norm() for skew in skews]))
        factors = (CLIP / (torch.stack(norms).norm(dim=0) + 1e-6)).clamp(max=1)
        for parameter in ours:
            parameter.grad.mul_(factors.view(count, *[1] * (parameter.dim() - 1)))
        for skew, factor in zip(skews, factors, strict=False):
            skew.grad.mul_(factor)


def main() -> None:
    options = parse_arguments()
    prepare(options)
    rows = []
    for core, size, count in itertools.product(CORES, options.sizes, options.counts):
        for row in measure(core, size, count, options):
            rows.append(row)
            about = f"{row['times_faster']:.2f} ({row['lowest']:.2f} - {row['highest']:.2f})"
            print(f"{count} x {core:6} N = {size:4}  {row['form']:18} {row['seconds']:9.4f} s  {about}", flush=True)
        write(rows, options.output)  # what is done is kept where a run is stopped
    print(f"\nWritten to {options.output}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=positive, nargs="+", default=[1, 2, 5], help="seeds (default: 1 2 5)")
    parser.add_argument("--sizes", type=positive, nargs="+", default=[128, 256], help="hidden units (default: 128 256)")
    parser.add_argument("--rounds", type=positive, default=5, help="timed rounds, after two that are not (default: 5)")
    parser.add_argument("--steps", type=positive, default=784, help="length of a sequence (default: 784)")
    parser.add_argument("--batch", type=positive, default=128, help="sequences of each seed (default: 128)")
    add_clock(parser)
    return parse(parser, "seeds_together")


def measure(core: str, size: int, count: int, options: argparse.Namespace) -> list[dict]:
    """Of `count` models in every form."""

    def models() -> list[Classifier]:
        return [Classifier(core, size, seed).to(options.device) for seed in range(count)]

    x = torch.rand(count, options.steps, options.batch, 1, device=options.device)
    labels = torch.randint(CLASSES, (count, options.batch), device=options.device)
    forms = {ALONE: Alone(models()), BATCHED: Together(models(), options.device)}
    check_alike(forms, x, labels)
    if options.device == "cuda":
        forms[STREAMS] = Alone(models(), [torch.cuda.Stream() for _ in range(count)])
        torch.cuda.synchronize()  # the streams do not wait for what has made weights and batches
    rounds = times({form: functools.partial(training.step, x, labels) for form, training in forms.items()}, options)
    rows = []
    for form in forms:
        faster, _ = compared(rounds, ALONE, form)
        _, seconds = compared(rounds, form, ALONE)
        rows.append(
            {
                "core": core,
                "size": size,
                "count": count,
                "form": form,
                "seconds": round(seconds, 5),
                "times_faster": round(faster.median, 3),
                "lowest": round(faster.low, 3),
                "highest": round(faster.high, 3),
                "clock": options.clock,
                **circumstances(options),
            }
        )
    return rows


def check_alike(forms: dict[str, Alone | Together], x: Tensor, labels: Tensor) -> None:
    """Each seed has one loss in both forms."""
    with torch.no_grad():
        losses = [[loss.item() for loss in forms[form].losses(x, labels)] for form in (ALONE, BATCHED)]
    if not all(math.isclose(*pair, rel_tol=1e-3) for pair in zip(*losses, strict=True)):
        raise SystemExit(f"the two forms have different losses: {losses}")


if __name__ == "__main__":
    main()
