"""The LSTM with a filter on its input, and the cells of MomentumRNN that are made of it.

Gates, in torch's order (i, f, g, o), with y_t the filtered input and U, b_hh the hidden-to-hidden weight and bias:

    a_t = y_t + U h_{t-1} + b_hh,   y = filter(W x + b_ih)
    i, f, o = sigmoid(a_i, a_f, a_o),   g = tanh(a_g)
    c_t = f c_{t-1} + i g,   h_t = o tanh(c_t)

This is the LSTM with a forget gate, which the released code and the paper's Appendix F use (its Eq. 2 has none).
"""

import functools
import warnings
from typing import Any, Literal, Self, Unpack

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from hidden_dynamics.models.choices import Positive, Share, Whole, number, one_of
from hidden_dynamics.models.momentum.filters import Adam, Identity, InputFilter, Momentum, Nesterov, RMSProp, like
from hidden_dynamics.models.recurrent.adam_lstm import adam_lstm
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN, Options, in_segments
from hidden_dynamics.models.recurrent.projection import filtered_projection
from hidden_dynamics.models.recurrent.state import Direction, FilteredState, check_weights, map_tensors

Pair = tuple[Tensor, Tensor]

# cuDNN's warning at the first call: the weights, computed anew in each, are copied together, which takes microseconds.
warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous chunk", module=__name__)


class LSTMState(FilteredState):
    """The pair (h, c) as `nn.LSTM` has it, that also carries the filter's state: see `FilteredState`."""


class LSTMOptions(Options, total=False):
    forget_bias: float
    forget_fill: Literal["both", "once"]


