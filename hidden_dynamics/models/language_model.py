"""The word-level language model of AWD-LSTM, its layers made of any LSTM with a filter on its input.

S. Merity, N. S. Keskar, R. Socher: Regularizing and Optimizing LSTM Language Models, 2018, which MomentumRNN follows on
Penn Treebank (Sections 3.4 and A.3). With E the embedding matrix, its rows the words:

    x^1_t = E[w_t],   x^{l+1} = LSTM^l(x^l),   p(w_{t+1}) = softmax(E x^{L+1}_t + b)

In training, what passes between layers is dropped with one mask for all steps (variational dropout), whole words of E
and entries of each layer's recurrent weight are dropped with one mask per segment.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from hidden_dynamics.models.choices import Share, Whole, one_of, whole
from hidden_dynamics.models.recurrent.lstm import LSTM, LSTMState

EMBEDDING_RANGE = 0.1  # of AWD-LSTM's uniform initial embeddings

Dropped = Literal["embedding", "input", "layer", "output", "weight"]
LayerState = tuple[Tensor, Tensor, Any]


class LanguageTask(Protocol):
    """The properties of a task that a language model needs."""

    vocabulary_size: int


@dataclass(frozen=True)
class Dropouts:
    """Probabilities of dropping.

    Attributes:
        embedding: a word, wherever it stands in the segment.
        input, layer, output: an entry of what enters the first layer, the other layers, the readout, at all steps.
        weight: an entry of a layer's hidden-to-hidden weight; the input's, where a filter's momentum is, is kept.
    """

    embedding: float = 0.0
    input: float = 0.0
    layer: float = 0.0
    output: float = 0.0
    weight: float = 0.0

    def __post_init__(self) -> None:
        if not all(0 <= probability < 1 for probability in astuple(self)):
            raise ValueError(f"dropout probabilities must lie in [0, 1): {self}")


class LanguageOutput(NamedTuple):
    """The output of a language model for a segment of T words of each of `batch` texts.

    Attributes:
        logits: (T, batch, V).
        states, dropped: h of the last layer, (T, batch, embedding_size), before and after dropout, for the readout.
        hidden_state: (h, c, the filter's state) of each layer after the last step, for the next segment.
    """

    logits: Tensor
    states: Tensor
    dropped: Tensor
    hidden_state: tuple[LayerState, ...]


class LanguageModel(nn.Module):
    """An embedding, layers of LSTM, and a readout tied to the embedding.

    Args:
        core: `core(input_size, hidden_size, **options)` makes a layer: `LSTM` of
            hidden_dynamics.models.recurrent.lstm or a class derived from it.
        hidden_size: of all layers but the last, which has `embedding_size`, because its states are compared with E.
        dropouts: probabilities by the names of `Dropouts`; those not named are 0.
        initialisation: "uniform" draws all weights and biases of a layer within 1/sqrt(N), torch's default and
            AWD-LSTM's; "orthogonal" leaves the core's own.
        carry_filter: whether a segment continues the filters, as it does h and c, or starts them anew.
        options: of the core: those of its filter; and of "orthogonal" `forget_bias`, ...

    Raises:
        TypeError: the core is no LSTM.
        ValueError: an argument is out of its range, or a layer is not one of one direction that reads (T, batch, d).
    """

    def __init__(
        self,
        task: LanguageTask,
        core: Callable[..., nn.Module],
        hidden_size: int,
        embedding_size: Whole,
        layers: Whole = 3,
        dropouts: dict[Dropped, Share] | None = None,
        initialisation: Literal["uniform", "orthogonal"] = "uniform",
        carry_filter: bool = True,
        **options: Any,
    ):
        super().__init__()
        one_of("initialisation", initialisation, ("uniform", "orthogonal"))
        whole("layers", layers)
        self.dropouts, self.carry_filter = Dropouts(**(dropouts or {})), carry_filter
        sizes = [embedding_size, *(layers - 1) * [hidden_size], embedding_size]
        self.embedding = nn.Parameter(torch.empty(task.vocabulary_size, embedding_size))
        self.layers = nn.ModuleList(core(d, n, **options) for d, n in pairwise(sizes))
        self.bias = nn.Parameter(torch.zeros(task.vocabulary_size))
        if not all(isinstance(layer, LSTM) for layer in self.layers):
            raise TypeError("a language model drops weights of LSTMs: its core must derive from recurrent.LSTM")
        layers_of = cast(Iterable[LSTM], self.layers)
        if any(layer.num_layers > 1 or layer.bidirectional or layer.batch_first for layer in layers_of):
            raise ValueError("a layer is one LSTM of one direction: neither num_layers, bidirectional nor batch_first")
        nn.init.uniform_(self.embedding, -EMBEDDING_RANGE, EMBEDDING_RANGE)
        if initialisation == "uniform":
            for layer, size in zip(self.layers, sizes[1:], strict=True):
                bound = 1 / math.sqrt(size)
                for parameter in layer.parameters(recurse=False):  # not those of a learned filter
                    nn.init.uniform_(parameter, -bound, bound)

    def forward(self, words: Tensor, hidden_state: tuple[LayerState, ...] | None = None) -> LanguageOutput:
        """Read a segment, (T, batch), int64, from the `hidden_state` that the one before returned, None at the start of
        the texts. Detach it, or gradients flow through all segments."""
        x, ends = self._embed(words), list[LayerState]()
        for index, layer in enumerate(cast(Iterable[LSTM], self.layers)):
            x = self._drop_throughout(x, self.dropouts.layer if index else self.dropouts.input)
            x, end = self._run(layer, x, None if hidden_state is None else hidden_state[index])
            ends.append((end[0], end[1], end.filter))
        dropped = self._drop_throughout(x, self.dropouts.output)
        return LanguageOutput(functional.linear(dropped, self.embedding, self.bias), x, dropped, tuple(ends))

    def _run(self, layer: LSTM, x: Tensor, start: LayerState | None) -> tuple[Tensor, LSTMState]:
        state = None if start is None else LSTMState(start[:2], start[2] if self.carry_filter else None)
        if not self.training or self.dropouts.weight == 0:
            return layer(x, state)
        weight = functional.dropout(layer.weight_hh_l0, self.dropouts.weight)
        return functional_call(layer, {"weight_hh_l0": weight}, (x, state))

    def _embed(self, words: Tensor) -> Tensor:
        x, rate = functional.embedding(words, self.embedding), self.dropouts.embedding
        if not self.training or rate == 0:
            return x
        kept = x.new_empty(len(self.embedding), 1).bernoulli_(1 - rate) / (1 - rate)
        return x * functional.embedding(words, kept)

    def _drop_throughout(self, x: Tensor, rate: float) -> Tensor:
        """Drop entries of (T, batch, features) with one mask for all steps (Gal and Ghahramani 2016)."""
        if not self.training or rate == 0:
            return x
        return x * (x.new_empty(1, *x.shape[1:]).bernoulli_(1 - rate) / (1 - rate))
