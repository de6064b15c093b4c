"""No wrong state, input or length reaches a kernel: torch's own, given a state that is too small, write past its end.

All cases are tried in one process of its own, so that a crash is a failure: the last case that it names is the one.
"""

import copy
import os
import subprocess
import sys
from itertools import product

import torch
from cases import LSTMS, ORTHOGONAL, LearntFilter, make_core, noise
from torch.func import functional_call
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from hidden_dynamics.models.ragged import run_ragged
from hidden_dynamics.models.recurrent.lstm import LSTM, SRLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV
from hidden_dynamics.system.files import ROOT

D, N, BATCH, STEPS = 3, 5, 2, 6
BACKENDS = ("fused", "reference")
WRONG_POSITIONS = [(repr(each), each) for each in (-1, 2.5, True, None, "3", torch.tensor(3))]
WRONG_POSITIONS += [("one below 0", torch.tensor([[-1], [3]])), ("a row", torch.tensor([[3, 3]]))]
NAMES = [*LSTMS, *ORTHOGONAL]


def cores(input_size=D, hidden_size=N):
    """Every cell with both backends, in double precision."""
    made = {f"{n}, {b}": make_core(n, input_size, hidden_size, b) for n in NAMES for b in BACKENDS}
    made |= {f"{n}, deep": make_core(n, input_size, hidden_size, num_layers=2, bidirectional=True) for n in NAMES}
    return made | {"look-ahead": SRLSTM(input_size, hidden_size, s=0.7, cell="look_ahead").double()}


def wrong_tensors(good):
    """In the place of a (..., batch, channels)."""
    rows, last = good.dim() - 2, good.dim() - 1
    yield "narrower", good.narrow(last, 0, 1)
    yield "wider", torch.cat([good, good], last)
    yield "one sequence for two", good.narrow(rows, 0, 1)
    yield "more sequences", torch.cat([good, good], rows)
    yield "two layers", torch.cat([good[None], good[None]])[:, 0] if good.dim() == 3 else torch.stack([good, good])
    yield "a dimension more", good[None]
    yield "a dimension less", good[0]
    yield "no dimension", good.sum()
    yield "the batch last", good.transpose(-1, -2)
    yield "float32", good.float()
    yield "int64", good.long()
    yield "another device", good.to("meta")
    yield "an array", good.detach().numpy()
    yield "a number", 0.0


def wrong_filter_states(good):
    yield from {"a string": "state", "in a tuple": (good,), "of three": (good, good, good)}.items()
    if isinstance(good, torch.Tensor):
        yield from (*wrong_tensors(good), ("a position", 3))
    elif not isinstance(good, tuple):
        yield from WRONG_POSITIONS
    else:
        for index, part in enumerate(good):
            for name, each in wrong_filter_states(part):
                yield f"part {index}, {name}", (*good[:index], each, *good[index + 1 :])


def wrong_states(core, end, ends):
    """Beside the (h, c) or h of the core's own `end`; `ends`: of all cells, of which some mean the same."""
    own = list(end)
    for index, good in enumerate(own):
        for name, wrong in wrong_tensors(good):
            parts = [*own[:index], wrong, *own[index + 1 :]]
            yield f"{'hc'[index]}, {name}", tuple(parts) if len(parts) == 2 else parts[0]
            yield f"{'hc'[index]} with the filter's, {name}", type(end)(parts, end.filter)
    yield from {"a string": "h", "a dict": {}, "nothing in it": (), "of three": (*own, *own, *own)[:3]}.items()
    if end.filter[0] is None:
        yield "a filter's state for a core without", type(end)(own, (noise(BATCH, N),))
    else:
        for name, wrong in wrong_filter_states(end.filter):
            yield f"filter's, {name}", type(end)(own, wrong)
    for name, other in ends.items():
        if type(other) is not type(end) or other.maker != end.maker:
            yield f"made by {name}", other


def wrong_inputs(good):
    for name, wrong in wrong_tensors(good):
        if name not in ("one sequence for two", "more sequences", "two layers", "a dimension less"):
            yield name, wrong
    yield "no steps", good[:0]
    yield "nothing", None
    for name, wrong in (("narrower", good[..., :1]), ("float32", good.float()), ("another device", good.to("meta"))):
        yield f"packed, {name}", pack_padded_sequence(wrong, torch.tensor([STEPS, 2]))
    data = good.flatten(0, 1)[:5]
    for sizes in ([2, -1, 4], [1, 2, 2], [2, 2], [2, 3], [3, 2, 0], []):
        yield f"packed, batch sizes {sizes}", PackedSequence(data, torch.tensor(sizes, dtype=torch.int64))
    for order in (torch.tensor([0]), torch.tensor([0, 1, 2]), torch.tensor([[1, 0]])):
        for given in ((order, None), (None, order)) if order.dim() == 1 else ((None, order),):
            yield f"packed, indices {order.tolist()}", PackedSequence(data, torch.tensor([2, 2, 1]), *given)


