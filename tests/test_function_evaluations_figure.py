"""The figure of function evaluations, drawn of runs that are made here."""

import json
import sys

import numpy as np
import pandas
import pytest
from test_figures import assert_nothing_overlaps, configuration_at, panels_of, with_gid, words

from hidden_dynamics.configuration import ROOT
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering import figures
from hidden_dynamics.artifacts.figures import function_evaluations
from hidden_dynamics.configuration.runs import runs_of

sys.path.insert(0, str(ROOT / "scripts"))
import render_figure  # noqa: E402

ARTIFACT = "acenode_nfe"
FORWARDS = {"rknet": 4, "ode_net": 20, "augmented_ode_net": 26, "ace_ode_net": 40, "ace_ode_net_large": 50}
FAILURE = {"cause": "step budget exceeded", "time": 0.31, "step": 1000, "during": "forward"}


def counted(run, epochs):
    """Means of an iteration's evaluations, forwards and backwards: they grow with the epoch and the seed."""
    forward = FORWARDS[run.model] * (1 + epochs / 10) + run.seed
    return forward, forward / 2 * run.spec["hyperparameters"]["solver"]["adjoint"]


class Runs:
    """Runs of the figure and their summary."""

    def __init__(self, root, **settings):
        self.root, self.configuration = root, configuration_at(settings.pop("scale", "paper"), **settings)
        self.runs = runs_of(self.configuration, ARTIFACT)
        self.summary = [self.add(run) for run in self.runs]

    def add(self, run, last=5):
        epochs = np.arange(1, last + 1)
        forward, backward = counted(run, epochs)
        (self.root / run.directory).mkdir(parents=True, exist_ok=True)
        metrics = {"iteration": 10 * epochs, "epoch": epochs, "nfe_forward": forward, "nfe_backward": backward}
        pandas.DataFrame(metrics).to_csv(self.root / run.directory / "metrics.csv", index=False)
        dataset = self.configuration.datasets[run.spec["dataset"]]
        report = run.spec["training"]["report"]
        measured = {"nfe_forward": forward[-1], "test_accuracy": 0.9 + run.seed / 100} if last else {}
        return {
            "task": run.task,
            "task_title": self.configuration.tasks[run.task]["title"],
            "model": run.model,
            "variant": run.variant,
            "label": self.configuration.models[run.model]["label"],
            "size": str(run.spec["hyperparameters"]["hidden_size"]),
            "paper_size": str(run.paper_size),
            "seed": str(run.seed),
            "dataset_title": dataset["title"],
            "stand_in_for": self.configuration.replaced(run.task) or "",
            **{"status": "finished", "diverged_at": "", "failure": ""},
            "metric": report["metric"],
            "rule": report["rule"],
            "measured": json.dumps(measured) if last else "",
            "readings": json.dumps(run.spec["readings"]),
            **{"device": "cpu", "precision": "fp32", "directory": run.directory},
        }

    def diverge(self, task, model, seed, last=2):
        """Make a run fail after its `last` evaluation."""
        for place, run in enumerate(self.runs):
            if (run.task, run.model, run.seed) == (task, model, seed):
                changed = {"status": "diverged", "diverged_at": "91", "failure": json.dumps(FAILURE)}
                self.summary[place] = self.add(run, last) | changed

    def draw(self):
        return figures.function_evaluations_figure(self.configuration, ARTIFACT, self.summary, self.root)


def named(ax, gid):
    return [artist for artist in ax.lines if artist.get_gid() == gid]


@pytest.fixture
def made(tmp_path):
    return lambda **settings: Runs(tmp_path, **settings)


def test_lines_are_means_over_seeds(made):
    runs = made()
    figure = runs.draw()
    above, below = np.split(np.array(panels_of(figure)), 2)
    assert len(above) == 3
    for model, forwards in FORWARDS.items():
        for ax in above:
            (forward,), (backward,) = (named(ax, f"{direction} {model}") for direction in ("forward", "backward"))
            assert [line.get_linestyle() for line in (forward, backward)] == ["-", "--"]
            assert forward.get_color() == runs.configuration.models[model]["colour"]
            expected = forwards * (1 + np.arange(1, 6) / 10) + 0.5  # seeds 0 and 1
            np.testing.assert_allclose(forward.get_xydata(), np.transpose([np.arange(1, 6), expected]))
            np.testing.assert_allclose(backward.get_ydata(), expected / 2)
        (end,) = named(below[0], f"end {model}")
        np.testing.assert_allclose(end.get_xydata(), [[forwards * 1.5 + 0.5, 90.5]])
    assert {ax.get_yscale() for ax in above} == {ax.get_xscale() for ax in below} == {"log"}
    assert len({ax.get_ylim() for ax in above}) == 1 and above[0].get_ylim()[0] < 3


