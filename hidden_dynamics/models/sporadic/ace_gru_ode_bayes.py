# pyright: reportUnknownMemberType=false
"""ACE-GRU-ODE-Bayes: GRU-ODE-Bayes with pairwise attention that evolves beside it (ACE-NODE, Section 4.2)."""

from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.continuous.attention import FullyConnectedAttention, correlation, pairwise
from hidden_dynamics.models.continuous.co_evolving import Penalty, TrainedInTurn, penalty_of
from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.observations import Observations
from hidden_dynamics.models.sporadic.gru_ode_bayes import Filtered, GRUODEBayes, State
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import GRUODE


class ACEGRUODEBayes(TrainedInTurn, GRUODEBayes):
    """GRU-ODE-Bayes with pairwise attention: its dynamics f, and g where there is one, see h' = h softmax(a)^T.

    Args:
        attention: "evolving", da/dt = g with a(0) = corr(h(0)) over the batch (ACE-NODE, Section 4.2); "fc", the same
            from a(0) of fully connected layers (Section 4.6); "fixed", a(t) = corr(h(t)) for all t (Section 4.6);
            "released", what the authors' code does: a = corr(h), detached, at the first step after an observation and
            at every step after the last; further steps before an observation start from the same h; g's result is not
            used. Where g is used, its rate becomes that of a as in `PairwiseRate`.
        at_jump: what an observation does to an a that evolves, of which the paper says nothing: "kept", nothing (a
            evolves "from a(0) through a NODE", Section 4.6); "renewed", a = corr(h) after it, the start of another
            initial value problem.
        detached: no gradient passes through correlations.
        penalty: `weight`, lambda; `of`: "parameters", the norm of theta_g as one vector (Equation 6), `norm` 1 or 2, or
            "correlation", as released: for every union time, weight * mixing times the 2-norm of all entries of corr(h)
            after it, detached, is in the loss (and per series as the rest): no gradient comes from it.
        options: of `GRUODEBayes`; the solver is "euler".
    """

    def __init__(
        self,
        task: SeriesTask,
        hidden_size: int,
        penalty: Penalty,
        attention: Literal["evolving", "fc", "fixed", "released"] = "evolving",
        at_jump: Literal["kept", "renewed"] = "kept",
        detached: bool = True,
        **options: Any,
    ):
        super().__init__(task, hidden_size, **options)
        one_of("attention", attention, ("evolving", "fc", "fixed", "released"))
        one_of("at_jump", at_jump, ("kept", "renewed"))
        if at_jump == "renewed" and attention != "evolving":
            raise ValueError(f"at_jump: only an evolving attention is renewed, not {attention!r}")
        if self.solver != "euler":
            raise ValueError(f"attention needs the solver 'euler', not {self.solver!r}")
        self.attention, self.at_jump = attention, at_jump
        self.kind = "once" if attention == "released" else "euler"
        self.detached = detached or attention == "released"
        self.weight, self.norm, self.penalised = penalty_of(("parameters", "correlation"), **penalty)
        self.g = None if attention == "fixed" else GRUODE(self.dynamics.size)
        self.q = FullyConnectedAttention(self.dynamics.size) if attention == "fc" else None

    def loss(self, filtered: Filtered, observations: Observations) -> Tensor:
        penalised = self.weight * self.mixing * filtered.norms.sum() / observations.size
        return super().loss(filtered, observations) + penalised

    def penalty(self, output: object, part: str | None = None) -> Tensor | float:
        return 0.0 if self.penalised == "correlation" else super().penalty(output, part)

    def attention_parameters(self) -> list[nn.Parameter]:
        return [] if self.g is None else list(self.g.parameters())

    def _dynamics(self) -> list[GRUODE]:
        return [self.dynamics] if self.g is None or self.attention == "released" else [self.dynamics, self.g]

    def _stepped(self, h: Tensor, a: Tensor | None, gates: list[Tensor]) -> State:
        """An attention of None is the correlation of h."""
        a = self._correlation(h) if a is None else a
        attended = pairwise(h, a)
        moved = torch.add(h, self.dynamics.rate(attended, gates[0]), alpha=self.delta)
        if self.g is None or len(gates) == 1:
            return moved, None
        rate = self.g.rate(attended, gates[1])
        return moved, torch.addmm(a, rate.t(), attended, alpha=self.delta / len(h))

    def _attention_after_jump(self, h: Tensor, a: Tensor | None, norms: list[Tensor]) -> Tensor | None:
        if self.penalised == "correlation":
            correlations = correlation(h.detach())
            norms.append(cast(Tensor, torch.linalg.matrix_norm(correlations)))
            if self.attention == "released":
                return correlations
        return a if self.attention in ("evolving", "fc") and self.at_jump == "kept" else None

    def _initial_attention(self, h: Tensor) -> Tensor:
        return self._correlation(h) if self.q is None else self.q(h)

    def _correlation(self, h: Tensor) -> Tensor:
        return correlation(h.detach() if self.detached else h)
