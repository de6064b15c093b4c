"""The Euler steps of a passage: the GRU-ODE's rate, and its derivative beside it."""

import torch
from torch import Tensor

from hidden_dynamics.models.gru_ode_bayes.plan import CellWeights, Take

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


class Cell:
    """The GRU-ODE's rate, (1 - z)(u - x), at each step.

    Args:
        weights: of the cell.
        steps: how many are kept.
        like: (batch, d).
        take: gives memory.
    """

    def __init__(self, weights: CellWeights, steps: int, like: Tensor, take: Take):
        self.weights = weights
        (batch, size), gates = like.shape, len(weights.gates)
        self.gates = take(steps, batch, gates)
        self.candidate = take(steps, batch, size)  # u
        self.d_candidate = torch.zeros_like(weights.candidate)
        # Views are made once: an indexing in the loop costs a good part of what an operation does.
        self.r, self.z = self.gates[..., :size].unbind(), self.gates[..., gates - size :].unbind()
        self.d_gates, self.difference = like.new_empty(batch, gates), torch.empty_like(like)
        self.d_r, self.d_z = self.d_gates[:, :size], self.d_gates[:, gates - size :]
        self.full = gates > size
        self.gates_t, self.twice_candidate_t = weights.gates.t(), 2 * weights.candidate.t()

    def rate(self, step: int, x: Tensor) -> Tensor:
        """Of x, (batch, d)."""
        gates, u = self.gates[step], self.candidate[step]
        torch.mm(x, self.gates_t, out=gates).sigmoid_()
        # tanh(y) = 2 sigmoid(2 y) - 1: on a CPU, torch's tanh takes five times as long as its sigmoid.
        torch.mm(torch.mul(self.r[step], x, out=self.difference), self.twice_candidate_t, out=u).sigmoid_()
        u.mul_(2).sub_(1)
        return self.last_rate(step, x)

    def last_rate(self, step: int, x: Tensor) -> Tensor:
        """The rate once more, before `back` of that step."""
        torch.sub(self.candidate[step], x, out=self.difference)
        return torch.addcmul(self.difference, self.z[step], self.difference, value=-1)

    def back(self, step: int, x: Tensor, d_rate: Tensor) -> Tensor:
        """The gradient of x."""
        r, z, u = self.r[step], self.z[step], self.candidate[step]
        torch.sub(x, u, out=self.difference)
        dx = torch.addcmul(d_rate, d_rate, z, value=-1)  # of u; of x with the other sign
        tanh_backward(dx, u, grad_input=u)
        self.d_candidate.addmm_(u.t(), r * x)
        through = u @ self.weights.candidate
        dx.neg_().addcmul_(through, r)
        torch.mul(through, x, out=self.d_r)
        if self.full:
            torch.mul(d_rate, self.difference, out=self.d_z)
        else:  # one gate is both
            self.d_z.addcmul_(d_rate, self.difference)
        gates = self.gates[step]
        sigmoid_backward(self.d_gates, gates, grad_input=gates)
        return dx.addmm_(gates, self.weights.gates)

    def gradients(self, x: Tensor) -> list[Tensor]:
        """Of W_r over W_z and of W_h, after `back` of all steps; x, (steps, batch, d)."""
        return [self.gates.flatten(0, 1).t() @ x.flatten(0, 1), self.d_candidate]
