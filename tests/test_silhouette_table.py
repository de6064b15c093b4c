"""Tables of silhouette scores: what they say of made-up features."""

import pytest
from conftest import refused
from drawn import artifact_at
from made import features_of, sources_of

TABLE = "acenode_table5"
SILHOUETTES = {"ode_net": (0.50, 0.52), "augmented_ode_net": (0.49, 0.51), "ace_ode_net": (0.6, 0.7)}


def test_ours_stand_beside_the_published_with_the_ordering():
    """By hand: 0.50 and 0.52 have the mean 0.51 and the deviation 0.0141; ACE-ODE-Net's 0.65 is 0.14 above."""
    artifact = artifact_at("paper", TABLE)
    table = artifact.draw(sources_of(artifact, features=features_of(artifact, SILHOUETTES)))
    assert table.data["mean"].tolist() == pytest.approx([0.51, 0.50, 0.65])
    assert table.data["std"].tolist() == pytest.approx([0.02 / 2**0.5, 0.02 / 2**0.5, 0.1 / 2**0.5])
    ace = table.frame.iloc[2]
    assert ace["", "ours"] == "0.6500 ± 0.0707 (n = 2)" and ace["", "published"] == "0.5406 ± 0.0020"
    assert ace["", "difference"] == "+0.1094" and ace["", "ours less our ODE-Net’s"] == "holds +0.1400 (+0.0190)"


def test_runs_without_a_silhouette_are_counted_and_say_why():
    artifact = artifact_at("demo", TABLE)
    rows = features_of(artifact, SILHOUETTES)
    without = {"silhouette": "", "images": "", "dimensions": ""}
    rows[0] |= without | {"status": "diverged", "diverged_at": "7"}
    rows[1] |= without | {"status": "solver failed", "failure": "state not finite at t = 0.3"}
    rows[3] |= without | {"status": "collapsed"}
    table = artifact.draw(sources_of(artifact, features=rows))
    ode, augmented, ace = table.frame["", "ours"]
    assert (ode, augmented) == ("diverged 1 of 2; solver failed 1 of 2", "0.4900 ± – (n = 1; collapsed 1 of 2)")
    assert ("", "ours less our ODE-Net’s") in table.frame and ace.startswith("0.6500")
    notes = " ".join(table.notes)
    assert "Diverged: CIFAR-10, ODE-Net, N = 8, seed 0: the loss was not finite at iteration 7." in notes
    assert "ODE-Net seed 1 (state not finite at t = 0.3); Augmented-ODE-Net seed 1 (fewer features" in notes


def test_a_run_without_its_row_is_named():
    artifact = artifact_at("paper", TABLE)
    with refused("ode_net-n64/seed0", file=artifact.inputs()["features"]):
        artifact.draw(sources_of(artifact, features=features_of(artifact, SILHOUETTES)[1:]))
