"""Datasets that the user leaves out: their tasks have no runs, and what shows them says so by name."""

import pytest
from drawn import artifact_at, panels_of, words
from judged import judged
from made import curves_of, make_run, sources_of, summary_of

from hidden_dynamics.artifacts import left_out_note, load_artifacts, load_claimed
from hidden_dynamics.artifacts.configured import configured as digest
from hidden_dynamics.artifacts.kinds.curves import Curves
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.claims.expand import all_claims
from hidden_dynamics.claims.verdict import NOT_RUN
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.runs import all_runs, runs_on

WITHOUT = {"leave_out": ["svhn"]}
SAID = "Left out by the user (leave_out): SVHN; so there are no runs of svhn_images."


def drawn(name, root, leave_out, scale="evening"):
    """An artifact of made-up runs."""
    artifact = artifact_at(scale, name, leave_out=leave_out)
    for run in artifact.runs:
        make_run(root, artifact.configuration, run)
    files = {"summary": summary_of(artifact)} if artifact.runs else {}
    if isinstance(artifact, Curves):
        files["curves"] = curves_of(artifact)
    return artifact.draw(sources_of(artifact, root, **files))


def test_a_task_that_is_left_out_has_no_runs(configured):
    everything, without = configured(scale="evening"), configured(scale="evening", **WITHOUT)
    assert [run for run in all_runs(everything) if run.task != "svhn_images"] == all_runs(without)
    assert all_runs(configured(scale="demo", **WITHOUT)) == all_runs(configured(scale="demo"))  # digits in its place


def test_only_the_tasks_that_are_chosen_have_runs(configured):
    chosen = configured(scale="paper", only=["physionet_released", "adding"], leave_out=["adding"], overrides={})
    assert {run.task for run in all_runs(chosen)} == {"physionet_released"}
    assert chosen.left_out["physionet"] == "PhysioNet mortality" and chosen.left_out["adding"] == "Adding task"
    assert scale_notes(chosen)[1:] == [
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
    assert scale_notes(chosen)[2:] == [
        "Left out by the user (leave_out): Penn Treebank; so there are no runs of ptb.",
    ]
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
    last = {"acenode_silhouettes1", "acenode_silhouettes2"}  # of data that are not the paper's
    assert {*[*load_claimed(everything)][-2:]} == last and {*[*load_claimed(without)][-3:]} == last | {"acenode_table3"}
    assert (
        left_out_note(without) == "Not made, as what they show is left out: acenode_table3."
        and left_out_note(everything) == ""
    )
    assert {run.task for run in artifacts["acenode_table10"].runs} == {"mnist_images", "cifar10_images"}


@pytest.mark.parametrize(
    ("name", "leave_out", "panels"),
    [
        ("momentumrnn_figure3", "mnist", 4),
        ("momentumrnn_figure4", "adding", 1),
        ("momentumrnn_figure7", "ptb", 8),
    ],
)
def test_a_figure_has_the_panels_of_what_is_left(tmp_path, name, leave_out, panels):
    figure = drawn(name, tmp_path, [leave_out])
    assert len(panels_of(figure)) == panels
    assert "Left out by the user" in words(figure)


def test_a_table_has_no_numbers_of_what_is_left_out(tmp_path):
    table = drawn("acenode_table10", tmp_path, ["svhn"])
    ran = table.data.set_index(["task", "model"])["runs"]
    assert set(ran["svhn_images"]) == {0} and set(ran["mnist_images"]) == {2}
    assert any(SAID in note for note in table.notes)


def test_what_is_left_out_leaves_every_claim_and_each_to_what_is_made(configured):
    everything, without = (load_claimed(configured(scale="paper", only=only)) for only in ([], ["adding"]))
    whole, left = all_claims(everything), all_claims(without)
    assert {one.same for own in whole.values() for one in own} == {one.same for own in left.values() for one in own}
    made = [name for name, artifact in without.items() if not artifact.is_left_out]
    assert made and sum(len(left[name]) for name in made) >= sum(len(whole[name]) for name in made)


def test_claims_on_what_is_left_out_are_not_run_and_say_why():
    without = judged(artifact_at("evening", "momentumrnn_table1", leave_out=["mnist"]))
    assert without and {row["verdict"] for row in without.values()} == {NOT_RUN}
    assert {row["reason"] for row in without.values() if row["task"] == "mnist"} == {"MNIST is left out"}
