"""Figures of mean lines: lines are seen whole, and what is missing is named."""

from functools import partial

import pytest
from conftest import refused
from drawn import PredictedRuns, artifact_at, assert_nothing_overlaps, legend, panels_of, with_gid, words
from made import change_record

from hidden_dynamics.configuration.runs import PREDICTIONS


@pytest.fixture(params=["acenode_figure5", "acenode_figure6"])
def name(request):
    return request.param


@pytest.fixture
def made(tmp_path, name):
    return partial(PredictedRuns, tmp_path, name)


@pytest.fixture
def labels(name):
    """Of the models, by their names."""
    artifact = artifact_at("demo", name)
    return {model: artifact.configuration.models[model].label for model in artifact.settings.models}


def test_lines_are_seen_whole(made):
    above = panels_of(made().draw())[0]
    for artist in [*with_gid(above, "curve"), *with_gid(above, "seed")]:
        assert 0 < max(artist.get_ydata()) < above.get_ylim()[1]


def test_runs_without_a_number_are_named(made, labels):
    first, *_, last = labels
    figure = made(about={(first, 0): {"diverged_at": 7}}, answers={(last, 1): {}}).draw()
    assert f"{labels[first]} (1 of 2 seeds diverged)" in legend(figure)
    assert f"Diverged: {labels[first]}, seed 0" in words(figure)
    assert f"Without predictions: {labels[last]}, seed 1." in words(figure)
    nothing = made(answers={(model, seed): {} for model in labels for seed in (0, 1)}).draw()
    assert words(nothing).count("no run got as far as a value here") == len(panels_of(nothing))
    assert_nothing_overlaps(nothing)


def test_a_file_that_is_no_archive_is_named(made, labels):
    runs = made()
    files = runs.files[list(labels)[-1], 1]
    (files.directory / PREDICTIONS).write_bytes(b"nothing")
    change_record(files)
    with refused("snakemake", file=files.directory / PREDICTIONS):
        runs.draw()


@pytest.mark.parametrize(("scale", "seeds"), [("demo", [0, 1]), ("paper", [0, 1, 2])])
def test_no_text_overlaps(made, labels, scale, seeds):
    assert_nothing_overlaps(made(scale, seeds=seeds, about={(next(iter(labels)), 0): {"diverged_at": 7}}).draw())
