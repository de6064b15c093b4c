"""ACE-Latent-ODE: a Latent-ODE with pairwise attention that evolves beside it (ACE-NODE, Sections 3 and 4.3 to 4.6)."""

from typing import Any, Literal

from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.continuous.attention import (
    FullyConnectedAttention,
    PairwiseRate,
    RandomRate,
    correlation,
    pairwise,
    unnormalised,
)
from hidden_dynamics.models.continuous.co_evolving import CoEvolving, Penalty, Rule, TrainedInTurn, penalty_of
from hidden_dynamics.models.continuous.integral import State
from hidden_dynamics.models.latent_family.family import LatentTask
from hidden_dynamics.models.latent_family.latent_ode import LatentODE

NO_PENALTY: Penalty = {"weight": 0.0, "norm": 2}
MIXINGS = {"softmax": pairwise, "raw": unnormalised}
RATES = {"moments": PairwiseRate, "random": RandomRate}
CHOICES = {"attention": ("evolving", "fc", "fixed"), "mixing": MIXINGS, "rate": RATES}


class FixedAttention(nn.Module):
    """dh/dt = f(t, h'), h' = rule(h, a), a = corr(h), detached, at every time; h is (K, N, d)."""

    def __init__(self, f: nn.Module, rule: Rule):
        super().__init__()
        self.f, self.rule = f, rule

    def forward(self, t: Tensor, h: Tensor) -> Tensor:
        """dh/dt, (K, N, d)."""
        return self.f(t, self.rule(h, correlation(h.detach())))


class ACELatentODE(TrainedInTurn, LatentODE):
    """A Latent-ODE whose dynamics f see h' = h softmax(a)^T, a (d, d) attention for each sample of the batch.

    a(0) is the correlation of z(0) over the batch, detached; an answer depends on the whole batch. The paper does not
    say what a label is read from: with `label_from` "end" it is z at the end, which the attention has shaped; from the
    sample of z(0), as released, it does not depend on the attention.

    Args:
        attention: "evolving", da/dt = g; "fc", the same from an a(0) of fully connected layers (Section 4.6); "fixed",
            a(t) = corr(z(t)) at all t, detached (Section 4.6).
        mixing: "softmax", by rows (Equation 4); "raw", h' = h a^T, as released.
        rate: what makes a (d, d) matrix of the (N, d) result of g, of which the paper says nothing: "moments",
            `PairwiseRate`; "random", as released, `RandomRate`, drawn anew also when nothing is trained.
        tied: f and g are one network, as released.
        penalty: `weight`, lambda, and `norm`, 1 or 2, of theta_g as one vector (Equation 6); none where there is no g.
        options: of `LatentODE`.
    """

    def __init__(
        self,
        task: LatentTask,
        hidden_size: int,
        penalty: Penalty = NO_PENALTY,
        attention: Literal["evolving", "fc", "fixed"] = "evolving",
        mixing: Literal["softmax", "raw"] = "softmax",
        rate: Literal["moments", "random"] = "moments",
        tied: bool = False,
        **options: Any,
    ):
        for name, value in {"attention": attention, "mixing": mixing, "rate": rate}.items():
            one_of(name, value, CHOICES[name])
        super().__init__(task, hidden_size, **options)
        self.attention, self.tied = attention, tied
        self.weight, self.norm, _ = penalty_of(("parameters",), **penalty)
        self.q = FullyConnectedAttention(self.size) if attention == "fc" else None
        f, rule = self.integral.dynamics, MIXINGS[mixing]
        if attention == "fixed":
            self._solve(FixedAttention(f, rule))
        else:
            self._solve(CoEvolving(f, RATES[rate](f if tied else self._flow()), rule))

    def attention_parameters(self) -> list[nn.Parameter]:
        dynamics = self.integral.dynamics
        return list(dynamics.g.parameters()) if isinstance(dynamics, CoEvolving) else []

    def _state(self, z: Tensor) -> State:
        if self.attention == "fixed":
            return z
        return z, correlation(z.detach()) if self.q is None else self.q(z)
