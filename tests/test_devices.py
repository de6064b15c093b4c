"""Which device a training takes, and the places on a shared GPU, which a real process holds here."""

import contextlib
import json
import multiprocessing
import signal
import time
from types import SimpleNamespace
from unittest.mock import Mock

import measure_cost
import measure_features
import pytest
import torch
import train
from conftest import refused, wait_until
from loops import Linear, Regression, spec_of

from hidden_dynamics.errors import UserError
from hidden_dynamics.system.locks import one_of
from hidden_dynamics.system.shell import GPU_IS_ASSIGNED, environment_of_jobs
from hidden_dynamics.training import devices, loop
from hidden_dynamics.training.checkpoint import Checkpoint


def test_a_place_is_waited_for_and_freed_when_its_holder_is_killed(tmp_path, monkeypatch, capsys):
    places, held = [tmp_path / "first", tmp_path / "second"], tmp_path / "held"

    def hold():
        with one_of(places, "taken"):
            held.touch()
            time.sleep(600)

    def waiting(seconds):
        assert holder.exitcode is None, "the place of a killed holder is not free"
        holder.kill()
        holder.join()

    holder = multiprocessing.get_context("fork").Process(target=hold, daemon=True)  # it needs this process's imports
    holder.start()
    wait_until(held.exists)
    monkeypatch.setattr(time, "sleep", waiting)
    with one_of(places, "taken") as own, one_of(places, "taken") as freed:
        assert (own, freed, holder.exitcode) == (1, 0, -signal.SIGKILL)
    assert capsys.readouterr().err == "taken\n"


def test_a_place_is_free_again_after_its_block_and_after_an_error_in_it(tmp_path):
    for _ in range(2):
        with contextlib.suppress(ZeroDivisionError), one_of([tmp_path / "only"], "taken") as place:
            assert place == 0
            raise ZeroDivisionError
        with one_of([tmp_path / "only"], "taken") as place:
            assert place == 0


def test_the_turns_on_a_machine_go_round_its_gpus_and_then_one_waits_and_says_so_once(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(GPU_IS_ASSIGNED, raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "17")  # of an allocation, in which Snakemake runs: its GPUs are to be shared out
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda gpu: SimpleNamespace(uuid=f"GPU-{'ab'[gpu]}"))
    monkeypatch.setattr(time, "sleep", Mock(side_effect=[None, None, None, ZeroDivisionError]))
    with contextlib.ExitStack() as stack:
        given = [stack.enter_context(devices.turn(torch.device("cuda"), 2, tmp_path)) for _ in range(4)]
        assert given == [torch.device("cuda", index) for index in (0, 1, 0, 1)]
        held = {"GPU-a-0.lock", "GPU-b-0.lock", "GPU-a-1.lock", "GPU-b-1.lock"}
        assert {path.name for path in tmp_path.iterdir()} == held and not capsys.readouterr().err
        with pytest.raises(ZeroDivisionError):
            stack.enter_context(devices.turn(torch.device("cuda"), 2, tmp_path))
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(("device", "assigned"), [("cpu", None), ("cpu", "1"), ("cuda", "1")])
def test_nobody_waits_on_the_cpu_or_where_a_scheduler_gives_the_gpus(tmp_path, monkeypatch, device, assigned):
    monkeypatch.delenv(GPU_IS_ASSIGNED, raising=False)
    if assigned is not None:
        monkeypatch.setenv(GPU_IS_ASSIGNED, assigned)
    with contextlib.ExitStack() as stack:
        given = [stack.enter_context(devices.turn(torch.device(device), 1, tmp_path / "places")) for _ in range(2)]
        assert given == [torch.device(device)] * 2
    assert not (tmp_path / "places").exists()


@pytest.mark.parametrize("assigned", [False, True])
def test_a_job_knows_that_its_gpu_is_assigned(assigned):
    assert (GPU_IS_ASSIGNED in environment_of_jobs("here", {}, None, assigned)) == assigned


