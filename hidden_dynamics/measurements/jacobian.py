# pyright: reportUnknownMemberType=false
"""∂L/∂h_t of cells whose input is filtered, in float64: by autograd, by Eq. 11's product and by Eq. 13's.

docs/jacobian.md derives what is computed here. Where matrices are written, states are rows: h_t = σ(h_{t-1} M + y_t),
y the filtered input. L = ‖h_T‖² of one sequence, of inputs and weights that are drawn, not trained.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from hidden_dynamics.models.momentum.filters import Adam, InputFilter, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.momentum.recurrence import linear_recurrence
from hidden_dynamics.models.recurrent.orthogonal import DTRIV
from hidden_dynamics.results.measured import GradientNorm

SEED, UNITS, INPUTS, STEPS = 0, 32, 8, 60
NORM = 0.7  # of the tanh cell's matrix: gradients vanish, as in Section 2.3
CORES = ("tanh", "DTRIV")
FILTERS: dict[str, InputFilter] = {  # in the settings of the paper's Appendix A, where it has them
    "momentum, μ = 0.6": Momentum(0.6, 0.6),
    "momentum, μ = 0.9": Momentum(0.9, 0.6),
    "NAG": Nesterov(0.6),
    "restarts, F = 40": Nesterov(0.9, 40),
    "Adam, μ = 0.6": Adam(0.6, 0.6, 0.1),
    "RMSProp": RMSProp(0.6, 0.9),
}


def measure() -> Iterator[dict[str, Any]]:
    """A row for each core, filter and step: the norms of `gradients`, in its order; the distance of Eq. 11's and of Eq.
    13's vector from autograd's, as a share of the longer one."""
    for core in CORES:
        for name, input_filter in FILTERS.items():
            for step, (autograd, *others) in enumerate(zip(*gradients(core, input_filter), strict=True), 1):
                norms = [gradient.norm().item() for gradient in (autograd, *others)]
                shares = [((autograd - g).norm() / max(autograd.norm(), g.norm())).item() for g in others[:2]]
                texts = [f"{norm:.4g}" for norm in norms] + [f"{share:.1e}" for share in shares]
                yield dict(zip(GradientNorm.model_fields, (core, name, step, *texts), strict=True))


def gradients(core: str, input_filter: InputFilter, seed: int = SEED, steps: int = STEPS) -> tuple[Tensor, ...]:
    """∂L/∂h_t by autograd, by Eq. 11 (`product`) and by Eq. 13 (`claimed`), and ∂L/∂y_t (`input`); (T, N) each."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        run = _tanh if core == "tanh" else _orthogonal
        h, g, matrix, slope, inverse = run(input_filter, steps)
    autograd = torch.cat(torch.autograd.grad(h[-1].square().sum(), h)).view_as(g)
    return autograd, *products(autograd[-1], matrix, slope, inverse, carried(input_filter, g))


def products(end: Tensor, matrix: Tensor, slope: Tensor, inverse: Tensor, carry: Tensor) -> tuple[Tensor, ...]:
    """Backwards from ∂L/∂h_T by either product, and ∂L/∂y_t, through all later y; (T, N) each.

    Of ∂L/∂h_T, (N,); M, (N, N); σ' at each step, the diagonal of D, and (σ⁻¹)' at h_t, that of Σ; and what `carried`
    gives, which is μ in Eq. 13; (T, N) each.
    """
    product, claimed, to_input = [end], [end], [slope[-1] * end]
    for k in reversed(range(len(slope) - 1)):  # from h_{k+1} to h_k
        dz, claimed_dz = slope[k + 1] * product[-1], slope[k + 1] * claimed[-1]
        product.append(matrix @ dz)
        claimed.append(matrix @ claimed_dz + carry[k + 1] * inverse[k] * claimed_dz)
        to_input.append(slope[k] * product[-1] + carry[k + 1] * to_input[-1])
    return tuple(torch.stack(norms[::-1]) for norms in (product, claimed, to_input))


def carried(input_filter: InputFilter, g: Tensor) -> Tensor:
    """The c_t, (T, N), of y_t = c_t y_{t-1} + (what x_t adds): μ, or Nesterov's of that step; Adam's is scaled anew."""
    if isinstance(input_filter, Nesterov):
        return input_filter.gamma(0, len(g)).unsqueeze(1).expand_as(g)
    c = torch.full_like(g, getattr(input_filter, "mu", 0.0))
    if isinstance(input_filter, Adam):
        m = linear_recurrence((1 - input_filter.beta) * g.square(), input_filter.beta) + input_filter.eps
        c[1:] *= (m[:-1] / m[1:]).sqrt()
    return c


def _tanh(input_filter: InputFilter, steps: int) -> tuple[Sequence[Tensor], Tensor, Tensor, Tensor, Tensor]:
    """The cell of Eqs. 1 and 9: the states, g = W x, M, and the diagonals of D and Σ."""
    matrix = NORM * torch.linalg.qr(torch.randn(UNITS, UNITS, dtype=torch.float64))[0].t()
    weight = 0.3 * torch.randn(UNITS, INPUTS, dtype=torch.float64)
    g = torch.randn(steps, INPUTS, dtype=torch.float64) @ weight.t()
    h, states = g.new_zeros(1, UNITS).requires_grad_(), list[Tensor]()
    for y in input_filter(g)[0].split(1):
        h = torch.tanh(y + h @ matrix)
        states.append(h)
    slope = 1 - torch.cat(states).detach().square()
    return states, g, matrix, slope, 1 / slope


def _orthogonal(input_filter: InputFilter, steps: int) -> tuple[Sequence[Tensor], Tensor, Tensor, Tensor, Tensor]:
    """DTRIV, as it is trained, step by step. modReLU's slope is 1 where h is not 0; where it is, there is no inverse,
    and its term is left out."""
    core = DTRIV(INPUTS, UNITS, filter=input_filter, dtype=torch.float64)
    x, state, states = torch.randn(steps, INPUTS, dtype=torch.float64), None, list[Tensor]()
    for x_t in x.split(1):
        _, state = core(x_t, state)
        states.append(state.h)
    slope = (torch.cat(states).detach() != 0).double()
    return states, (x @ core.weight_ih_l0.t()).detach(), core.get_submodule("orthogonal_l0")().detach(), slope, slope
