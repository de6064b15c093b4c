"""GRU-ODE-Bayes (De Brouwer et al. 2019), Augmented- and ACE-GRU-ODE-Bayes (ACE-NODE, Section 4.2)."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.continuous.attention import FullyConnectedAttention, correlation
from hidden_dynamics.models.forecaster import Forecaster, SeriesTask
from hidden_dynamics.models.gru_ode_bayes.dynamics import GRUODE
from hidden_dynamics.models.gru_ode_bayes.jump import BayesJump
from hidden_dynamics.models.gru_ode_bayes.losses import divergence, negative_log_likelihood
from hidden_dynamics.models.gru_ode_bayes.passage import Passed, passage
from hidden_dynamics.models.gru_ode_bayes.path import Path, euler_path, still_path
from hidden_dynamics.models.gru_ode_bayes.plan import CellWeights, JumpWeights, Plan
from hidden_dynamics.models.observations import Observations

SOLVERS = ("euler", "still")
ATTENTIONS = ("evolving", "fc", "fixed", "released")
BIAS = 0.05  # of every linear map, at first


class Masks(NamedTuple):
    """What dropout multiplies hidden layers with; None is 1.

    Attributes:
        covariates: (batch, C), of the covariates' map.
        before, after: (R, P), of the p-model before and after the jump of each row.
    """

    covariates: Tensor | None = None
    before: Tensor | None = None
    after: Tensor | None = None


class Filtered(NamedTuple):
    """
    Attributes:
        before, after: (R, 2 D), what was predicted right before and right after each observation: mean and logvar.
        norms: (U,), the norms of the correlation of h after each union time's jumps, where they are penalised.
        size: series of the batch.
    """

    before: Tensor
    after: Tensor
    norms: Tensor
    size: int


class GRUODEBayes(Forecaster):
    """h flows by a GRU-ODE between observations and jumps at them; p(t), mean and logvar, is read from h.

    h(0) = tanh(W_2 drop(ReLU(W_1 c + b_1)) + b_2) of covariates c; p = V_2 drop(ReLU(V_1 h + b_1)) + b_2. All linear
    maps but the jump's start Xavier-uniform with biases of 0.05.

    Args:
        task: gives the features D of an observation, the covariates of a series and the end of the time.
        hidden_size: of h, without what augments it.
        prep: entries of the jump's input for each feature.
        delta: of a Euler step, in units of time.
        end: T, of the time, in the same units; None is the task's.
        dropout: share of the hidden units of both maps that are dropped when training, redrawn wherever p is.
        mixing: weight of the loss after the jumps.
        p_hidden, covariates_hidden: hidden units of the two maps.
        cell: of the GRU-ODE, "full" or "minimal".
        solver: "euler", by steps of delta as the original; "still", where nothing happens between observations: the
            released ACE-NODE baseline takes y(t_0) from a solution of dopri5 for its end.
        augmented: zeros added to h(0) (Dupont et al. 2019; ACE-NODE, Section 4.2). All that h enters sees them.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: SeriesTask,
        hidden_size: int,
        prep: int = 10,
        delta: float = 0.1,
        end: float | None = None,
        dropout: float = 0.2,
        mixing: float = 1e-4,
        p_hidden: int = 25,
        covariates_hidden: int = 50,
        cell: str = "full",
        solver: str = "euler",
        augmented: int = 0,
    ):
        super().__init__(task)
        end = task.end if end is None else end
        one_of("solver", solver, SOLVERS)
        if not (delta > 0 and end > 0 and 0 <= dropout < 1):
            raise ValueError(f"delta {delta} and end {end} must be above 0, dropout {dropout} from 0 to below 1")
        self.delta, self.end, self.dropout, self.mixing = delta, end, dropout, mixing
        self.solver, self.augmented = solver, augmented
        size = hidden_size + augmented
        self.covariates_in = nn.Linear(task.covariates, covariates_hidden)
        self.covariates_out = nn.Linear(covariates_hidden, hidden_size)
        self.p_in, self.p_out = nn.Linear(size, p_hidden), nn.Linear(p_hidden, 2 * task.features)
        self.dynamics = GRUODE(size, cell)
        self.jump = BayesJump(task.features, size, prep)
        for layer in self.children():
            if isinstance(layer, nn.Linear):
                _initialise(layer)

    def forward(
        self, observations: Observations, covariates: Tensor | None = None, masks: Masks | None = None
    ) -> Filtered:
        """Predictions right before and after all observations of a batch.

        Args:
            observations: R rows of D features, none after `end`.
            covariates: (batch, covariates) of the task; None is 0.
            masks: None draws them when training.
        """
        path, masks = self.path(self.accepted(observations)), self.masks(observations) if masks is None else masks
        passed = self._passed(observations, covariates, masks, path, last=int(path.steps[-1]) if len(path.steps) else 0)
        return Filtered(passed.p_before, self.p(passed.after, masks.after), passed.norms, observations.size)

    def loss(self, filtered: Filtered, observations: Observations) -> Tensor:
        """(loss before the jumps + mixing * loss after them) / batch, in nats per series."""
        first = negative_log_likelihood(filtered.before, observations.values, observations.mask)
        second = divergence(filtered.after, observations.values, observations.mask)
        return (first + self.mixing * second) / filtered.size

    def predict(
        self, observations: Observations, series: Tensor, times: np.ndarray, covariates: Tensor | None = None
    ) -> Tensor:
        """p of these series of the batch at these times, at the nearest time of the path: (N, 2 D), mean and logvar.

        Nothing is dropped, whether training or not.

        Args:
            observations: what is known.
            series: (N,) int64, places in the batch.
            times: (N,) float32.
        """
        path = self.path(self.accepted(observations, times))
        wanted, which = np.unique(path.states_at(times), return_inverse=True)
        passed = self._passed(observations, covariates, Masks(), path, wanted.tolist(), path.last)
        return self.p(passed.wanted[torch.from_numpy(which).to(series.device), series])

    def p(self, h: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean and logvar, (..., 2 D), of h, (..., d)."""
        hidden = torch.relu(self.p_in(h))
        return self.p_out(hidden if mask is None else hidden * mask)

    def path(self, observations: Observations) -> Path:
        times = observations.times.numpy()
        if len(times) and times[-1] > np.float32(self.end):  # times were read in single precision
            raise ValueError(f"an observation at {times[-1]} lies after the end, {self.end}")
        return (euler_path if self.solver == "euler" else still_path)(times, self.delta, self.end)

    def masks(self, observations: Observations) -> Masks:
        """Drawn from torch's generator; none where nothing is dropped.

        p(t) of the whole batch is redrawn after each step and at each union time: where neither came between two
        observations of a series, what the second finds is what the first left.
        """
        if not (self.training and self.dropout):
            return Masks()
        like, rows = observations.values, len(observations.values)
        of_covariates = self._drawn(like.new_empty(observations.size, self.covariates_in.out_features))
        before, after = (self._drawn(like.new_empty(rows, self.p_in.out_features)) for _ in range(2))
        union = observations.rows_of_times()
        passed = torch.from_numpy(self.path(observations).passed)[union].to(like.device)
        union, series = union.to(like.device), observations.series
        order = torch.sort(series, stable=True).indices
        earlier, later = order[:-1], order[1:]
        same = (series[earlier] == series[later]) & (passed[earlier] == passed[later])
        same &= union[earlier] + 1 == union[later]
        return Masks(of_covariates, before.index_copy(0, later[same], after[earlier[same]]), after)

    def _drawn(self, like: Tensor) -> Tensor:
        kept = 1 - self.dropout
        return torch.empty_like(like).uniform_().lt_(kept).div_(kept)  # in half the time of bernoulli_

    def _start(self, observations: Observations, covariates: Tensor | None, mask: Tensor | None) -> Tensor:
        """h(0), (batch, d)."""
        if covariates is None:
            covariates = observations.values.new_zeros(observations.size, self.covariates_in.in_features)
        hidden = torch.relu(self.covariates_in(covariates))
        h = torch.tanh(self.covariates_out(hidden if mask is None else hidden * mask))
        return functional.pad(h, (0, self.augmented))

    def _passed(
        self,
        observations: Observations,
        covariates: Tensor | None,
        masks: Masks,
        path: Path,
        wanted: list[int] | None = None,
        last: int = 0,
    ) -> Passed:
        h = self._start(observations, covariates, masks.covariates)
        plan = Plan(
            steps=path.steps.tolist(),
            last=last,
            delta=self.delta,
            offsets=observations.offsets.tolist(),
            series=observations.series,
            values=observations.values,
            mask=observations.mask,
            keep=masks.before,
            wanted=wanted or [],
            **self._attention_plan(path, last),
        )
        f = CellWeights(self.dynamics.gate_weights(), self.dynamics.candidate)
        gru = self.jump.gru
        jump = JumpWeights(
            *(self.p_in.weight, self.p_in.bias, self.p_out.weight, self.p_out.bias, self.jump.preparing_matrix()),
            *(gru.weight_ih, gru.bias_ih, gru.weight_hh, gru.bias_hh),
        )
        return passage(plan, h, self._initial_attention(h), f, self._attention_weights(), jump)

    def _attention_plan(self, path: Path, last: int) -> dict[str, Any]:
        return {}

    def _initial_attention(self, h: Tensor) -> Tensor | None:
        return None

    def _attention_weights(self) -> CellWeights | None:
        return None


def _initialise(layer: nn.Linear) -> None:
    nn.init.xavier_uniform_(layer.weight)
    nn.init.constant_(layer.bias, BIAS)


class ACEGRUODEBayes(GRUODEBayes):
    """GRU-ODE-Bayes with pairwise attention: its dynamics f, and g where there is one, see h' = h softmax(a)^T.

    Args:
        attention: "evolving", da/dt = g with a(0) = corr(h(0)) over the batch (ACE-NODE, Section 4.2); "fc", the same
            from a(0) of fully connected layers (Section 4.6); "fixed", a(t) = corr(h(t)) for all t (Section 4.6);
            "released", what the authors' code does: a = corr(h), detached, at the first step after an observation and
            at every step after the last; further steps before an observation start from the same h; g's result is not
            used. Where g is used, its rate becomes that of a as in
            `hidden_dynamics.models.continuous.attention.PairwiseRate`.
        at_jump: what an observation does to an a that evolves, of which the paper says nothing: "kept", nothing (a
            evolves "from a(0) through a NODE", Section 4.6); "renewed", a = corr(h) after it, the start of another
            initial value problem.
        detached: no gradient passes through correlations.
        penalty: `weight`, lambda; `of`: "parameters", the norm of theta_g as one vector (Equation 6), `norm` 1 or 2, or
            "correlation", as released: for every union time, weight * mixing times the 2-norm of all entries of corr(h)
            after it, detached, is in the loss (and per series as the rest): no gradient comes from it.
        options: of `GRUODEBayes`; the solver is "euler".

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        task: SeriesTask,
        hidden_size: int,
        penalty: dict[str, Any],
        attention: str = "evolving",
        at_jump: str = "kept",
        detached: bool = True,
        **options: Any,
    ):
        super().__init__(task, hidden_size, **options)
        if attention not in ATTENTIONS or at_jump not in ("kept", "renewed"):
            raise ValueError(
                f"the attention must be one of {', '.join(ATTENTIONS)}, and kept or renewed at a jump; found "
                f"{attention!r} and {at_jump!r}"
            )
        if at_jump == "renewed" and attention != "evolving":
            raise ValueError(
                f"only an attention that evolves from a correlation is renewed at a jump, not {attention!r}"
            )
        if self.solver != "euler":
            raise ValueError(f"attention needs the solver 'euler', not {self.solver!r}")
        self.attention, self.at_jump = attention, at_jump
        self.detached = detached or attention == "released"
        self.weight, self.norm, self.penalised = _penalty(**penalty)
        self.g = None if attention == "fixed" else GRUODE(self.dynamics.size, self.dynamics.cell)
        self.q = FullyConnectedAttention(self.dynamics.size) if attention == "fc" else None

    def loss(self, filtered: Filtered, observations: Observations) -> Tensor:
        penalised = self.weight * self.mixing * filtered.norms.sum() / filtered.size
        return super().loss(filtered, observations) + penalised

    def penalty(self, filtered: Filtered, part: str | None = None) -> Tensor | float:
        if part == "hidden" or self.penalised == "correlation" or self.g is None:
            return 0.0
        theta = torch.cat([parameter.flatten() for parameter in self.g.parameters()])
        return self.weight * torch.linalg.vector_norm(theta, self.norm)

    def parts(self) -> dict[str, list[nn.Parameter]]:
        """The parameters that Algorithm 1 trains in turn: "hidden", theta_f and all others; "attention", theta_g."""
        attention = [] if self.g is None else list(self.g.parameters())
        others = {id(parameter) for parameter in attention}
        return {"hidden": [p for p in self.parameters() if id(p) not in others], "attention": attention}

    def path(self, observations: Observations) -> Path:
        path = super().path(observations)
        if self.attention != "released":
            return path
        return euler_path(observations.times.numpy(), self.delta, self.end, once=True)

    def _attention_plan(self, path: Path, last: int) -> dict[str, Any]:
        if self.attention in ("fixed", "released"):
            renewed = np.ones(last, dtype=bool)
        else:
            renewed = np.zeros(last, dtype=bool)
            if self.at_jump == "renewed":  # where several jumps come together, h is what the last one leaves
                renewed[path.steps[path.steps < last]] = True
        norms = self.penalised == "correlation"
        return {"renewed": renewed.tolist(), "detached": self.detached, "norms": norms}

    def _initial_attention(self, h: Tensor) -> Tensor:
        if self.q is not None:
            return self.q(h)
        return correlation(h.detach() if self.detached else h)

    def _attention_weights(self) -> CellWeights | None:
        if self.attention in ("fixed", "released"):
            return None
        return CellWeights(self.g.gate_weights(), self.g.candidate)


def _penalty(weight: float, norm: int = 2, of: str = "parameters") -> tuple[float, int, str]:
    if not weight >= 0 or norm not in (1, 2) or of not in ("parameters", "correlation"):
        raise ValueError(
            "penalty: expected a weight of 0 or more, the norm 1 or 2, of parameters or correlation; found "
            f"{weight!r}, {norm!r}, {of!r}"
        )
    return weight, norm, of
