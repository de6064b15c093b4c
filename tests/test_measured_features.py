"""Image features: what is taken from a network, its clusters and its map, and the step that measures them."""

import json
import sys
from pathlib import Path

import loops
import measure_features
import numpy as np
import pytest
import torch
from conftest import ROOT, refused
from drawn import with_gid
from made import change_record, make_run
from raw import noise_images
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_samples
from torch import nn

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.configuration import load, read_yaml
from hidden_dynamics.data import prepared
from hidden_dynamics.measurements.feature_measurement import cluster, embed, features_of
from hidden_dynamics.models.image_networks import ImageOutput
from hidden_dynamics.results.measured import Features, FeatureSettings
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.tasks.images import ImageClassification
from hidden_dynamics.training.building import build

TABLE, FIGURE = "acenode_table5", "acenode_figure4"
MODELS = ("ode_net", "augmented_ode_net", "ace_ode_net")
SETTINGS = FeatureSettings(
    layer="pooled",
    split="test",
    images=1000,
    standardise=False,
    clusters=4,
    initialisations=3,
    perplexity=8,
    iterations=250,
    embedded=50,
    seed=0,
)


def changed(**settings):
    return SETTINGS.model_copy(update=settings)


def blobs(apart):
    """Points (80, 5) of deviation 1 around four centres that are `apart` from each other."""
    return np.repeat(apart / np.sqrt(2) * np.eye(4, 5), 20, 0) + np.random.default_rng(0).normal(size=(80, 5))


@pytest.mark.parametrize("apart", [0.0, 2.0, 5.0])
def test_clusters_and_silhouette_are_scikit_learns(apart):
    points = blobs(apart)
    assigned, silhouette = cluster(points, SETTINGS)
    expected = KMeans(4, n_init=3, random_state=0).fit_predict(points)
    np.testing.assert_array_equal(assigned, expected)
    assert silhouette == pytest.approx(silhouette_samples(points, expected).mean(), rel=1e-12)


