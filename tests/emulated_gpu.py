"""An emulated GPU: tensors that lie in CPU memory, and that PyTorch says are on "cuda:0".

It finds, without a GPU, what would break on one (a CPU tensor mixed with a GPU's, `.numpy()` of a GPU tensor, cuDNN's
refusals), and counts what would be slow there: transfers, waits of the CPU for the GPU.

How: a mark on the storage of every tensor of the GPU. Methods of tensors, factories, `torch.cuda.*` and the RNN kernels
are replaced; a TorchDispatchMode sees every operation, forwards and backwards, hands the mark on to its results,
counts, and raises where CUDA would. A tensor that C++ made of no other (a zero gradient) is where it is used.

What it does not see: numerics, speed, memory; kernels that CUDA lacks or that compute otherwise (cuDNN's algorithms,
non-determinism), and what is decomposed otherwise there; asynchrony, streams, CUDA graphs; a second GPU, child
processes; torch.compile, torch.export, torch.func.

Written for torch 2.11.
"""

import contextlib
import functools
import importlib
import os
import sys
import types
from collections import Counter
from collections.abc import Iterator

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

MARK = "_emulated"  # on a torch.UntypedStorage: GPU or FREE; without it, it is on the CPU
GPU, FREE = 0, -1  # FREE: made by C++ of no other tensor
CUDA = torch.device("cuda", 0)

LENGTHS = {"aten::_pack_padded_sequence", "aten::_pad_packed_sequence", "aten::_pack_padded_sequence_backward"}
INDEXED = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}  # indices may be on the CPU
COPIES = {"aten::copy_", "aten::_to_copy", "aten::copy", "aten::set_", "aten::_copy_from"}
# The CPU waits: a Python value or the result's size depends on what is computed.
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount"}
WAITS |= {"equal", "_linalg_svd", "_linalg_check_errors", "linalg_eig", "multinomial"}
FACTORIES = (
    *("arange", "as_tensor", "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "linspace", "normal"),
    *("ones", "ones_like", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "scalar_tensor"),
    *("tensor", "tril_indices", "triu_indices", "zeros", "zeros_like"),
)
NEW = ("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros")


def place_of(tensor: torch.Tensor) -> int | None:
    """GPU, FREE, or None for the CPU."""
    try:
        return tensor.untyped_storage().__dict__.get(MARK)
    except (RuntimeError, NotImplementedError):  # no storage: sparse, torch.func
        return None


def on_gpu(tensor: object) -> bool:
    return isinstance(tensor, torch.Tensor) and place_of(tensor) == GPU


def asked(device: object) -> int | None:
    """The place that a device as torch's functions take it means."""
    if isinstance(device, int) and not isinstance(device, bool):
        return GPU
    return GPU if device is not None and torch.device(device).type == "cuda" else None


def place(result: object, where: int | None) -> object:
    """Mark what is in a result, all of it."""
    for leaf in tree_leaves(result):
        if isinstance(leaf, torch.Tensor):
            storage = leaf.untyped_storage()
            storage.__dict__.pop(MARK, None)
            if where is not None:
                setattr(storage, MARK, where)
    return result


class Emulation(TorchDispatchMode):
    """What was counted: `waits` and `transfers`, by (what, where in the project)."""

    def __init__(self):
        super().__init__()
        self.muted, self.making = False, list[int | None]()
        self.generator = torch.Generator().manual_seed(1).get_state()
        self.reset()

    def reset(self) -> None:
        self.waits, self.transfers = Counter(), Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        about = About(func)
        if self.muted:
            return func(*args, **kwargs)
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        where = self._common(about, func, args, given)
        if where is None and not given:
            where = self.making[-1] if self.making else FREE
        draws = about.random and where == GPU and kwargs.get("generator") is None
        with self.its_generator() if draws else contextlib.nullcontext():
            results = func(*args, **kwargs)
        self._hand_on(about, given, results, where)
        if where == GPU:
            self._count(about, args, kwargs)
        return results

    def _common(self, about, func, args, given) -> int | None:
        """Where the results are; refuses what CUDA would refuse."""
        places = [place_of(tensor) for tensor in given]
        if GPU not in places:
            return FREE if given and all(each == FREE for each in places) else None
        if about.name in COPIES:
            if len(given) == 2 and places[0] != places[1] and None in places:
                self.moved("CPU to GPU" if places[0] is not None else "GPU to CPU")
            return GPU if places[0] == FREE else places[0]
        for tensor, each in zip(given, places, strict=True):
            if each == FREE:
                place(tensor, GPU)
        strangers = [tensor for tensor, each in zip(given, places, strict=True) if each is None]
        if strangers and about.name not in LENGTHS:
            if about.name in INDEXED and on_gpu(args[0]):
                for _ in strangers:
                    self.moved("CPU to GPU, an index")
            elif not about.takes(strangers, args):
                found = ", ".join(f"{tuple(each.shape)} on {'cuda' if on_gpu(each) else 'cpu'}" for each in given)
                raise RuntimeError(f"{func}: Expected all tensors to be on the same device, but found {found}")
        return GPU

    def _hand_on(self, about, given, results, where) -> None:
        known = {id(tensor.untyped_storage()) for tensor in given if not tensor.is_sparse}
        flat = [leaf for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor)] if where is not None else []
        for number, tensor in enumerate(flat):
            if about.name in LENGTHS and number > 0:  # the lengths, which stay on the CPU
                continue
            if id(tensor.untyped_storage()) not in known or (where == GPU and place_of(tensor) == FREE):
                place(tensor, where)

    def _count(self, about, args, kwargs) -> None:
        name = about.name.removeprefix("aten::")
        if name in WAITS or (name == "repeat_interleave" and kwargs.get("output_size") is None):
            self.wait(name)
        masks = (torch.bool, torch.uint8)
        if about.name in INDEXED and any(each is not None and each.dtype in masks for each in args[1]):
            self.wait("index by a mask")

    def wait(self, what: str) -> None:
        self.waits[what, where_it_is()] += 1

    def moved(self, way: str) -> None:
        self.transfers[way, where_it_is()] += 1

    def transferred(self, tensor: torch.Tensor, where: int | None) -> torch.Tensor:
        """The tensor, copied to the GPU, or, None, to the CPU."""
        if place_of(tensor) == where or (place_of(tensor) == FREE and where is None) or tensor.is_meta:
            return tensor
        self.moved("CPU to GPU" if where is not None else "GPU to CPU")
        if tensor.requires_grad and torch.is_grad_enabled():
            return _Moved.apply(tensor, self, where)
        with self.mute():
            return place(tensor.detach().clone(), where)

    @contextlib.contextmanager
    def its_generator(self) -> Iterator[None]:
        """Within it, the default generator is the GPU's."""
        before = torch.default_generator.get_state()
        torch.default_generator.set_state(self.generator)
        try:
            yield
        finally:
            self.generator = torch.default_generator.get_state()
            torch.default_generator.set_state(before)

    @contextlib.contextmanager
    def mute(self) -> Iterator[None]:
        before, self.muted = self.muted, True
        try:
            yield
        finally:
            self.muted = before


