"""The Euler steps of a rollout, and their derivative beside them."""

from collections.abc import Sequence

import torch
from torch import Tensor

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input

CHUNK = 64  # steps whose gradients are kept until the weights' are added up


class FlowSteps:
    """y <- y + dt f(y), f a network with tanh between its linear maps.

    Of a hidden layer tanh(p) its half (1 + tanh(p)) / 2 = sigmoid(2 p) is kept, and what follows it is made to fit: on
    a CPU, torch's tanh takes four times as long as its sigmoid.

    Args:
        weights: W and b of each linear map, one after another.
        lengths: dt of each series at each of K steps, (K, N, 1).
        size: S.
        path: y before each step is kept.
        kept: what the derivative needs is kept of all steps.
    """

    def __init__(self, weights: Sequence[Tensor], lengths: Tensor, size: int, path: bool, kept: bool):
        self.matrices, self.biases = list(weights[::2]), list(weights[1::2])
        self.maps, self.constants = [], []
        last = len(self.matrices) - 1
        for number, (w, b) in enumerate(zip(self.matrices, self.biases, strict=True)):
            scale = 1 if number == last else 2
            self.maps.append((scale * w if number == 0 else 2 * scale * w).t().contiguous())
            self.constants.append(scale * (b if number == 0 else b - w.sum(1)))
        count, series = lengths.shape[:2]
        self.lengths = lengths.unbind()
        # What enters each linear map, at each step.
        places = [count if kept or (path and number == 0) else 1 for number in range(last + 1)]
        self.entering = [w.new_empty(k, series, w.shape[1]) for k, w in zip(places, self.matrices, strict=True)]
        each = [entering.expand(count, -1, -1).unbind() for entering in self.entering]
        self.places = list(zip(*each, strict=True))
        self.rate = lengths.new_empty(series, size)

    def move(self, step: int, y: Tensor) -> None:
        """One step of y, in place."""
        x, *hidden = self.places[step]
        x.copy_(y)
        for matrix, constant, following in zip(self.maps, self.constants, hidden, strict=False):
            x = torch.addmm(constant, x, matrix, out=following).sigmoid_()
        y.addcmul_(torch.addmm(self.constants[-1], x, self.maps[-1], out=self.rate), self.lengths[step])

    def start_back(self) -> None:
        """Before the first `move_back`, which is that of the last step."""
        self.back = [self.matrices[0], *(4 * w for w in self.matrices[1:])]
        steps, size = self.entering[0].shape[:2]
        # The gradient of what each linear map gives, at the steps of a chunk.
        self.context = [w.new_empty(min(CHUNK, steps), size, len(w)) for w in self.matrices]
        self.context_places = list(zip(*(each.unbind() for each in self.context), strict=True))
        self.spare = {w.shape[1]: w.new_empty(size, w.shape[1]) for w in self.matrices}
        self.d_matrices = [torch.zeros_like(w) for w in self.matrices]
        self.d_biases = [torch.zeros_like(b) for b in self.biases]
        self.end = steps

    def move_back(self, step: int, dy: Tensor) -> None:
        """From the gradient of y after the step to that before it, in dy; steps come in descending order."""
        start = step - step % CHUNK
        context, entering = self.context_places[step - start], self.places[step]
        d = torch.mul(dy, self.lengths[step], out=context[-1])
        for number in range(len(context) - 1, 0, -1):
            w, hidden = self.back[number], entering[number]
            through = torch.mm(d, w, out=self.spare[w.shape[1]])
            d = context[number - 1]
            sigmoid_backward(through, hidden, grad_input=d)
        dy.addmm_(d, self.back[0])
        if step == start:
            self._add_up(start)

    def _add_up(self, start: int) -> None:
        """The gradients of the weights at the steps of a chunk; of the later ones half, while of tanh(p) there is half.

        The half is centred at 0 first: taking from the product what it has too much would leave rounding errors.
        """
        count = self.end - start
        for number, (entering, context) in enumerate(zip(self.entering, self.context, strict=True)):
            x, d = entering[start : self.end], context[:count].flatten(0, 1)
            if number > 0:
                x.sub_(0.5)
            self.d_matrices[number].addmm_(d.t(), x.flatten(0, 1))
            self.d_biases[number].add_(d.sum(0))
        self.end = start

    def gradients(self) -> list[Tensor]:
        """Of the weights, after `move_back` of all steps."""
        for d_matrix in self.d_matrices[1:]:
            d_matrix.mul_(2)
        return [each for pair in zip(self.d_matrices, self.d_biases, strict=True) for each in pair]
