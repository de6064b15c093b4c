"""What holds of every recurrent core, LSTM or orthogonal: the fused backend is the loop that reads as the equations do,
segments are the whole, and a state goes on, is cut, copied and refused alike."""

import copy
import pickle

import pytest
import torch
from cases import (
    CORES,
    EXTREME,
    LSTMS,
    ORTHOGONAL,
    assert_all_close,
    assert_close,
    assert_same,
    make_core,
    noise,
    of_filter,
    run,
    tensors,
)

from hidden_dynamics.models.recurrent.lstm import SRLSTM

D, N, BATCH, STEPS = 3, 5, 4, 37
BACKENDS = ["fused", "reference"]
every_core = pytest.mark.parametrize("name", CORES)
every_number = pytest.mark.parametrize("name", [*CORES, *EXTREME])
either_backend = pytest.mark.parametrize("backend", BACKENDS)


def make(name, backend="fused"):
    return make_core(name, D, N, backend, **({"K": "inf"} if is_orthogonal(name) else {}))


def is_orthogonal(name):
    return name in ORTHOGONAL or "orthogonal" in name


@every_number
@pytest.mark.parametrize(
    ("steps", "goes_on"), [*((steps, False) for steps in (1, 2, 15, 16, 17, 33, STEPS)), (1, True), (STEPS, True)]
)
def test_fused_is_reference(name, steps, goes_on):
    """From nothing, or from a state that is not 0: its h, c and the filter's."""
    fused, reference = (make(name, backend) for backend in BACKENDS)
    x = noise(steps, BATCH, D, seed=7)
    x[0] = 0  # where h is 0 too, so is what enters modrelu
    start = noise(9, BATCH, D, seed=5)
    found, expected = (run(core, x, core(start)[1] if goes_on else None) for core in (fused, reference))

    def differs(part):
        """A commuting filter's state is filtered before [W, b] in the fused backend, after it in the other."""
        return fused.filter.linear and (of_filter(part) or (goes_on and "_ih_" in part))

    assert_same(found, expected, but=differs)
    if is_orthogonal(name) and steps > 1:
        assert expected[0]["outputs"].eq(0).any()  # modrelu cuts some off


@every_core
@either_backend
@pytest.mark.parametrize("cut", [1, 16, 20])
def test_segments_are_the_whole(name, backend, cut):
    """Of the loop over time to the bit, in either precision."""
    core, x = make(name, backend), noise(STEPS, BATCH, D, seed=7)
    (found, gradients), (whole, expected) = run(core, x, cut=cut), run(core, x)
    assert_same((found, gradients), (whole, expected))
    if backend == "reference":
        assert all(torch.equal(found[part], whole[part]) for part in whole)
        first, middle = core.float()(x[:cut].float())
        assert torch.equal(torch.cat([first, core(x[cut:].float(), middle)[0]]), core(x.float())[0])


@every_core
@either_backend
def test_a_batch_of_no_sequences(name, backend):
    core, x = make(name, backend), noise(STEPS, 0, D)
    h, end = core(x)
    assert h.shape == core(x, end)[0].shape == (STEPS, 0, N)


@every_core
def test_batch_first_and_no_batch(name):
    core, x = make(name), noise(STEPS, BATCH, D, seed=7)
    h, end = core(x)
    swapped = copy.deepcopy(core)
    swapped.batch_first = True
    h_swapped, end_swapped = swapped(x.transpose(0, 1))
    assert_close(h_swapped.transpose(0, 1), h)
    assert_all_close(tensors(end_swapped), tensors(end))
    for layer in (core, swapped):
        h_first, middle = layer(x[:20, 0])
        h_second, single = layer(x[20:, 0], middle)
        assert_close(torch.cat([h_first, h_second]), h[:, 0])
        assert single[0].shape == (1, N)
        assert_all_close(tensors(single), [part[..., 0, :] for part in tensors(end)])


@pytest.mark.parametrize("name", [*CORES, "look-ahead"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda core: pickle.loads(pickle.dumps(core))])
def test_copies(name, copied, monkeypatch):
    monkeypatch.setitem(CORES, "look-ahead", (SRLSTM, {"s": 0.7, "restart": 6, "cell": "look_ahead"}))
    core, x = make(name, "reference" if name == "look-ahead" else "fused"), noise(9, BATCH, D)
    if name in ORTHOGONAL:
        core.record_gradients = True
    core(x)[0].sum().backward()
    other = copied(core)
    assert type(other) is type(core)
    assert torch.equal(other(x)[0], core(x)[0])


@every_number
@either_backend
def test_black_input_stays_finite_in_single_precision(name, backend):
    """At the initial parameters: where the bias is 0 too, g is exactly 0, and eps alone is under the root."""
    cls, options = (CORES | EXTREME)[name]
    core, x = cls(1, 8, **options, backend=backend), torch.zeros(50, 2, 1)
    h, state = core(x)
    h[-1].square().mean().backward()
    gradients = [parameter.grad for parameter in core.parameters()]
    assert all(tensor.isfinite().all() for tensor in (h, *tensors(state), *gradients))
    if name == "DTRIV":  # where z is 0, so is h, whatever b is, and nothing learns
        assert not h.any() and not any(gradient.any() for gradient in gradients)


@pytest.mark.parametrize("name", [*LSTMS, "Adam, slow, eps 1e-16", "RMSProp, fast"])
def test_single_precision_follows_double(name):
    """Of the orthogonal ones, modrelu jumps."""
    double, x = make(name), noise(200, BATCH, D)
    single = copy.deepcopy(double).float()
    assert_close(single(x.float())[0].double(), double(x)[0], tolerance=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 2e-5)])
@every_core
def test_fused_on_a_gpu_is_reference(name, dtype, tolerance):
    fused, reference = (make(name, backend) for backend in BACKENDS)
    x = noise(STEPS, BATCH, D, seed=7)
    found = run(fused.to("cuda", dtype), x.to("cuda", dtype))
    assert_same(found, run(reference, x), but=of_filter, tolerance=tolerance)


COUNTS = [
    # cells, d, N, outputs; with a linear readout (facts, Section 5): no variant adds a parameter
    *((LSTMS, *sizes) for sizes in ((1, 128, 10, 68_362), (1, 256, 10, 267_786), (129, 84, 129, 83_205))),
    *((LSTMS, *sizes) for sizes in ((129, 120, 129, 136_089), (129, 158, 129, 203_159), (10, 190, 9, 155_239))),
    (LSTMS, 2, 128, 1, 67_713),
    *((ORTHOGONAL, *sizes) for sizes in ((1, 170, 10, 16_415), (1, 360, 10, 68_950), (1, 512, 10, 136_970))),
    *((ORTHOGONAL, *sizes) for sizes in ((129, 224, 129, 83_121), (129, 322, 129, 135_208))),
]


@pytest.mark.parametrize(("cells", "d", "n", "outputs", "count"), COUNTS)
def test_parameter_counts(cells, d, n, outputs, count):
    for cls, arguments in cells.values():
        core = cls(d, n, **arguments)
        assert sum(parameter.numel() for parameter in core.parameters()) + outputs * (n + 1) == count


@pytest.mark.parametrize("name", ["Adam", "RMSProp", "Adam, orthogonal", "RMSProp, orthogonal"])
@pytest.mark.parametrize("backends", [BACKENDS, BACKENDS[::-1]])
def test_a_state_that_means_the_same_passes_between_backends(name, backends):
    maker, taker = (make(name, backend) for backend in backends)
    x = noise(STEPS, BATCH, D)
    assert_close(taker(x[9:], maker(x[:9])[1])[0], taker(x)[0][9:])
