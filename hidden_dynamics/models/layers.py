"""Layers of the Latent-ODE family, and how they start: weights from N(0, 0.1^2), biases 0 (the released code)."""

from typing import TypeVar

from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of

CLASSIFIERS = ("mlp", "linear")
HIDDEN = 300  # units of a classifier's hidden layers
DEVIATION = 0.1

Network = TypeVar("Network", bound=nn.Module)


class Autonomous(nn.Module):
    """dz/dt = network(z) at any time."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, t: Tensor, z: Tensor) -> Tensor:
        """dz/dt, (..., d)."""
        return self.network(z)


def tanh_network(inputs: int, outputs: int, layers: int, units: int) -> nn.Sequential:
    """`layers` + 2 linear maps with a tanh between any two: inputs -> units -> ... -> units -> outputs."""
    return initialised(tanh_maps(inputs, outputs, layers, units))


def tanh_maps(inputs: int, outputs: int, layers: int, units: int) -> nn.Sequential:
    """The maps of `tanh_network`, as torch draws them."""
    sizes = [inputs, *[units] * (layers + 1), outputs]
    maps: list[nn.Module] = [nn.Linear(sizes[0], sizes[1])]
    for size, following in zip(sizes[1:-1], sizes[2:], strict=True):
        maps += [nn.Tanh(), nn.Linear(size, following)]
    return nn.Sequential(*maps)


def classifier(size: int, classes: int, kind: str = "mlp") -> nn.Sequential:
    """Logits of a state: "mlp", two hidden layers of 300 ReLU units, or "linear"."""
    if one_of("classifier", kind, CLASSIFIERS) == "linear":
        return initialised(nn.Sequential(nn.Linear(size, classes)))
    hidden = [nn.Linear(size, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU()]
    return initialised(nn.Sequential(*hidden, nn.Linear(HIDDEN, classes)))


def initialised(module: Network) -> Network:
    """The module, its linear maps drawn anew."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, 0.0, DEVIATION)
            nn.init.zeros_(layer.bias)
    return module
