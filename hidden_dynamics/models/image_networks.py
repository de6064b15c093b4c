# pyright: reportUnknownMemberType=false
"""Networks of images (ACE-NODE, Section 4.1): a stem, a body of constant width, a head.

The bodies are six residual blocks (ResNet), a neural ODE (ODE-Net; RKNet, with fixed steps; Augmented-ODE-Net, with
more channels), or two that evolve together (ACE-ODE-Net). Facts of the released code give what the text does not.
"""

from typing import Any, NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.errors import UserError
from hidden_dynamics.models.choices import whole
from hidden_dynamics.models.continuous.co_evolving import CoEvolving, Penalty, TrainedInTurn, penalty_of
from hidden_dynamics.models.continuous.convolution import ConvolutionalDynamics, group_norm
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral
from hidden_dynamics.models.solver import Solver, SolverSettings

BLOCKS = 6
# Every ReLU here follows a GroupNorm, whose gradient does not need its result: they work in place.


class ImageTask(Protocol):
    """The properties of a task that a network of images needs."""

    channels: int
    classes: int


class ImageOutput(NamedTuple):
    """The output of a network for `batch` images.

    Attributes:
        logits: (batch, classes).
        features: what the last linear map sees, (batch, channels).
        state: what the head sees, h(1) of a neural ODE, (batch, channels, H, W).
        attention: a(1), of the shape of h(1); None without attention.
    """

    logits: Tensor
    features: Tensor
    state: Tensor
    attention: Tensor | None = None


def output_of(network: nn.Module, images: Tensor) -> ImageOutput:
    """A network's output for images; a UserError where it is no `ImageOutput`."""
    output = network(images)
    if not isinstance(output, ImageOutput):
        raise UserError(
            f"{type(network).__name__}: a network of images gives an {__name__}.ImageOutput, and this one gives a "
            f"{type(output).__name__}: derive it from {__name__}.ImageNetwork."
        )
    return output


class Head(nn.Module):
    """GroupNorm, ReLU, the mean over all places, a linear map."""

    def __init__(self, channels: int, classes: int):
        super().__init__()
        self.norm, self.readout = group_norm(channels), nn.Linear(channels, classes)

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """The logits (batch, classes) and the features (batch, channels) of (batch, channels, H, W)."""
        features = torch.relu_(self.norm(state)).mean((2, 3))
        return self.readout(features), features


