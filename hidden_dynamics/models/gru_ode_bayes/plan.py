"""What a passage of the state does, and by which weights; the memory that it does it in."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

Take = Callable[..., Tensor]  # of the sizes of an array, whose entries may be anything


@dataclass(frozen=True)
class Plan:
    """What is done, and with which observations.

    Attributes:
        steps: Euler steps before each jump, all of them together; `last`, in the end.
        delta: of a step.
        offsets: rows of a jump are offsets[u] to offsets[u + 1] - 1.
        series: (R,) the series of each row.
        values, mask: (R, D).
        keep: (R, P), what dropout multiplies the p-model's hidden layer with before each jump; None is 1.
        wanted: states to return, ascending (hidden_dynamics.models.gru_ode_bayes.path).
        renewed: for each step whether a is set to the correlation of h before it; None without attention.
        detached: no gradient passes through these correlations.
        norms: the norm of the correlation of h after each jump is wanted.
    """

    steps: list[int]
    last: int
    delta: float
    offsets: list[int]
    series: Tensor
    values: Tensor
    mask: Tensor
    keep: Tensor | None
    wanted: list[int]
    renewed: list[bool] | None = None
    detached: bool = True
    norms: bool = False


class CellWeights(NamedTuple):
    """W_r over W_z (2 d, d), or W_z alone in the minimal cell, and W_h (d, d)."""

    gates: Tensor
    candidate: Tensor


class JumpWeights(NamedTuple):
    """The p-model's two layers, BayesJump's preparing matrix and its GRUCell."""

    p_in: Tensor  # (P, d)
    p_in_bias: Tensor  # (P,)
    p_out: Tensor  # (2 D, P)
    p_out_bias: Tensor  # (2 D,)
    preparing: Tensor  # (5 D, D prep)
    gru_in: Tensor  # (3 d, D prep), gates r, z, n
    gru_in_bias: Tensor
    gru_hidden: Tensor  # (3 d, d)
    gru_hidden_bias: Tensor


class Blocks:
    """Memory of one passage, taken from what the one before gave back.

    A training step needs as much as the one before, hundreds of MB, and the system clears every page that it hands out
    anew, which was seen to take a quarter of the step.

    Args:
        like: of the type and on the device of all blocks.
    """

    free: ClassVar[list[Tensor]] = []

    def __init__(self, like: Tensor):
        self.like, self.taken = like, []

    def take(self, *shape: int) -> Tensor:
        """An array; its block is at most twice as large."""
        size = math.prod(shape)
        fitting = [
            (block.numel(), index)
            for index, block in enumerate(Blocks.free)
            if (block.dtype, block.device) == (self.like.dtype, self.like.device) and size <= block.numel() <= 2 * size
        ]
        if fitting:
            block = Blocks.free.pop(min(fitting)[1])
        else:
            with torch.inference_mode(False):  # whoever takes it next may need gradients
                block = self.like.new_empty(size + size // 32)
        self.taken.append(block)
        return block[:size].view(shape)

    def give_back(self) -> None:
        """What no passage took meanwhile is freed."""
        Blocks.free, self.taken = self.taken, []