class LSTM(FilteredRNN[LSTMState]):
    """An LSTM whose input passes through a filter; in the place of `nn.LSTM`.

    The fused backend is torch's own LSTM (cuDNN, oneDNN) or, behind Adam and RMSProp on a CPU, `adam_lstm`. Any other
    filter that does not commute with the linear map, and these two on a GPU, costs four recurrences more: torch's LSTM
    multiplies its input by a weight in any case, and where it is filtered already, that is the 4N x 4N identity.

    Args:
        input_size: as all others, of `FilteredRNN`.
        forget_bias: initial fill of the forget gate's bias.
        forget_fill: "both" fills both bias vectors (Appendix F and the released code), "once" bias_hh alone (Appendix A
            taken literally).

    Parameters, of each layer and direction: weight_ih_l0 (4N, d), weight_hh_l0 (4N, N), bias_ih_l0 (4N), bias_hh_l0
    (4N), gates in the order i, f, g, o.
    """

    State, own = LSTMState, 2
    weight_hh_l0: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        forget_bias: float = 1.0,
        forget_fill: Literal["both", "once"] = "both",
        filter: InputFilter | None = None,
        **options: Any,
    ):
        self.forget_bias = number("forget_bias", forget_bias)  # before: the first values need both
        self.forget_fill = one_of("forget_fill", forget_fill, ("both", "once"))
        super().__init__(input_size, hidden_size, num_layers, *others, filter=filter, **options)

    @classmethod
    def from_torch(cls, lstm: nn.LSTM, **options: Any) -> Self:
        """The layers of an `nn.LSTM` without projections, their weights, and a filter; `requires_grad` is not taken
        over.

        Args:
            options: those of the filter, `backend`, ...
        """
        names = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
        given = {name: getattr(lstm, name) for name in (*names, "proj_size")}
        weight = lstm.weight_ih_l0
        made = cls(**given, device=weight.device, dtype=weight.dtype, **options).train(lstm.training)
        made.load_state_dict(made.state_dict() | lstm.state_dict())  # a filter's own parameters stay
        return made

    def _make_layer(self, suffix: str, input_size: int, **factory: Any) -> None:
        n = self.hidden_size  # in torch's order
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (4 * n, input_size), "weight_hh": (4 * n, n)}
        shapes |= {"bias_ih": (4 * n,), "bias_hh": (4 * n,)}
        for name, shape in shapes.items():
            if self.bias or name.startswith("weight"):
                self.register_parameter(name + suffix, nn.Parameter(torch.empty(shape, **factory)))

    def reset_parameters(self) -> None:
        """Draw the weights of Appendix A and F: weight_ih orthogonal, weight_hh the 4N x N identity (so I in the input
        gate's block, 0 in the others), biases 0 but for the forget gate's. A filter's own parameters stay."""
        for name, parameter in self.named_parameters(recurse=False):
            if name.startswith("weight_ih"):
                _orthogonal(parameter)
            elif name.startswith("weight_hh"):
                nn.init.eye_(parameter)
            else:
                nn.init.zeros_(parameter)
                if name.startswith("bias_hh") or self.forget_fill == "both":
                    nn.init.constant_(parameter[self.hidden_size : 2 * self.hidden_size], self.forget_bias)

    def weights(self, suffix: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """weight_ih, bias_ih, weight_hh and bias_hh of a layer and direction."""
        weight_ih, weight_hh = getattr(self, f"weight_ih{suffix}"), getattr(self, f"weight_hh{suffix}")
        if not self.bias:
            return weight_ih, (zeros := weight_ih.new_zeros(len(weight_ih))), weight_hh, zeros
        return weight_ih, getattr(self, f"bias_ih{suffix}"), weight_hh, getattr(self, f"bias_hh{suffix}")

    def _run_ragged(self, x: Tensor, start: Direction, suffix: str, lengths: Tensor | None) -> tuple[Tensor, Direction]:
        """See `FilteredRNN`. On a GPU, behind a linear filter, the filter alone runs in segments, and the core once.

        On a CPU, torch's LSTM takes three times as long for packed sequences as for the segments.
        """
        if lengths is None or not x.is_cuda or self.backend != "fused" or not self.filter.linear:
            return super()._run_ragged(x, start, suffix, lengths)
        return self._run(x, start, suffix, lengths)

    def _run(self, x: Tensor, start: Direction, suffix: str, lengths: Tensor | None = None) -> tuple[Tensor, Direction]:
        run = self._fused if self.backend == "fused" else self._reference
        if lengths is not None:
            run = functools.partial(self._fused_linear, lengths=lengths)
        (h0, c0), weights, n = start.own, self.weights(suffix), self.hidden_size
        check_weights(x, suffix, weights, ((4 * n, x.shape[2]), (4 * n,), (4 * n, n), (4 * n,)))
        h, end, filter_state = run(x, (h0, c0), start.filter, *weights)
        return h, Direction(end, filter_state)

    def filtered(self, index: int = 0) -> tuple[str, int]:
        """The inputs, with the bias's constant one, or the gates."""
        if self.backend == "fused" and self.filter.linear:
            return "inputs", self._input_size(index) + 1
        return "gates", 4 * self.hidden_size

    def _reference(self, x: Tensor, hidden: Pair, filter_state: Any, *weights: Tensor) -> tuple[Tensor, Pair, Any]:
        (w, b, u, b_hh), outputs = weights, list[Tensor]()
        for x_t in x.unbind():
            g = x_t @ w.t() + b
            y, filter_state = self.filter.step(g, filter_state)
            hidden = lstm_cell(like(g, y) + hidden[0] @ u.t() + b_hh, hidden[1])
            outputs.append(hidden[0])
        return torch.stack(outputs), hidden, filter_state

    def _fused(self, x: Tensor, hidden: Pair, filter_state: Any, *weights: Tensor) -> tuple[Tensor, Pair, Any]:
        """Project, filter, and run the core on the result; a filter that commutes with the projection goes first."""
        if self.filter.linear:
            return self._fused_linear(x, hidden, filter_state, *weights)
        w, b, u, b_hh = weights
        if x.device.type == "cpu" and (type(self.filter) is Adam or type(self.filter) is RMSProp):
            state, (h0, c0) = map_tensors(Tensor.t, filter_state), map_tensors(Tensor.t, hidden)
            h, c, end = adam_lstm(self.filter, x.transpose(1, 2), state, w, b, u, b_hh, h0, c0)
            h = h.transpose(1, 2)  # there, features come before the batch
            return h, (h[-1], c.t()), map_tensors(Tensor.t, end)
        y, end = filtered_projection(x, w, b, self.filter, filter_state)
        h, hidden = torch_lstm(y, hidden, torch.eye(y.shape[2], dtype=y.dtype, device=y.device), u, b_hh)
        return h, hidden, end

    def _fused_linear(
        self, x: Tensor, hidden: Pair, filter_state: Any, *weights: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Pair, Any]:
        """filter(W x + b) = [W, b] filter([x, 1]): filter d + 1 channels, then run torch's LSTM."""
        w, b, u, b_hh = weights
        if isinstance(self.filter, Identity):
            h, hidden = torch_lstm(x, hidden, w, u, b_hh, b, lengths)
            return h, hidden, None
        ones = x.new_ones(1, 1, 1).expand(x.shape[0], x.shape[1], 1)
        x = torch.cat([x, ones], dim=-1)
        y, end = in_segments(self._run_filter, x, Direction((), filter_state), lengths)
        h, hidden = torch_lstm(y, hidden, torch.cat([w, b.unsqueeze(1)], dim=1), u, b_hh, lengths=lengths)
        return h, hidden, end.filter

    def _run_filter(self, x: Tensor, start: Direction) -> tuple[Tensor, Direction]:
        y, end = self.filter(x, start.filter)
        return like(x, y), Direction((), end)


class MomentumLSTM(LSTM):
    """LSTM with v_t = mu v_{t-1} + s (W x_t + b) (Eq. 9, Appendix F); the rest is as of `LSTM`.

    Args:
        mu: momentum constant, in [0, 1); the paper has 0.6 on MNIST and PMNIST, 0.3 on TIMIT.
        s: step size, above 0; 0.6, 1.0, 0.1.
        learn: train both, see `Momentum`.
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
        **options: Unpack[LSTMOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Momentum(mu, s, learn), **options)


class AdamLSTM(LSTM):
    """LSTM whose input is filtered as Adam filters gradients (Eq. 15); the rest is as of `LSTM`.

    Args:
        mu: momentum constant, in [0, 1); the paper has 0.6 on MNIST and PMNIST, 0.3 on TIMIT.
        s: step size, above 0; 0.6, 1.0, 0.1.
        beta: averaging constant of the squares, in [0, 1); 0.1, 0.01, 0.999.
        eps: see `Adam`.
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
        **options: Unpack[LSTMOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Adam(mu, s, beta, eps), **options)


class RMSPropLSTM(LSTM):
    """AdamLSTM with mu = 0 (Section 2.4); the rest is as of `LSTM`.

    Args:
        s: step size, above 0; the paper has 0.6 on MNIST, 1.0 on PMNIST, 0.1 on TIMIT.
        beta: averaging constant of the squares, in [0, 1); 0.9 (N = 256) and 0.99 (N = 128), 0.01, 0.999.
        eps: see `Adam`.
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
        **options: Unpack[LSTMOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=RMSProp(s, beta, eps), **options)


class NAGLSTM(LSTM):
    """LSTM with Nesterov momentum that is never restarted (Section 2.4); the rest is as of `LSTM`.

    Args:
        s: step size, above 0.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *others: Any,
        s: Positive,
        **options: Unpack[LSTMOptions],
    ):
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Nesterov(s), **options)


