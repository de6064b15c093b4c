"""The page of a figure and its files: whole, valid, and the same bytes wherever they are made."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import refused
from drawn import artifact_at
from made import make_run, write_beside
from matplotlib.figure import Figure
from PIL import Image

from hidden_dynamics.artifacts.sheet import legend_columns, line_styles, plain_numbers, save
from hidden_dynamics.configuration.paths import ENDINGS
from hidden_dynamics.system.files import ROOT

NAME = "momentumrnn_figure11"


def test_files_are_valid_and_the_same_from_another_process(tmp_path):
    artifact = artifact_at("demo", NAME)
    for run in artifact.runs:
        make_run(tmp_path, artifact.configuration, run)
    write_beside(tmp_path, artifact)
    save(artifact.draw(artifact.evidence(tmp_path)), tmp_path / "here" / NAME)
    program = (
        "from pathlib import Path; from drawn import artifact_at; from hidden_dynamics.artifacts import sheet; "
        f"one = artifact_at('demo', {NAME!r}); sheet.save(one.draw(one.evidence(Path())), 'there/{NAME}')"
    )
    path = os.pathsep.join(str(ROOT / folder) for folder in (".", "tests"))
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path})
    here = {kind: (tmp_path / f"here/{NAME}.{kind}").read_bytes() for kind in ENDINGS["figure"]}
    assert len(list((tmp_path / "here").iterdir())) == len(here)
    assert here == {kind: (tmp_path / f"there/{NAME}.{kind}").read_bytes() for kind in ENDINGS["figure"]}
    document = here["pdf"]
    assert document.startswith(b"%PDF-") and document.rstrip().endswith(b"%%EOF") and b"CreationDate" not in document
    with Image.open(tmp_path / f"here/{NAME}.png") as image:
        image.load()
        assert image.width > 1200 and image.info["dpi"][0] >= 150
        assert np.asarray(image.convert("L")).std() > 5  # something is drawn


def test_a_figure_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "x.pdf").write_text("old")
    figure = artifact_at("demo", "momentumrnn_figure8").draw(None)

    def fail(handle, **_):
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError):
        save(figure, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.pdf"] and (tmp_path / "x.pdf").read_text() == "old"


@pytest.mark.parametrize(
    ("limits", "some"), [((4, 150), {"6", "10", "20", "60", "100"}), ((0.28, 1.02), {"0.3", "0.6", "1"})]
)
def test_a_logarithmic_axis_has_plain_numbers(limits, some):
    ax = Figure().subplots()
    ax.set_yscale("log")
    ax.set_ylim(*limits)
    plain_numbers(ax.yaxis)
    labels = [label.get_text() for kind in (False, True) for label in ax.get_yticklabels(minor=kind)]
    assert some <= set(labels) and all(re.fullmatch(r"[1-9]\d*|0\.\d+", label) for label in labels if label)


def test_a_colour_that_is_none_is_named_with_its_model(project):
    models = project.read("config/models.yaml")
    project.write("config/models.yaml", models | {"lstm": models["lstm"] | {"colour": "magentaa"}})
    with refused("'magentaa'", file="config/models.yaml", key="lstm.colour"):
        line_styles(project.load(), [SimpleNamespace(model="lstm")])


def test_a_legend_has_as_many_columns_as_fit():
    assert legend_columns([], 6.8) == legend_columns(["x" * 200] * 3, 6.8) == 1
    assert legend_columns(["LSTM"] * 3, 6.8) == 3 and 1 < legend_columns(["MomentumLSTM"] * 30, 6.8) < 10
