"""What every artifact says of itself: captions, and which runs diverged."""

import json

from drawn import artifact_at
from made import summary_of

from hidden_dynamics.artifacts.notes import caption, divergence_notes


def test_a_caption_says_scale_data_seeds_and_readings():
    said = caption(artifact_at("demo", "momentumrnn_table2"))
    assert said.startswith("MomentumRNN, Table 2: Validation and test MSE")
    assert "Scale: demo (" in said and "Seeds: 0, 1." in said
    assert (
        "Data: Synthetic speech (generated), standing in for TIMIT (not comparable with the published numbers)." in said
    )
    assert "speech_target: published in “TIMIT, next frame”, released in “TIMIT, previous frame”" in said


def test_a_caption_of_real_data_speaks_of_no_stand_in():
    changes = {"tasks": {"mnist": {"training": {"epochs": 3}}}}
    said = caption(artifact_at("paper", "momentumrnn_table11", seeds=None, overrides=changes))
    assert "Data: MNIST." in said and "standing in" not in said and "Seeds: 0, 1, 2, 3, 4." in said
    assert f"Changed by the user (overrides): {json.dumps(changes)}." in said


def test_a_caption_of_what_shows_no_runs_is_short():
    assert "Seeds" not in caption(artifact_at("demo", "momentumrnn_table7"))
    assert "Data" not in caption(artifact_at("demo", "momentumrnn_table7"))
    assert "standing in for MNIST" in caption(artifact_at("demo", "momentumrnn_table14"))


def test_runs_that_diverged_are_named_with_the_reason():
    failure = {"cause": "step budget exceeded", "time": 0.312345, "step": 1000, "during": "evaluation"}
    ends = {
        ("lstm", 0): {"diverged_at": 7, "evaluations": []},
        ("momentum_lstm", 1): {"diverged_at": 91, "failure": failure},
    }
    artifact = artifact_at("demo", "momentumrnn_table11", seeds=[0, 1])
    rows = summary_of(artifact, lambda run: ends.get((run.model, run.seed), {}))
    of_one_task = [row for row in rows if row["task"] == "mnist"]
    assert divergence_notes(of_one_task) == [
        "Diverged: LSTM, seed 0: the loss was not finite at iteration 7; MomentumLSTM, seed 1: solver failed after "
        "iteration 91 (step budget exceeded at t = 0.312, step 1000, evaluation)."
    ]
    assert "PMNIST, LSTM, seed 0" in divergence_notes(rows)[0] and divergence_notes(of_one_task[1:2]) == []
