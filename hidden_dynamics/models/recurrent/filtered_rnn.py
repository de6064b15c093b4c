# pyright: reportUnknownMemberType=false
"""The base of all recurrent cells: a filter on the input, layers and directions, packed sequences, states and layouts.

Below `nn.LSTM`, torch's kernels do not look at what they are given: they read and write past the end of a state that is
too small. So inputs and states are checked before: their shapes, types and devices alone, so that no GPU is waited for.
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, cast, overload

import torch
from torch import Tensor, nn
from torch.amp.autocast_mode import is_autocast_available
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from hidden_dynamics.models.choices import one_of, whole
from hidden_dynamics.models.momentum.filters import Identity, InputFilter
from hidden_dynamics.models.recurrent.state import (
    Direction,
    FilteredState,
    check_like,
    described,
    joined,
    kind,
    map_tensors,
)

Sequences = TypeVar("Sequences", Tensor, PackedSequence)
S = TypeVar("S", bound=FilteredState)
Start = Tensor | tuple[Tensor, ...] | list[Tensor]


class Options(TypedDict, total=False):
    """The arguments of every cell after its layers, as of `nn.LSTM`, and `backend`."""

    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    device: torch.device | str | int | None
    dtype: torch.dtype | None
    backend: Literal["fused", "reference"]


class FilteredRNN(nn.Module, Generic[S]):
    """A recurrent core whose input passes through a filter; the contract of `nn.LSTM` and `nn.RNN`.

    Its arguments are those of `nn.LSTM`, in its order, then `filter` and `backend`. A subclass makes the parameters of
    each layer and direction in `_make_layer(suffix, input_size, **factory)`, with the names that torch gives them
    (`weight_ih_l0`, `weight_ih_l0_reverse`, `weight_ih_l1`, ...), and runs one of them, over (T, batch, d), in
    `_run(x, start, suffix)`. It has `State`, made of `own` tensors.

    A cell by the name of its filter takes the filter's arguments by name, in place of `filter`.

    Args:
        input_size, hidden_size: d and N.
        num_layers: each above the first takes the states of the one below, both directions' side by side.
        bias: without it, all biases are 0.
        batch_first: inputs and outputs are (batch, T, features) instead of (T, batch, features).
        dropout: the probability of dropping what passes from a layer to the next, in training.
        bidirectional: also run over the reversed sequence; the outputs are side by side, (..., 2 N).
        proj_size: 0; there are no projections.
        device, dtype: of the parameters.
        filter: one of hidden_dynamics.models.momentum.filters, for every layer; None is the plain cell.
        backend: "fused", or "reference", the loop over time that reads as the equations do.

    Raises:
        ValueError: an argument is out of its range.
        TypeError: an argument is none of the cell's, or one of its filter's is missing.
    """

    State: type[S]
    own: int
    weight_ih_l0: Tensor

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
        *,
        filter: InputFilter | None = None,
        backend: Literal["fused", "reference"] = "fused",
    ):
        super().__init__()
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            whole(name, size)
        _check(num_layers, dropout, bidirectional, proj_size, filter)
        one_of("backend", backend, ("fused", "reference"))
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size, self.backend = bidirectional, proj_size, backend
        self.filter: InputFilter = Identity() if filter is None else filter
        if isinstance(self.filter, nn.Module):
            self.filter.to(device=device, dtype=dtype)
        for index, suffix in enumerate(self.suffixes):
            self._make_layer(suffix, self._input_size(index), device=device, dtype=dtype)
        self.reset_parameters()

    @property
    def suffixes(self) -> list[str]:
        """The ends of the parameters' names, for each layer and direction, in the order of the state."""
        ways = ("", "_reverse") if self.bidirectional else ("",)
        return [f"_l{layer}{way}" for layer in range(self.num_layers) for way in ways]

    def _input_size(self, index: int) -> int:
        ways = 1 + self.bidirectional
        return self.input_size if index < ways else ways * self.hidden_size

    if TYPE_CHECKING:  # nn.Module says that any call gives Any; the others are the subclass's

        def __call__(self, input: Sequences, hx: Start | None = None) -> tuple[Sequences, S]: ...
        def _make_layer(self, suffix: str, input_size: int, **factory: Any) -> None: ...
        def reset_parameters(self) -> None: ...

    @overload
    def forward(self, input: Tensor, hx: Start | None = None) -> tuple[Tensor, S]: ...
    @overload
    def forward(self, input: PackedSequence, hx: Start | None = None) -> tuple[PackedSequence, S]: ...
    def forward(self, input: Tensor | PackedSequence, hx: Start | None = None) -> tuple[Tensor | PackedSequence, S]:
        """Run sequences, or a segment of them. Under autocast, in the weights' own type.

        Args:
            input: (T, batch, d), or (batch, T, d) if batch_first, or (T, d) for one sequence without a batch, or a
                PackedSequence, sorted or not.
            hx: what the segment before returned; or (h, c), as for nn.LSTM, or h, as for nn.RNN, each (layers *
                directions, batch, N), or (layers * directions, N) for (T, d), and the filter begins anew; None is 0.

        Returns:
            every h_t, (T, batch, directions * N) in the layout of the input, and the state after the last step.

        Raises:
            ValueError: the input, the state, a weight or a filter's result has another shape, type or device than it
                must; the input has no step; the state was made with another filter or by the other backend; or a packed
                sequence's sizes and indices do not fit it.
        """
        if torch.compiler.is_dynamo_compiling():  # as torch does with its own: a compiler would unroll time
            return cast(Callable[..., Any], torch.compiler.disable(self.forward))(input, hx)
        device, dtype = self.weight_ih_l0.device.type, self.weight_ih_l0.dtype
        if is_autocast_available(device) and torch.is_autocast_enabled(device):
            with torch.autocast(device, enabled=False):
                hx = tuple(hx) if isinstance(hx, list) else hx
                input, hx = _of_type(dtype, input), _of_type(dtype, hx)
                return self.forward(input, hx)
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_input(input)
        batch = () if input.dim() == 2 else (input.shape[0 if self.batch_first else 1],)
        state = None if hx is None else self._checked_state(input, batch, hx)
        if not batch:
            state = None if state is None else state.map(lambda tensor: tensor.unsqueeze(-2))
            h, end = self.forward(input.unsqueeze(0 if self.batch_first else 1), state)
            return h.squeeze(0 if self.batch_first else 1), end.map(lambda tensor: tensor.squeeze(-2))
        h, end = self._run_layers(input.transpose(0, 1) if self.batch_first else input, state)
        return h.transpose(0, 1) if self.batch_first else h, end

    def _forward_packed(self, packed: PackedSequence, hx: Start | None) -> tuple[PackedSequence, S]:
        data, batch_sizes, order, back = packed
        if data.dim() != 2 or data.shape[1] != self.input_size or kind(data) != kind(self.weight_ih_l0):
            needed = f"(steps, {self.input_size}) {kind(self.weight_ih_l0)}"
            raise ValueError(f"the packed data must be {needed}, not {described(data)}")
        falls = len(batch_sizes) > 0 and bool(batch_sizes[-1] > 0) and not (batch_sizes.diff() > 0).any()
        if not falls or batch_sizes.sum() != len(data):
            raise ValueError(f"batch_sizes must fall, end above 0 and sum to {len(data)}, not {batch_sizes.tolist()}")
        for name, each in (("sorted_indices", order), ("unsorted_indices", back)):
            if each is not None and each.shape != (batch_sizes[0],):
                raise ValueError(f"{name} must be ({batch_sizes[0]},), not {described(each)}")
        state = None if hx is None else self._checked_state(data, (int(batch_sizes[0]),), hx).reordered(order)
        x, lengths = pad_packed_sequence(PackedSequence(data, batch_sizes))
        h, end = self._run_layers(x, state, lengths)
        h = pack_padded_sequence(h, lengths).data
        return PackedSequence(h, batch_sizes, order, back), end.reordered(back)

    def _run_layers(self, x: Tensor, state: S | None, lengths: Tensor | None = None) -> tuple[Tensor, S]:
        """Run all layers over (T, batch, d); `lengths`, (batch,), descending, where the sequences are padded."""
        ways, suffixes = 1 + self.bidirectional, self.suffixes
        if state is None:
            state = self.State(self.own * (x.new_zeros(len(suffixes), x.shape[1], self.hidden_size),))
        starts, ends = state.directions(), list[Direction]()
        for layer in range(0, len(suffixes), ways):
            if layer > 0:
                x = functional.dropout(x, self.dropout, self.training)
            runs = [self._run_direction(x, starts[i], suffixes[i], lengths) for i in range(layer, layer + ways)]
            x = torch.cat([h for h, _ in runs], -1) if ways == 2 else runs[0][0]
            ends += [end for _, end in runs]
        return x, self.State.of_directions(ends, self.maker)

    def _run_direction(
        self, x: Tensor, start: Direction, suffix: str, lengths: Tensor | None
    ) -> tuple[Tensor, Direction]:
        if suffix.endswith("_reverse"):
            h, end = self._run_ragged(_reversed(x, lengths), start, suffix, lengths)
            return _reversed(h, lengths), end
        return self._run_ragged(x, start, suffix, lengths)

    def _run_ragged(self, x: Tensor, start: Direction, suffix: str, lengths: Tensor | None) -> tuple[Tensor, Direction]:
        """Run one layer in one direction, to h and the state after the last step of each sequence."""
        return in_segments(lambda x, start: self._run(x, start, suffix), x, start, lengths)

    def _run(self, x: Tensor, start: Direction, suffix: str) -> tuple[Tensor, Direction]:
        """Run one layer in one direction, to h (T, batch, N) of every step and the state after the last."""
        raise NotImplementedError

    def filtered(self, index: int = 0) -> tuple[str, int]:
        """The name of what the filter runs over, and its channels, in the layer and direction at that place of the
        state."""
        raise NotImplementedError

    @property
    def maker(self) -> str:
        """The meaning of a filter's state: which filter's it is, and of what."""
        name = type(self.filter).__name__
        return name if isinstance(self.filter, Identity) else f"{name} of the {self.filtered()[0]}"

    @property
    def all_weights(self) -> list[list[nn.Parameter]]:
        """The parameters of each layer and direction that lie in the cell itself: no `orthogonal_l0.skew`."""
        return [[each for name, each in self.named_parameters() if name.endswith(end)] for end in self.suffixes]

    def flatten_parameters(self) -> None:
        """Do nothing: the weights are handed to torch's kernels as they lie."""

    def _check_input(self, x: Any) -> None:
        needed, first = kind(self.weight_ih_l0), self.batch_first
        right = isinstance(x, Tensor) and x.dim() in (2, 3) and x.shape[-1] == self.input_size and kind(x) == needed
        if not right or x.shape[1 if first and x.dim() == 3 else 0] == 0:
            raise ValueError(
                f"the input must be {'(batch, T' if first else '(T, batch'}, {self.input_size}) or "
                f"(T, {self.input_size}), {needed}, of at least one step, not {described(x)}"
            )

    def _checked_state(self, x: Tensor, batch: tuple[int, ...], state: Start) -> S:
        count = len(self.suffixes)
        h = x.new_empty(1).expand(count, *batch, self.hidden_size)
        own = tuple(state) if isinstance(state, list | tuple) else (state,)
        check_like("the state", own, self.own * (h,))
        if not isinstance(state, self.State):
            return self.State(own)
        if state.maker not in (None, self.maker):
            raise ValueError(
                f"the state was made by {state.maker}, and this core has {self.maker}: give it h, or (h, c), alone, "
                "and its filter begins anew"
            )
        # Counts of steps are on the CPU: `torch.load` with a `map_location` moves them, too.
        state = state.map(lambda tensor: tensor if tensor.is_floating_point() else tensor.cpu())
        if state.filter is not None:
            empty = (x.new_empty(0, self.filtered(index)[1]) for index in range(count))
            starts = tuple(self.filter.step(each)[1] for each in empty)  # of no sequences, for their form alone
            like = map_tensors(lambda tensor: tensor.new_empty(1).expand(*batch, *tensor.shape[1:]), starts)
            # One a sequence: a fresh state has one in all.
            counts = described(torch.empty(*batch, 1, dtype=torch.int64))
            given = map_tensors(lambda tensor: 0 if described(tensor) == counts else tensor, state.filter)
            check_like("the filter's state", given, like)
        return state

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"

    def extra_repr(self) -> str:
        """The arguments as torch shows them, and what differs from torch's."""
        given: dict[str, Any] = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        given |= {"bidirectional": False, "backend": "fused"}
        shown = [f"{key}={getattr(self, key)}" for key, usual in given.items() if getattr(self, key) != usual]
        filters = [] if isinstance(self.filter, Identity) else [f"filter={self.filter}"]
        return ", ".join([str(self.input_size), str(self.hidden_size), *shown, *filters])