class Misshapen(LearntFilter):
    """A filter whose result, of all steps or of one, has another shape."""

    def __init__(self, change, linear):
        super().__init__()
        self.change, self.linear = change, linear

    def forward(self, g, state=None):
        return self.change(g), None if self.linear else (g[-1],)

    step = forward


CHANGES = {
    "fewer channels": lambda g: g[..., :1],
    "more channels": lambda g: torch.cat(10 * [g], -1),
    "fewer steps": lambda g: g[:-1],
    "a batch of one": lambda g: g.narrow(-2, 0, 1),
    "float32": lambda g: g.float(),
}


def wrong_lengths():
    good = torch.tensor([STEPS, 2])
    yield from {"a list": [STEPS, 2], "an array": good.numpy(), "int32": good.int(), "float": good.double()}.items()
    yield from {"ascending": good.flip(0), "too long": good + 1, "none": good * 0, "negative": -good}.items()
    yield from {"one": good[:1], "three": torch.tensor([3, 2, 1]), "of two dimensions": good[None]}.items()
    yield from {"another device": good.to("meta"), "no dimension": good.sum(), "nothing": None}.items()


def cases():
    """(name, function): each function is to raise a ValueError."""
    x, made = noise(STEPS, BATCH, D), cores()
    ends = {name: core(x)[1] for name, core in made.items()}
    for name, core in made.items():
        for about, state in wrong_states(core, ends[name], ends):
            yield f"{name}: state: {about}", lambda core=core, state=state: core(x, state)
        for about, each in wrong_inputs(x):
            yield f"{name}: input: {about}", lambda core=core, each=each: core(each)
        for about, lengths in wrong_lengths():
            yield f"{name}: lengths: {about}", lambda core=core, lengths=lengths: run_ragged(core, x, lengths)
        yield (f"{name}: lengths: of x without a batch", lambda c=core: run_ragged(c, x[:, 0], torch.tensor([1, 1, 1])))
        yield f"{name}: one sequence: state of a batch", lambda core=core, name=name: core(x[:, 0], ends[name])
        yield f"{name}: a batch: state of one sequence", lambda core=core: core(x, core(x[:, 0])[1])
        first = copy.deepcopy(core)
        first.batch_first = True
        yield f"{name}: batch_first: state of T sequences", lambda core=first, name=name: core(x, ends[name])
        yield f"{name}: batch_first: lengths", lambda core=first: run_ragged(core, x, torch.tensor([STEPS, 2]))
        weights = {key: each for key, each in core.named_parameters() if key.startswith(("weight", "bias"))}
        for key, each in weights.items():
            for about, wrong in (("fewer rows", each[:-1]), ("narrower", each[..., :1]), ("float32", each.float())):
                yield f"{name}: {key}: {about}", lambda core=core, k=key, w=wrong: functional_call(core, {k: w}, (x,))
    options = [(cell, linear, backend) for cell in (LSTM, DTRIV) for linear in (0, 1) for backend in BACKENDS]
    for (cell, linear, backend), (about, change) in product(options, CHANGES.items()):
        own = cell(D, N, filter=Misshapen(change, bool(linear)), backend=backend, dtype=torch.float64)
        yield f"{cell.__name__}, {linear}, {backend}: a filter of one's own: {about}", lambda core=own: core(x)
    for name, core in cores(D + 1, N + 1).items():
        other = core(noise(STEPS, BATCH, D + 1))[1]
        yield f"{name}: state: of another layer's size", lambda core=made[name], other=other: core(x, other)


def try_all():
    """One line per case: its name, flushed before it is run, and what it raised."""
    for name, case in cases():
        print(f"{name} -> ", end="", flush=True)
        try:
            case()
            print("accepted")
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace("\n", " "))


def test_nothing_wrong_reaches_a_kernel():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    code = "import test_wrong_states; test_wrong_states.try_all()"
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    lines = child.stdout.splitlines()
    assert child.returncode == 0, f"died in {lines[-1:]}: {child.stderr}"
    assert len(lines) > 250
    assert [line for line in lines if "-> ValueError: " not in line] == []
