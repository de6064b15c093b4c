"""The networks of the Latent-ODE family: linear maps with tanh between them, all of one initialisation."""

from torch import nn

DEVIATION = 0.1  # of every weight, at first


def perceptron(inputs: int, outputs: int, layers: int, units: int) -> nn.Sequential:
    """layers + 2 linear maps with tanh between them: inputs -> units -> ... -> units -> outputs.

    Raises:
        ValueError: a size is not above 0, or the number of layers is below 0.
    """
    if min(inputs, outputs, units) < 1 or layers < 0:
        raise ValueError(
            f"inputs {inputs}, outputs {outputs} and units {units} must be above 0, and layers {layers} 0 or more"
        )
    modules: list[nn.Module] = [nn.Linear(inputs, units)]
    for _ in range(layers):
        modules += [nn.Tanh(), nn.Linear(units, units)]
    network = nn.Sequential(*modules, nn.Tanh(), nn.Linear(units, outputs))
    initialise(network)
    return network


def initialise(module: nn.Module) -> None:
    """Draws the weights of all linear maps from N(0, 0.1^2); their biases are 0."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=DEVIATION)
            nn.init.zeros_(layer.bias)