def in_segments(
    run: Callable[[Tensor, Direction], tuple[Tensor, Direction]], x: Tensor, start: Direction, lengths: Tensor | None
) -> tuple[Tensor, Direction]:
    """The outputs of `run`, (T, batch, ...), and the state after the last step of each sequence: time is cut at every
    length, and each segment runs over the sequences that reach to its end. What is padding gives 0.

    Args:
        run: maps a segment (steps, sequences, d) and a state to the outputs and the state after its last step.
        x: (T, batch, d), padded.
        lengths: (batch,), int64 on the CPU, descending; None where all are T.
    """
    if lengths is None or len(lengths) == 0 or lengths[0] == lengths[-1]:
        return run(x, start)
    outputs, finished, sizes = list[Tensor](), list[tuple[tuple[Tensor, ...], Any]](), list[int]()
    begin, count = 0, len(lengths)
    for stop in cast(list[int], lengths.unique().tolist()):
        y, end = run(x[begin:stop, :count], start)
        outputs.append(functional.pad(y, (0, 0, 0, len(lengths) - count)))
        remaining = int((lengths > stop).sum())
        finished.append(end.of(slice(remaining, count))[:2])
        sizes.append(count - remaining)
        start, begin, count = end.of(slice(0, remaining)), stop, remaining
    return torch.cat(outputs), Direction(*joined(finished[::-1], sizes[::-1]), matrix=start.matrix)


def _check(num_layers: int, dropout: float, bidirectional: object, proj_size: int, filter: object) -> None:
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be a probability, not {dropout!r}")
    if proj_size != 0:
        raise ValueError(f"there are no projections: proj_size must be 0, not {proj_size!r}")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout acts between layers, and there is one", stacklevel=4)
    if not isinstance(bidirectional, int) or bidirectional not in (0, 1):
        raise TypeError(f"bidirectional must be True or False, not {bidirectional!r}")
    if isinstance(filter, type) or not isinstance(filter, InputFilter | None):
        raise TypeError(f"filter must be None or have `linear` and `step` and be called, not {filter!r}")


def _of_type(dtype: torch.dtype, value: Any) -> Any:
    return value.to(dtype) if hasattr(value, "to") else map_tensors(lambda tensor: tensor.to(dtype), value)


def _reversed(x: Tensor, lengths: Tensor | None) -> Tensor:
    """Each sequence from its last step to its first; what the padding holds stays."""
    if lengths is None:
        return x.flip(0)
    t, lengths = torch.arange(x.shape[0], device=x.device).unsqueeze(1), lengths.to(x.device)
    return x[torch.where(t < lengths, lengths - 1 - t, t), torch.arange(x.shape[1], device=x.device)]
