"""The parts of GRU-ODE-Bayes (De Brouwer et al. 2019): the flow, the jump, and the loss after it.

A prediction p is (rows, 2 D): mean and logvar, the logarithm of the variance, side by side. Values and masks are
(rows, D).
"""

import math

import torch
from torch import Tensor, nn

from hidden_dynamics.models.gru import gru_step

NOISE = 0.01  # standard deviation of an observation, in units of the data


class GRUODE(nn.Module):
    """The GRU as an ODE, autonomous and without biases, as it is used for the climate data (Section 2.2):

        dh/dt = (1 - z)(u - h),  r = sigmoid(W_r h),  z = sigmoid(W_z h),  u = tanh(W_h (r h)).

    Parameters: `reset`, `update`, `candidate`: W_r, W_z, W_h, (size, size), Xavier-uniform.
    """

    def __init__(self, size: int):
        super().__init__()
        self.size = size
        self.reset, self.update, self.candidate = (nn.Parameter(torch.empty(size, size)) for _ in range(3))
        for weight in self.parameters():
            nn.init.xavier_uniform_(weight)

    def gates(self) -> Tensor:
        """[W_r; W_z]^T, made once for many evaluations."""
        return torch.cat([self.reset, self.update]).t()

    def rate(self, h: Tensor, gates: Tensor) -> Tensor:
        """dh/dt of h, (..., size), at any time, given `gates()`."""
        r, z = torch.sigmoid(h @ gates).chunk(2, -1)
        difference = torch.tanh((r * h) @ self.candidate.t()) - h
        return torch.addcmul(difference, z, difference, value=-1)


class BayesJump(nn.Module):
    """h+ = GRUCell(e, h), where feature j of an observation x enters e with `prep` entries (Section 2.3),

        e_j = m_j ReLU(w_j [x_j, mean_j, logvar_j, (x_j - mean_j) / exp(logvar_j / 2)] + b_j),

    m_j being whether it was observed, and mean and logvar what was predicted before.

    Parameters: `weight` (D, 4, prep), drawn from N(0, 2 / (4 + prep)); `bias` (D, prep), 0.1; `gru`, as torch draws it.
    """

    def __init__(self, features: int, size: int, prep: int):
        super().__init__()
        self.features = features
        self.weight = nn.Parameter(math.sqrt(2 / (4 + prep)) * torch.randn(features, 4, prep))
        self.bias = nn.Parameter(torch.full((features, prep), 0.1))
        self.gru = nn.GRUCell(features * prep, size)

    def forward(self, h: Tensor, p: Tensor, values: Tensor, mask: Tensor, preparing: Tensor) -> Tensor:
        """h+, (rows, size), of h before; values are 0 where the mask is. `preparing`: `preparing_matrix()`."""
        mean, logvar = (torch.unflatten(p, 1, (2, -1)) * mask.unsqueeze(1)).unbind(1)
        error = (values - mean) * torch.exp(-0.5 * logvar)
        e = torch.relu(torch.cat([mask, values, mean, logvar, error], 1) @ preparing)
        return gru_step(self.gru, torch.addmm(self.gru.bias_ih, e, self.gru.weight_ih.t()), h)

    def preparing_matrix(self) -> Tensor:
        """The map from [m, m x, m mean, m logvar, m error], (5 D,), to e before the ReLU, which is 0 where m is:
        (5 D, D prep). It is made once for many jumps."""
        each = torch.cat([self.bias.unsqueeze(1), self.weight], 1)  # (D, 5, prep)
        apart = torch.eye(self.features, dtype=each.dtype, device=each.device)
        return torch.einsum("dkp,de->kdep", each, apart).reshape(5 * self.features, -1)


def divergence(p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The sum of KL(N(mean, exp(logvar)) || N(x, 0.01^2)), in nats: the loss after each jump."""
    mean, logvar = p.chunk(2, -1)
    each = math.log(NOISE) - logvar / 2 + (logvar.exp() + (mean - values).square()) / (2 * NOISE**2) - 0.5
    return (each * mask).sum()
