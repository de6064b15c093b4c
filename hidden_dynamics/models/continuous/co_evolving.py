"""A pair of neural ODEs that evolve together (ACE-NODE, Section 3, Equations 3 to 5)."""

from collections.abc import Callable

from torch import Tensor, nn

from hidden_dynamics.models.continuous.attention import elementwise

Rule = Callable[[Tensor, Tensor], Tensor]


class CoEvolving(nn.Module):
    """The dynamics of the hidden state h and of the attention a,

        dh/dt = f(t, h'),   da/dt = g(t, h'),   h' = rule(h, a).

    Both see the attended state alone: g takes neither h nor a besides (the paper's text and the authors' code).

    Args:
        f: the main dynamics, `f(t, h')` of the shape of h.
        g: the attention dynamics, `g(t, h')` of the shape of a.
        rule: how the attention is applied.
    """

    def __init__(self, f: nn.Module, g: nn.Module, rule: Rule = elementwise):
        super().__init__()
        self.f, self.g, self.rule = f, g, rule

    def forward(self, t: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """(dh/dt, da/dt) at the time t, (), and the state (h, a)."""
        attended = self.rule(*state)
        return self.f(t, attended), self.g(t, attended)
