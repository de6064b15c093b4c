"""Shared by many test files: refusals, scripts run in the test's process, a configuration to change."""

import contextlib
import copy
import functools
import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
import yaml
from hypothesis.internal.conjecture import providers

from hidden_dynamics import configuration as configurations
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.system.files import ROOT

# pytest draws the same examples whenever and wherever it runs; a search (CONTRIBUTING.md) draws others. Hypothesis
# would choose some of them among the constants of whatever modules are loaded, and so by the tests that ran before.
hypothesis.settings.register_profile("pytest", hypothesis.settings.get_profile("ci"), max_examples=50)
hypothesis.settings.load_profile("pytest")
hypothesis.settings.register_profile("search", derandomize=False, max_examples=2000)
constants_of_modules, no_constants = providers._get_local_constants, providers.Constants()
providers._get_local_constants = lambda: (
    no_constants if hypothesis.settings.default.derandomize else constants_of_modules()
)


@pytest.fixture(autouse=True, scope="session")
def nothing_waits_for_the_disk() -> Iterator[None]:
    """No test loses power: `os.fsync` is most of the time that restoring runs takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def wait_until(condition: Callable[[], Any]) -> Any:
    """What `condition` gives once that is true; an error after ten minutes, which no machine should take."""
    deadline = time.monotonic() + 600
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)
    return found


@contextmanager
def refused(word: str | None = None, file: object = None, key: str | None = None) -> Iterator[None]:
    """What is within ends with a `UserError` that names this file and key and says a word, a pattern; None: any."""
    with pytest.raises(UserError, match=word) as error:
        yield
    assert file is None or error.value.file == str(file)
    assert key is None or error.value.key == key


def printed_by(code: str, *arguments: str) -> str:
    """What a Python of its own prints, which runs this code in the repository."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file can be written beyond this size, in bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Ended(NamedTuple):
    """How a script ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[..., Ended]:
    """Runs the `main` of a script in this process, with arguments and what the workflow hands over as settings."""

    def run(main: Callable[[], int | None], *arguments: object, settings: dict[str, Any] | None = None) -> Ended:
        monkeypatch.setattr(sys, "argv", ["script.py", *map(str, arguments)])
        monkeypatch.delenv("HIDDEN_DYNAMICS_CONFIG", raising=False)
        if settings is not None:
            monkeypatch.setenv("HIDDEN_DYNAMICS_CONFIG", json.dumps(settings))
        with pytest.raises(SystemExit) as stopped:
            run_main(main)
        return Ended(stopped.value.code, *capsys.readouterr())

    return run


def pytest_configure(config: pytest.Config) -> None:
    """One thread for what a test computes, in its process or in one that it starts.

    A worker of pytest has one core to itself, and the tensors are small: two threads would mostly wait for one another.
    Set before anything imports torch, which reads it then.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_finish() -> None:
    """What is imported stays, and is not looked through again; the scripts that were imported have turned that off."""
    gc.freeze()
    gc.enable()


MISSING = "missing"  # stands for a key that is taken away


class Project:
    """A copy of config.yaml and config/ to change."""

    def __init__(self, directory: Path):
        self.directory = directory
        shutil.copytree(ROOT / "config", directory / "config")
        shutil.copy(ROOT / "config.yaml", directory)

    def read(self, file: str) -> Any:
        return yaml.safe_load((self.directory / file).read_text(encoding="utf-8"))

    def write(self, file: str, content: Any) -> None:
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        (self.directory / file).write_text(text, encoding="utf-8")

    def set(self, file: str, path: str, value: Any) -> None:
        """Give `value` to a key, such as "mnist.training.epochs"; MISSING takes it away."""
        content = self.read(file)
        *parents, key = path.split(".")
        place = content
        for parent in parents:
            place = place[int(parent) if isinstance(place, list) else parent]
        if value is MISSING:
            del place[key]
        else:
            place[key] = value
        self.write(file, content)

    def load(self, **settings: Any) -> configurations.Configuration:
        return configurations.load(self.read("config.yaml") | settings, self.directory)


@pytest.fixture(autouse=True)
def arithmetic() -> Iterator[None]:
    """What a training or a script sets for its whole process is put back: that process is the other tests', too."""
    torch = sys.modules.get("torch")  # a test that needs no torch does not import it
    if torch is None:
        yield
        return
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    deterministic = torch.get_deterministic_debug_mode(), torch.utils.deterministic.fill_uninitialized_memory
    before = torch.get_num_threads(), cudnn.benchmark, cudnn.deterministic, matmul.allow_tf32, cudnn.allow_tf32
    yield
    torch.set_num_threads(before[0])
    torch.set_flush_denormal(False)
    torch.set_deterministic_debug_mode(deterministic[0])
    torch.utils.deterministic.fill_uninitialized_memory = deterministic[1]
    cudnn.benchmark, cudnn.deterministic, matmul.allow_tf32, cudnn.allow_tf32 = before[1:]


@pytest.fixture(autouse=True)
def gpu(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Tests that are marked `gpu` have one: the machine's (this then gives None), else an emulated one."""
    if request.node.get_closest_marker("gpu") is None:
        yield None
        return
    import torch
    from emulated_gpu import emulated

    with emulated() if not torch.cuda.is_available() else contextlib.nullcontext() as emulation:
        yield emulation


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Tests, and what they start, hear SIGINT and SIGTERM even where pytest ignores them: in a script's background."""
    before = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {signum: signal.signal(signum, handler) for signum, handler in before.items()}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@functools.cache
def configuration_of(settings: str) -> configurations.Configuration:
    """The shipped configuration with settings, as JSON: a third of a second each, and many tests ask for the same."""
    return configurations.load(configurations.read_yaml(ROOT / "config.yaml") | json.loads(settings))


@pytest.fixture(scope="session")
def configured() -> Callable[..., configurations.Configuration]:
    """The same with settings as keywords, to change; none of its runs has been resolved."""
    return lambda **settings: copy.deepcopy(replace(configuration_of(json.dumps(settings))))
