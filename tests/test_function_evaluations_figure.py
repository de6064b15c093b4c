"""The figure of function evaluations, drawn of runs that are made here."""

import json

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import artifact_at, assert_nothing_overlaps, face, legend, panels_of, with_gid, words
from made import EVERY, change_record, make_run, sources_of, summary_of

from hidden_dynamics.artifacts.kinds.function_evaluations.drawing import solver_text

FIGURE = "acenode_nfe"
FORWARDS = {"rknet": 4, "ode_net": 20, "augmented_ode_net": 26, "ace_ode_net": 40, "ace_ode_net_large": 50}
FAILURE = {"cause": "step budget exceeded", "time": 0.31, "step": 1000, "during": "forward"}


def counted(run, epochs):
    """Means of an iteration's evaluations, forwards and backwards: they grow with the epoch and the seed."""
    forward = FORWARDS[run.model] * (1 + epochs / 10) + run.seed
    return forward, forward / 2 * run.spec["hyperparameters"]["solver"]["adjoint"]


def evaluations_of(run, last):
    """Those of the epochs from 1 to `last`; validation picks the last one."""
    epochs = np.arange(1, last + 1)
    metrics = {"iteration": EVERY * epochs, "epoch": epochs.astype(float)}
    metrics |= dict(zip(("nfe_forward", "nfe_backward"), counted(run, epochs), strict=True))
    metrics |= {"test_accuracy": 0.9 + run.seed / 100 + 0 * epochs, "validation_accuracy": epochs / 10}
    return [{name: values[i].item() for name, values in metrics.items()} for i in range(last)]


class Runs:
    """Runs of the figure and their summary; `diverged` gives (task, model, seed) and the last evaluation before."""

    def __init__(self, root, scale="paper", diverged=None, **settings):
        self.root, self.artifact, self.diverged = root, artifact_at(scale, FIGURE, **settings), diverged or {}
        self.files = [make_run(root, self.artifact.configuration, run, **self.about(run)) for run in self.artifact.runs]
        self.summary = summary_of(self.artifact, self.about)

    def about(self, run):
        last = self.diverged.get((run.task, run.model, run.seed))
        ended = {} if last is None else {"diverged_at": 91, "failure": FAILURE}
        return {"evaluations": evaluations_of(run, 5 if last is None else last), **ended}

    def draw(self):
        return self.artifact.draw(sources_of(self.artifact, self.root, summary=self.summary))


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
            assert forward.get_color() == runs.artifact.configuration.models[model].colour
            expected = forwards * (1 + np.arange(1, 6) / 10) + 0.5  # seeds 0 and 1
            np.testing.assert_allclose(forward.get_xydata(), np.transpose([np.arange(1, 6), expected]))
            np.testing.assert_allclose(backward.get_ydata(), expected / 2)
        (end,) = named(below[0], f"end {model}")
        np.testing.assert_allclose(end.get_xydata(), [[forwards * 1.5 + 0.5, 90.5]])
    assert {ax.get_yscale() for ax in above} == {ax.get_xscale() for ax in below} == {"log"}
    assert len({ax.get_ylim() for ax in above}) == 1 and above[0].get_ylim()[0] < 3


@pytest.mark.parametrize(("scale", "seeds"), [("paper", [0, 1, 2]), ("demo", [0, 1])])
def test_what_the_figure_says_is_as_approved(made, scale, seeds):
    approved(f"{FIGURE}_{scale}.txt", face(made(scale=scale, seeds=seeds).draw()))


def test_released_readings_are_said_and_draw_no_backward_lines(made):
    figure = made(readings={"default": "released"}).draw()
    text = words(figure)
    assert "trained in turn" not in text and "evaluation with the highest test accuracy" in text
    assert "CIFAR-10: rk4, one step, backpropagation through the solver (RKNet)" in text
    third = panels_of(figure)[2]
    assert np.isnan(with_gid(third, "backward ode_net")[0].get_ydata()).all()


