"""The LSTM with a filter on its input, and the cells of MomentumRNN that are made of it.

Gates, in torch's order (i, f, g, o), with y_t the filtered input and U, b_hh the hidden-to-hidden weight and bias:

    a_t = y_t + U h_{t-1} + b_hh,   y = filter(W x + b_ih)
    i, f, o = sigmoid(a_i, a_f, a_o),   g = tanh(a_g)
    c_t = f c_{t-1} + i g,   h_t = o tanh(c_t)

This is the LSTM with a forget gate, which the released code and the paper's Appendix F use (its Eq. 2 has none).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from hidden_dynamics.models.momentum.filters import Adam, Identity, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.recurrent.adam_lstm import adam_lstm
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN, FilteredState, map_tensors
from hidden_dynamics.models.recurrent.projection import filtered_projection


class LSTMState(FilteredState, tuple):
    """The pair (h, c), each of shape (1, batch, hidden_size) as in `nn.LSTM`, that also carries the filter's state."""

    def __new__(cls, h: Tensor, c: Tensor, filter: Any = None, maker: str | None = None) -> "LSTMState":
        state = super().__new__(cls, (h, c))
        state.filter, state.maker = filter, maker
        return state

    def map(self, function: Callable[[Tensor], Tensor]) -> "LSTMState":
        """The state with `function` of every tensor in it."""
        return LSTMState(*map(function, self), map_tensors(function, self.filter), self.maker)


