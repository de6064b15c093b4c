"""A recurrent core over sequences of different lengths, without paying for the padding.

With the sequences sorted by length, longest first, time is cut at some of the lengths; each segment runs only the
sequences that reach into it, from the state in which the segment before left them. What is computed is what the padded
batch would give on the valid steps, gradients included: a recurrent core is causal and treats sequences one by one.
"""

from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from hidden_dynamics.models.recurrent.state import described

# What a segment costs beyond its rows, in rows (one step of one sequence, forward and backward). On the CPU: 3 to 7 ms
# against some 15 us for N = 158. On a GPU a row is next to free and a segment is a few hundred launches; not measured.
CPU_SEGMENT = 256
GPU_SEGMENT = 8192


def run_ragged(core: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    """The hidden states of a recurrent core at the valid steps: (sum of lengths, N), in the order of time, then
    sequence, h[t < lengths].

    Args:
        core: maps x (T, batch, d) and a state to h (T, batch, N) and the state after the last step. Where the state has
            `first(count)`, the state of the first `count` sequences, time is cut into segments. Any other core is run
            over the padded batch in one piece (after its first segment was tried), which gives the same and costs more.
        x: (T, batch, d), padded; what the padding holds has no influence if it is finite.
        lengths: (batch,), int64 on the CPU, in descending order, between 1 and T.

    Raises:
        ValueError: x or the lengths are not as above, or the core has batch_first.
    """
    _check(core, x, lengths)
    if getattr(core, "bidirectional", False):  # the last steps come first: the padding is not to be run over
        return core(pack_padded_sequence(x, lengths))[0].data
    outputs, state = list[Tensor](), cast(Any, None)
    for start, end, count in segments(lengths, GPU_SEGMENT if x.is_cuda else CPU_SEGMENT):
        if start > 0:
            if not hasattr(state, "first"):
                return valid_steps(core(x[: lengths[0]])[0], lengths)
            state = state.first(count)
        h, state = core(x[start:end, :count], state)
        outputs.append(valid_steps(h, (lengths[:count] - start).clamp(max=end - start)))
    return torch.cat(outputs)


def segments(lengths: Tensor, segment_rows: int) -> list[tuple[int, int, int]]:
    """The segments (start, end, number of sequences) that cover all sequences at the least cost.

    A segment costs (end - start) * sequences rows, and `segment_rows` for itself. Exact: of all ways to cut time at
    the `lengths`, (batch,), descending, by dynamic programming over the end of the last segment.
    """
    ends, counts = np.unique(lengths.numpy(), return_counts=True)
    ends = np.concatenate([[0], ends])
    alive = counts[::-1].cumsum()[::-1]  # alive[i]: the sequences that are longer than ends[i]
    cost, previous = np.zeros(len(ends)), np.zeros(len(ends), dtype=np.int64)
    for j in range(1, len(ends)):
        candidates = cost[:j] + (ends[j] - ends[:j]) * alive[:j] + segment_rows
        previous[j] = candidates.argmin()
        cost[j] = candidates[previous[j]]
    cuts = [len(ends) - 1]
    while cuts[-1] > 0:
        cuts.append(int(previous[cuts[-1]]))
    return [(int(ends[i]), int(ends[j]), int(alive[i])) for i, j in pairwise(reversed(cuts))]


def valid_steps(padded: Tensor, lengths: Tensor) -> Tensor:
    """padded[t < lengths], of padded (T, batch, ...) and descending lengths, the longest T: (sum of lengths, ...)."""
    return pack_padded_sequence(padded, lengths).data


def _check(core: nn.Module, x: object, lengths: Tensor) -> None:
    if not isinstance(x, Tensor) or x.dim() != 3 or getattr(core, "batch_first", False):
        raise ValueError(f"x must be (T, batch, d), of a core without batch_first, not {described(x)}")
    needed, given = f"({x.shape[1]},) torch.int64 on cpu", described(lengths)
    if given != needed or len(lengths) == 0:
        raise ValueError(f"lengths must be {needed}, of at least one sequence, not {given}")
    if (lengths.diff() > 0).any():
        raise ValueError("lengths must be in descending order")
    if lengths[-1] < 1 or lengths[0] > x.shape[0]:
        raise ValueError(
            f"lengths must lie between 1 and the {x.shape[0]} steps given, not between {lengths[-1]} and {lengths[0]}"
        )
