"""A process that keeps the memory of its tensors computes the same and maps no pages anew."""

import json
import os
import platform

import pytest
from conftest import printed_by

from hidden_dynamics.system import memory
from hidden_dynamics.system.memory import keep_memory

# Steps of an LSTM whose gates take 79 MB, as they come and as in a training. The first one's faults do not count: that
# memory has to come from somewhere.
STEPS = """
import hashlib, json, resource
import torch
from hidden_dynamics.training import devices

torch.set_num_threads(1)
torch.set_flush_denormal(True)
for arithmetic in (lambda: None, lambda: devices.set_arithmetic(1, "fp32")):
    arithmetic()
    torch.manual_seed(0)
    lstm, x, digest, faults = torch.nn.LSTM(1, 128), torch.rand(300, 128, 1), hashlib.sha256(), []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        lstm.zero_grad()
        output, _ = lstm(x)
        output[-1].square().mean().backward()
        for tensor in (output.detach(), *(parameter.grad for parameter in lstm.parameters())):
            digest.update(tensor.numpy().tobytes())
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    print(json.dumps([digest.hexdigest(), min(faults[1:])]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator alone can be told to keep memory")
def test_a_training_keeps_its_memory_and_its_numbers_to_the_bit():
    (digest, faults), (digest_kept, faults_kept) = map(json.loads, printed_by(STEPS).splitlines())
    assert digest_kept == digest
    assert faults_kept < faults / 10


def test_without_glibc_nothing_is_done(monkeypatch):
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", lambda name: pytest.fail("a C library was loaded"))
    assert keep_memory() is False


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("", {}, None),
        ("0::/a/b\n", {"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "3000000\n"}, 3),
        ("0::/a\n", {"sys/fs/cgroup/memory.max": "max\n"}, None),
    ],
)
def test_the_memory_of_this_machine_is_that_of_the_group_that_a_process_is_in(tmp_path, groups, files, expected):
    for name, content in ({"proc/self/cgroup": groups} | files).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
    assert memory.of_this_machine(tmp_path) == (expected or whole)


def test_the_peak_is_of_what_was_and_of_this_process_alone():
    """In a process that has had no higher peak; its parent has."""
    held = bytearray(400 * 10**6)
    steps = (
        "from hidden_dynamics.system import memory; print(memory.peak()); bytearray(200 * 10**6); print(memory.peak())"
    )
    before, after = map(int, printed_by(steps).split())
    assert 0 < before < 150 <= after - before < 250
    assert memory.peak() > len(held) // 10**6
