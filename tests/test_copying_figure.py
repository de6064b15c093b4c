"""The figure of the copying task: the paper's example."""

from drawn import artifact_at


def test_the_papers_example_of_the_copying_task():
    figure = artifact_at("demo", "momentumrnn_figure8").draw(None)
    (ax,) = figure.axes
    shown, word = {text.get_gid(): text.get_text() for text in ax.texts}, list("12342")
    assert [shown[f"Input {step}"] for step in range(30)] == [*word, *"-" * 20, ":", *"-" * 4]
    assert [shown[f"Output {step}"] for step in range(30)] == [*"-" * 25, *word]
