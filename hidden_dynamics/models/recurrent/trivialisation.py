# pyright: reportUnknownMemberType=false
"""Orthogonal matrices as a trainable parameter: dynamic trivialisation of SO(N).

    Q = B exp(A),   A skew-symmetric, B orthogonal,

with A trained by any optimiser, unconstrained, and B constant but for this: every K-th optimiser step, B := Q, A := 0.
K = 1 moves from tangent space to tangent space (Riemannian gradient descent where the optimiser is SGD), K = infinity
stays in one (Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds", NeurIPS 2019).
"""

import functools
import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.utils import checkpoint

from hidden_dynamics.models.choices import one_of, whole
from hidden_dynamics.models.transformed import is_transformed

PROJECTION_INTERVAL = 100  # rebases; what rounding has done to the base until then is undone


class DynamicTrivialisation(nn.Module):
    """Q = base exp(A), an N x N orthogonal matrix.

    Args:
        size: N.
        K: optimiser steps after which the base moves to Q: an integer, or infinity as math.inf, "inf" or "∞". Counted
            are values of `skew` that a forward pass in training mode sees; where an optimiser also goes back to older
            ones, or these are not the module's own parameter, K has to be infinity.
        initialisation: "cayley" or "henaff", the angles of the N // 2 plane rotations that Q starts as; see `angles`.

    Parameter `skew`, (N (N - 1) / 2,): the entries of A above the diagonal, row by row; 0 at first. Its optimiser's
    state is not reset when the base moves.

    Buffers: `base`; for finite K, `steps`, how many different values of `skew` training has used, and `used`, the last
    one of them (with K = infinity, nothing is counted and both stay 0). They make a run that continues from a
    state_dict the same as one that was never interrupted.

    Source: facts of the released code, Section 3; it differs in that the first base is Q itself and A starts at 0.
    """

    base: Tensor
    used: Tensor
    steps: Tensor

    def __init__(self, size: int, K: int | float | str = 1, initialisation: str = "cayley"):
        super().__init__()
        self.size, self.initialisation = size, initialisation
        self.K = math.inf if K in (math.inf, "inf", "∞") else whole("K, where it is not infinity ('∞'),", K)
        entries = size * (size - 1) // 2
        self.skew = nn.Parameter(torch.zeros(entries))
        self.register_buffer("base", torch.empty(size, size))
        self.register_buffer("used", torch.zeros(entries))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set A = 0, and base = exp of the initial skew-symmetric matrix, computed in float64."""
        with torch.no_grad():
            self.base.copy_(rotations(angles(self.initialisation, self.size // 2), self.size))
            self.skew.zero_()
            self.used.zero_()
            self.steps.zero_()

    def forward(self) -> Tensor:
        """Q, (N, N), differentiable with respect to `skew`. In training mode, the base moves when it is due; a
        RuntimeError where it would have to within a transform of torch.func, or in what torch.export makes.

        Backward computes Q again: a graph of N x N matrices is not kept beside that of all steps.
        """
        if is_transformed():
            if self.training and math.isfinite(self.K):
                raise RuntimeError(f"under torch.func and torch.export, K must be infinity in training, not {self.K}")
            return (self.base.double() @ torch.matrix_exp(self.skew_matrix().double())).to(self.base.dtype)
        if self.training and math.isfinite(self.K) and not torch.equal(self.skew, self.used):
            self._count_step()
        given = self.base, self.skew_matrix()
        return cast(Tensor, checkpoint.checkpoint(_rotated, *given, use_reentrant=False, preserve_rng_state=False))

    @property
    def version(self) -> tuple[int, ...]:
        """A tuple that is the same at two calls of `forward` only if these give the same matrix."""
        return self.skew._version, self.base._version, self.skew.data_ptr()

    def skew_matrix(self) -> Tensor:
        """A, (N, N)."""
        rows, columns = torch.triu_indices(self.size, self.size, 1, device=self.skew.device)
        entries = self.skew.new_zeros(self.size * self.size).scatter(0, rows * self.size + columns, self.skew)
        upper = entries.view(self.size, self.size)
        return upper - upper.t()

    @torch.no_grad()
    def _count_step(self) -> None:
        self.steps += 1
        if self.steps.item() % self.K == 0:
            base = self.base.double() @ exponential(self.skew_matrix().double())
            if self.steps.item() // self.K % PROJECTION_INTERVAL == 0:
                base = nearest_orthogonal(base)
            self.base.copy_(base)
            self.skew.zero_()
        self.used.copy_(self.skew)


def _rotated(base: Tensor, a: Tensor) -> Tensor:
    """base exp(A) in float64, from which float32 would be off by up to 1e-4. At A = 0, value and derivative are those
    of base (I + A)."""
    if not a.any():
        return base + base @ a
    return (base.double() @ exponential(a.double())).to(base.dtype)


def exponential(a: Tensor) -> Tensor:
    """exp(A) of a skew-symmetric matrix in float64.

    exp(A / 2^k), |A / 2^k| <= 1/2, is a Taylor polynomial of degree 15 (the remainder is below 1e-18) in six products
    (Paterson, Stockmeyer, 1973), which is squared k times. torch.matrix_exp is off by up to 5e-12 where the norm is
    between 0.02 and 0.05.
    """
    norm = cast(float, torch.linalg.matrix_norm(a.detach(), 1).item())  # no less than a skew matrix's spectral norm
    doublings = math.ceil(math.log2(2 * norm)) if 0.5 < norm < math.inf else 0
    a = a / 2**doublings
    a2 = a @ a
    one, powers, a4 = torch.eye(a.shape[0], dtype=a.dtype, device=a.device), (a, a2, a2 @ a), a2 @ a2
    blocks = (
        sum((power / math.factorial(k + i) for i, power in enumerate(powers, 1)), one / math.factorial(k))
        for k in (12, 8, 4, 0)
    )
    result = functools.reduce(lambda result, block: torch.addmm(block, a4, result), blocks)
    for _ in range(doublings):
        result = result @ result
    return result


def angles(initialisation: str, count: int) -> Tensor:
    """Initial angles, (count,), float64, drawn from torch's generator.

    "henaff": uniform on (-pi, pi) (Henaff, Szlam, LeCun, 2016). "cayley": -tan(theta / 2) with theta uniform on
    (0, pi / 2), so within (-1, 0) (Helfrich, Willmott, Ye, 2018). Facts of the released code, Section 3.
    """
    one_of("initialisation", initialisation, ("cayley", "henaff"))
    uniform = torch.rand(count, dtype=torch.float64, device="cpu")
    return math.pi * (2 * uniform - 1) if initialisation == "henaff" else -torch.tan(uniform * math.pi / 4)


def rotations(angle: Tensor, size: int) -> Tensor:
    """exp of the block-diagonal matrix of [[0, d], [-d, 0]], d in `angle`: plane rotations; (size, size), float64."""
    block = angle.new_zeros(size, size)
    first = 2 * torch.arange(len(angle), device=angle.device)
    block[first, first + 1], block[first + 1, first] = angle, -angle
    return exponential(block)


def nearest_orthogonal(matrix: Tensor) -> Tensor:
    """The orthogonal matrix next to `matrix` in the Frobenius norm: its polar factor."""
    u, _, v_t = cast(tuple[Tensor, Tensor, Tensor], torch.linalg.svd(matrix))
    return u @ v_t
