# pyright: reportUnknownMemberType=false
"""The state of a recurrent core between two segments of a sequence, and how a wrong one is described."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self, cast

import torch
from torch import Tensor
from torch.utils import _pytree  # torch's only register of what torch.func and torch.export look for tensors in

FilterState = Tensor | tuple[Any, ...] | float | None  # tensors and numbers, alone or in tuples
Matrix = tuple[Tensor, tuple[int, ...]]  # Q of an orthogonal RNN and its version


class Direction(NamedTuple):
    """The state of one layer in one direction.

    Attributes:
        own: h, or h and c, each (batch, hidden_size).
        matrix: of an orthogonal RNN: segments that are differentiated together share it.
    """

    own: tuple[Tensor, ...]
    filter: Any = None
    matrix: Matrix | None = None

    def of(self, sequences: slice) -> "Direction":
        """The state of these sequences of the batch."""
        return Direction(*map_tensors(lambda tensor: tensor[..., sequences, :], self[:2]), matrix=self.matrix)


class FilteredState(tuple[Tensor, ...]):
    """h, or the pair (h, c), that also carries the filter's state.

    Its tensors are (layers * directions, batch, hidden_size), as those of `nn.RNN` and `nn.LSTM`; those of a sequence
    without a batch lack that dimension. It can be copied, pickled, and saved and loaded by torch, `weights_only` too
    where its class is imported.

    Attributes:
        filter: the filter's states, of each layer and direction, as their backend has them; None is their start.
        maker: which filter's states they are, and of what (`FilteredRNN.maker`); None where that is not known.
        matrices: `Direction.matrix` of each.
    """

    filter: tuple[Any, ...] | None
    maker: str | None
    matrices: tuple[Matrix | None, ...] | None

    def __new__(cls, own: Iterable[Tensor], filter: Any = None, maker: str | None = None, matrices: Any = None) -> Self:
        """See the class; a copy or a pickle has no matrices."""
        state = super().__new__(cls, own)
        state.filter, state.maker, state.matrices = filter, maker, matrices
        return state

    def __init_subclass__(cls) -> None:
        torch.serialization.add_safe_globals([cls])
        own, of_filter = (cast(_pytree.KeyEntry, _pytree.GetAttrKey(name)) for name in ("own", "filter"))
        _pytree.register_pytree_node(
            cls,
            lambda state: ([tuple(state), state.filter], state.maker),
            lambda parts, maker: cls(*parts, maker=maker),
            serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
            flatten_with_keys_fn=lambda state: ([(own, tuple(state)), (of_filter, state.filter)], state.maker),
        )

    @property
    def plain(self) -> tuple[Any, ...]:
        """The state in torch's and Python's own types, for `torch.save`; `State(*plain)`, of the core, is it again."""
        return tuple(self), self.filter, self.maker

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.plain

    def map(self, function: Callable[[Tensor], Tensor]) -> Self:
        """The state with `function` of every tensor in it."""
        return type(self)(map(function, self), map_tensors(function, self.filter), self.maker, self.matrices)

    def to(self, *args: Any, **options: Any) -> Self:
        """The state on another device, or of another type, as `Tensor.to`; counts of steps stay as they are."""
        moved = self.map(lambda tensor: tensor.to(*args, **options) if tensor.is_floating_point() else tensor)
        return type(self)(moved, moved.filter, moved.maker)

    def detach(self) -> Self:
        """The same values, cut off from the graph: truncated backpropagation through time."""
        cut = self.map(Tensor.detach)
        return type(self)(cut, cut.filter, cut.maker)

    def first(self, count: int) -> Self:
        """The state of the first `count` sequences of the batch, which is part of the same graph."""
        return self.map(lambda tensor: tensor[..., :count, :])

    def restarted(self, rows: Tensor) -> Self:
        """The state with these sequences of the batch, bool (batch,), at their start: what it sums is 0, and no step
        is done. A filter of one's own has to start at 0, too. A ValueError where `rows` is of another shape or type."""
        check_like("the rows", rows, torch.empty(self[0].shape[1:-1], dtype=torch.bool, device=self[0].device))
        rows = rows.unsqueeze(-1)

        def begun(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(begun(each) for each in cast(tuple[Any, ...], value))
            if isinstance(value, int) and rows.any():  # a count of steps, which becomes one of each sequence
                value = torch.full(rows.shape, value)
            return value.masked_fill(rows.to(value.device), 0) if isinstance(value, Tensor) else value

        return type(self)(map(begun, self), begun(self.filter), self.maker, self.matrices)

    def reordered(self, order: Tensor | None) -> Self:
        """The state with the sequences of the batch in another order."""
        return self if order is None else self.map(lambda tensor: tensor.index_select(-2, order.to(tensor.device)))

    def directions(self) -> list[Direction]:
        none = len(self[0]) * (None,)
        own = zip(*(each.unbind() for each in self), strict=True)
        return [Direction(*each) for each in zip(own, self.filter or none, self.matrices or none, strict=True)]

    @classmethod
    def of_directions(cls, directions: Sequence[Direction], maker: str | None) -> Self:
        """The state whose `directions()` these are."""
        own, filters, matrices = zip(*directions, strict=True)
        return cls(map(torch.stack, zip(*own, strict=True)), filters, maker, matrices)


def joined(states: Sequence[Any], sizes: Sequence[int]) -> Any:
    """The states of parts of a batch, of so many sequences each, as one; a filter's count of steps, where it differs,
    becomes one of each sequence, (batch, 1)."""
    if isinstance(states[0], tuple):
        return tuple(joined(parts, sizes) for parts in zip(*states, strict=True))
    if not any(isinstance(state, Tensor) or state != states[0] for state in states):
        return states[0]
    parts = zip(states, sizes, strict=True)
    return torch.cat([each if isinstance(each, Tensor) else torch.full((size, 1), each) for each, size in parts], -2)


def map_tensors(function: Callable[[Tensor], FilterState], value: FilterState) -> Any:
    """`value` with `function` of every tensor in it; tuples are gone through, anything else stays."""
    if isinstance(value, tuple):
        return tuple(map_tensors(function, item) for item in value)
    return function(value) if isinstance(value, Tensor) else value


def described(value: object) -> str:
    """Shape, type and device of every tensor in it; the class of anything else but a tuple."""
    if isinstance(value, tuple):
        return f"({', '.join(map(described, cast(tuple[object, ...], value)))})"
    return f"{tuple(value.shape)} {kind(value)}" if isinstance(value, Tensor) else type(value).__name__


def kind(tensor: Tensor) -> str:
    """Its type and device."""
    return f"{tensor.dtype} on {tensor.device}"


def check_weights(x: Tensor, suffix: str, weights: Sequence[Tensor], shapes: Sequence[tuple[int, ...]]) -> None:
    """A ValueError where one of a layer's weights has another shape, or another type or device than its input."""
    for weight, shape in zip(weights, shapes, strict=True):
        if weight.shape != shape or (weight.dtype, weight.device) != (x.dtype, x.device):
            raise ValueError(f"a weight of the layer {suffix[1:]} must be {shape} {kind(x)}, not {described(weight)}")


def check_like(name: str, given: object, needed: object) -> None:
    """A ValueError where `given` is described otherwise than `needed`."""
    if described(given) != described(needed):
        raise ValueError(f"{name} must be {described(needed)}, not {described(given)}")
