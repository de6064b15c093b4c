"""CUDA graphs: the same as the loops over time that they replace, taken where they are faster."""

import subprocess
import sys
from types import SimpleNamespace

import emulated_gpu
import pytest
import torch
from cases import ORTHOGONAL, assert_same, make_core, noise, of_filter, run
from conftest import ROOT
from torch.testing import assert_close

from hidden_dynamics.models.recurrent import cuda_graphs

D, N, BATCH, STEPS = 3, 5, 4, 9


@pytest.fixture(autouse=True)
def graphs(monkeypatch, gpu):
    """On the emulated GPU, a graph computes again what it was captured of, as one kernel, and is faster."""
    for kept in (cuda_graphs._uses, cuda_graphs._chosen):
        kept.clear()
    if gpu is None:
        return

    def capture(function, given):
        results = function(*given)

        def replay():
            with gpu.mute():
                for kept, result in zip(results, function(*given), strict=True):
                    emulated_gpu.place(kept.copy_(result), emulated_gpu.GPU)
            gpu.kernels["graph"] += 1

        return replay, results

    monkeypatch.setattr(cuda_graphs, "capture", capture)
    monkeypatch.setattr(cuda_graphs, "USES", 3)
    monkeypatch.setattr(cuda_graphs, "ratio", lambda plain, other: 2.0)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_a_loop_is_the_same_at_each_of_its_uses(name, gpu):
    """From nothing, and from a state, which means the same in both backends where filters do not commute."""
    fused, reference = (make_core(name, D, N, backend).eval() for backend in ("fused", "reference"))
    fused.to("cuda")
    for use in range(8):
        x, start, there = noise(STEPS, BATCH, D, seed=use), None, None
        if use > 4 and not fused.filter.linear:
            start = reference(noise(3, BATCH, D, seed=use))[1].detach()
            there = start.map(lambda tensor: tensor.to("cuda"))
        assert_same(run(fused, x.to("cuda"), there), run(reference, x, start), but=of_filter, tolerance=1e-9)
    if gpu is not None:
        assert all(way is not key[0] for key, way in cuda_graphs._chosen.items()) and len(cuda_graphs._chosen) == 2
        assert gpu.kernels["graph"] >= 2 * (8 - cuda_graphs.USES)


@pytest.mark.gpu
def test_gradients_are_recorded_through_a_graph():
    recorded = []
    for backend, device in (("fused", "cuda"), ("reference", "cpu")):
        core = make_core("Momentum, orthogonal", D, N, backend).eval().to(device)
        core.record_gradients = True
        for use in range(4):
            core(noise(STEPS, BATCH, D, seed=use).to(device))[0].square().sum().backward()
        recorded.append(core.gradient_norms.cpu())
    assert_close(*recorded)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_an_evaluation_may_be_the_first_use(mode):
    core, x = make_core("DTRIV", D, N).to("cuda"), noise(STEPS, BATCH, D).to("cuda")
    with mode():
        found = [core(x)[0] for _ in range(4)]
    assert_close(found[0], found[-1].clone())
    assert len(cuda_graphs._chosen) == 1
    core(x)[0].sum().backward()


@pytest.mark.gpu
def test_within_a_graph_of_the_users_nothing_is_tried(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    core, x = make_core("DTRIV", D, N).to("cuda"), noise(STEPS, BATCH, D).to("cuda")
    for _ in range(4):
        core(x)
    assert not cuda_graphs._uses


@pytest.mark.gpu
@pytest.mark.parametrize("case", ["taken", "slower", "another result", "another writing", "refused"])
def test_a_graph_is_made_at_the_third_use_and_taken_where_it_is_the_same_and_faster(case, monkeypatch, capsys):
    calls = []

    def function(x, y):
        calls.append(x)
        y.add_(x if case != "another writing" else x * len(calls))
        return (2 * x if case != "another result" else len(calls) * x,)

    def capture(function, given):
        if case == "refused":
            raise torch.OutOfMemoryError("CUDA out of memory\nand more")
        (result,) = function(*given)
        return lambda: (given[1].add_(given[0]), result.copy_(2 * given[0])), (result,)

    monkeypatch.setattr(cuda_graphs, "capture", capture)
    monkeypatch.setattr(cuda_graphs, "ratio", lambda *_: 0.5 if case == "slower" else 2.0)
    for use in range(6):
        x, y = torch.full((2,), float(use), device="cuda"), torch.ones(2, device="cuda")
        before = len(calls)
        (result,) = cuda_graphs.replayed(function, x, y, written=[1])
        if case in ("taken", "slower", "refused"):
            assert result.tolist() == 2 * [2.0 * use] and y.tolist() == 2 * [1.0 + use]
        assert (len(calls) == before) == (case == "taken" and use > 2)
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.gpu
def test_so_many_graphs_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(cuda_graphs, "MOST", 2)

    def twice(x):
        return (2 * x,)

    for size in (1, 2, 3):
        for _ in range(4):
            x = torch.ones(size, device="cuda")
            assert cuda_graphs.replayed(twice, x)[0].tolist() == size * [2.0]
    assert len(cuda_graphs._chosen) == 2


def test_on_a_cpu_a_function_is_just_called():
    assert cuda_graphs.replayed(lambda x, y: (x, y), torch.ones(1), None) == (torch.ones(1), None)
    assert not cuda_graphs._uses


def test_the_ratio_is_of_medians(monkeypatch):
    times = iter([0, 9, 0, 2, 0, 4, 0, 6, 0, 9, 0, 1, 0, 2, 0, 8])
    monkeypatch.setattr(cuda_graphs, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    assert cuda_graphs.ratio(lambda: None, lambda: None) == 2.0


def test_cudnns_warning_of_weights_is_silent_for_the_cells_alone():
    code = """
import warnings
import hidden_dynamics.models.recurrent.lstm as lstm
for module in (lstm.__name__, "my_module"):
    text = "RNN module weights are not part of single contiguous chunk of memory."
    warnings.warn_explicit(text, UserWarning, module, 1, module)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True).stderr
    assert said.count("RNN module weights") == 1 and "my_module" in said
