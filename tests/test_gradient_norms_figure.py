"""Heat maps of gradients: they show what the runs recorded, and say what they are."""

import numpy as np
import pytest
from approved import approved
from conftest import refused
from drawn import artifact_at, face, with_gid, words
from hypothesis import given
from hypothesis import strategies as st
from made import change_record, make_run, sources_of, summary_of

from hidden_dynamics.artifacts.kinds.gradient_norms.drawing import colour_limits
from hidden_dynamics.configuration.runs import GRADIENTS

FIGURE = "momentumrnn_figure2"
PAPERS = (0.0, 0.05)


def falling(k=30, length=16, high=0.05):
    """Norms (k, T) that fall towards the first step and along the training, never above `high`."""
    return high * np.exp(-np.arange(length)[::-1] / 8)[None] * np.exp(-np.arange(k) / k)[:, None]


class Recordings:
    """The figure's runs; `norms` are those of each model's first seed, `diverged_at` where these ended."""

    def __init__(self, root, norms, scale="demo", diverged_at=(None, None), seeds=(0,)):
        self.root, self.artifact = root, artifact_at(scale, FIGURE, seeds=list(seeds))
        configuration, runs = self.artifact.configuration, self.artifact.runs
        first = [run for run in runs if run.seed == seeds[0]]
        ends = {run.id: {"diverged_at": at} for run, at in zip(first, diverged_at, strict=True)}
        recorded = {run.id: {"gradients": values} for run, values in zip(first, norms, strict=True)}
        self.files = [make_run(root, configuration, run, **recorded[run.id], **ends[run.id]) for run in first]
        self.summary = summary_of(self.artifact, lambda run: ends.get(run.id, {}))

    def draw(self):
        return self.artifact.draw(sources_of(self.artifact, self.root, summary=self.summary))


def norms_figure(root, norms, **options):
    return Recordings(root, norms, **options).draw()


def test_a_map_shows_the_recorded_norms_with_the_first_step_on_top(tmp_path):
    norms = [falling(), falling() * 2]
    figure = norms_figure(tmp_path, norms)
    for model, values in zip(("dtriv", "momentum_dtriv"), norms, strict=True):
        (image,) = with_gid(figure, f"norms {model}")
        np.testing.assert_array_equal(image.get_array(), np.float32(values).T)
        assert image.get_extent() == [-1, 59, 15.5, -0.5] and image.origin == "upper"
        assert image.axes.get_ylim() == (15.5, -0.5) and image.axes.get_xlim() == (-1, 59)
        assert image.get_cmap().name == "viridis" and image.get_clim() == PAPERS
    assert "every 2 iterations" in words(figure)


def test_a_shorter_recording_leaves_the_rest_of_its_panel_empty(tmp_path):
    figure = norms_figure(tmp_path, [falling(10), falling(30)])
    images = [with_gid(figure, f"norms {model}")[0] for model in ("dtriv", "momentum_dtriv")]
    assert [image.get_extent()[1] for image in images] == [19, 59]
    assert {image.axes.get_xlim() for image in images} == {(-1, 59)}


def test_one_recorded_iteration_is_drawn(tmp_path):
    figure = norms_figure(tmp_path, [falling(1), falling(1)])
    figure.draw_without_rendering()
    assert with_gid(figure, "norms dtriv")[0].get_extent()[:2] == [-0.5, 0.5]


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_what_the_maps_say_is_as_approved(tmp_path, scale):
    approved(f"{FIGURE}_{scale}.txt", face(norms_figure(tmp_path, [falling(), falling()], scale=scale)))


def test_the_maps_are_of_the_first_seed_of_those_trained(tmp_path):
    figure = norms_figure(tmp_path, [falling(), falling()], seeds=(5, 0, 2))
    assert "Drawn: seed 5, the first of 3 trained" in words(figure)
    assert words(figure).count(", seed 5") == 2


def test_other_limits_are_stated_with_what_is_clipped(tmp_path):
    spiked = falling(40, 25, high=4.0)
    spiked[0, 0] = 100.0
    figure = norms_figure(tmp_path, [spiked, spiked])
    low, high = with_gid(figure, "norms dtriv")[0].get_clim()
    assert low == 0 and 1 < high < 4.5
    assert f"0 to {high:g}, to fit these norms" in words(figure) and "the paper: 0 to 0.05" in words(figure)
    share = 100 * np.mean(np.float32(spiked) > high)
    assert f"{share:.2g} % of the norms are above and are clipped" in words(figure)


@given(st.floats(1e-12, 1e12), st.integers(0, 2**32 - 1))
def test_limits_show_almost_all_norms_and_do_not_hide_them(scale, seed):
    norms = scale * np.random.default_rng(seed).uniform(0.5, 1.0, 1000)
    low, high = colour_limits(norms, PAPERS)
    if (low, high) == PAPERS:
        assert high / 5.1 < norms.max() and np.quantile(norms, 0.99) < high * 5.1
    else:
        assert low == 0 and np.mean(norms <= high) >= 0.99 and high <= 1.11 * norms.max()


def test_limits_without_norms_are_the_papers():
    assert colour_limits(np.zeros(0), PAPERS) == colour_limits(np.zeros(9), PAPERS) == PAPERS


def test_norms_that_are_no_numbers_are_marked_and_do_not_count(tmp_path):
    broken = falling()
    broken[-1] = [np.inf, *[np.nan] * 15]
    figure = norms_figure(tmp_path, [falling(), broken])
    (image,) = with_gid(figure, "norms momentum_dtriv")
    assert image.get_array().mask.sum() == 16 and image.get_clim() == PAPERS
    assert "Red: not a finite number" in words(figure)
    figure.draw_without_rendering()


def test_a_run_that_recorded_nothing_says_why(tmp_path):
    figure = norms_figure(tmp_path, [falling(), []], diverged_at=(None, 1))
    assert "diverged at iteration 1, before a gradient was recorded" in words(figure)
    assert "seed 0, diverged at iteration 1" in words(figure)
    assert not with_gid(figure, "norms momentum") and with_gid(figure, "norms dtriv")[0].axes.get_ylim() == (15.5, -0.5)
    nothing = norms_figure(tmp_path, [[], []])
    assert words(nothing).count("no gradient was recorded") == 2
    nothing.draw_without_rendering()


ITERATIONS, NORMS = np.arange(3), np.zeros((3, 2), np.float32)


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"not an archive",
        {"iterations": ITERATIONS},
        {"iterations": ITERATIONS, "norms": NORMS[:, 0]},
        {"iterations": ITERATIONS, "norms": np.zeros((4, 2), np.float32)},
        {"iterations": np.array([0, 4, 2]), "norms": NORMS},
        {"iterations": np.array([0, 1, 5]), "norms": NORMS},
        {"iterations": np.array([{}], object), "norms": NORMS[:1]},
    ],
)
def test_a_damaged_recording_is_named(tmp_path, content):
    made = Recordings(tmp_path, [falling(), falling()])
    path = made.files[1].directory / GRADIENTS
    if isinstance(content, dict):
        np.savez(path, **content)
    else:
        path.write_bytes(content or b"")
    change_record(made.files[1])
    if content is None:
        path.unlink()
    with refused("snakemake", file=path):
        made.draw()


def test_a_model_without_a_run_is_named(tmp_path):
    made = Recordings(tmp_path, [falling(), falling()])
    made.summary.pop()
    with refused("momentum_dtriv", file=tmp_path / made.artifact.inputs()["summary"]):
        made.draw()
