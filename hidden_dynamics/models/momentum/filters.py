# pyright: reportUnknownMemberType=false
"""Momentum as a filter on the input: the filters of MomentumRNN, parallel over time.

In every momentum cell of the paper, what momentum touches depends on the inputs alone, never on the hidden state. With
g_t = W x_t + b, each cell is a filter of g over time, followed by a recurrent core (Eqs. 9, 15 and Section 2.4).

A filter maps a sequence of shape (T, ...) to one of the same shape, along the first dimension, and returns its state,
with which the next segment of the sequence continues. `step` is the same filter one step at a time, as the paper writes
it; it is the reference that the parallel form is tested against.

A filter of one's own is a module with `forward(g, state)`, `step(g, state)` and `linear`: True where it commutes with
W, so that a core runs it over the inputs, (T, batch, d), in place of the gates. Its state is None at first, and then a
tensor, or a tuple of tensors, (batch, channels) each, and of numbers; of a filter that is not linear, it is a tuple of
tensors alone. Of sequences of unequal lengths, a number of steps becomes one of each: (batch, 1), int64 on the CPU.
It draws no random numbers and changes nothing but its state: backward may compute it again.
Its parameters are among the core's, and trained with them; the core's `reset_parameters` leaves them as they are.
"""

import math
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from hidden_dynamics.models.choices import Positive, Share, Whole, number, whole
from hidden_dynamics.models.momentum.recurrence import linear_recurrence
from hidden_dynamics.models.recurrent.state import check_like

Counted = tuple[Tensor, int | Tensor]


@runtime_checkable
class InputFilter(Protocol):
    """A filter, one's own or one of these, as a recurrent core sees it."""

    linear: bool

    def __call__(self, g: Tensor, state: Any = None) -> tuple[Tensor, Any]: ...
    def step(self, g: Tensor, state: Any = None) -> tuple[Tensor, Any]: ...


def like(g: Tensor, y: Tensor) -> Tensor:
    """y, what a filter made of g; a ValueError where it is of another shape, type or device: kernels do not look."""
    check_like("what the filter gives", y, g)
    return y


class Identity(nn.Module):
    """v_t = g_t: no momentum, the plain recurrent cell (Eq. 1)."""

    linear = True

    def forward(self, g: Tensor, state: None = None) -> tuple[Tensor, None]:
        return g, None

    step = forward