@pytest.mark.parametrize(
    ("asked", "usable", "given"),
    [("auto", False, "cpu"), ("auto", True, "cuda"), ("cpu", True, "cpu"), ("cuda", True, "cuda")],
)
def test_auto_is_the_gpu_where_there_is_one_and_cuda_without_one_is_refused(monkeypatch, capsys, asked, usable, given):
    monkeypatch.setattr(devices, "_obstacle", lambda: None if usable else "an old driver")
    for driver in (True, False):
        monkeypatch.setattr(devices, "has_nvidia_gpu", lambda driver=driver: driver)
        assert devices.choose(asked) == torch.device(given)
        assert ("an old driver" in capsys.readouterr().err) == (asked == "auto" and not usable and driver)
    monkeypatch.setattr(devices, "_obstacle", lambda: "an old driver")
    with refused("an old driver", key="device"):
        devices.choose("cuda")


@pytest.mark.parametrize(
    ("capability", "architectures", "usable"),
    [
        ((8, 6), ["sm_80"], True),
        ((8, 0), ["sm_86"], False),
        ((9, 0), ["sm_80"], False),
        ((9, 0), ["sm_80", "compute_80"], True),
        ((9, 0), ["sm_90a"], True),
        ((7, 0), ["sm_75", "sm_80", "compute_120"], False),
        ((12, 0), ["sm_75", "sm_120"], True),
    ],
)
def test_a_gpu_runs_what_is_compiled_for_its_major_version(monkeypatch, capability, architectures, usable):
    card = {"is_available": True, "device_count": 1, "get_device_name": "a card"}
    card |= {"get_device_capability": capability, "get_arch_list": architectures}
    for name, value in card.items():
        monkeypatch.setattr(torch.cuda, name, Mock(return_value=value))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    assert (devices._obstacle() is None) == usable


def test_what_a_machine_without_a_driver_lacks_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(
        torch.cuda, "init", Mock(side_effect=RuntimeError("The driver is too old (found 12020).\nMore"))
    )
    assert devices._obstacle() == "The driver is too old (found 12020)"
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "CPU" in devices._obstacle()


@pytest.mark.gpu
@pytest.mark.parametrize("assigned", ["1", None])
def test_a_memory_that_does_not_suffice_is_told_in_one_line(tmp_path, monkeypatch, assigned):
    monkeypatch.delenv(GPU_IS_ASSIGNED, raising=False)
    if assigned:
        monkeypatch.setenv(GPU_IS_ASSIGNED, assigned)
    with refused("GB", key="runs_per_gpu"), devices.turn(torch.device("cuda"), 1, tmp_path):
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")


@pytest.mark.parametrize(
    ("script", "named", "task"),
    [
        (train, ["--task", "adding"], "adding"),
        (measure_cost, ["--artifact", "momentumrnn_table14"], "pmnist"),
        (measure_features, ["--artifact", "acenode_table5"], "cifar10_images"),
    ],
)
def test_a_script_takes_the_device_of_its_task(ended, monkeypatch, script, named, task):
    def choose(device):
        raise UserError(device)

    monkeypatch.setattr(devices, "choose", choose)
    for default, own in (("cpu", "cuda"), ("cuda", "auto")):
        settings = json.dumps({"device": {"default": default, task: own}})
        assert ended(script.main, *named, "--config", settings).err == f"error: {own}\n"
        assert ended(script.main, *named, "--config", settings, "--device", "cpu").err == "error: cpu\n"


@pytest.mark.gpu
@pytest.mark.parametrize(("first", "second"), [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda")])
def test_a_training_can_be_continued_on_another_device(tmp_path, first, second):
    def run(device, epochs):
        device, task, network = torch.device(device), Regression(), Linear().to(device)
        task.x, task.y = task.x.to(device), task.y.to(device)
        adam = {"main": torch.optim.Adam(network.parameters(), lr=0.01)}
        history = loop.train(spec_of(epochs), task, network, adam, Checkpoint(tmp_path, "fit"), device)
        assert all(state["step"].device.type == "cpu" for state in adam["main"].state.values())
        return history

    assert run(first, 2).iteration == 6
    history = run(second, 4)
    assert history.iteration == 12 and [row["iteration"] for row in history.metrics] == [3, 6, 9, 12]
    losses = [row["test_loss"] for row in history.metrics]
    assert losses == sorted(losses, reverse=True)
