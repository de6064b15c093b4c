# pyright: reportUnknownMemberType=false
"""The orthogonal RNN with a filter on its input: DTRIV, and the cells of MomentumRNN that are made of it.

With y the filtered input, Q orthogonal and h_0 = 0:

    z_t = y_t + Q^T h_{t-1},   y = filter(W x)
    h_t = modrelu(z_t) = sign(z_t) relu(|z_t| + b)

MomentumRNN, Section 4; W has no bias (facts of the released code, Section 1).
"""

from typing import Any, Literal, Unpack

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import Positive, Share, Whole
from hidden_dynamics.models.momentum.filters import Adam, InputFilter, Momentum, Nesterov, RMSProp, like
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN, Options
from hidden_dynamics.models.recurrent.modrelu import modrelu, modrelu_rnn
from hidden_dynamics.models.recurrent.projection import filtered_projection
from hidden_dynamics.models.recurrent.state import Direction, FilteredState, Matrix, check_weights
from hidden_dynamics.models.recurrent.trivialisation import DynamicTrivialisation
from hidden_dynamics.models.transformed import is_transformed


class OrthogonalState(FilteredState):
    """h as `nn.RNN` has it, that also carries the filter's state: a tuple of one, see `FilteredState`."""

    @property
    def h(self) -> Tensor:
        """(layers * directions, batch, hidden_size)."""
        return self[0]


class OrthogonalOptions(Options, total=False):
    """The arguments of every orthogonal RNN after its layers."""

    K: int | float | str
    initialisation: Literal["cayley", "henaff"]


class DTRIV(FilteredRNN[OrthogonalState]):
    """An RNN with an orthogonal recurrent matrix whose input passes through a filter; in the place of `nn.RNN`.

    Without a filter, it has no momentum (Section 4; Lezcano-Casado, 2019). The fused backend filters all steps at
    once and differentiates the recurrence by hand.

    Args:
        input_size: as all others, of `FilteredRNN`.
        K: optimiser steps after which the base of Q moves; math.inf, "inf" or "∞" is never.
        initialisation: of Q: "cayley" or "henaff".

    Parameters, of each layer and direction: weight_ih_l0 (N, d), bias_l0 (N,), and `orthogonal_l0.skew`
    (N (N - 1) / 2,), of which Q is made.

    Attributes:
        record_gradients: whether the next forward's backward is to fill `gradient_norms`; under torch.func and
            torch.export, where it cannot, `forward` raises a RuntimeError.
        gradient_norms: (T,), the norm over batch and hidden units of the total derivative dL/dh_t; None before the
            first recording. They are of the last recording call: its last layer, direction and, if in several, segment.
    """

    State, own = OrthogonalState, 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        K: int | float | str = 1,
        initialisation: Literal["cayley", "henaff"] = "cayley",
        filter: InputFilter | None = None,
        **options: Any,
    ):
        self.of_matrix = K, initialisation  # before: the layers need it
        super().__init__(input_size, hidden_size, num_layers, *others, filter=filter, **options)
        self.record_gradients, self.gradient_norms = False, None

    def _make_layer(self, suffix: str, input_size: int, **factory: Any) -> None:
        n = self.hidden_size
        self.register_parameter(f"weight_ih{suffix}", nn.Parameter(torch.empty(n, input_size, **factory)))
        if self.bias:
            self.register_parameter(f"bias{suffix}", nn.Parameter(torch.empty(n, **factory)))
        self.add_module(f"orthogonal{suffix}", DynamicTrivialisation(n, *self.of_matrix).to(**factory))

    def reset_parameters(self) -> None:
        """Draw W Kaiming normal for a relu, b uniform on (-0.01, 0.01) (facts of the released code, Section 3)."""
        for suffix in self.suffixes:
            nn.init.kaiming_normal_(getattr(self, f"weight_ih{suffix}"), nonlinearity="relu")
            if self.bias:
                nn.init.uniform_(getattr(self, f"bias{suffix}"), -0.01, 0.01)
            getattr(self, f"orthogonal{suffix}").reset_parameters()

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """The parameters by the name of the optimiser that trains them."""
        orthogonal = [getattr(self, f"orthogonal{suffix}").skew for suffix in self.suffixes]
        others = [each for name, each in self.named_parameters() if not name.startswith("orthogonal")]
        return {"main": others, "orthogonal": orthogonal}

    def _run(self, x: Tensor, start: Direction, suffix: str) -> tuple[Tensor, Direction]:
        weight, matrix = getattr(self, f"weight_ih{suffix}"), self._matrix(start, suffix)
        bias = getattr(self, f"bias{suffix}") if self.bias else weight.new_zeros(self.hidden_size)
        check_weights(x, suffix, (weight, bias), ((self.hidden_size, x.shape[2]), (self.hidden_size,)))
        run = self._fused if self.backend == "fused" else self._reference
        h, h_end, end = run(x, start.own[0], start.filter, weight, bias, matrix[0], self._recording(x))
        return h, Direction((h_end,), end, matrix)

    def filtered(self, index: int = 0) -> tuple[str, int]:
        """The inputs, or what the units get of them."""
        if self.backend == "fused" and self.filter.linear:
            return "inputs", self._input_size(index)
        return "units", self.hidden_size

    def _matrix(self, start: Direction, suffix: str) -> Matrix:
        """Q, the state's own where the parameter is still the one that it was made of."""
        mode, orthogonal = (torch.is_grad_enabled(), self.training), getattr(self, f"orthogonal{suffix}")
        made = orthogonal.skew, orthogonal.base
        if is_transformed() or any(each.is_inference() for each in made):  # no address, or no count of its changes
            return orthogonal(), ()
        if start.matrix is not None and start.matrix[1] == (*mode, *orthogonal.version):
            return start.matrix
        matrix = orthogonal()
        return matrix, (*mode, *orthogonal.version)

    def _recording(self, x: Tensor) -> Tensor | None:
        if not self.record_gradients or not torch.is_grad_enabled():
            return None
        if is_transformed():  # no hook, and no kernel that overwrites a tensor
            raise RuntimeError("under torch.func and torch.export, record_gradients must be False")
        self.gradient_norms = x.new_zeros(x.shape[0])
        return self.gradient_norms

    def _reference(
        self, x: Tensor, h: Tensor, filter_state: Any, weight: Tensor, bias: Tensor, matrix: Tensor, norms: Any
    ) -> tuple[Tensor, Tensor, Any]:
        outputs: list[Tensor] = []
        for t, x_t in enumerate(x.unbind()):
            g = x_t @ weight.t()
            y, filter_state = self.filter.step(g, filter_state)
            h = modrelu(like(g, y) + h @ matrix, bias)
            if norms is not None:
                _record_norm(h, norms[t])
            outputs.append(h)
        return torch.stack(outputs), h, filter_state

    def _fused(
        self, x: Tensor, h: Tensor, filter_state: Any, weight: Tensor, bias: Tensor, matrix: Tensor, norms: Any
    ) -> tuple[Tensor, Tensor, Any]:
        """Filter and project (a filter that commutes with the projection goes first), and run the recurrence."""
        if self.filter.linear:
            y, end = self.filter(x, filter_state)
            y = like(x, y) @ weight.t()
        else:
            y, end = filtered_projection(x, weight, torch.zeros_like(bias), self.filter, filter_state)
        h, h_end = modrelu_rnn(y, matrix, bias, h, norms)
        return h, h_end, end


