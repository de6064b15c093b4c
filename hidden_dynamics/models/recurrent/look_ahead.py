"""The scheduled-restart LSTM, in its two readings: the paper's filter, and the released code's look-ahead cell."""

from typing import Any

import torch
from torch import Tensor

from hidden_dynamics.models.momentum.filters import Nesterov
from hidden_dynamics.models.recurrent.lstm import LSTM, lstm_cell


class LookAheadLSTM(LSTM):
    """The released SRLSTM of the pixel and speech tasks: a look-ahead on the whole pre-activation.

        q_t = U h_{t-1} + b_hh - s (W x_t + b_ih),   a_t = q_t + gamma_t (q_t - q_{t-1}),   q_0 = 0

    It involves the hidden state, so it is no filter on the input and only the reference backend can run it. gamma_t is
    that of the Nesterov filter. Source: the authors' released code (their `nlstm`); it is not in the paper.
    """

    def __init__(
        self, input_size: int, hidden_size: int, s: float, restart: int | None = None, phase: int = 0, **options: Any
    ):
        if options.setdefault("backend", "reference") != "reference":
            raise ValueError("the look-ahead cell is no filter on the input: it runs with backend='reference' alone")
        super().__init__(input_size, hidden_size, Nesterov(s, restart, phase), **options)

    @property
    def filtered(self) -> tuple[str, int]:
        """See `LSTM`: q, and not the input alone."""
        return "whole pre-activation", 4 * self.hidden_size

    def _reference(self, x: Tensor, hidden: tuple[Tensor, Tensor], filter_state: Any) -> tuple[Tensor, tuple, Any]:
        q, done = filter_state or (x.new_zeros(x.shape[1], 4 * self.hidden_size), 0)
        gammas = self.filter.gamma(done, x.shape[0]).tolist()
        outputs = []
        for x_t, gamma in zip(x, gammas, strict=True):
            before = q
            q = (
                hidden[0] @ self.weight_hh.t()
                + self.bias_hh
                - self.filter.s * (x_t @ self.weight_ih.t() + self.bias_ih)
            )
            hidden = lstm_cell(q + gamma * (q - before), hidden[1])
            outputs.append(hidden[0])
        return torch.stack(outputs), hidden, (q, done + x.shape[0])


class SRLSTM(LSTM):
    """LSTM with Nesterov momentum restarted every `restart` steps (Section 2.4).

    Args:
        cell: "filter" is the paper's cell; "look_ahead" makes a `LookAheadLSTM` instead, the released one.
        phase: see `hidden_dynamics.models.momentum.filters.Nesterov`.
    """

    def __new__(cls, *args: Any, cell: str = "filter", **kwargs: Any):
        if cell not in ("filter", "look_ahead"):
            raise ValueError(f"cell must be 'filter' or 'look_ahead', not {cell!r}")
        return super().__new__(cls) if cell == "filter" else LookAheadLSTM(*args, **kwargs)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        s: float,
        restart: int | None = None,
        phase: int = 0,
        cell: str = "filter",
        **options: Any,
    ):
        super().__init__(input_size, hidden_size, Nesterov(s, restart, phase), **options)
