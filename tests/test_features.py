"""Image features: what is taken from a network, its clusters and its map, and what table and figure say of them."""

import csv
import functools
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from conftest import ROOT
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_samples
from torch import nn

from hidden_dynamics import configuration as configurations
from hidden_dynamics.training.building import build
from hidden_dynamics.measurements.clusters import check, cluster, embed, features_of
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.features import COLUMNS, measurement_of
from hidden_dynamics.models.image_networks import ImageOutput
from hidden_dynamics.rendering import figures
from hidden_dynamics.artifacts.kinds.embedding.drawing import CLASSES, COLOURS, read_maps
from hidden_dynamics.artifacts.kinds.silhouette_table.drawing import read_features, silhouette_table
from hidden_dynamics.configuration.runs import cells_of, runs_of

sys.path.insert(0, str(ROOT / "scripts"))
import measure_features  # noqa: E402
import render_figure  # noqa: E402
import render_table  # noqa: E402

TABLE, FIGURE = "acenode_table5", "acenode_figure4"
MODELS = ("ode_net", "augmented_ode_net", "ace_ode_net")
SETTINGS = {
    "layer": "pooled",
    "split": "test",
    "images": 1000,
    "standardise": False,
    "clusters": 4,
    "initialisations": 3,
    "perplexity": 8,
    "iterations": 250,
    "embedded": 50,
    "seed": 0,
}


# The table


@functools.cache
def at(scale):
    settings = configurations.read_yaml(ROOT / "config.yaml")
    return configurations.load(settings | {"scale": scale, "seeds": [0, 1], "overrides": {}})


def made_up(configuration, silhouettes, artifact=TABLE, **changes):
    """Rows of a measurement with a silhouette for each model and seed."""
    rows = []
    for run in runs_of(configuration, artifact):
        dataset, original = run.spec["dataset"], configuration.replaced(run.task)
        row = {
            "scale": configuration.scale_name,
            "task": run.task,
            "task_title": configuration.tasks[run.task]["title"],
            "model": run.model,
            "label": configuration.models[run.model]["label"],
            "size": run.spec["hyperparameters"]["hidden_size"],
            "paper_size": run.paper_size,
            "seed": run.seed,
            "silhouette": silhouettes[run.model][run.seed],
            "images": 360,
            "dimensions": 13 if run.model == "augmented_ode_net" else 8,
            "status": "measured",
            "diverged_at": "",
            "failure": "",
            "weights": "reported",
            "settings": json.dumps(configuration.artifacts[artifact]["features"], sort_keys=True),
            "dataset": dataset,
            "dataset_title": configuration.datasets[dataset]["title"],
            "stand_in_for": original or "",
            "readings": json.dumps(run.spec["readings"]),
            "device": "cpu",
            "precision": "fp32",
            "measured_on": "cpu",
            "directory": run.directory,
            "fingerprint": "0",
            "embeddings": "features.npz",
            **changes,
        }
        rows.append({key: str(value) for key, value in row.items()})
    return rows


SILHOUETTES = {"ode_net": (0.50, 0.52), "augmented_ode_net": (0.49, 0.51), "ace_ode_net": (0.6, 0.7)}


def test_the_table_has_ours_beside_the_published_and_the_ordering():
    table = silhouette_table(at("paper"), TABLE, made_up(at("paper"), SILHOUETTES))
    assert table.frame.to_dict("list") == {
        "Model": ["ODE-Net", "Augmented-ODE-Net", "ACE-ODE-Net"],
        "N": ["64", "64", "64"],
        "ours": ["0.5100 ± 0.0141 (n = 2)", "0.5000 ± 0.0141 (n = 2)", "0.6500 ± 0.0707 (n = 2)"],
        "published": ["0.5216 ± 0.0030", "0.5220 ± 0.0050", "0.5406 ± 0.0020"],
        "difference": ["−0.0116", "−0.0220", "+0.1094"],
        "against ODE-Net": ["–", "fails −0.0100 (+0.0004)", "holds +0.1400 (+0.0190)"],
    }
    assert table.title.endswith(": paper scale")
    assert table.data["mean"].tolist() == pytest.approx([0.51, 0.50, 0.65])
    assert table.data["std"].tolist() == pytest.approx([0.02 / 2**0.5, 0.02 / 2**0.5, 0.1 / 2**0.5])
    assert table.data["n"].tolist() == [2, 2, 2]


