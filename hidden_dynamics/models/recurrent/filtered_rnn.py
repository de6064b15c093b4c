"""What all recurrent cells share: a filter on the input, states, layouts, and that no kernel sees what it cannot take.

Below `nn.LSTM`, torch's kernels do not look at what they are given: they read and write past the end of a state that is
too small. The checks look at shapes, types and devices alone, so no GPU is waited for.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from hidden_dynamics.models.momentum.filters import Identity


class FilteredState:
    """A state with `map(function)`: the same with `function` of every tensor in it.

    Attributes:
        filter: the filter's state, which belongs to the backend that made it: `FilteredRNN.filtered` channels wide.
        maker: which filter's state it is, and of what (`FilteredRNN.maker`); None where that is not known.
    """

    filter: Any
    maker: str | None

    def detach(self) -> Any:
        """The same values, cut off from the graph: truncated backpropagation through time."""
        return self.map(torch.Tensor.detach)

    def first(self, count: int) -> Any:
        """The state of the first `count` sequences of the batch, which is part of the same graph."""
        return self.map(lambda tensor: tensor[..., :count, :])


class FilteredRNN(nn.Module):
    """A recurrent core whose input passes through a filter.

    A subclass has the parameter `weight_ih`; `filtered`, what the filter runs over and its channels; `State`, made of
    `own` tensors, the filter's state and its `maker`; and `_run(x, state)`, which is `forward` of (T, batch, d).

    A cell by the name of its filter has `Filter`, the filter's class; the filter's arguments are among the cell's own
    (`of_filter`), by name, in place of `filter`.

    Args:
        input_size: d, features of the input.
        hidden_size: N.
        filter: a filter of hidden_dynamics.models.momentum.filters; None is the identity, the plain cell.
        batch_first: inputs and outputs are (batch, T, features) instead of (T, batch, features).
        backend: "fused", or "reference", the loop over time that reads as the equations do.
    """

    Filter: type[nn.Module] | None = None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        filter: nn.Module | None,
        batch_first: bool,
        backend: str,
        **of_filter: Any,
    ):
        super().__init__()
        if backend not in ("fused", "reference"):
            raise ValueError(f"backend must be 'fused' or 'reference', not {backend!r}")
        if (self.Filter and filter is not None) or (not self.Filter and of_filter):
            wrong = ", ".join(of_filter) or "a filter beside its own"
            raise TypeError(f"{type(self).__name__} does not take {wrong}; what its filter takes is given by name")
        self.input_size, self.hidden_size = input_size, hidden_size
        self.filter = self.Filter(**of_filter) if self.Filter else Identity() if filter is None else filter
        self.batch_first, self.backend = batch_first, backend

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Run a sequence, or a segment of one.

        Args:
            x: (T, batch, d), or (batch, T, d) if batch_first, or (T, d) for one sequence without a batch.
            state: what the segment before returned; or (h, c), each (1, batch, N), as for nn.LSTM, or h, as for nn.RNN,
                and the filter begins anew; None is 0. Without a batch its tensors have no batch dimension.

        Returns:
            every h_t, (T, batch, N) in the layout of x, and the state after the last step.

        Raises:
            ValueError: x has other dimensions or features or no step; the state has other layers, sequences, units or
                dimensions; one of them is of another type or device than the weights; or the state was made with
                another filter or by the other backend.
        """
        self._check_input(x)
        state = None if state is None else self._checked_state(x, state)
        if x.dim() == 2:
            state = None if state is None else state.map(lambda tensor: tensor.unsqueeze(-2))
            h, end = self.forward(x.unsqueeze(0 if self.batch_first else 1), state)
            return h.squeeze(0 if self.batch_first else 1), end.map(lambda tensor: tensor.squeeze(-2))
        x = x.transpose(0, 1) if self.batch_first else x
        state = state or self.State(*self.own * (x.new_zeros(1, x.shape[1], self.hidden_size),))
        h, end = self._run(x, state)
        return h.transpose(0, 1) if self.batch_first else h, end

    @property
    def maker(self) -> str:
        """What a state of the filter means: which filter's it is, and of what."""
        name = type(self.filter).__name__
        return name if isinstance(self.filter, Identity) else f"{name} of the {self.filtered[0]}"

    def _check_input(self, x: Any) -> None:
        needed, first = kind(self.weight_ih), self.batch_first
        right = isinstance(x, Tensor) and x.dim() in (2, 3) and x.shape[-1] == self.input_size and kind(x) == needed
        if not right or x.shape[1 if first and x.dim() == 3 else 0] == 0:
            raise ValueError(
                f"the input must be {'(batch, T' if first else '(T, batch'}, {self.input_size}) or "
                f"(T, {self.input_size}), {needed}, of at least one step, not {described(x)}"
            )

    def _checked_state(self, x: Tensor, state: Any) -> Any:
        batch = (x.shape[0 if self.batch_first else 1],) if x.dim() == 3 else ()
        h = x.new_empty(1).expand(1, *batch, self.hidden_size)
        own = tuple(state) if isinstance(state, list | tuple) else (getattr(state, "h", state),)
        _check_like("the state", own, self.own * (h,))
        if not isinstance(state, self.State):
            return self.State(*own)
        if state.maker not in (None, self.maker):
            raise ValueError(
                f"the state was made by {state.maker}, and this core has {self.maker}: give it h, or (h, c), alone, "
                "and its filter begins anew"
            )
        if state.filter is not None:
            _, start = self.filter.step(x.new_empty(0, self.filtered[1]))  # of no sequences, for its form alone
            like = map_tensors(lambda tensor: tensor.new_empty(1).expand(*batch, *tensor.shape[1:]), start)
            _check_like("the filter's state", state.filter, like)
        return state

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, batch_first={self.batch_first}, backend={self.backend!r}"


def map_tensors(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """`value` with `function` of every tensor in it; tuples are gone through, anything else stays."""
    if isinstance(value, tuple):
        return tuple(map_tensors(function, item) for item in value)
    return function(value) if isinstance(value, Tensor) else value


def described(value: Any) -> str:
    """Shape, type and device of every tensor in it; the class of anything else but a tuple."""
    if isinstance(value, tuple):
        return f"({', '.join(map(described, value))})"
    return f"{tuple(value.shape)} {kind(value)}" if isinstance(value, Tensor) else type(value).__name__


def kind(tensor: Tensor) -> str:
    """Its type and device; the device alone where autocast gives it another type."""
    device, floats = tensor.device, tensor.is_floating_point()
    casts = floats and torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)
    return f"on {device}" if casts else f"{tensor.dtype} on {device}"


def _check_like(name: str, given: Any, needed: Any) -> None:
    if described(given) != described(needed):
        raise ValueError(f"{name} must be {described(needed)}, not {described(given)}")