def where_it_is() -> str:
    """The innermost line of the package that is being run."""
    frame = sys._getframe(1)
    while frame is not None and f"{os.sep}hidden_dynamics{os.sep}" not in frame.f_code.co_filename:
        frame = frame.f_back
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


@functools.cache
class About:
    """What is looked up once of an operation."""

    def __init__(self, func):
        schema = func._schema
        self.name = schema.name
        self.random = torch.Tag.nondeterministic_seeded in func.tags
        self.foreach = "::_foreach_" in self.name or "::_fused_" in self.name
        self.scalars = torch.Tag.pointwise in func.tags or self.foreach  # takes a scalar of the CPU
        aliases = [each.alias_info for each in schema.arguments]
        self.written = [number for number, each in enumerate(aliases) if each is not None and each.is_write]

    def takes(self, strangers, args) -> bool:
        """Whether these may be on the CPU: scalars that are only read."""
        written = [args[number] for number in self.written if number < len(args)]
        return self.scalars and all(each.dim() == 0 and not any(each is one for one in written) for each in strangers)


class _Moved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, emulation, where):
        ctx.emulation, ctx.back = emulation, GPU if on_gpu(tensor) else None
        with emulation.mute():
            return place(tensor.detach().clone(), where)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.emulation.transferred(gradient, ctx.back), None, None


