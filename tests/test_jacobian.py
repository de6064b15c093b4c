"""∂L/∂h_t of cells with a filtered input: each equation of docs/jacobian.md, and the figure of all."""

import measure_jacobian
import pytest
import torch
from drawn import FigureRuns, line, panels_of
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from hidden_dynamics.measurements import jacobian
from hidden_dynamics.measurements.jacobian import FILTERS, carried, gradients
from hidden_dynamics.models.momentum.filters import Adam, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.recurrent.orthogonal import DTRIV

NAME = "momentumrnn_jacobian"
MOMENTUM = Momentum(0.6, 0.6)
shares, steps = st.floats(0, 0.99), st.floats(0.01, 2)
filters = st.one_of(
    st.builds(Momentum, shares, steps),
    st.builds(Nesterov, steps, st.none() | st.integers(1, 20), st.integers(0, 3)),
    st.builds(Adam, shares, steps, shares),
    st.builds(RMSProp, steps, shares),
)


class PartlyDead(DTRIV):
    """One whose modReLU holds many units at 0."""

    def reset_parameters(self):
        super().reset_parameters()
        torch.nn.init.constant_(self.bias_l0, -0.5)


@given(st.sampled_from(["tanh", "DTRIV"]), st.booleans(), filters, st.integers(0, 2**31), st.integers(1, 20))
def test_autograd_is_eq_11_without_a_term_of_momentum(core, dead, own, seed, length):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jacobian, "DTRIV", PartlyDead if dead else DTRIV)
        autograd, product, *_ = gradients(core, own, seed, length)
    assert ((autograd - product).norm(dim=1) <= 1e-10 * autograd.norm(dim=1)).all()


def test_norms_of_an_orthogonal_cell_fall_by_dead_units_alone(monkeypatch):
    norms = gradients("DTRIV", MOMENTUM)[0].norm(dim=1)
    assert_close(norms, norms[-1].expand_as(norms), rtol=1e-3, atol=0)  # of 32 units few are at 0 at any step
    monkeypatch.setattr(jacobian, "DTRIV", PartlyDead)
    norms = gradients("DTRIV", MOMENTUM)[0].norm(dim=1)
    assert (norms.diff() >= -1e-12).all() and norms[0] < norms[-1] / 2


@pytest.mark.parametrize("name", FILTERS)
def test_what_momentum_adds_is_in_the_gradient_of_the_filtered_input(name):
    """By autograd with respect to what is added to each v_t, which the filter's state then keeps."""
    torch.manual_seed(0)
    own, (_, g, matrix, *_) = FILTERS[name], jacobian._tanh(FILTERS[name], 60)
    added, h, state = torch.zeros_like(g).requires_grad_(), torch.zeros(1, g.shape[1], dtype=g.dtype), None
    for g_t, e_t in zip(g.split(1), added.split(1), strict=True):
        y, state = own.step(g_t, state)
        if isinstance(own, Adam):
            state = state[0] + e_t * (state[1] + own.eps).sqrt(), state[1]
        else:
            state = (state[0] + e_t, state[1]) if isinstance(own, Nesterov) else state + e_t
        h = torch.tanh(y + e_t + h @ matrix)
    (expected,) = torch.autograd.grad(h.square().sum(), added)
    assert_close(gradients("tanh", own)[3], expected, rtol=1e-9, atol=0)


def test_both_paths_of_eq_12_are_the_gradient_of_the_filtered_input_and_eq_13_is_neither():
    """Eq. 12 gives the states of Eq. 9. Autograd through it, on both paths, is Σ_t dL/dv_t."""
    length = 12
    torch.manual_seed(0)
    states, g, matrix, slope, inverse = jacobian._tanh(MOMENTUM, length)
    h = [torch.zeros_like(states[0]), states[0].detach().requires_grad_()]
    for t in range(1, length):
        h.append(torch.tanh((h[t] - 0.6 * h[t - 1]) @ matrix + 0.6 * h[t].atanh() + 0.6 * g[t]))
    assert_close(torch.cat(h[1:]), torch.cat(list(states)))
    both = torch.cat(torch.autograd.grad(h[-1].square().sum(), h[1:]))
    _, _, claimed, to_input = gradients("tanh", MOMENTUM, steps=length)
    assert_close(both, inverse * to_input, rtol=1e-6, atol=0)
    assert (both - claimed)[: length // 2].norm() > claimed[: length // 2].norm() / 2


def test_the_numbers_of_the_review():
    """Of a script of its own, without this project's filters: 2.690e-15, 2.690e-15 and 6.5e+02."""
    norms = [each[0].norm().item() for each in gradients("tanh", MOMENTUM)[:3]]
    assert norms[:2] == pytest.approx([2.690e-15, 2.690e-15], rel=1e-3, abs=0)
    assert norms[2] == pytest.approx(650, rel=0.01)
    assert carried(RMSProp(0.6, 0.9), torch.ones(3, 2, dtype=torch.float64)).abs().max() == 0


def test_a_panel_has_the_norms_and_the_table_those_of_the_first_step(tmp_path):
    runs = FigureRuns(tmp_path, NAME)
    figure, rows = runs.draw(), runs.evidence().gradients
    panels = {ax.get_title(): ax for ax in panels_of(figure)}
    assert "Eq. 11 in 12 of 12 cells, Eq. 13 in 2 of 12" in figure.notes[1]  # without momentum they are one
    assert len(panels) == 12 and len(figure.table.splitlines()) == 2 + len(panels)
    for column in ("autograd", "product", "claimed", "input"):
        x, y = line(panels["tanh, momentum, μ = 0.6"], column)
        assert list(x) == list(range(1, 61)) and list(y) == [getattr(row, column) for row in rows[:60]]
        assert f"{getattr(rows[0], column):.3g}" in figure.table and list(figure.data[column][:60]) == list(y)


def test_the_step_writes_what_the_figure_reads_and_refuses_another_artifact(ended, tmp_path):
    settings = {"results": str(tmp_path), "scale": "demo"}
    assert ended(measure_jacobian.main, "--artifact", NAME, settings=settings).code in (0, None)
    assert (tmp_path / f"demo/jacobian/{NAME}.csv").read_text().count("\n") == 1 + 12 * 60
    assert ended(measure_jacobian.main, "--artifact", "momentumrnn_figure8", settings=settings).code == 1
