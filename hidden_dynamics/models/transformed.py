"""A test for torch.func and torch.export, and second derivatives of hand-written backwards."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def is_transformed() -> bool:
    """Whether torch.export or a transform of torch.func is at work, which cannot follow branches on a tensor's values,
    tensors that are overwritten, and a backward of one's own."""
    return torch.compiler.is_exporting() or torch._C._are_functorch_transforms_active()  # pyright: ignore[reportPrivateUsage]  # no public name


def double_backward(
    function: Callable[..., Sequence[Tensor]],
    given: Sequence[Tensor],
    gradients: Sequence[Tensor],
    needed: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients that a backward gives when it is itself to be differentiated (`create_graph`): by autograd.

    Args:
        function: what forward computes of `given`, by operations that autograd knows.
        gradients: of forward's results.
        needed: for which of `given` a gradient is wanted; the others' is None.
    """
    leaves = [each.view_as(each) for each in given]  # no ancestors of one another, as what is given may be
    wanted = [leaf for leaf, is_needed in zip(leaves, needed, strict=True) if is_needed]
    slopes = iter(torch.autograd.grad(function(*leaves), wanted, gradients, create_graph=True, materialize_grads=True))
    return tuple(next(slopes) if is_needed else None for is_needed in needed)
