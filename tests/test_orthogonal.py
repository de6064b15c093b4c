"""The orthogonal matrix and the orthogonal RNN: closed forms, and the fused backend against the loop that reads as the
equations do."""

import copy
import math

import pytest
import scipy.linalg
import torch
from cases import Watching, assert_all_close, assert_close, make_core, noise
from torch import nn

from hidden_dynamics.models.recurrent.modrelu import modrelu
from hidden_dynamics.models.recurrent.orthogonal import DTRIV, MomentumDTRIV
from hidden_dynamics.models.recurrent.trivialisation import (
    DynamicTrivialisation,
    angles,
    exponential,
    nearest_orthogonal,
)

D, N, BATCH, STEPS = 3, 6, 4, 23


def orthogonal(size, K="inf", scale=0.0, dtype=torch.float64):
    """A trivialisation in training mode with a random A of that scale."""
    torch.manual_seed(0)
    module = DynamicTrivialisation(size, K).to(dtype)
    module.reset_parameters()
    with torch.no_grad():
        module.skew.copy_(scale * noise(module.skew.shape[0], seed=1))
    return module


def make(name, backend="fused"):
    return make_core(name, D, N, backend, K="inf")


def pair(name):
    return [make(name, backend) for backend in ("fused", "reference")]


def off_orthogonal(matrix):
    """||Q^T Q - I|| in the Frobenius norm."""
    matrix = matrix.detach().double()
    return torch.linalg.matrix_norm(matrix.T @ matrix - torch.eye(matrix.shape[0], dtype=torch.float64)).item()


def skew_of(vector, size):
    """A as the docstring says, by another way than the module's."""
    matrix, entries = torch.zeros(size, size, dtype=vector.dtype), iter(vector)
    for i in range(size):
        for j in range(i + 1, size):
            matrix[i, j] = next(entries)
    return matrix - matrix.T


@pytest.mark.parametrize("size", [1, 2, 5, 12])
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0, 10.0, 50.0])
def test_the_exponential_and_their_derivative_are_scipys(size, scale):
    """torch.matrix_exp is not exact enough where the norm is about 0.03."""
    module, weight = orthogonal(size, scale=scale), noise(size, size, seed=8)
    a, tolerance = module.skew_matrix(), 1e-13 if scale <= 10 else 1e-12
    assert torch.equal(a, skew_of(module.skew.detach(), size))
    assert_close(exponential(a), torch.from_numpy(scipy.linalg.expm(a.detach().numpy())), tolerance)
    assert_close(module(), module.base @ torch.from_numpy(scipy.linalg.expm(a.detach().numpy())), tolerance)
    if size == 1:
        return
    (grad,) = torch.autograd.grad((module() * weight).sum(), module.skew)
    slopes = []
    for vector in torch.eye(module.skew.shape[0], dtype=torch.float64):
        slope = scipy.linalg.expm_frechet(a.detach().numpy(), skew_of(vector, size).numpy(), compute_expm=False)
        slopes.append((module.base @ torch.from_numpy(slope) * weight).sum())
    assert_close(grad, torch.stack(slopes).detach(), tolerance)


def test_single_precision_is_orthogonal_where_its_own_exponential_is_not_and_has_the_gradient_of_double():
    module = orthogonal(100, scale=0.2, dtype=torch.float32)
    assert off_orthogonal(torch.matrix_exp(module.skew_matrix())) > 1e-5
    assert off_orthogonal(module()) < 1e-6
    double, weight = orthogonal(20, scale=0.3), noise(20, 20, seed=8)
    single = copy.deepcopy(double).float()
    grads = [torch.autograd.grad((m() * weight.to(m.base.dtype)).sum(), m.skew)[0] for m in (single, double)]
    assert_close(grads[0].double(), grads[1], 1e-5)


def test_gradient_at_zero_needs_no_exponential():
    module = orthogonal(5, K=1)

    def note(name, result):
        assert name != "aten.linalg_matrix_norm.default" and "addmm" not in name

    with Watching(note):
        module().sum().backward()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_diverged_stays_visible(value):
    module = orthogonal(4)
    with torch.no_grad():
        module.skew[0] = value
    assert not module().isfinite().all()


@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize(("initialisation", "low", "high"), [("cayley", -1, 0), ("henaff", -math.pi, math.pi)])
def test_initial_matrix_is_plane_rotations(size, initialisation, low, high):
    torch.manual_seed(3)
    d = angles(initialisation, size // 2)
    assert ((low < d) & (d < high)).all()
    torch.manual_seed(3)
    module = DynamicTrivialisation(size, initialisation=initialisation)
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in d]
    expected = torch.block_diag(*blocks, *[torch.ones(1, 1)] * (size % 2))
    torch.testing.assert_close(module.base, expected.float(), atol=1e-7, rtol=0)
    assert torch.equal(module(), module.base)
    assert not module.skew.any()