def test_the_table_says_what_its_scores_are():
    notes = " ".join(silhouette_table(at("demo"), TABLE, made_up(at("demo"), SILHOUETTES)).notes)
    for text in (
        "Scale: demo",
        "Digits 8x8 (UCI, embedded in scikit-learn), standing in for CIFAR-10",
        "Seeds: 0, 1",
        "Readings taken: published (attention_training",
        "what the last linear map sees",
        "numbers per image: 8 (ODE-Net, ACE-ODE-Net), 13 (Augmented-ODE-Net); not scaled",
        "Images: 360 of the test set, the first ones, at most 10,000",
        "k = 10, best of 10 k-means++ initialisations, seed 0",
        "Euclidean",
        "those of the reported evaluation",
        "Not stated, and in no released code",
    ):
        assert text in notes, text


def test_scores_on_a_stand_in_have_no_difference():
    table = silhouette_table(at("demo"), TABLE, made_up(at("demo"), SILHOUETTES))
    assert table.title.endswith(
        "demo scale, stand-in data, other network sizes than the paper's: not comparable with the published numbers"
    )
    assert set(table.frame["difference"]) == {"–"} and set(table.frame["N"]) == {"8 (paper: 64)"}
    assert "No difference is shown" in " ".join(table.notes)


def test_a_users_own_model_is_a_further_row(project):
    own = {"label": "Mine", "colour": "black", "network": "mine.Net", "tasks": {"cifar10_images": {"sizes": [64]}}}
    project.write("config/models.yaml", project.read("config/models.yaml") | {"mine": own})
    configuration = project.load()
    rows = made_up(configuration, SILHOUETTES | {"mine": (0.9, 0.9)})
    table = silhouette_table(configuration, TABLE, rows)
    assert table.frame.iloc[-1].tolist() == ["Mine", "8 (paper: 64)", "0.9000 ± 0.0000 (n = 2)", "–", "–", "+0.3900"]
    assert table.notes[-1] == "Not in the paper's table: Mine."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": "pilot"}, "features' scale is pilot, and paper was expected"),
        ({"task": "svhn_images"}, "features' task is svhn_images"),
        ({"paper_size": "128"}, "features' paper_size is 128, and 64"),
        ({"settings": "{}"}, "features' settings is {}"),
        ({"seed": "5"}, "not one row for cifar10_images/ode_net-n64/seed0: measure them again"),
    ],
)
def test_a_measurement_of_something_else_is_refused(change, message):
    rows = made_up(at("paper"), SILHOUETTES, **change)
    with pytest.raises(UserError, match=message):
        silhouette_table(at("paper"), TABLE, rows)
    with pytest.raises(UserError, match=message):
        figures.embedding_figure(at("paper"), FIGURE, rows)


@pytest.mark.parametrize(
    ("status", "silhouette"), [("measured", ""), ("measured", "nan"), ("lost", ""), ("diverged", "1")]
)
def test_a_status_that_does_not_fit_its_silhouette_is_refused(tmp_path, status, silhouette):
    save_rows(tmp_path / "f.csv", made_up(at("paper"), SILHOUETTES, status=status, silhouette=silhouette))
    with pytest.raises(UserError, match="f.csv is not a measurement of features: ode_net, seed 0 has the status"):
        read_features(tmp_path / "f.csv")


def test_features_that_were_not_measured_are_asked_for(tmp_path):
    with pytest.raises(UserError, match="measure them first, with scripts/measure_features.py"):
        read_features(tmp_path / "f.csv")


def save_rows(path, rows):
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(("script", "artifact"), [(render_table, TABLE), (render_figure, FIGURE)])
def test_table_and_figure_are_made_from_the_features(tmp_path, monkeypatch, capsys, script, artifact):
    monkeypatch.chdir(tmp_path)
    rows = made_up(at("demo"), SILHOUETTES)
    save_rows(tmp_path / "features.csv", rows)
    save_maps(tmp_path / "features.npz")
    settings = json.dumps({"scale": "demo", "seeds": [0, 1]})
    arguments = ["render", "--artifact", artifact, "--output", str(tmp_path / artifact), "--config", settings]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit):
        run_main(script.main)
    assert "--features" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*arguments, "--features", "features.csv"])
    script.main()
    endings = ["csv", "md", "tex", "html"] if script is render_table else ["pdf", "png"]
    assert all((tmp_path / f"{artifact}.{ending}").stat().st_size > 500 for ending in endings)
