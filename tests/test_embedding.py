"""The figure of image features in the plane: a panel per model, the classes' colours, what it says of itself."""

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import add_model, artifact_at, face, legend, with_gid, words
from made import features_of, sources_of

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.artifacts.kinds.embedding.drawing import COLOURS

FIGURE = "acenode_figure4"
MODELS = ("ode_net", "augmented_ode_net", "ace_ode_net")
SILHOUETTES = {
    "ode_net": (0.50, 0.52),
    "augmented_ode_net": (0.49, 0.51),
    "ace_ode_net": (0.6, 0.7),
    "mine": (0.9, 0.9),
}
LABELS = np.arange(40) % 10


def save_maps(root, artifact, models=MODELS, labels=LABELS):
    rng = np.random.default_rng(0)
    maps = {model: rng.normal(size=(len(labels), 2)).astype(np.float32) for model in models}
    path = maps_of(root, artifact)
    path.parent.mkdir(parents=True)
    np.savez(path, labels=labels, **{f"{model}.embedding": points for model, points in maps.items()})
    return maps


def maps_of(root, artifact):
    return root / artifact.inputs()["maps"]


def draw(root, artifact, **changes):
    return artifact.draw(sources_of(artifact, root, features=features_of(artifact, SILHOUETTES, **changes)))


def test_a_panel_shows_the_map_of_a_models_first_seed_in_the_colours_of_the_classes(tmp_path):
    artifact = artifact_at("demo", FIGURE)
    maps = save_maps(tmp_path, artifact)
    figure = draw(tmp_path, artifact)
    for model, ax, score in zip(MODELS, figure.axes, ("0.5000", "0.4900", "0.6000"), strict=True):
        (points,) = with_gid(ax, f"map {model}")
        np.testing.assert_array_equal(points.get_offsets(), maps[model])
        np.testing.assert_allclose(points.get_facecolors()[:, :3], [COLOURS[label] for label in LABELS])
        label = artifact.configuration.models[model].label
        assert ax.get_title() == f"{label}, N = 8 (paper: 64), seed 0\nsilhouette {score}"
        assert ax.get_aspect() == 1 and len(ax.get_xticks()) == len(ax.get_yticks()) == 0
    assert legend(figure) == [str(number) for number in range(10)]


def test_classes_have_their_names_where_they_are_known_and_those_that_are_not_there_have_none(tmp_path):
    artifact = artifact_at("paper", FIGURE)
    save_maps(tmp_path, artifact, labels=np.array([0, 3, 3, 9]))
    assert legend(draw(tmp_path, artifact)) == ["airplane", "cat", "truck"]
    assert len(artifact.configuration.datasets["cifar10"].classes) == 10


def test_what_the_figure_says_is_as_approved(tmp_path):
    artifact = artifact_at("demo", FIGURE)
    save_maps(tmp_path, artifact)
    approved(f"{FIGURE}_demo.txt", face(draw(tmp_path, artifact)))


def test_a_model_without_features_says_why(tmp_path):
    artifact = artifact_at("demo", FIGURE)
    save_maps(tmp_path, artifact, models=())
    text = words(draw(tmp_path, artifact, silhouette=None, dimensions=None, status="solver failed"))
    assert text.count("no silhouette") == text.count("the solver failed on these images") - 1 == 3


def test_a_fourth_model_has_a_panel_in_a_second_line(project, tmp_path):
    add_model(project, "cifar10_images", 64, network="mine.Net")
    artifact = artifact_named(project.load(), FIGURE)
    save_maps(tmp_path, artifact, (*MODELS, "mine"))
    figure = draw(tmp_path, artifact)
    assert [ax.axison for ax in figure.axes] == [True] * 4 + [False] * 2
    assert figure.axes[3].get_title().startswith("Mine")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"PK no archive"),
        lambda path: np.savez(path, labels=LABELS, **{"ode_net.embedding": np.ones((3, 2))}),
    ],
)
def test_maps_that_are_missing_or_damaged_are_named(tmp_path, damage):
    artifact = artifact_at("demo", FIGURE)
    save_maps(tmp_path, artifact)
    damage(maps_of(tmp_path, artifact))
    with refused("snakemake", file=maps_of(tmp_path, artifact)):
        draw(tmp_path, artifact)
