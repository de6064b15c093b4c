"""What the tests of filters and cores share: float64 noise, comparisons, and the cores with hyperparameters of each."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from hidden_dynamics.models.recurrent.lstm import LSTM, NAGLSTM, SRLSTM, AdamLSTM, MomentumLSTM, RMSPropLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV, SRDTRIV, AdamDTRIV, MomentumDTRIV, RMSPropDTRIV


def noise(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_close(actual, expected, tolerance=1e-12):
    """To `tolerance` of the largest entry."""
    assert_all_close([actual], [expected], tolerance)


def assert_all_close(actual, expected, tolerance=1e-12):
    """To `tolerance` of the largest entry of them all: results and gradients of a computation share its rounding error.

    Each for itself would not do. A gradient may vanish but for what is left of differences of terms of order one.
    """
    scale = max((other.abs().max() for other in expected if other.numel()), default=0)
    for one, other in zip(actual, expected, strict=True):
        assert one.shape == other.shape
        assert not ((one.to(other.device) - other).abs() > tolerance * scale).any() and not one.isnan().any()


def randomised(model):
    """The parameters drawn at random: the initial ones are mostly 0 and would hide mistakes."""
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(0.5 * noise(*parameter.shape, seed=i))
    return model


def tensors(state):
    """The tensors of a filter's state, or of a core's: h, c where there is one, and the filters', but for counts."""
    if hasattr(state, "filter"):
        return [*state, *tensors(state.filter)]
    if isinstance(state, tuple):
        return [tensor for part in state for tensor in tensors(part)]
    return [state] if isinstance(state, torch.Tensor) and state.is_floating_point() else []


class Given(nn.Module):
    """dy/dt = function(t, y)."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, t, y):
        return self.function(t, y)


class Watching(TorchDispatchMode):
    """Within it, `note(name, result)` is called after every operation on tensors."""

    def __init__(self, note):
        super().__init__()
        self.note = note

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        self.note(str(function), result)
        return result


def norms_of(module):
    return [part for part in module.modules() if isinstance(part, nn.GroupNorm)]


def convolutions_of(module):
    return [part for part in module.modules() if isinstance(part, nn.Conv2d)]


class LearntFilter(nn.Module):
    """A filter of a user's own that does not commute with the linear map: u_t = a u_{t-1} + tanh(g_t), a learnt."""

    linear = False

    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.tensor(0.5, dtype=torch.float64))

    def forward(self, g, state=None):
        outputs = []
        for g_t in g:
            y, state = self.step(g_t, state)
            outputs.append(y)
        return torch.stack(outputs), state

    def step(self, g, state=None):
        u = torch.tanh(g) if state is None else self.decay * state[0] + torch.tanh(g)
        return u, (u,)


class LearntLSTM(LSTM):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, filter=LearntFilter(), **options)


LSTMS = {
    "LSTM": (LSTM, {}),
    "Momentum": (MomentumLSTM, {"mu": 0.6, "s": 0.9}),
    "NAG": (NAGLSTM, {"s": 0.7}),
    "SR": (SRLSTM, {"s": 0.7, "restart": 6}),
    "Adam": (AdamLSTM, {"mu": 0.6, "s": 0.9, "beta": 0.1}),
    "RMSProp": (RMSPropLSTM, {"s": 0.6, "beta": 0.9}),
}
ORTHOGONAL = {
    "DTRIV": (DTRIV, {}),
    "Momentum, orthogonal": (MomentumDTRIV, {"mu": 0.6, "s": 0.9}),
    "SR, orthogonal": (SRDTRIV, {"s": 0.3, "restart": 6}),
    "Adam, orthogonal": (AdamDTRIV, {"mu": 0.3, "s": 0.3, "beta": 0.8}),
    "RMSProp, orthogonal": (RMSPropDTRIV, {"s": 0.3, "beta": 0.9, "eps": 1e-16}),
}
CORES = {**LSTMS, **ORTHOGONAL, "a filter of one's own": (LearntLSTM, {})}
EXTREME = {  # that differ from one of these in numbers alone
    "SR, phase 1": (SRLSTM, {"s": 0.7, "restart": 6, "phase": 1}),
    "Adam, slow, eps 1e-16": (AdamLSTM, {"mu": 0.9, "s": 2.0, "beta": 0.999, "eps": 1e-16}),
    "RMSProp, fast": (RMSPropLSTM, {"s": 0.6, "beta": 0.01, "eps": 1e-16}),
    "SR, orthogonal, phase 1": (SRDTRIV, {"s": 0.3, "restart": 6, "phase": 1}),
}


def make_core(name, input_size, hidden_size, backend="fused", **options):
    """A core of `CORES` or `EXTREME` in double precision with random parameters."""
    cls, given = (CORES | EXTREME)[name]
    core = cls(input_size, hidden_size, **given | options, backend=backend).double()
    torch.manual_seed(1)
    core.reset_parameters()  # an orthogonal matrix has an initial base, which is no parameter: in double precision
    return randomised(core)


def run(core, x, state=None, cut=None):
    """Outputs and last state, and the gradients of a random function of them, each by name.

    The filter's state is in that function where it means the same in both backends.
    """
    leaves = {"x": x.detach().requires_grad_(), **dict(core.named_parameters())}
    if state is not None:
        state = state.detach()
        leaves |= named(state)
        for part in named(state).values():
            part.requires_grad_()
    outputs, end = [], state
    for part in (leaves["x"],) if cut is None else (leaves["x"][:cut], leaves["x"][cut:]):
        h, end = core(part, end)
        outputs.append(h)
    results = {"outputs": torch.cat(outputs), **named(end)}
    of_all = [result for name, result in results.items() if not (core.filter.linear and of_filter(name))]
    value = sum((result * noise(*result.shape, seed=i).to(result.device)).sum() for i, result in enumerate(of_all))
    gradients = torch.autograd.grad(value, list(leaves.values()), materialize_grads=True)  # RMSProp has no use for v
    return results, dict(zip(leaves, gradients, strict=True))


def of_filter(name):
    """Whether `run` names so what a filter's state is: a commuting filter's is another in each backend."""
    return name.startswith("filter")


def named(state):
    """The tensors of a core's state by name."""
    return {f"state {i}" if i < len(state) else f"filter {i}": part for i, part in enumerate(tensors(state))}


def assert_same(found, expected, but=lambda name: False, tolerance=1e-12):
    """What `run` gives, but for the names of which `but` holds; results and gradients to the rounding error of each."""
    for one, other in zip(found, expected, strict=True):
        names = [name for name in other if not but(name)]
        assert_all_close([one[name] for name in names], [other[name] for name in names], tolerance)