class MomentumDTRIV(DTRIV):
    """DTRIV with v_t = mu v_{t-1} + s W x_t (Eq. 9); the rest is as of `DTRIV`.

    Args:
        mu, s, learn: of `Momentum`; the paper has mu = s = 0.3 on PMNIST (N = 512).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        mu: Share,
        s: Positive,
        learn: bool = False,
        **options: Unpack[OrthogonalOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Momentum(mu, s, learn), **options)


class AdamDTRIV(DTRIV):
    """DTRIV whose input is filtered as Adam filters gradients (Eq. 15); the rest is as of `DTRIV`.

    Args:
        mu, s, beta, eps: of `Adam`; the paper has mu = s = 0.3 and beta = 0.8 on PMNIST (N = 512).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        mu: Share,
        s: Positive,
        beta: Share,
        eps: Positive = 1e-8,
        **options: Unpack[OrthogonalOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Adam(mu, s, beta, eps), **options)


class RMSPropDTRIV(DTRIV):
    """AdamDTRIV with mu = 0 (Section 2.4); the rest is as of `DTRIV`.

    Args:
        s, beta, eps: of `Adam`; the paper has s = 0.3 and beta = 0.9 on PMNIST (N = 512).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        s: Positive,
        beta: Share,
        eps: Positive = 1e-8,
        **options: Unpack[OrthogonalOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=RMSProp(s, beta, eps), **options)


class SRDTRIV(DTRIV):
    """DTRIV with Nesterov momentum restarted every `restart` steps (Section 2.4); the rest is as of `DTRIV`.

    Args:
        s, restart, phase: of `Nesterov`; the paper has s = 0.3 and restart = 2 on PMNIST (N = 512).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        s: Positive,
        restart: Whole | None = None,
        phase: int = 0,
        **options: Unpack[OrthogonalOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Nesterov(s, restart, phase), **options)


def _record_norm(h: Tensor, norm: Tensor) -> None:
    """Have backward write the norm of h's gradient into `norm`."""

    def write(gradient: Tensor) -> None:
        torch.linalg.vector_norm(gradient, out=norm)

    if h.requires_grad:
        h.register_hook(write)
