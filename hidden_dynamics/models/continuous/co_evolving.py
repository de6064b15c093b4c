# pyright: reportUnknownMemberType=false
"""A pair of neural ODEs that evolve together, and how it is trained (ACE-NODE, Section 3, Equations 3 to 6)."""

from collections.abc import Callable
from typing import Literal, NotRequired, TypedDict, cast

import torch
from torch import Tensor, nn

from hidden_dynamics.models.continuous.attention import elementwise

Rule = Callable[[Tensor, Tensor], Tensor]


class CoEvolving(nn.Module):
    """The dynamics of the hidden state h and of the attention a,

        dh/dt = f(t, h'),   da/dt = g(t, h'),   h' = rule(h, a).

    of the shapes of h and a. Both see the attended state alone: g takes neither h nor a besides (the paper's text and
    the authors' code).
    """

    def __init__(self, f: nn.Module, g: nn.Module, rule: Rule = elementwise):
        super().__init__()
        self.f, self.g, self.rule = f, g, rule

    def forward(self, t: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """(dh/dt, da/dt) at the time t, (), and the state (h, a)."""
        attended = self.rule(*state)
        return self.f(t, attended), self.g(t, attended)


class TrainedInTurn(nn.Module):
    """A network whose attention is a part of its own: penalised (Equation 6), and trained in turn (Algorithm 1).

    Attributes:
        weight, norm: lambda, and 1 or 2, of theta_g as one vector.
        tied: f and g are one network, which is trained in both parts.
    """

    weight: float
    norm: int
    tied = False

    def attention_parameters(self) -> list[nn.Parameter]:
        """theta_g; empty where the attention has no dynamics."""
        raise NotImplementedError

    def penalty(self, output: object, part: str | None = None) -> Tensor | float:
        """The term added to the loss of an output when `part` is trained, or when all is (None)."""
        parameters = self.attention_parameters()
        if part == "hidden" or not parameters:
            return 0.0
        theta = torch.cat([each.flatten() for each in parameters])
        return self.weight * cast(Tensor, torch.linalg.vector_norm(theta, self.norm))

    def parts(self) -> dict[str, list[nn.Parameter]]:
        """The parameters that are trained in turn: "hidden", theta_f and all others; "attention", theta_g, if any."""
        attention = self.attention_parameters()
        if not attention:
            return {"hidden": list(self.parameters())}
        apart = {id(parameter) for parameter in attention if not self.tied}
        return {"hidden": [p for p in self.parameters() if id(p) not in apart], "attention": attention}


class Penalty(TypedDict):
    """The arguments of `penalty_of` that are settings."""

    weight: float
    norm: NotRequired[Literal[1, 2]]
    of: NotRequired[Literal["parameters", "logits", "correlation"]]


def penalty_of(known: tuple[str, ...], weight: float, norm: int = 2, of: str = "parameters") -> tuple[float, int, str]:
    """The settings of a penalty, and what it is of, one of those known; a ValueError where one is out of its range."""
    if not weight >= 0 or norm not in (1, 2) or of not in known:
        raise ValueError(
            f"penalty: expected a weight of 0 or more, the norm 1 or 2, of {' or '.join(known)}; found {weight!r}, "
            f"{norm!r}, {of!r}"
        )
    return weight, norm, of