def test_what_the_face_says(made):
    text = words(made(seeds=[0, 1, 2]).draw())
    for said in (
        "ACE-NODE, not in the paper: Function evaluations of the solvers",
        "scale: paper",
        "N = 64 and 128",
        "ACE-ODE-Net, ACE-ODE-Net (Large): trained in turn (Algorithm 1), so an iteration solves twice forwards",
        "MNIST images: rk4, one step, adjoint (RKNet); dopri5, rtol 0.0001, atol 0.0001, adjoint (ODE-Net, Augmented-",
        "SVHN and CIFAR-10: rk4, one step, adjoint (RKNet); dopri5, rtol 1e-05, atol 1e-05, adjoint (ODE-Net, ",
        "evaluation with the highest validation accuracy",
        "reported_epoch",
        "Device: cpu, fp32.",
    ):
        assert said in text
    for unsaid in ("stand-in", "diverged)", "Diverged", "backpropagation"):
        assert unsaid not in text


def test_released_readings_are_said_and_draw_no_backward_lines(made):
    figure = made(readings={"default": "released"}).draw()
    text = words(figure)
    assert "trained in turn" not in text and "evaluation with the highest test accuracy" in text
    assert "CIFAR-10: rk4, one step, backpropagation through the solver (RKNet)" in text
    third = panels_of(figure)[2]
    assert np.isnan(with_gid(third, "backward ode_net")[0].get_ydata()).all()


def test_stand_ins_are_named(made):
    text = words(made(scale="demo").draw())
    assert "scale: demo, stand-in data, other network sizes than the paper's" in text
    assert "stand-in for SVHN: Digits" in text


def test_diverged_seeds_end_early_and_say_why(made):
    runs = made()
    runs.diverge("svhn_images", "ode_net", 1)
    figure = runs.draw()
    above, below = panels_of(figure)[1], panels_of(figure)[4]
    marks = [mark.get_xydata().tolist() for mark in with_gid(above, "diverged")]
    assert marks == [[[2.0, 25.0]], [[2.0, 12.5]]]  # 20 * 1.2 + 1, and half of that
    (mean,) = with_gid(above, "forward ode_net")
    np.testing.assert_allclose(mean.get_ydata(), [22.5, 24.5, 26, 28, 30])  # then seed 0 goes on alone
    assert with_gid(below, "end ode_net")[0].get_xydata().tolist() == [[30, 90]]
    text = words(figure)
    assert "ODE-Net (1 of 2 seeds diverged on svhn_images)" in text
    assert (
        "Diverged: SVHN, ODE-Net, N = 64, seed 1: solver failed at iteration 91 (step budget exceeded at t = 0.31, "
        "step 1000, forward)."
    ) in text


def test_a_panel_without_values_says_so(made):
    runs = made()
    for model in FORWARDS:
        for seed in (0, 1):
            runs.diverge("mnist_images", model, seed, last=0)
    text = words(runs.draw())
    assert text.count("no run got as far as a value here") == 2


def test_a_network_without_a_solver_has_no_line(made):
    runs = made()
    path = runs.root / runs.runs[0].directory / "metrics.csv"
    path.write_text("iteration,epoch,test_accuracy\n10,1,0.5\n", encoding="utf-8")
    assert function_evaluations.read_counts(runs.root, runs.summary[0]) is None
    runs.draw()


def test_a_solver_that_names_no_method_has_the_library_s():
    assert function_evaluations.solver_text({}) == "dopri5, rtol 1e-05, atol 1e-05, adjoint"
    euler = {"method": "euler", "step_size": 0.1, "rtol": 1e-4, "atol": 1e-4, "adjoint": False}
    assert function_evaluations.solver_text(euler) == "euler, steps of 0.1, backpropagation through the solver"
    assert function_evaluations.solver_text({"method": "rk4", "step_size": 0.25}) == "rk4, steps of 0.25, adjoint"


@pytest.mark.parametrize(
    "content", [None, "iteration,epoch,nfe_forward\n10,1,20\n", "epoch,nfe_forward,nfe_backward\n1,x,2\n"]
)
def test_damaged_metrics_are_named(made, content):
    runs = made()
    path = runs.root / runs.runs[3].directory / "metrics.csv"
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match="metrics.csv is .*run snakemake again"):
        runs.draw()


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_no_text_overlaps(made, scale):
    runs = made(scale=scale)
    runs.diverge("svhn_images", "ode_net", 1)
    assert_nothing_overlaps(runs.draw())


def test_as_a_program(made, monkeypatch):
    runs = made(scale="demo")
    monkeypatch.chdir(runs.root)
    pandas.DataFrame(runs.summary).to_csv("summary.csv", index=False)
    command = ["render_figure.py", "--artifact", ARTIFACT, "--summary", "summary.csv", "--output", "x"]
    monkeypatch.setattr(sys, "argv", [*command, "--config", json.dumps(dict(runs.configuration.settings))])
    render_figure.main()
    assert (runs.root / "x.png").stat().st_size > 20_000 and (runs.root / "x.pdf").is_file()
