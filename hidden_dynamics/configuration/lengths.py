"""Whether a run of some epochs is the first part of a longer one, by the settings of its training."""

import math

from hidden_dynamics.configuration.spec import Training


def length_matters(training: Training) -> str:
    """Why a run of so many epochs is not the first part of a longer one; "" where it is. Rates, orders and penalties go
    by the iteration; what the length decides is where the last evaluation is."""
    every, per_epoch = training.get("evaluate_every"), training.get("iterations_per_epoch")
    epochs = min(training["epochs"], training.get("rates", {}).get("until", math.inf))
    if every is None and epochs != int(epochs):
        return "it ends within an epoch, and is evaluated there"
    if every is not None and per_epoch is None:
        return "it is evaluated by the iteration and at its end, and its data say where that is"
    if every is not None and per_epoch is not None and epochs * per_epoch % every:
        return f"its end is no multiple of {every} iterations, and is evaluated"
    return ""