class SRLSTM(LSTM):
    """LSTM with Nesterov momentum restarted every `restart` steps (Section 2.4); the rest is as of `LSTM`.

    Args:
        s: step size, above 0; the paper has 1.0 on MNIST, 0.9 (N = 256) and 0.01 (N = 128) on PMNIST, 0.1 on TIMIT.
        restart: steps between restarts, F; 2, 40 and 6, 2.
        phase: see `Nesterov`.
        cell: "filter" is the paper's cell. "look_ahead" is that of the released code for the pixel and speech tasks
            (their `nlstm`), a look-ahead on the whole pre-activation:

                q_t = U h_{t-1} + b_hh - s (W x_t + b_ih),   a_t = q_t + gamma_t (q_t - q_{t-1}),   q_0 = 0

            It involves the hidden state, so it is no filter on the input and only the reference backend can run it.
            gamma_t is that of the Nesterov filter.
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
        cell: Literal["filter", "look_ahead"] = "filter",
        **options: Unpack[LSTMOptions],
    ):
        one_of("cell", cell, ("filter", "look_ahead"))
        if cell == "look_ahead" and options.setdefault("backend", "reference") != "reference":
            raise ValueError("the look-ahead cell is no filter on the input: it runs with backend='reference' alone")
        super().__init__(input_size, hidden_size, num_layers, *others, filter=Nesterov(s, restart, phase), **options)
        self.cell = cell

    def filtered(self, index: int = 0) -> tuple[str, int]:
        """See `LSTM`; of a look-ahead, it is q, and not the input alone."""
        if self.cell == "look_ahead":
            return "whole pre-activation", 4 * self.hidden_size
        return super().filtered(index)

    def _reference(self, x: Tensor, hidden: Pair, filter_state: Any, *weights: Tensor) -> tuple[Tensor, Pair, Any]:
        if self.cell == "filter":
            return super()._reference(x, hidden, filter_state, *weights)
        assert isinstance(self.filter, Nesterov)
        q, done = filter_state or (x.new_zeros(x.shape[1], 4 * self.hidden_size), 0)
        (w, b, u, b_hh), outputs = weights, list[Tensor]()
        for x_t, gamma in zip(x.unbind(), self.filter.gamma(done, x.shape[0]).to(x).unbind(), strict=True):
            before, g = q, x_t @ w.t() + b
            q = hidden[0] @ u.t() + b_hh - self.filter.s * g
            hidden = lstm_cell(q + gamma * (q - before), hidden[1])
            outputs.append(hidden[0])
        return torch.stack(outputs), hidden, (q, done + x.shape[0])


def _orthogonal(weight: Tensor) -> None:
    """Draw it as torch does, in float32 where torch has no decomposition in its type."""
    if weight.dtype not in (torch.bfloat16, torch.float16):
        nn.init.orthogonal_(weight)
        return
    with torch.no_grad():
        weight.copy_(nn.init.orthogonal_(torch.empty_like(weight, dtype=torch.float32)))


def lstm_cell(a: Tensor, c: Tensor) -> Pair:
    """One step of the core, from the pre-activation a (batch, 4N) and c_{t-1} (batch, N) to (h_t, c_t)."""
    i, f, g, o = a.chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def torch_lstm(
    y: Tensor,
    hidden: Pair,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_hh: Tensor,
    bias_ih: Tensor | None = None,
    lengths: Tensor | None = None,
) -> tuple[Tensor, Pair]:
    """torch's own LSTM with computed weights: y (T, batch, d) to h (T, batch, N) and (h, c), (batch, N), after T steps
    or, of padded sequences, after their `lengths`, (batch,), int64 on the CPU, descending."""
    weights = [weight_ih, weight_hh, torch.zeros_like(bias_hh) if bias_ih is None else bias_ih, bias_hh]
    start = (hidden[0].unsqueeze(0).contiguous(), hidden[1].unsqueeze(0).contiguous())
    options = (weights, True, 1, 0.0, torch.is_grad_enabled(), False)
    if lengths is None:
        h, h_end, c_end = torch.lstm(y, start, *options, False)
    else:
        packed = pack_padded_sequence(y, lengths)
        data, h_end, c_end = torch.lstm(packed.data, packed.batch_sizes, start, *options)
        h, _ = pad_packed_sequence(packed._replace(data=data))
    return h, (h_end[0], c_end[0])