class _CuDNN(torch.autograd.Function):
    """torch.lstm and its like as one kernel, with the conditions of cuDNN (aten/src/ATen/native/cudnn/RNN.cpp)."""

    @staticmethod
    def forward(ctx, emulation, call, trained, *tensors):
        with emulation.mute(), torch.enable_grad():
            needed = ctx.needs_input_grad[3:]
            leaves = [tensor.detach().requires_grad_(each) for tensor, each in zip(tensors, needed, strict=True)]
            results = call(leaves)
        ctx.emulation, ctx.trained, ctx.leaves, ctx.results = emulation, trained, leaves, results
        return tuple(place(result.detach(), GPU) for result in results)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *gradients):
        if not ctx.trained:
            raise RuntimeError("cudnn RNN backward can only be called in training mode")
        wanted = [leaf for leaf in ctx.leaves if leaf.requires_grad]
        pairs = [(r, g) for r, g in zip(ctx.results, gradients, strict=True) if g is not None and r.requires_grad]
        results, slopes = zip(*pairs, strict=True)
        with ctx.emulation.mute():
            found = iter(torch.autograd.grad(results, wanted, slopes, allow_unused=True))
        each = [next(found) if leaf.requires_grad else None for leaf in ctx.leaves]
        return None, None, None, *(None if gradient is None else place(gradient, GPU) for gradient in each)


def rnn(emulation: Emulation, original):
    @functools.wraps(original)
    def run(data, second, third, fourth, *rest, **options):
        packed = isinstance(second, torch.Tensor) and not second.dtype.is_floating_point
        start, weights = (third, fourth) if packed else (second, third)
        hidden = list(start) if isinstance(start, list | tuple) else [start]
        tensors = [data, *hidden, *weights]
        places = {place_of(tensor) for tensor in tensors} - {FREE}
        if places <= {None} or emulation.muted:
            return original(data, second, third, fourth, *rest, **options)
        if None in places or (packed and on_gpu(second)):
            raise RuntimeError("Input and parameter tensors are not at the same device")
        if not all(state.is_contiguous() for state in hidden) or len({tensor.dtype for tensor in tensors}) > 1:
            raise RuntimeError("rnn: hx is not contiguous, or not all have one type")

        def call(leaves):
            states = leaves[1 : 1 + len(hidden)]
            state, own = (states[0] if isinstance(start, torch.Tensor) else tuple(states)), leaves[1 + len(hidden) :]
            given = (leaves[0], second, state, own) if packed else (leaves[0], state, own, fourth)
            return original(*given, *rest, **options)

        return _CuDNN.apply(emulation, call, rest[3] if packed else rest[2], *tensors)

    return run


@contextlib.contextmanager
def emulated() -> Iterator[Emulation]:
    """Within it, there is a GPU; gives what counts."""
    emulation = Emulation()
    with pytest.MonkeyPatch.context() as patches:
        for patch in (patch_tensors, patch_factories, patch_rnns, patch_optimisers, patch_cuda):
            patch(patches, emulation)
        with emulation:
            yield emulation


def patch_tensors(patches: pytest.MonkeyPatch, emulation: Emulation) -> None:
    tensor, storage = torch.Tensor, torch.UntypedStorage
    device, is_cpu = tensor.device, tensor.is_cpu
    to, numpy, to_list, array, clone = tensor.to, tensor.numpy, tensor.tolist, tensor.__array__, storage.clone
    patches.setattr(tensor, "device", property(lambda self: CUDA if on_gpu(self) else device.__get__(self)))
    patches.setattr(tensor, "is_cuda", property(on_gpu))
    patches.setattr(tensor, "is_cpu", property(lambda self: is_cpu.__get__(self) and not on_gpu(self)))

    def new_to(self, *args, **options):
        if args and isinstance(args[0], torch.Tensor):
            args = args[0].device, args[0].dtype, *args[1:]
        if args and isinstance(args[0], str | torch.device | int):
            options["device"], *args = args
        device = options.pop("device", None)
        options = dict(zip(("dtype", "non_blocking", "copy"), args, strict=False)) | options
        converted = to(self, **{key: value for key, value in options.items() if value is not None})
        return converted if device is None else emulation.transferred(converted, asked(device))

    def refusing(original):
        def method(self, *args, **options):
            if on_gpu(self):
                raise TypeError(f"can't convert cuda:0 device type tensor to numpy, at {where_it_is()}")
            return original(self, *args, **options)

        return method

    def new_list(self):
        if on_gpu(self):
            emulation.wait("tolist()")
        return to_list(self)

    def new_clone(self):  # of a deep copy
        copy = clone(self)
        copy.__dict__.update({MARK: self.__dict__[MARK]} if MARK in self.__dict__ else {})
        return copy

    patches.setattr(tensor, "to", new_to)
    patches.setattr(tensor, "cuda", lambda self, *args, **options: emulation.transferred(self, GPU))
    patches.setattr(tensor, "cpu", lambda self, *args, **options: emulation.transferred(self, None))
    patches.setattr(tensor, "numpy", refusing(numpy))
    patches.setattr(tensor, "__array__", refusing(array))
    patches.setattr(tensor, "tolist", new_list)
    patches.setattr(storage, "clone", new_clone)