def test_distribution_of_the_initial_angles():
    """Of -tan(theta / 2), theta uniform on (0, pi / 2), the mean is -(2 / pi) log 2; of a henaff angle, 0."""
    torch.manual_seed(0)
    assert angles("cayley", 100_000).mean().item() == pytest.approx(-2 * math.log(2) / math.pi, abs=4e-3)
    henaff = angles("henaff", 100_000)
    assert henaff.mean().item() == pytest.approx(0, abs=0.03)
    assert henaff.var().item() == pytest.approx(math.pi**2 / 3, rel=0.02)


def test_a_step_at_interval_1_is_riemannian_descent():
    """B := B exp(-lr S), S the gradient in the tangent space at B, by SGD."""
    module, weight, lr = orthogonal(5, K=1), noise(5, 5, seed=8), 0.1
    optimiser = torch.optim.SGD([module.skew], lr=lr)
    base = module.base.clone()
    for _ in range(5):
        optimiser.zero_grad()
        (module() * weight).sum().backward()
        optimiser.step()
        base = base @ torch.matrix_exp(-lr * (base.T @ weight - weight.T @ base))
    assert_close(module(), base)
    assert_close(module.base, base)
    assert not module.skew.any()


@pytest.mark.parametrize("K", [1, 3, "inf"])
def test_moving_the_base_changes_no_value(K):
    """Training sees the matrix that evaluation saw after the step, and the base moves at every K-th step."""
    module = orthogonal(5, K=K)
    optimiser, bases = torch.optim.SGD([module.skew], lr=0.1), []
    for _ in range(7):
        optimiser.zero_grad()
        (module() * noise(5, 5, seed=8)).sum().backward()
        optimiser.step()
        with torch.no_grad():
            evaluated = module.eval()()
        assert_close(module.train()(), evaluated)
        bases.append(module.base.clone())
    moved = [not torch.equal(a, b) for a, b in zip(bases, bases[1:], strict=False)]
    assert moved == {1: [True] * 6, 3: [False, True, False, False, True, False], "inf": [False] * 6}[K]


@pytest.mark.parametrize("K", [1, 2])
def test_every_hundredth_base_is_projected(K):
    """The base is put off the orthogonal matrices: it stays off until the hundredth move."""
    module = orthogonal(4, K=K)
    with torch.no_grad():
        module.base.mul_(1.001)
    errors = []
    for i in range(102 * K):
        with torch.no_grad():
            module.skew.add_(0.01 * noise(6, seed=i))
        module()
        errors.append(off_orthogonal(module.base))
    assert min(errors[: 100 * K - 1]) > 1e-3
    assert max(errors[100 * K - 1 :]) < 1e-12


def test_nearest_orthogonal():
    """Of Q S with S symmetric positive definite, it is Q."""
    q, s = torch.linalg.qr(noise(5, 5))[0], noise(5, 5, seed=1)
    assert_close(nearest_orthogonal(q @ (s @ s.T + torch.eye(5))), q)


@pytest.mark.parametrize("name", ["DTRIV", "Momentum, orthogonal"])
def test_gradient_through_the_last_state_alone(name):
    """Without a gradient for the h of all steps, the backward takes another way."""
    x = noise(STEPS, BATCH, D, seed=7)
    grads = []
    for model, last in zip(pair(name), (lambda h, end: end.h[0], lambda h, end: h[-1]), strict=True):
        grads.append(torch.autograd.grad(last(*model(x)).square().sum(), list(model.parameters())))
    assert_all_close(*grads)


@pytest.mark.parametrize("backend", ["fused", "reference"])
def test_momentum_is_the_equation(backend):
    """v = mu v + s W x; h = modrelu(v + h Q), written out."""
    model, x = make("Momentum, orthogonal", backend), noise(STEPS, BATCH, D, seed=7)
    h, v = torch.zeros(BATCH, N, dtype=torch.float64), torch.zeros(BATCH, N, dtype=torch.float64)
    q, b, outputs = model.orthogonal_l0(), model.bias_l0, []
    for x_t in x:
        v = 0.6 * v + 0.9 * nn.functional.linear(x_t, model.weight_ih_l0)
        z = v + (q.T @ h.T).T
        h = torch.where(z.abs() + b > 0, z + b * z.sign(), 0.0)
        outputs.append(h)
    actual, end = model(x)
    assert_all_close([actual, end.h[0]], [torch.stack(outputs), h])