def test_the_legend_has_the_directions_in_which_a_solver_was_used(made):
    assert legend(made().draw())[-2:] == ["forwards", "backwards"]
    through = {"models": {model: {"hyperparameters": {"solver": {"adjoint": False}}} for model in FORWARDS}}
    runs = made(overrides={"tasks": {task: through for task in ("mnist_images", "svhn_images", "cifar10_images")}})
    assert legend(runs.draw())[-1] == "forwards"


def test_diverged_seeds_end_early_and_say_why(made):
    figure = made(diverged={("svhn_images", "ode_net", 1): 2}).draw()
    above, below = panels_of(figure)[1], panels_of(figure)[4]
    marks = [mark.get_xydata().tolist() for mark in with_gid(above, "diverged")]
    assert marks == [[[2.0, 25.0]], [[2.0, 12.5]]]  # 20 * 1.2 + 1, and half of that
    (mean,) = with_gid(above, "forward ode_net")
    np.testing.assert_allclose(mean.get_ydata(), [22.5, 24.5, 26, 28, 30])  # then seed 0 goes on alone
    assert with_gid(below, "end ode_net")[0].get_xydata().tolist() == [[30, 90]]
    text = words(figure)
    assert "ODE-Net (1 of 2 seeds diverged on svhn_images)" in legend(figure)
    assert (
        "Diverged: SVHN, ODE-Net, N = 64, seed 1: solver failed at iteration 91 (step budget exceeded at t = 0.31, "
        "step 1000, forward)."
    ) in text


def test_a_panel_without_values_says_so(made):
    text = words(made(diverged={("mnist_images", model, seed): 0 for model in FORWARDS for seed in (0, 1)}).draw())
    assert text.count("no run got as far as a value here") == 2


def test_a_network_without_a_solver_has_no_line(made):
    runs = made()
    for files, run in zip(runs.files, runs.artifact.runs, strict=True):
        if run.model == "rknet":
            (files.directory / "metrics.csv").write_text("iteration,epoch,test_accuracy\n10,1,0.5\n", encoding="utf-8")
            change_record(files)
    figure = runs.draw()
    assert not with_gid(figure, "forward rknet") and "RKNet" not in words(figure)


def test_solvers_and_turns_are_those_of_the_runs_whatever_is_configured_now(made):
    runs = made()
    for row in runs.summary:
        had = json.loads(row["hyperparameters"])
        row["hyperparameters"] = json.dumps(had | {"solver": {"method": "euler", "step_size": 0.1}})
        row["training"] = json.dumps(json.loads(row["training"]) | {"alternating": row["model"] == "ode_net"})
    text = words(runs.draw())
    assert "CIFAR-10: euler, steps of 0.1, adjoint (RKNet, ODE-Net," in text and "dopri5" not in text
    assert " ODE-Net: trained in turn" in text and "ACE-ODE-Net: trained" not in text


def test_a_solver_that_names_no_method_has_the_library_s():
    assert solver_text({}) == "dopri5, rtol 1e-05, atol 1e-05, adjoint"
    euler = {"method": "euler", "step_size": 0.1, "rtol": 1e-4, "atol": 1e-4, "adjoint": False}
    assert solver_text(euler) == "euler, steps of 0.1, backpropagation through the solver"
    assert solver_text({"method": "rk4", "step_size": 0.25}) == "rk4, steps of 0.25, adjoint"


def test_damaged_evaluations_are_named(made):
    runs = made()
    path = runs.files[3].directory / "metrics.csv"
    path.write_text("iteration,epoch,nfe_forward\n10,1,20\n", encoding="utf-8")
    change_record(runs.files[3])
    with refused("nfe_backward", file=path):
        runs.draw()


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_no_text_overlaps(made, scale):
    assert_nothing_overlaps(made(scale=scale, diverged={("svhn_images", "ode_net", 1): 2}).draw())
