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

_uses, _graphs = Counter[Hashable](), dict[Hashable, "Graph | None"]()


def replayed(function: Function, *given: Tensor | None, written: Sequence[int] = ()) -> Results:
    """function(*given), by a CUDA graph of it where that was found to be the same, to the bit, and faster.

    Args:
        function: of tensors on a GPU, by operations that do not wait for it; elsewhere it is just called.
        written: the places of the arguments that it overwrites.
    """
    first = given[0]
    if first is None or not first.is_cuda:
        return function(*given)
    key = function, *(None if each is None else (each.shape, each.dtype, each.device) for each in given)
    _uses[key] += 1
    if key not in _graphs:
        if _uses[key] < USES or len(_graphs) >= MOST:
            return function(*given)
        _graphs[key] = _tried(function, given, written)
    graph = _graphs[key]
    return function(*given) if graph is None else graph(*given)


class Graph:
    """A function, captured for tensors like `given`.

    Args:
        written: as of `replayed`.
    """

    def __init__(self, function: Function, given: Given, written: Sequence[int]):
        self.given, self.written = _copies(given), written
        self.replay, self.results = capture(function, self.given)

    def __call__(self, *given: Tensor | None) -> Results:
        for own, each in zip(self.given, given, strict=True):
            if own is not None and each is not None:
                own.copy_(each)
        self.replay()
        for place in self.written:
            own, each = self.given[place], given[place]
            if own is not None and each is not None:
                each.copy_(own)
        return tuple(result.clone() for result in self.results)


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


def _tried(function: Function, given: Given, written: Sequence[int]) -> Graph | None:
    """Its graph, where it is as good; what was found is said."""
    shapes = ", ".join(str(tuple(each.shape)) for each in given if each is not None)
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__} of {shapes}"
    try:
        graph = Graph(function, given, written)
        plain, captured = _copies(given), _copies(given)
        pairs = list[tuple[Tensor | None, ...]](zip(function(*plain), graph(*captured), strict=True))
        pairs += [(plain[place], captured[place]) for place in written]
        same = all(a is None or b is None or torch.equal(a, b) for a, b in pairs)
        gain = ratio(lambda: function(*plain), lambda: graph(*captured))
    except RuntimeError as error:  # out of memory, too
        _say(f"{name} runs without a CUDA graph: {str(error).splitlines()[0]}")
        return None
    taken = same and gain > 1
    _say(
        f"{name}: a CUDA graph is {gain:.2f} times as fast, the results are {'' if same else 'not '}the same: {taken=}"
    )
    return graph if taken else None


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


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
