"""Datasets that the user leaves out: their tasks have no runs, and what shows them says so by name."""

import pytest
from drawn import artifact_at, panels_of, words
from judged import judged
from made import curves_of, make_run, sources_of, summary_of

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.kinds.curves import Curves
from hidden_dynamics.artifacts.notes import caption
from hidden_dynamics.artifacts.tables import csv, html, markdown, tex, write_table
from hidden_dynamics.claims.verdict import NOT_RUN
from hidden_dynamics.configuration.jobs import training_jobs
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.pages.sections import section_of

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


def test_a_task_that_is_left_out_has_no_runs_and_no_jobs(configured):
    everything, without = configured(scale="evening"), configured(scale="evening", **WITHOUT)
    assert [run for run in all_runs(everything) if run.task != "svhn_images"] == all_runs(without)
    assert training_jobs(without, "svhn_images") == {} and training_jobs(without, "mnist_images")
    assert all_runs(configured(scale="demo", **WITHOUT)) == all_runs(configured(scale="demo"))  # digits in its place


def test_an_artifact_needs_nothing_of_what_is_left_out(configured):
    artifacts = load_artifacts(configured(scale="evening", **WITHOUT))
    empty = {name for name, artifact in artifacts.items() if artifact.is_left_out}
    assert empty == {"acenode_table3"} and artifacts["acenode_table3"].inputs() == {}
    assert {run.task for run in artifacts["acenode_table10"].runs} == {"mnist_images", "cifar10_images"}


def test_a_table_of_nothing_else_says_so(tmp_path):
    table = drawn("acenode_table3", tmp_path, ["svhn"])
    assert table.title.endswith("SVHN left out") and SAID in table.notes
    assert set(table.frame["", "Ours"]) == {"SVHN left out"} and len(table.frame) == 5
    for form in (csv, markdown, tex, html):
        assert form(table)


def test_the_pages_section_of_it_has_no_runs(tmp_path):
    artifact = artifact_at("evening", "acenode_table3", **WITHOUT)
    write_table(drawn("acenode_table3", tmp_path, ["svhn"]), [tmp_path / file for file in artifact.files()])
    section = section_of(artifact, [], [], tmp_path)
    assert (section.runs, section.stand_ins) == ([], {}) and section.shown.title.endswith("SVHN left out")
    assert SAID in section.shown.notes


def test_a_figure_of_nothing_else_says_so(tmp_path):
    assert "Copying task left out" in words(drawn("momentumrnn_figure8", tmp_path, ["copying"]))


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
    assert SAID in table.notes


def test_claims_on_what_is_left_out_are_not_run_and_say_why(configured):
    everything, without = (
        load_artifacts(configured(scale="evening", **changes))["acenode_table3"] for changes in ({}, WITHOUT)
    )
    verdicts = judged(without)
    assert set(verdicts) == set(judged(everything))
    assert {row["verdict"] for row in verdicts.values()} == {NOT_RUN}
    assert {row["reason"] for row in verdicts.values()} == {"SVHN is left out (leave_out)"}


def test_a_caption_says_it():
    assert SAID in caption(artifact_at("evening", "acenode_table10", **WITHOUT))
