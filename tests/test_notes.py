"""What artifacts say of their runs: the variants taken, and which diverged."""

from drawn import artifact_at
from made import summary_of

from hidden_dynamics.artifacts.notes import divergence_notes, variants_note


def test_a_variant_that_differs_between_runs_says_so():
    taken = [{"sr_cell": "published", "permutation": "published"}, {"sr_cell": "released"}]
    assert variants_note(taken) == "Variants taken: published (permutation); published and released (sr_cell)."
    assert variants_note([{}]) == "Variants taken: none apply."


def test_runs_that_diverged_are_named_with_the_reason():
    failure = {"cause": "step budget exceeded", "time": 0.312345, "step": 1000, "during": "evaluation"}
    ends = {
        ("lstm", 0): {"diverged_at": 7, "evaluations": []},
        ("momentum_lstm", 1): {"diverged_at": 91, "failure": failure},
    }
    artifact = artifact_at("demo", "momentumrnn_table11", seeds=[0, 1])
    rows = summary_of(artifact, lambda run: ends.get((run.model, run.seed), {}))
    of_one_task = [row for row in rows if row["task"] == "mnist"]
    size = of_one_task[0]["size"]
    title = of_one_task[0]["task_title"]
    assert divergence_notes(of_one_task) == [
        f"Diverged: {title}, LSTM, N = {size}, seed 0: the loss was not finite at iteration 7; {title}, MomentumLSTM, "
        f"N = {size}, seed 1: solver failed after iteration 91 (step budget exceeded at t = 0.312, step 1000, "
        "evaluation)."
    ]
    assert divergence_notes(of_one_task[1:2]) == []