def patch_factories(patches: pytest.MonkeyPatch, emulation: Emulation) -> None:
    def factory(original, name):
        as_given = name.endswith("_like") or name.startswith("new_") or name in ("normal", "as_tensor")

        @functools.wraps(original)
        def make(*args, **options):
            device = options.pop("device", None)
            given = [leaf for leaf in tree_leaves((args, options)) if isinstance(leaf, torch.Tensor)]
            marked = any(place_of(tensor) is not None for tensor in given)
            if device is None and as_given and marked:
                return original(*args, **options)
            where = asked(device)
            if name == "as_tensor":
                made = original(*args, **options)
                return made if device is None else emulation.transferred(made, where)
            emulation.making.append(where)
            try:
                with emulation.mute() if marked else contextlib.nullcontext():
                    made = original(*args, **options)
            finally:
                emulation.making.pop()
            if where == GPU and name in ("tensor", "new_tensor"):
                emulation.moved("CPU to GPU")
            return made if options.get("out") is not None else place(made, where)

        return make

    for owner, names in ((torch, FACTORIES), (torch.Tensor, NEW)):
        for name in names:
            patches.setattr(owner, name, factory(getattr(owner, name), name))
    load = torch.load

    def new_load(file, map_location=None, **options):
        where = asked(map_location) if isinstance(map_location, str | torch.device) else None
        content = load(file, map_location=map_location if where is None else "cpu", **options)
        return content if where is None else tree_map_only(torch.Tensor, lambda leaf: place(leaf, where), content)

    patches.setattr(torch, "load", new_load)


def patch_rnns(patches: pytest.MonkeyPatch, emulation: Emulation) -> None:
    table = torch.nn.modules.rnn._rnn_impls  # of nn.RNN
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        wrapped = rnn(emulation, getattr(torch._VF, name))
        patches.setattr(torch._VF, name, wrapped)
        patches.setattr(torch, name, wrapped)
        if name.upper() in table:
            patches.setitem(table, name.upper(), wrapped)
    patches.setattr(torch.nn.RNNBase, "flatten_parameters", lambda self: None)


def patch_optimisers(patches: pytest.MonkeyPatch, emulation: Emulation) -> None:
    """They group tensors by device in C++, which knows of no emulation."""
    foreach, name = torch.utils._foreach_utils, "_group_tensors_by_device_and_dtype"
    grouped = getattr(foreach, name)

    def by_device(lists, with_indices=False):
        first = next((each for each in lists[0] if each is not None), None)
        found = grouped(lists, with_indices).items()
        return {(key[0] if first is None else first.device, key[1]): rest for key, rest in found}

    for module in ("torch.nn.utils.clip_grad", "torch.optim.optimizer", "torch.optim.swa_utils"):
        if hasattr(importlib.import_module(module), name):
            patches.setattr(sys.modules[module], name, by_device)
    patches.setattr(foreach, name, by_device)
    patches.setattr(torch.optim.Optimizer, name, staticmethod(by_device))


def patch_cuda(patches: pytest.MonkeyPatch, emulation: Emulation) -> None:
    def set_state(state, device=None):
        emulation.generator = state.clone()

    def seed(number):
        emulation.generator = torch.Generator().manual_seed(number).get_state()

    about = types.SimpleNamespace(name="emulated", total_memory=80 * 2**30, major=9, minor=0, uuid="emulated")
    of_a_device = {
        **{"get_device_name": "emulated GPU", "get_device_properties": about, "get_device_capability": (9, 0)},
        "get_arch_list": ["sm_90"],
        **dict.fromkeys(("memory_allocated", "max_memory_allocated", "reset_peak_memory_stats", "set_device"), 0),
    }
    instead = {name: lambda device=None, value=value: value for name, value in of_a_device.items()}
    instead |= {"is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0}
    instead |= {"is_initialized": lambda: True, "_lazy_init": lambda: None}
    instead |= {"synchronize": lambda device=None: emulation.wait("synchronize()"), "empty_cache": lambda: None}
    instead |= {"get_rng_state": lambda device=None: emulation.generator.clone(), "set_rng_state": set_state}
    instead |= {"manual_seed": seed, "manual_seed_all": seed, "is_current_stream_capturing": lambda: False}
    for name, value in instead.items():
        patches.setattr(torch.cuda, name, value)
