"""What departures change: differences are of the runs of each seed, and only what departs differs between the runs."""

import math

import pytest
from conftest import refused
from drawn import artifact_at
from made import evaluations_of, sources_of, summary_of

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.artifacts.tables import html, markdown, tex

TABLE = "acenode_released"
WITHOUT = {"latent_ode": (0.8, 0.82), "ace_latent_ode": (0.7, 0.9)}  # by seed
WITH = {"latent_ode": (0.75, 0.79), "ace_latent_ode": (0.72, 0.84)}


def evaluations(run):
    numbers = (WITHOUT if run.task == "physionet" else WITH).get(run.model, (0.6, 0.6))
    return [row | {"test_auc": numbers[run.seed]} for row in evaluations_of(run, [0.5])]


def drawn(scale="demo", about=None, **settings):
    """The table; `about` gives keywords of a run by (task, model, seed)."""
    artifact = artifact_at(scale, TABLE, **settings)
    rows = summary_of(
        artifact,
        lambda run: {"evaluations": evaluations(run)} | (about or {}).get((run.task, run.model, run.seed), {}),
    )
    return artifact.draw(sources_of(artifact, summary=rows))


def row(table, model, departs):
    (found,) = [
        cells
        for cells in table.frame.to_dict("records")
        if (cells["", "Model"], cells["", "What departs"]) == (model, departs)
    ]
    return {name: text for (_, name), text in found.items()}


def record(table, task, model):
    return table.data[(table.data["task"] == task) & (table.data["model"] == model)].iloc[0]


def test_a_difference_is_that_of_the_runs_of_each_seed():
    table = drawn()
    found = record(table, "physionet_start_label", "ace_latent_ode")
    assert found["difference"] == pytest.approx((0.02 - 0.06) / 2)  # 0.72 - 0.7 and 0.84 - 0.9
    assert found["difference_std"] == pytest.approx(0.08 / math.sqrt(2)) and found["pairs"] == 2
    assert row(table, "ACE-Latent-ODE (ODE Enc.)", "label from z(0)") == {
        "Model": "ACE-Latent-ODE (ODE Enc.)",
        "What departs": "label from z(0)",
        "AUC without it": "0.800 ± 0.141 (n = 2)",
        "AUC with it": "0.780 ± 0.085 (n = 2)",
        "Difference": "−0.020 ± 0.057 (of 2 pairs)",
    }


def test_every_departure_and_model_has_a_row():
    table = drawn()
    assert len(table.frame) == 26
    everything = table.data[table.data["departs"] == "everything"]
    assert len(everything) == 11 and set(everything["task"]) == {"physionet_released"}
    assert set(table.data["without"]) == {"physionet"}


@pytest.mark.parametrize("scale", ["demo", "evening", "pilot", "paper"])
def test_one_reading_differs_where_one_thing_departs(scale):
    """And all that the models have, where everything does."""
    table = drawn(scale)
    for found in table.data.to_dict("records"):
        names = found["readings"].split()
        assert len(names) == 1 if found["departs"] != "everything" else len(names) > 5, found
    readings = {found["departs"]: found["readings"] for found in table.data.to_dict("records")}
    assert readings["raw attention in place of its softmax"] == "latent_mixing"
    assert readings["encodes another patient"] == "rnn_vae_order"
    assert any("“label from z(0)”: latent_label" in note for note in table.notes)


def test_a_pair_without_a_number_is_left_out_and_counted():
    table = drawn(about={("physionet_tied", "ace_latent_ode", 1): {"diverged_at": 7}})
    cells = row(table, "ACE-Latent-ODE (ODE Enc.)", "f and g are one network")
    assert cells["AUC with it"].endswith("(n = 1; without a number 1 of 2)")
    assert cells["Difference"] == "+0.020 ± – (of 1 pair)"
    assert any(note.startswith("Diverged: ") and "f and g tied" in note for note in table.notes)


def test_it_says_what_its_runs_are_of_and_at_the_papers_settings_departs_in_nothing():
    demo, paper = drawn(), drawn("paper")
    assert "Intensive care stays (generated) in place of PhysioNet 2012" in demo.title
    assert any("N = 8, not 20" in note for note in demo.notes)
    assert "in place of" not in paper.title and not any("Departs" in note for note in paper.notes)
    assert not paper.data["departures"].any()


def test_it_can_be_written_in_every_form():
    table = drawn()
    for form in (markdown, tex, html):
        assert "label from z(0)" in form(table).replace("\\_", "_")


def test_an_unknown_name_is_refused(project):
    for key, value in (("without", "physionets"), ("metric", "test_aux"), ("rows.0.task", "physionets")):
        before = project.read("config/artifacts.yaml")
        project.set("config/artifacts.yaml", f"{TABLE}.{key}", value)
        with refused(value, file="config/artifacts.yaml"):
            artifact_named(project.load(), TABLE)
        project.write("config/artifacts.yaml", before)


def test_runs_of_another_artifact_are_refused():
    artifact = artifact_at("demo", TABLE)
    rows = summary_of(artifact)
    with refused("runs"):
        artifact.draw(sources_of(artifact, summary=[]))
    rows[0]["artifact"] = "acenode_table7"
    with refused("acenode_table7"):
        artifact.draw(sources_of(artifact, summary=rows))