def stem(inputs: int, channels: int, padding: int) -> nn.Sequential:
    """The layers from an image to a quarter of its side: convolutions of 3x3, and of 4x4 with stride 2 twice."""
    return nn.Sequential(
        nn.Conv2d(inputs, channels, 3, padding=padding),
        group_norm(channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(channels, channels, 4, stride=2, padding=1),
        group_norm(channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(channels, channels, 4, stride=2, padding=1),
    )


class ImageNetwork(nn.Module):
    """Stem, body and head; the body is what derived classes add.

    Args:
        hidden_size: channels of stem and body.
        padding: of the stem's first convolution.
        augmented: channels of the head beyond `hidden_size`.
    """

    def __init__(self, task: ImageTask, hidden_size: int, padding: int, augmented: int = 0):
        super().__init__()
        whole("hidden_size", hidden_size)
        whole("augmented", augmented, 0)
        self.stem = stem(task.channels, hidden_size, padding)
        self.head = Head(hidden_size + augmented, task.classes)

    def body(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """The last hidden state and, where there is one, the last attention."""
        raise NotImplementedError

    def forward(self, images: Tensor) -> ImageOutput:
        """(batch, channels, H, W) in [0, 1]."""
        state, attention = self.body(self.stem(images))
        return ImageOutput(*self.head(state), state=state, attention=attention)

    def penalty(self, output: ImageOutput, part: str | None = None) -> Tensor | float:
        """As of `Forecaster`: none."""
        return 0.0


class ResidualBlock(nn.Module):
    """x + conv(ReLU GroupNorm conv(ReLU GroupNorm x)), 3x3, without biases (He et al. 2016, pre-activation)."""

    def __init__(self, channels: int):
        super().__init__()
        self.norms = nn.ModuleList(group_norm(channels) for _ in range(2))
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for norm, convolution in zip(self.norms, self.convolutions, strict=True):
            y = convolution(torch.relu_(norm(y)))
        return x + y


class ResNet(ImageNetwork):
    """Six residual blocks."""

    def __init__(self, task: ImageTask, hidden_size: int, padding: int):
        super().__init__(task, hidden_size, padding)
        self.blocks = nn.Sequential(*(ResidualBlock(hidden_size) for _ in range(BLOCKS)))

    def body(self, x: Tensor) -> tuple[Tensor, None]:
        return self.blocks(x), None


class ODENet(ImageNetwork):
    """h(1) of dh/dt = f(t, h): ODE-Net, with fixed steps RKNet, with more channels Augmented-ODE-Net.

    Args:
        augmented: channels of zeros added to h(0) (Dupont et al. 2019). The head sees them too, which the paper does
            not say; its parameters are 0.22M either way.
    """

    def __init__(self, task: ImageTask, hidden_size: int, padding: int, solver: SolverSettings, augmented: int = 0):
        super().__init__(task, hidden_size, padding, augmented)
        self.augmented, self.function_evaluations = augmented, FunctionEvaluations()
        dynamics = ConvolutionalDynamics(hidden_size + augmented)
        self.integral = Integral(dynamics, Solver(**solver), self.function_evaluations)

    def body(self, x: Tensor) -> tuple[Tensor, None]:
        return self.integral(functional.pad(x, (0, 0, 0, 0, 0, self.augmented))), None


class InitialAttention(nn.Sequential):
    """q of a(0) = q(h(0)): GroupNorm, ReLU, convolution, GroupNorm, ReLU, (a second convolution,) GroupNorm."""

    def __init__(self, channels: int, layers: int):
        if layers not in (1, 2):
            raise ValueError(f"q has one layer or two, not {layers}")
        first, second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        norms = [group_norm(channels) for _ in range(3)]
        convolved = [second] if layers == 2 else []
        super().__init__(norms[0], nn.ReLU(inplace=True), first, norms[1], nn.ReLU(inplace=True), *convolved, norms[2])


class ACEODENet(TrainedInTurn, ImageNetwork):
    """h(1) of a hidden state and an attention that evolve together, a(0) = q(h(0)) (Sections 3.2 and 4.1).

    q is trained in the hidden part, with all parameters that are neither f's nor g's (Algorithm 1).

    Args:
        solver: h and a share its steps.
        penalty: `weight`, lambda; `norm`, 1 or 2; `of`: "parameters", the norm of theta_g as one vector (Equation 6),
            or "logits", that of what the head makes of a(1), all (batch, classes) entries as one vector (the released
            code).
        f_layers, g_layers, q_layers: convolutions of the main dynamics, of the attention's and of q.
    """

    def __init__(
        self,
        task: ImageTask,
        hidden_size: int,
        padding: int,
        solver: SolverSettings,
        penalty: Penalty,
        f_layers: int = 1,
        g_layers: int = 2,
        q_layers: int = 2,
    ):
        super().__init__(task, hidden_size, padding)
        self.weight, self.norm, self.penalised = penalty_of(("parameters", "logits"), **penalty)
        self.function_evaluations = FunctionEvaluations()
        self.q = InitialAttention(hidden_size, q_layers)
        pair = CoEvolving(ConvolutionalDynamics(hidden_size, f_layers), ConvolutionalDynamics(hidden_size, g_layers))
        self.integral = Integral(pair, Solver(**solver), self.function_evaluations)

    def body(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.integral((x, self.q(x)))

    def attention_parameters(self) -> list[nn.Parameter]:
        return list(cast(CoEvolving, self.integral.dynamics).g.parameters())

    def penalty(self, output: Any, part: str | None = None) -> Tensor | float:
        if self.penalised == "parameters" or part == "hidden":
            return super().penalty(output, part)
        logits = self.head(output.attention)[0].flatten()
        return self.weight * cast(Tensor, torch.linalg.vector_norm(logits, self.norm))
