"""The figure of the copying task: the paper's example, and the first sequence of the configured data."""

from pathlib import Path

import pytest
from conftest import refused
from drawn import artifact_at, assert_nothing_overlaps, with_gid, words

from hidden_dynamics.data import copying

FIGURE = "momentumrnn_figure8"


def cells(ax, name, length):
    shown = {text.get_gid(): text.get_text() for text in ax.texts}
    return [shown.get(f"{name} {step}") for step in range(length)]


def test_the_papers_example_of_the_copying_task():
    figure = artifact_at("demo", FIGURE).draw(None)
    above = figure.axes[0]
    word = list("12342")
    assert cells(above, "Input", 30) == [*word, *"-" * 20, ":", *"-" * 4]
    assert cells(above, "Output", 30) == [*"-" * 25, *word]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_the_configured_example_is_the_first_test_sequence(scale):
    artifact = artifact_at(scale, FIGURE)
    task = artifact.configuration.tasks["copying_1k"]
    data = task.data
    letters, blanks = data["letters"], data["blanks"]
    word = [str(letter) for letter in copying.prepare(Path(), data)["test_letters"][0]]
    figure = artifact.draw(None)
    below = figure.axes[1]
    length = 2 * letters + blanks
    for name, expected in (
        ("Input", [*word, *"-" * blanks, ":", *"-" * (letters - 1)]),
        ("Output", [*"-" * (letters + blanks), *word]),
    ):
        shown = cells(below, name, length)
        assert [(a, b) for a, b in zip(shown, expected, strict=True) if a not in (None, b)] == []
        assert shown[:letters] == expected[:letters] and shown[-letters:] == expected[-letters:]
        assert (None in shown) == (scale == "paper") == bool(with_gid(below, "ellipsis"))
    text = words(figure)
    assert "The paper's example" in text and "the first test sequence of the data as configured" in text
    assert f"K = {letters}, L = {blanks}" in text and task.title in text
    assert_nothing_overlaps(figure)


def test_the_copying_example_needs_a_copying_task():
    with refused("copying"):
        artifact_at("demo", FIGURE, overrides={"artifacts": {FIGURE: {"task": "mnist"}}}).draw(None)
