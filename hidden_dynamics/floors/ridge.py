"""Ridge regression from mean or added products of inputs and targets, which are all that it needs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # in units of an input's variance


class Products(NamedTuple):
    """The matrix (p + q, p + q) of p inputs, the last of which is 1, and q targets."""

    matrix: NDArray
    inputs: int

    @classmethod
    def of(cls, x: NDArray, y: NDArray, weights: NDArray | None = None) -> "Products":
        """The products of x (n, p - 1) and y (n, q), each example by its weight (n,)."""
        pair = np.concatenate([x, np.ones((len(x), 1)), y], 1, dtype=np.float64)
        return cls((pair if weights is None else weights[:, None] * pair).T @ pair, x.shape[1] + 1)

    @property
    def size(self) -> float:
        """The weight of all examples."""
        return float(self.matrix[self.inputs - 1, self.inputs - 1])

    def solve(self, penalty: float) -> NDArray:
        """The coefficients (p, q) of least squares; the penalty is on all but the constant."""
        p = self.inputs
        variances = self.matrix.diagonal()[:p] - self.matrix[p - 1, :p] ** 2 / (self.size or 1.0)
        penalties = np.diag(penalty * np.maximum(variances, 0))
        return np.linalg.lstsq(self.matrix[:p, :p] + penalties, self.matrix[:p, p:])[0]

    def error(self, coefficients: NDArray) -> float:
        """The sum of the squared errors of a linear model."""
        residual = np.concatenate([-coefficients, np.eye(coefficients.shape[1])])
        return float(np.einsum("ib,ij,jb->", residual, self.matrix, residual, optimize=True))


def ridge(
    fitted_on: Sequence[Products], held_out: Sequence[Products], again: bool = False
) -> tuple[str, list[NDArray]]:
    """Of linear models, one for each of the products: the penalty that all share, by their errors on what is held out,
    in words; and their coefficients, fitted `again` on what was held out, too, or not."""

    def error(penalty: float) -> float:
        return sum(held.error(train.solve(penalty)) for train, held in zip(fitted_on, held_out, strict=True))

    best = min(reversed(PENALTIES), key=error)  # of those that are as good the greatest
    both = [train._replace(matrix=train.matrix + held.matrix) for train, held in zip(fitted_on, held_out, strict=True)]
    return f"penalty {best:g} of the inputs' variances", [part.solve(best) for part in (both if again else fitted_on)]
