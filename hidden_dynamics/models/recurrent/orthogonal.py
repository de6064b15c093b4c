"""The orthogonal RNN with a filter on its input: DTRIV, and the cells of MomentumRNN that are made of it.

With y the filtered input, Q orthogonal and h_0 = 0:

    z_t = y_t + Q^T h_{t-1},   y = filter(W x)
    h_t = modrelu(z_t) = sign(z_t) relu(|z_t| + b)

MomentumRNN, Section 3.1; W has no bias (facts of the released code, Section 1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from hidden_dynamics.models.momentum.filters import Adam, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN, FilteredState, map_tensors
from hidden_dynamics.models.recurrent.modrelu import modrelu, modrelu_rnn
from hidden_dynamics.models.recurrent.projection import filtered_projection
from hidden_dynamics.models.recurrent.trivialisation import DynamicTrivialisation


@dataclass(frozen=True, eq=False)
class OrthogonalState(FilteredState):
    """The state of a sequence after a segment of it.

    Attributes:
        h: (1, batch, hidden_size), as in `nn.RNN`.
        matrix: Q and its version: segments of one sequence that are differentiated together share it.
    """

    h: Tensor
    filter: Any = None
    matrix: tuple[Tensor, tuple] | None = None
    maker: str | None = None

    def detach(self) -> "OrthogonalState":
        return replace(super().detach(), matrix=None)

    def map(self, function: Callable[[Tensor], Tensor]) -> "OrthogonalState":
        """The state with `function` of h and every tensor of the filter's state."""
        return replace(self, h=function(self.h), filter=map_tensors(function, self.filter))


class OrthogonalRNN(FilteredRNN):
    """An RNN with an orthogonal recurrent matrix whose input passes through a filter.

    The fused backend filters all steps at once and differentiates the recurrence by hand.

    Args: those of `FilteredRNN`, and
        K: see `DynamicTrivialisation`.
        initialisation: of Q: "cayley" or "henaff".

    Parameters: weight_ih (N, d), bias (N,), and `orthogonal.skew` (N (N - 1) / 2,), of which Q is made.

    Attributes:
        record_gradients: whether the next forward's backward is to fill `gradient_norms`.
        gradient_norms: (T,), the norm over batch and hidden units of dL/dh_t, the total derivative, through later steps
            too; None before the first recording. They belong to the last recording call of `forward`: of a sequence, or
            a batch of unequal lengths, that runs in segments, to its last segment alone.
    """

    State, own = OrthogonalState, 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        filter: nn.Module | None = None,
        K: int | float | str = 1,
        initialisation: str = "cayley",
        batch_first: bool = False,
        backend: str = "fused",
        **of_filter: Any,
    ):
        super().__init__(input_size, hidden_size, filter, batch_first, backend, **of_filter)
        self.record_gradients, self.gradient_norms = False, None
        self.weight_ih = nn.Parameter(torch.empty(hidden_size, input_size))
        self.bias = nn.Parameter(torch.empty(hidden_size))
        self.orthogonal = DynamicTrivialisation(hidden_size, K, initialisation)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Facts of the released code, Section 3: W Kaiming normal for a relu, b uniform on (-0.01, 0.01)."""
        nn.init.kaiming_normal_(self.weight_ih, nonlinearity="relu")
        nn.init.uniform_(self.bias, -0.01, 0.01)
        self.orthogonal.reset_parameters()

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """The parameters by the name of the optimiser that trains them."""
        return {"main": [self.weight_ih, self.bias], "orthogonal": [self.orthogonal.skew]}

    def _run(self, x: Tensor, state: OrthogonalState) -> tuple[Tensor, OrthogonalState]:
        matrix, norms = self._matrix(state), self._recording(x)
        run = self._fused if self.backend == "fused" else self._reference
        h, h_end, filter_state = run(x, state.h[0], state.filter, matrix[0], norms)
        return h, OrthogonalState(h_end.unsqueeze(0), filter_state, matrix, self.maker)

    @property
    def filtered(self) -> tuple[str, int]:
        """What the filter runs over, and its channels: the inputs, or what the units get of them."""
        if self.backend == "fused" and self.filter.linear:
            return "inputs", self.input_size
        return "units", self.hidden_size

    def _matrix(self, state: OrthogonalState) -> tuple[Tensor, tuple]:
        """Q, the state's own where the parameter is still the one that it was made of."""
        mode = torch.is_grad_enabled(), self.training
        if state.matrix is not None and state.matrix[1] == (*mode, *self.orthogonal.version):
            return state.matrix
        matrix = self.orthogonal()
        return matrix, (*mode, *self.orthogonal.version)

    def _recording(self, x: Tensor) -> Tensor | None:
        if not self.record_gradients or not torch.is_grad_enabled():
            return None
        self.gradient_norms = x.new_zeros(x.shape[0])
        return self.gradient_norms

    def _reference(
        self, x: Tensor, h: Tensor, filter_state: Any, matrix: Tensor, norms: Tensor | None
    ) -> tuple[Tensor, Tensor, Any]:
        outputs = []
        for t, x_t in enumerate(x):
            y, filter_state = self.filter.step(x_t @ self.weight_ih.t(), filter_state)
            h = modrelu(y + h @ matrix, self.bias)
            if norms is not None:
                _record_norm(h, norms[t])
            outputs.append(h)
        return torch.stack(outputs), h, filter_state

    def _fused(
        self, x: Tensor, h: Tensor, filter_state: Any, matrix: Tensor, norms: Tensor | None
    ) -> tuple[Tensor, Tensor, Any]:
        """Filter and project (a filter that commutes with the projection goes first), and run the recurrence."""
        if self.filter.linear:
            x, end = self.filter(x, filter_state)
            y = x @ self.weight_ih.t()
        else:
            y, end = filtered_projection(x, self.weight_ih, torch.zeros_like(self.bias), self.filter, filter_state)
        h, h_end = modrelu_rnn(y, matrix, self.bias, h, norms)
        return h, h_end, end


class DTRIV(OrthogonalRNN):
    """The orthogonal RNN without momentum (Section 3.1; Lezcano-Casado, 2019)."""


class MomentumDTRIV(OrthogonalRNN):
    """DTRIV with v_t = mu v_{t-1} + s W x_t (Eq. 9). Takes mu and s of `filters.Momentum`."""

    Filter = Momentum


class AdamDTRIV(OrthogonalRNN):
    """DTRIV whose input is filtered as Adam filters gradients (Eq. 15). Takes mu, s, beta and eps of `filters.Adam`."""

    Filter = Adam


class RMSPropDTRIV(OrthogonalRNN):
    """AdamDTRIV with mu = 0 (Section 2.4). Takes s, beta and eps of `filters.RMSProp`."""

    Filter = RMSProp


class SRDTRIV(OrthogonalRNN):
    """DTRIV with Nesterov momentum restarted every `restart` steps (Section 2.4). Takes s, restart and phase of
    `filters.Nesterov`."""

    Filter = Nesterov


def _record_norm(h: Tensor, norm: Tensor) -> None:
    """Have backward write the norm of h's gradient into `norm`."""

    def write(gradient: Tensor) -> None:
        torch.linalg.vector_norm(gradient, out=norm)

    if h.requires_grad:
        h.register_hook(write)
