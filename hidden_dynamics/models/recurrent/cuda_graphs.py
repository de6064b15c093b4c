# pyright: reportUnknownMemberType=false
"""Loops over time on a GPU, replayed as CUDA graphs: one launch, not one for each of thousands of small kernels."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

USES = 3  # of the same shapes before a graph is made: a batch of another length may never come again
MOST = 16  # graphs of a process, each of which keeps the memory of a call

Given = Sequence[Tensor | None]
Results = tuple[Tensor, ...]
Function = Callable[..., Results]

_uses, _chosen = Counter[Hashable](), dict[Hashable, Function]()


def replayed(function: Function, *given: Tensor | None, written: Sequence[int] = ()) -> Results:
    """function(*given), by a CUDA graph of it where that was found to be the same, to the bit, and faster.

    Args:
        function: of tensors on a GPU, by operations that do not wait for it; on a CPU, and in a graph of the user's, it
            is just called.
        written: the places of the arguments that it overwrites.
    """
    first = given[0]
    if first is None or not first.is_cuda or torch.cuda.is_current_stream_capturing():
        return function(*given)
    key = function, *(None if each is None else (each.shape, each.dtype, each.device) for each in given)
    _uses[key] += 1
    if key not in _chosen and _uses[key] >= USES and len(_chosen) < MOST:
        _chosen[key] = _chosen_of(function, given, written)
    return _chosen.get(key, function)(*given)


def _graph_of(function: Function, given: Given, written: Sequence[int]) -> Function:
    own = _copies(given)
    replay, results = capture(function, own)

    def run(*given: Tensor | None) -> Results:
        pairs = [(a, b) if a is not None and b is not None else None for a, b in zip(own, given, strict=True)]
        for pair in filter(None, pairs):
            pair[0].copy_(pair[1])
        replay()
        for pair in filter(None, (pairs[place] for place in written)):
            pair[1].copy_(pair[0])
        return tuple(result.clone() for result in results)

    return run


def capture(function: Function, given: Given) -> tuple[Callable[[], Any], Results]:
    """What replays the function on these very tensors, and its results, which that overwrites."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # what a first call sets up cannot be captured
        function(*given)
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = function(*given)
    return graph.replay, results


@torch.inference_mode(False)  # whoever evaluates first, the graph's own tensors are written to in training, too
def _chosen_of(function: Function, given: Given, written: Sequence[int]) -> Function:
    """A graph of the function, where it is as good, else the function; what was found is said."""
    shapes = ", ".join(str(tuple(each.shape)) for each in given if each is not None)
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__} of {shapes}"
    try:
        graph = _graph_of(function, given, written)
        plain, captured = _copies(given), _copies(given)
        pairs = list[tuple[Tensor | None, ...]](zip(function(*plain), graph(*captured), strict=True))
        pairs += [(plain[place], captured[place]) for place in written]
        same = all(a is None or b is None or torch.equal(a, b) for a, b in pairs)
        gain = ratio(lambda: function(*plain), lambda: graph(*captured))
    except RuntimeError as error:  # out of memory, too
        print(f"{name} runs without a CUDA graph: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
        return function
    taken = same and gain > 1
    text = f"{name}: a CUDA graph is {gain:.2f} times as fast, the results are {'' if same else 'not '}the same"
    print(f"{text}; taken: {taken}", file=sys.stderr, flush=True)
    return graph if taken else function


def ratio(plain: Callable[[], Any], other: Callable[[], Any]) -> float:
    """The time of `plain` by that of `other`, both on the GPU: the medians of three, after one to warm up."""
    seconds = list[float]()
    for action in (plain, other):
        times = list[float]()
        for _ in range(4):
            torch.cuda.synchronize()
            start = time.perf_counter()
            action()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        seconds.append(sorted(times[1:])[1])
    return seconds[0] / seconds[1]


def _copies(given: Given) -> list[Tensor | None]:
    return [None if each is None else each.detach().clone(memory_format=torch.contiguous_format) for each in given]
