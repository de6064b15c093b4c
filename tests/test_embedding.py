"""The figure of image features in the plane: a panel per model, the classes' colours."""

import numpy as np
from drawn import FigureRuns, add_model, legend, with_gid
from made import write_measured
from matplotlib.colors import to_rgb

from hidden_dynamics.artifacts import artifact_named

FIGURE = "acenode_figure4"
MODELS = ("ode_net", "augmented_ode_net", "ace_ode_net")


def test_a_panel_shows_the_map_of_a_models_first_seed_in_the_colours_of_the_classes(tmp_path):
    runs = FigureRuns(tmp_path, FIGURE)
    figure, maps = runs.draw(), np.load(tmp_path / runs.artifact.inputs()["maps"])
    for model, ax in zip(MODELS, figure.axes, strict=True):
        (points,) = with_gid(ax, f"map {model}")
        np.testing.assert_array_equal(points.get_offsets(), maps[f"{model}.embedding"])
        np.testing.assert_allclose(points.get_facecolors()[:, :3], [to_rgb(f"C{label}") for label in range(10)] * 4)
        assert ax.get_title() == f"{runs.artifact.configuration.models[model].label}, seed 0\nsilhouette 0.5000"
        np.testing.assert_array_equal(figure.data.loc[figure.data["model"] == model, ["x", "y"]], points.get_offsets())
        assert ax.get_aspect() == 1 and len(ax.get_xticks()) == len(ax.get_yticks()) == 0
    assert legend(figure) == [str(number) for number in range(10)]


def test_classes_have_their_names_where_they_are_known_and_those_that_are_not_there_have_none(tmp_path):
    runs = FigureRuns(tmp_path, FIGURE, "paper")
    np.savez(tmp_path / runs.artifact.inputs()["maps"], labels=np.array([0, 3, 3, 9]))
    assert legend(runs.draw()) == ["airplane", "cat", "truck"]
    assert len(runs.artifact.configuration.datasets["cifar10"].classes) == 10


def test_a_model_without_features_says_why(tmp_path):
    runs = FigureRuns(tmp_path, FIGURE)
    path = tmp_path / runs.artifact.inputs()["maps"]
    np.savez(path, **{name: array for name, array in np.load(path).items() if name != "ode_net.embedding"})
    lost = {"silhouette": None, "dimensions": None, "status": "solver failed"}
    rows = [row.model_copy(update=lost if row.model == "ode_net" else {}) for row in runs.evidence().features]
    write_measured(tmp_path / runs.artifact.inputs()["features"], rows)
    figure = runs.draw()
    (panel,) = {artist.axes for artist in with_gid(figure, "nothing")}
    assert panel is figure.axes[0] and "no silhouette" in panel.get_title() and not figure.instead
    assert set(figure.data["model"]) == {"augmented_ode_net", "ace_ode_net"}


def test_a_fourth_model_has_a_panel_in_a_second_line(project, tmp_path):
    add_model(project, "cifar10_images", 64, network="mine.Net")
    figure = FigureRuns(tmp_path, artifact_named(project.load(), FIGURE)).draw()
    assert [ax.axison for ax in figure.axes] == [True] * 4 + [False] * 2
    assert figure.axes[3].get_title().startswith("Mine")