class Momentum(nn.Module):
    """v_t = mu v_{t-1} + s g_t (MomentumRNN, Eq. 9).

    Args:
        mu: momentum constant, in [0, 1).
        s: step size, above 0.
        learn: both are trained, from these values on, within these ranges; mu then starts above 0. Not in the paper.

    State: v of the last step, of g_t's shape; None means 0.

    Parameter `free`, where they are trained: (logit mu, log s).
    """

    linear = True

    def __init__(self, mu: Share, s: Positive, learn: bool = False):
        super().__init__()
        self.mu, self.s = number("mu", mu, 0, 1), number("s", s, above=0)
        self.free = None
        if learn:
            start = number("mu that is learned", mu, 0, 1, above=0)
            self.free = nn.Parameter(torch.tensor([math.log(start / (1 - start)), math.log(self.s)]))

    def constants(self, g: Tensor) -> tuple[float | Tensor, float | Tensor]:
        """mu and s as they are now, for inputs like g: numbers, or tensors () where they are trained."""
        if self.free is None:
            return self.mu, self.s
        logit, log = self.free.to(g.dtype)
        return torch.sigmoid(logit), log.exp()

    def forward(self, g: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        mu, s = self.constants(g)
        v = linear_recurrence(s * g, mu, state)
        return v, v[-1]

    def step(self, g: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        mu, s = self.constants(g)
        v = s * g if state is None else mu * state + s * g
        return v, v

    def extra_repr(self) -> str:
        return f"mu={self.mu}, s={self.s}" + (", learned" if self.free is not None else "")


class Nesterov(nn.Module):
    """v_t = gamma_t v_{t-1} + s g_t, gamma_t = j/(j + 3), j = (t - 1) mod F, t = 1, 2, ... (MomentumRNN, Section 2.4).

    Args:
        s: of `Momentum`.
        restart: F, the number of steps after which the momentum returns to 0; None never restarts (j = t - 1).
        phase: j = (t - 1 + phase) mod F. The paper's text writes j = t mod F, which is phase 1; the released code has
            phase 0. Without a restart the two agree, and phase is ignored.

    State: v as of `Momentum`, and the number of steps done, or that of each sequence, (batch, 1), int64 on the CPU.
    """

    linear = True

    def __init__(self, s: Positive, restart: Whole | None = None, phase: int = 0):
        super().__init__()
        self.s, self.phase = number("s", s, above=0), whole("phase", phase, 0)
        self.restart = None if restart is None else whole("restart", restart)

    def gamma(self, done: object, steps: int) -> Tensor:
        """gamma_t of the `steps` steps that follow the first `done`: float64, (steps,); (steps, batch, 1) where each
        sequence has its own. A ValueError where `done` is no number of steps."""
        if not isinstance(done, int | Tensor) or not torch.as_tensor(done >= 0).all():
            raise ValueError(f"a filter's state counts the steps done, at least 0, and not {done!r}")
        j = torch.arange(steps, dtype=torch.float64)
        j = done + (j.view(-1, 1, 1) if isinstance(done, Tensor) else j)
        if self.restart is not None:
            j = (j + self.phase) % self.restart
        return j / (j + 3)

    def forward(self, g: Tensor, state: Counted | None = None) -> tuple[Tensor, Counted]:
        v, done = (None, 0) if state is None else state
        if isinstance(done, Tensor) and len(cast(Tensor, done.unique())) == 1:
            done = int(done[0])
        if isinstance(done, Tensor):  # each sequence has a gamma of its own
            assert v is not None
            outputs, end = list[Tensor](), (v, done)
            for g_t in g.unbind():
                y, end = self.step(g_t, end)
                outputs.append(y)
            return torch.stack(outputs), end
        v = linear_recurrence(self.s * g, self.gamma(done, g.shape[0]), v)
        return v, (v[-1], done + g.shape[0])

    def step(self, g: Tensor, state: Counted | None = None) -> tuple[Tensor, Counted]:
        v, done = (torch.zeros_like(g), 0) if state is None else state
        v = self.gamma(done, 1)[0].to(g) * v + self.s * g
        return v, (v, done + 1)

    def extra_repr(self) -> str:
        return f"s={self.s}, restart={self.restart}, phase={self.phase}"


class Adam(nn.Module):
    """y_t = v_t / sqrt(m_t + eps), v_t = mu v_{t-1} + s g_t, m_t = beta m_{t-1} + (1 - beta) g_t^2.

    MomentumRNN, Eq. 15. There is no bias correction (the paper's footnote 3).

    Args:
        mu, s: of `Momentum`.
        beta: averaging constant of the squares, in [0, 1).
        eps: inside the square root: 1e-8 in the paper's text, 1e-16 in the released code.

    State: (v, m) of the last step, each of g_t's shape; None means 0.
    """

    linear = False

    def __init__(self, mu: Share, s: Positive, beta: Share, eps: Positive = 1e-8):
        super().__init__()
        self.mu, self.s = number("mu", mu, 0, 1), number("s", s, above=0)
        self.beta, self.eps = number("beta", beta, 0, 1), number("eps", eps, above=0)

    def forward(self, g: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        v, m = (None, None) if state is None else state
        v = linear_recurrence(self.s * g, self.mu, v)
        m = linear_recurrence((1 - self.beta) * g.square(), self.beta, m)
        return v * torch.rsqrt(m + self.eps), (v[-1], m[-1])

    def step(self, g: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        v, m = (torch.zeros_like(g), torch.zeros_like(g)) if state is None else state
        v = self.mu * v + self.s * g
        m = self.beta * m + (1 - self.beta) * g * g
        return v / torch.sqrt(m + self.eps), (v, m)

    def extra_repr(self) -> str:
        return f"mu={self.mu}, s={self.s}, beta={self.beta}, eps={self.eps}"


class RMSProp(Adam):
    """Adam with mu = 0: y_t = s g_t / sqrt(m_t + eps) (MomentumRNN, Section 2.4)."""

    def __init__(self, s: Positive, beta: Share, eps: Positive = 1e-8):
        super().__init__(0.0, s, beta, eps)
