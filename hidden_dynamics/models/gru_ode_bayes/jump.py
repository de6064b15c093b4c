"""What an observation does to the state: the jump of GRU-ODE-Bayes (De Brouwer et al. 2019, Section 2.3)."""

import math

import torch
from torch import Tensor, nn


class BayesJump(nn.Module):
    """h+ = GRUCell(e, h), where feature j of an observation x enters e with `prep` entries,

        e_j = m_j ReLU(w_j [x_j, mean_j, logvar_j, (x_j - mean_j) / exp(logvar_j / 2)] + b_j),

    m_j being whether it was observed, and mean and logvar what was predicted before.

    Args:
        features: D, of an observation.
        size: of h.
        prep: entries of e for each feature.

    Parameters: `weight` (D, 4, prep), drawn from N(0, 2 / (4 + prep)); `bias` (D, prep), 0.1; `gru`, as torch draws it.
    """

    def __init__(self, features: int, size: int, prep: int):
        super().__init__()
        self.features, self.size, self.prep = features, size, prep
        self.weight = nn.Parameter(math.sqrt(2 / (4 + prep)) * torch.randn(features, 4, prep))
        self.bias = nn.Parameter(torch.full((features, prep), 0.1))
        self.gru = nn.GRUCell(features * prep, size)

    def forward(self, h: Tensor, p: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """h+, (rows, size), as the equations read.

        Args:
            h: (rows, size), before the observation.
            p: (rows, 2 D), mean and logvar side by side.
            values, mask: (rows, D).
        """
        mean, logvar = p.chunk(2, 1)
        seen = torch.stack([values, mean, logvar, (values - mean) * torch.exp(-logvar / 2)], 2)
        prepared = torch.relu(torch.einsum("rdk,dkp->rdp", seen, self.weight) + self.bias)
        return self.gru((prepared * mask.unsqueeze(2)).flatten(1), h)

    def preparing_matrix(self) -> Tensor:
        """The map from [m, m x, m mean, m logvar, m error], (5 D,), to e before the ReLU, which is 0 where m is:
        (5 D, D prep)."""
        each = torch.cat([self.bias.unsqueeze(1), self.weight], 1)  # (D, 5, prep)
        apart = torch.eye(self.features, dtype=each.dtype, device=each.device)
        return torch.einsum("dkp,de->kdep", each, apart).reshape(5 * self.features, -1)

    def extra_repr(self) -> str:
        return f"{self.features}, {self.size}, prep={self.prep}"