class LSTM(FilteredRNN):
    """An LSTM whose input passes through a filter; in the place of a one-layer, one-directional `nn.LSTM`.

    The fused backend is torch's own LSTM (cuDNN, oneDNN) or, behind Adam and RMSProp on a CPU, `adam_lstm`. Any other
    filter that does not commute with the linear map costs four recurrences more: torch's LSTM multiplies its input by a
    weight in any case, and where it is filtered already, that is the 4N x 4N identity.

    Args: those of `FilteredRNN`, and
        forget_bias: initial fill of the forget gate's bias.
        forget_fill: "both" fills both bias vectors (Appendix F and the released code), "once" bias_hh alone (Appendix A
            taken literally).

    Parameters: weight_ih (4N, d), bias_ih (4N), weight_hh (4N, N), bias_hh (4N), gates in the order i, f, g, o.
    """

    State, own = LSTMState, 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        filter: nn.Module | None = None,
        batch_first: bool = False,
        backend: str = "fused",
        forget_bias: float = 1.0,
        forget_fill: str = "both",
        **of_filter: Any,
    ):
        super().__init__(input_size, hidden_size, filter, batch_first, backend, **of_filter)
        if forget_fill not in ("both", "once"):
            raise ValueError(f"forget_fill must be 'both' or 'once', not {forget_fill!r}")
        self.forget_bias, self.forget_fill = forget_bias, forget_fill
        self.weight_ih = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.bias_ih = nn.Parameter(torch.empty(4 * hidden_size))
        self.weight_hh = nn.Parameter(torch.empty(4 * hidden_size, hidden_size))
        self.bias_hh = nn.Parameter(torch.empty(4 * hidden_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Appendix A and F: weight_ih orthogonal, weight_hh the 4N x N identity (so I in the input gate's block, 0 in
        the others), biases 0 but for the forget gate's."""
        forget = slice(self.hidden_size, 2 * self.hidden_size)
        nn.init.orthogonal_(self.weight_ih)
        nn.init.eye_(self.weight_hh)
        nn.init.zeros_(self.bias_ih)
        nn.init.zeros_(self.bias_hh)
        with torch.no_grad():
            self.bias_hh[forget] = self.forget_bias
            if self.forget_fill == "both":
                self.bias_ih[forget] = self.forget_bias

    def _run(self, x: Tensor, state: LSTMState) -> tuple[Tensor, LSTMState]:
        run = self._fused if self.backend == "fused" else self._reference
        h, (h_end, c_end), filter_state = run(x, (state[0][0], state[1][0]), state.filter)
        return h, LSTMState(h_end.unsqueeze(0), c_end.unsqueeze(0), filter_state, self.maker)

    @property
    def filtered(self) -> tuple[str, int]:
        """What the filter runs over, and its channels: the inputs, with the bias's constant one, or the gates."""
        if self.backend == "fused" and self.filter.linear:
            return "inputs", self.input_size + 1
        return "gates", 4 * self.hidden_size

    def _reference(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        outputs = []
        for x_t in x:
            g = x_t @ self.weight_ih.t() + self.bias_ih
            y, filter_state = self.filter.step(g, filter_state)
            hidden = lstm_cell(y + hidden[0] @ self.weight_hh.t() + self.bias_hh, hidden[1])
            outputs.append(hidden[0])
        return torch.stack(outputs), hidden, filter_state

    def _fused(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        """Project, filter, and run the core on the result; a filter that commutes with the projection goes first."""
        if self.filter.linear:
            return self._fused_linear(x, hidden, filter_state)
        if x.device.type == "cpu" and type(self.filter) in (Adam, RMSProp):
            return self._fused_adam(x, hidden, filter_state)
        y, end = filtered_projection(x, self.weight_ih, self.bias_ih, self.filter, filter_state)
        identity = torch.eye(4 * self.hidden_size, dtype=x.dtype, device=x.device)
        h, hidden = torch_lstm(y, hidden, identity, self.weight_hh, self.bias_hh)
        return h, hidden, end

    def _fused_adam(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        """Features before the batch."""
        state, (h0, c0) = map_tensors(torch.Tensor.t, filter_state), (tensor.t() for tensor in hidden)
        weights = self.weight_ih, self.bias_ih, self.weight_hh, self.bias_hh
        h, c, end = adam_lstm(self.filter, x.transpose(1, 2), state, *weights, h0, c0)
        h = h.transpose(1, 2)
        return h, (h[-1], c.t()), map_tensors(torch.Tensor.t, end)

    def _fused_linear(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        """filter(W x + b) = [W, b] filter([x, 1]): filter d + 1 channels, then run torch's LSTM."""
        if isinstance(self.filter, Identity):
            h, hidden = torch_lstm(x, hidden, self.weight_ih, self.weight_hh, self.bias_hh, self.bias_ih)
            return h, hidden, None
        ones = x.new_ones(1, 1, 1).expand(x.shape[0], x.shape[1], 1)
        y, filter_state = self.filter(torch.cat([x, ones], dim=-1), filter_state)
        weight = torch.cat([self.weight_ih, self.bias_ih.unsqueeze(1)], dim=1)
        h, hidden = torch_lstm(y, hidden, weight, self.weight_hh, self.bias_hh)
        return h, hidden, filter_state


class MomentumLSTM(LSTM):
    """LSTM with v_t = mu v_{t-1} + s (W x_t + b) (Eq. 9, Appendix F). Takes mu and s of `filters.Momentum`."""

    Filter = Momentum


class AdamLSTM(LSTM):
    """LSTM whose input is filtered as Adam filters gradients (Eq. 15). Takes mu, s, beta and eps of `filters.Adam`."""

    Filter = Adam


class RMSPropLSTM(AdamLSTM):
    """AdamLSTM with mu = 0 (Section 2.4). Takes s, beta and eps of `filters.RMSProp`."""

    Filter = RMSProp


class NAGLSTM(LSTM):
    """LSTM with Nesterov momentum that is never restarted (Section 2.4). Takes s of `filters.Nesterov`."""

    Filter = Nesterov


class SRLSTM(LSTM):
    """LSTM with Nesterov momentum restarted every `restart` steps (Section 2.4). Takes s, restart and phase of
    `filters.Nesterov`.

    Args:
        cell: "filter" is the paper's cell. "look_ahead" is that of the released code for the pixel and speech tasks
            (their `nlstm`), a look-ahead on the whole pre-activation:

                q_t = U h_{t-1} + b_hh - s (W x_t + b_ih),   a_t = q_t + gamma_t (q_t - q_{t-1}),   q_0 = 0

            It involves the hidden state, so it is no filter on the input and only the reference backend can run it.
            gamma_t is that of the Nesterov filter.
        options: of `LSTM` and the filter.
    """

    Filter = Nesterov

    def __init__(self, input_size: int, hidden_size: int, cell: str = "filter", **options: Any):
        if cell not in ("filter", "look_ahead"):
            raise ValueError(f"cell must be 'filter' or 'look_ahead', not {cell!r}")
        if cell == "look_ahead" and options.setdefault("backend", "reference") != "reference":
            raise ValueError("the look-ahead cell is no filter on the input: it runs with backend='reference' alone")
        super().__init__(input_size, hidden_size, **options)
        self.cell = cell

    @property
    def filtered(self) -> tuple[str, int]:
        """See `LSTM`; of a look-ahead, it is q, and not the input alone."""
        return ("whole pre-activation", 4 * self.hidden_size) if self.cell == "look_ahead" else super().filtered

    def _reference(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        if self.cell == "filter":
            return super()._reference(x, hidden, filter_state)
        q, done = filter_state or (x.new_zeros(x.shape[1], 4 * self.hidden_size), 0)
        outputs = []
        for x_t, gamma in zip(x, self.filter.gamma(done, x.shape[0]).tolist(), strict=True):
            before, g = q, x_t @ self.weight_ih.t() + self.bias_ih
            q = hidden[0] @ self.weight_hh.t() + self.bias_hh - self.filter.s * g
            hidden = lstm_cell(q + gamma * (q - before), hidden[1])
            outputs.append(hidden[0])
        return torch.stack(outputs), hidden, (q, done + x.shape[0])


class LookAheadLSTM(SRLSTM):
    """SRLSTM with cell="look_ahead": the released one."""

    def __init__(self, input_size: int, hidden_size: int, **options: Any):
        super().__init__(input_size, hidden_size, cell="look_ahead", **options)


def lstm_cell(a: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """One step of the core, from the pre-activation a (batch, 4N) and c_{t-1} (batch, N) to (h_t, c_t)."""
    i, f, g, o = a.chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def torch_lstm(
    y: Tensor,
    hidden: tuple[Tensor, Tensor],
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_hh: Tensor,
    bias_ih: Tensor | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """torch's own LSTM with computed weights: y (T, batch, d) to h (T, batch, N) and (h, c), (batch, N)."""
    weights = [weight_ih, weight_hh, torch.zeros_like(bias_hh) if bias_ih is None else bias_ih, bias_hh]
    start = (hidden[0].unsqueeze(0).contiguous(), hidden[1].unsqueeze(0).contiguous())
    h, h_end, c_end = torch.lstm(y, start, weights, True, 1, 0.0, torch.is_grad_enabled(), False, False)
    return h, (h_end[0], c_end[0])