def test_segments_share_the_matrix_until_it_changes():
    """One exponential for a sequence in segments; another one after an optimiser step, or for training."""
    model, x = make("DTRIV"), noise(9, BATCH, D)
    _, first = model(x[:4])
    _, second = model(x[4:], first)
    assert second.matrices[0][0] is first.matrices[0][0]
    with torch.no_grad():
        _, evaluated = model(x[:4])
        assert not evaluated.matrices[0][0].requires_grad
    assert model(x[4:], evaluated)[1].matrices[0][0].requires_grad
    with torch.no_grad():
        model.orthogonal_l0.skew.add_(0.1)
    h, after = model(x[4:], second)
    assert not torch.equal(after.matrices[0][0], second.matrices[0][0])
    assert_close(h, model(x[4:], second.detach())[0])


@pytest.mark.parametrize("name", ["Momentum, orthogonal", "Adam, orthogonal"])
@pytest.mark.parametrize("last_only", [False, True])
def test_recorded_norms_are_those_of_retained_gradients(name, last_only):
    fused, reference = pair(name)
    x = noise(STEPS, BATCH, D, seed=7)
    kept, y_state, h = [], None, torch.zeros(BATCH, N, dtype=torch.float64)
    q = reference.orthogonal_l0()
    for x_t in x:
        y, y_state = reference.filter.step(x_t @ reference.weight_ih_l0.T, y_state)
        h = modrelu(y + h @ q, reference.bias_l0)
        h.retain_grad()
        kept.append(h)
    weight = noise(STEPS, BATCH, N, seed=4)
    if last_only:
        weight[:-1] = 0
    (torch.stack(kept) * weight).sum().backward()
    expected = torch.stack([h.grad.norm() for h in kept])
    for model in (fused, reference):
        assert model.gradient_norms is None
        model(x)[0].sum().backward()
        assert model.gradient_norms is None
        model.record_gradients = True
        (model(x)[0] * weight).sum().backward()
        assert_close(model.gradient_norms, expected)
        with torch.no_grad():
            model(x)  # an evaluation leaves it alone
        assert_close(model.gradient_norms, expected)


def test_initialisation():
    """W: Kaiming normal, fan in, for a relu: std sqrt(2 / d)."""
    torch.manual_seed(0)
    model = DTRIV(129, 400)
    assert model.weight_ih_l0.std().item() == pytest.approx(math.sqrt(2 / 129), rel=0.02)
    assert model.bias_l0.abs().max() < 0.01
    assert model.bias_l0.min() < -0.009 and model.bias_l0.max() > 0.009


def test_a_changed_output_is_noticed():
    """Backward reads h: writing over it would give wrong gradients."""
    h, _ = make("DTRIV")(noise(5, BATCH, D))
    value = h.square().sum()
    with torch.no_grad():
        h.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def test_memory_of_a_step():
    """The recurrence keeps one tensor of h's size, and backward makes one more."""
    model, x = MomentumDTRIV(1, 16, mu=0.6, s=0.6), torch.rand(50, 8, 1)
    large = []

    def note(name, result):
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().nbytes() >= 50 * 8 * 16 * 4:
                large.append(tensor.untyped_storage())

    with Watching(note):
        _, state = model(x)
        assert len({storage.data_ptr() for storage in large}) == 1
        state.h.sum().backward()
    assert len({storage.data_ptr() for storage in large}) == 2


@pytest.mark.slow
@pytest.mark.parametrize("K", [1, "∞"])
def test_single_precision_stays_orthogonal_in_training(K):
    torch.manual_seed(0)
    model = MomentumDTRIV(1, 32, mu=0.6, s=0.9, K=K)
    trainers = {
        "main": torch.optim.RMSprop(model.parameter_groups()["main"], lr=7e-4),
        "orthogonal": torch.optim.RMSprop(model.parameter_groups()["orthogonal"], lr=2e-3),
    }
    start, largest = model.orthogonal_l0().detach(), 0.0
    for i in range(250):
        for trainer in trainers.values():
            trainer.zero_grad()
        x = noise(6, 8, 1, seed=i).float()
        (model(x)[0][-1].sum(1) - x[0, :, 0]).square().mean().backward()
        for trainer in trainers.values():
            trainer.step()
        largest = max(largest, off_orthogonal(model.orthogonal_l0()), off_orthogonal(model.orthogonal_l0.base))
    assert largest < 1e-5
    assert torch.linalg.matrix_norm(model.orthogonal_l0() - start) > 0.5
