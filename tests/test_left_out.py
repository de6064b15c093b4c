"""Datasets that the user leaves out: their tasks have no runs, and what shows them says so by name."""

import pytest
from conftest import refused
from drawn import FigureRuns, artifact_at, panels_of
from made import evidence_of

from hidden_dynamics.artifacts import left_out_note, load_artifacts
from hidden_dynamics.artifacts.configured import configured as digest
from hidden_dynamics.artifacts.notes import chosen_notes
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.jobs import TrainingJobs
from hidden_dynamics.configuration.runs import all_runs, runs_on

WITHOUT = {"leave_out": ["svhn"]}
SAID = "Left out by the user (leave_out): SVHN; so there are no runs of svhn_images."


def test_a_task_that_is_left_out_has_no_runs_nor_does_a_script_run_it(configured):
    everything, without = configured(scale="evening"), configured(scale="evening", **WITHOUT)
    assert [run for run in all_runs(everything) if run.task != "svhn_images"] == all_runs(without)
    assert all_runs(configured(scale="demo", **WITHOUT)) == all_runs(configured(scale="demo"))  # digits in its place
    with refused(file="config.yaml", key="svhn_images"):
        TrainingJobs(without, "svhn_images").chosen(None, None)


def test_only_the_tasks_that_are_chosen_have_runs(configured):
    chosen = configured(scale="paper", only=["physionet_released", "adding"], leave_out=["adding"], overrides={})
    assert {run.task for run in all_runs(chosen)} == {"physionet_released"}
    assert chosen.left_out["physionet"] == "PhysioNet mortality" and chosen.left_out["adding"] == "Adding task"
    assert chosen_notes(chosen) == [
        "Run, as the user chose (only): physionet_released, adding.",
        "Left out by the user (leave_out): Adding task; so there are no runs of adding.",
    ]
    drawn_of = load_artifacts(chosen)
    assert "acenode_table7" in drawn_of and "acenode_table8" not in drawn_of


def test_a_task_that_is_run_by_name_has_runs_where_only_names_it(configured):
    everything = configured(scale="demo")
    assert "mnist_dtriv" not in {run.task for run in all_runs(everything)}
    assert len(runs_on(everything, "mnist_dtriv")) == 6  # whose files may be asked for
    named = configured(scale="paper", only=["mnist_dtriv", "mnist"])
    assert {run.task for run in all_runs(named)} == {"mnist_dtriv", "mnist"}
    check_runs(named)


def test_of_a_task_the_models_that_are_chosen_alone_have_runs(configured):
    only = ["physionet/ode_rnn", "adding/lstm", "adding", "physionet/latent_ode", "ptb/lstm", "mnist/lstm/128"]
    chosen = configured(scale="paper", only=only, leave_out=["ptb"], overrides={})
    assert chosen_notes(chosen)[1:] == ["Left out by the user (leave_out): Penn Treebank; so there are no runs of ptb."]
    ran = {(run.task, run.model, run.paper_size) for run in all_runs(chosen)}
    assert {model for task, model, _ in ran if task == "physionet"} == {"ode_rnn", "latent_ode"}
    assert len({model for task, model, _ in ran if task == "adding"}) > 2
    assert {of for of in ran if of[0] == "mnist"} == {("mnist", "lstm", 128)}
    artifacts = load_artifacts(chosen)
    assert {run.model for run in artifacts["acenode_table7"].runs} == {"ode_rnn", "latent_ode"}
    assert "momentumrnn_figure2" not in artifacts and "momentumrnn_figure3" not in artifacts
    assert {panel.size for panel in artifacts["momentumrnn_figure9"].panels} == {128}
    own = {"tasks": {"mnist": {"models": {"nag_lstm": {"sizes": [128], "hyperparameters": {"s": 0.6}, "extra": True}}}}}
    alone = load_artifacts(configured(scale="paper", only=["mnist/nag_lstm"], overrides=own))["momentumrnn_figure9"]
    assert {run.model for run in alone.runs} == {"nag_lstm"} and {panel.size for panel in alone.panels} == {128}
    fewer = configured(scale="paper", only=only[1:], leave_out=["ptb"], overrides={})
    assert digest(chosen, artifacts["momentumrnn_table6"]) != digest(fewer, artifacts["momentumrnn_table6"])  # a note


def test_what_shows_nothing_else_is_not_made_and_is_named(configured):
    everything, without = configured(scale="evening"), configured(scale="evening", **WITHOUT)
    artifacts = load_artifacts(without)
    assert load_artifacts(everything).keys() - artifacts.keys() == {"acenode_table3"}
    assert left_out_note(without) == "Not made, as what they show is left out: acenode_table3."
    assert left_out_note(everything) == ""
    assert {run.task for run in artifacts["acenode_table10"].runs} == {"mnist_images", "cifar10_images"}


@pytest.mark.parametrize(
    ("name", "leave_out", "panels"),
    [("momentumrnn_figure3", "mnist", 4), ("momentumrnn_figure4", "adding", 1), ("momentumrnn_figure7", "ptb", 7)],
)
def test_a_figure_has_the_panels_of_what_is_left(tmp_path, name, leave_out, panels):
    figure = FigureRuns(tmp_path, name, "evening", leave_out=[leave_out]).draw()
    assert len(panels_of(figure)) == panels


def test_a_table_has_no_numbers_of_what_is_left_out():
    artifact = artifact_at("evening", "acenode_table10", **WITHOUT)
    table = artifact.draw(evidence_of(artifact))
    ran = table.data.set_index(["task", "model"])["runs"]
    assert set(ran.get("svhn_images", [0])) == {0} and set(ran["mnist_images"]) == {2}
    assert any(SAID in note for note in table.notes)