def test_a_map_keeps_neighbours_together():
    mapped = embed(blobs(20.0), changed(iterations=600))
    assert mapped.shape == (80, 2) and mapped.dtype == np.float32
    distances = np.linalg.norm(mapped[:, None] - mapped[None], axis=-1) + np.diag(np.full(80, np.inf))
    assert (distances.argmin(1) // 20 == np.arange(80) // 20).all()


def test_features_that_hardly_differ_are_mapped_and_those_that_do_not_are_not():
    """scikit-learn's t-SNE crashes on both, with a segmentation fault (1.9.1)."""
    np.testing.assert_allclose(embed(blobs(2.0) * 1e-30, SETTINGS), embed(blobs(2.0), SETTINGS), atol=5)
    assert embed(np.ones((80, 5)), SETTINGS) is None


@pytest.mark.parametrize("distinct", [1, 3])
def test_fewer_features_than_clusters_have_no_silhouette(distinct):
    assigned, silhouette = cluster(np.repeat(blobs(9.0)[:distinct], 30, 0), SETTINGS)
    assert silhouette is None and len(set(assigned)) == distinct


class Network(nn.Module):
    """Its state is the images, its features their means."""

    def forward(self, images):
        assert not self.training and not torch.is_grad_enabled()
        return ImageOutput(images.mean((2, 3))[:, :1], images.mean((2, 3)), images)


class Task(ImageClassification):
    def __init__(self, *sizes):
        rng = np.random.default_rng(0)
        self.images = {"test": None}
        self.batches = [
            (torch.from_numpy(rng.normal(size=(n, 3, 2, 2)).astype(np.float32)), torch.arange(n) % 10) for n in sizes
        ]

    def evaluation_batches(self, split):
        return self.batches


@pytest.mark.parametrize(("images", "taken"), [(1000, 12), (12, 12), (9, 9), (7, 7), (2, 2)])
@pytest.mark.parametrize("layer", ["pooled", "state"])
def test_features_are_those_of_the_first_images(images, taken, layer):
    task = Task(7, 5)
    features, labels = features_of(Network(), task, changed(layer=layer, images=images))
    everything = torch.cat([batch for batch, _ in task.batches])[:taken].double()
    expected = everything.flatten(1) if layer == "state" else everything.mean((2, 3))
    np.testing.assert_allclose(features, expected, rtol=1e-6, atol=1e-7)
    assert features.dtype == np.float64 and labels.tolist() == [*range(7), *range(5)][:taken]


@pytest.mark.parametrize(
    ("network", "task", "change", "named"),
    [
        (Network(), Task(9), {"split": "validation"}, "features.split .*validation.*test"),
        (nn.Flatten(), Task(9), {}, "ImageOutput.*Tensor"),
        (Network(), loops.Regression(), {}, "Regression"),
    ],
)
def test_a_split_that_is_not_there_and_a_network_without_layers_are_named(network, task, change, named):
    with refused(named):
        features_of(network, task, changed(**change))


def test_table_and_figure_share_their_measurement_until_a_setting_differs(configured):
    def measurements(**overrides):
        artifacts = load_artifacts(configured(overrides={"artifacts": overrides}))
        return [artifacts[name].measurement for name in (TABLE, FIGURE)]

    assert measurements() == [TABLE, TABLE]
    assert measurements(**{FIGURE: {"features": {"perplexity": 10}}}) == [TABLE, FIGURE]


class Workplace:
    """Runs of networks as their seeds make them, on small images, with the settings that have them."""

    def __init__(self, root: Path):
        features = {"clusters": 3, "perplexity": 5, "embedded": 25, "iterations": 250}
        self.settings = read_yaml(ROOT / "config.yaml") | {
            "results": str(root / "results"),
            "data": {"directory": str(root / "data"), "mirror": None, "copies": {}},
            "device": "cpu",
            "overrides": {
                "tasks": {"cifar10_images": {"settings": {"validation": 10}}},
                "artifacts": {artifact: {"features": features} for artifact in (TABLE, FIGURE)},
            },
        }
        self.configuration = load(self.settings)
        self.table, self.figure = (artifact_named(self.configuration, name) for name in (TABLE, FIGURE))
        self.output = Path(self.table.inputs()["features"])
        arrays = noise_images(64, levels=16, train=20, test=30)
        self.data = root / "data/prepared/digits.npz"
        prepared.save(self.data, arrays, {"dataset": "digits", "title": "Made-up digits", "stand_in_for": "mnist"})
        self.runs = {(run.model, run.seed): run for run in self.table.runs}
        for run in self.runs.values():
            _, network = build(run, arrays, torch.device("cpu"))
            about = {"dataset": {"digest": prepared.digest(arrays)}, "weights": network.state_dict()}
            make_run(root, self.configuration, run, **about)

    def files(self, model, seed) -> RunFiles:
        return RunFiles(Path(self.runs[model, seed].directory))

    def weights(self, model, seed, change) -> None:
        files = self.files(model, seed)
        path = files.directory / "model.pt"
        torch.save({name: change(name, tensor) for name, tensor in torch.load(path).items()}, path)
        change_record(files)

    def measure(self, artifact=TABLE) -> list[dict[str, str]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["measure", "--artifact", artifact, "--config", json.dumps(self.settings)])
            measure_features.main()
        return read_rows(self.output)


@pytest.fixture
def workplace(tmp_path):
    return Workplace(tmp_path)


def test_every_run_is_measured_as_its_network_and_images_are_each_time(workplace):
    rows = workplace.measure()
    files = [workplace.output, workplace.output.with_suffix(".npz")]
    before = [file.read_bytes() for file in files]
    workplace.measure()
    assert [file.read_bytes() for file in files] == before
    assert [(row["model"], row["seed"]) for row in rows] == [(model, seed) for model in MODELS for seed in "01"]
    assert list(rows[0]) == list(Features.model_fields)
    settings = workplace.table.settings.features
    arrays = prepared.load(workplace.data).arrays
    for row in rows:
        task, network = build(workplace.runs[row["model"], int(row["seed"])], arrays, torch.device("cpu"))
        features, labels = features_of(network, task, settings)
        assert float(row["silhouette"]) == cluster(features, settings)[1]
        assert (row["status"], row["images"], row["weights"]) == ("measured", "30", "reported")
        assert row["dimensions"] == ("13" if row["model"] == "augmented_ode_net" else "8")
        assert json.loads(row["settings"]) == settings.given()
    with np.load(workplace.output.with_suffix(".npz")) as maps:
        names = [f"{model}.{name}" for model in MODELS for name in ("embedding", "clusters")]
        assert sorted(maps) == sorted(["labels", *names])
        assert maps["labels"].tolist() == labels[:25].tolist() == [k % 10 for k in range(25)]
        assert maps["ode_net.embedding"].shape == (25, 2) and maps["ode_net.clusters"].shape == (25,)


def test_runs_without_features_say_why_and_the_others_are_measured(workplace):
    failure = {"cause": "step budget exceeded", "time": 0.31, "step": 1000, "during": "forward"}
    change_record(workplace.files("ode_net", 0), status="diverged", diverged_at=812, failure=failure)
    workplace.weights("ode_net", 1, lambda _, tensor: tensor * torch.nan)  # its solver finds them
    workplace.weights("ace_ode_net", 0, lambda _, tensor: torch.zeros_like(tensor))
    nan_in_head = lambda name, tensor: tensor * torch.nan if name.startswith("head") else tensor  # noqa: E731
    workplace.weights("augmented_ode_net", 0, nan_in_head)
    rows = {(row["model"], row["seed"]): row for row in workplace.measure()}
    assert {key: row["status"] for key, row in rows.items()} == {
        ("ode_net", "0"): "diverged",
        ("ode_net", "1"): "solver failed",
        ("augmented_ode_net", "0"): "not finite",
        ("augmented_ode_net", "1"): "measured",
        ("ace_ode_net", "0"): "collapsed",
        ("ace_ode_net", "1"): "measured",
    }
    assert rows["ode_net", "1"]["failure"].startswith("state not finite at t = ")
    assert [key for key, row in rows.items() if row["silhouette"]] == [("augmented_ode_net", "1"), ("ace_ode_net", "1")]
    with np.load(workplace.output.with_suffix(".npz")) as maps:
        assert list(maps) == []  # the first seeds have none
    table = workplace.table.draw(workplace.table.evidence(Path()))
    ours = dict(zip(table.data["model"], table.frame["", "ours"], strict=True))
    assert ours["ode_net"] == "diverged 1 of 2; not finite 1 of 2"
    assert ours["augmented_ode_net"].endswith(" ± – (n = 1; not finite 1 of 2)")
    assert ours["ace_ode_net"].endswith(" ± – (n = 1; not finite 1 of 2)")
    notes = " ".join(table.notes)
    assert "seed 0: solver failed at iteration 812 (step budget exceeded)" in notes
    assert "seed 1 (state not finite at t = " in notes
    said = [text.get_text() for text in with_gid(workplace.figure.draw(workplace.figure.evidence(Path())), "nothing")]
    for text, why in zip(said, ("training diverged", "not finite", "fewer features differ"), strict=True):
        assert why in text


def test_data_and_settings_that_are_not_those_of_the_run_are_refused(workplace):
    """Data that were prepared anew, a class that is not the configured one, an artifact without features."""
    files = workplace.files("ode_net", 0)
    record = files.record()
    change_record(files, dataset=record["dataset"] | {"digest": "other"})
    with refused("cifar10_images/ode_net-n8/seed0", file=workplace.data):
        workplace.measure()
    change_record(files, dataset=record["dataset"], spec=record["spec"] | {"network": "Vanished"})
    with refused(key="spec.network"):
        workplace.measure()
    with refused("momentumrnn_table1"):
        workplace.measure("momentumrnn_table1")
