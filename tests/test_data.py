"""The datasets: file formats, shapes and ranges, and what the generated tasks promise."""

import json
import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, printed_by, refused
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.configuration import load
from hidden_dynamics.data import adding, cifar10, copying, digits, fsdd, human_activity, mnist, prepared, ptb, ushcn
from hidden_dynamics.data.fetch import fetch, verify
from hidden_dynamics.data.human_activity import CLASSES
from hidden_dynamics.data.streams import generator
from hidden_dynamics.results.rows import read_rows

counts = st.integers(1, 5)
seeds = st.integers(0, 2**40)


def test_streams_are_stable():
    # Written down once: whoever changes how streams are keyed changes every number of every run.
    assert generator(3, "train", 1201).integers(0, 2**32, 3).tolist() == [4232539490, 3361322314, 698638169]
    assert generator(3, "train", 1202).integers(0, 2**32, 3).tolist() == [1210535931, 2407027353, 3597757411]
    assert generator(0, "1").integers(0, 2**32) == 2494467440
    assert generator(0, 1).integers(0, 2**32) == 1418201567


@given(seeds, st.lists(st.one_of(st.text(max_size=5), st.integers(-(2**70), 2**70)), max_size=3))
def test_streams_differ_along_every_step_and_repeat(seed: int, path: list):
    drawn = generator(seed, *path).integers(0, 2**63, 2).tolist()
    assert generator(seed, *path).integers(0, 2**63, 2).tolist() == drawn
    for other in ((seed + 1, *path), (seed, *path, 0), (seed, *path, ""), (seed, 7, *path)):
        assert generator(*other).integers(0, 2**63, 2).tolist() != drawn


def test_a_stream_is_named_by_text_and_whole_numbers():
    assert generator(np.int64(3), np.int32(1)).random() == generator(3, 1).random()
    with pytest.raises(TypeError):
        generator(3, 0.5)


@given(seeds, counts, st.integers(1, 12), st.integers(1, 40), st.integers(1, 20))
def test_copying_sequences(seed: int, count: int, letters: int, blanks: int, alphabet: int):
    words = copying.sample_letters(generator(seed), count, letters, alphabet)
    assert words.shape == (count, letters) and words.dtype == np.uint8
    assert words.min() >= 1 and words.max() <= alphabet

    inputs, targets = copying.sequences(words, blanks, alphabet)
    assert inputs.shape == targets.shape == (count, blanks + 2 * letters)
    marker = letters + blanks
    assert (inputs[:, :letters] == words).all()
    assert (inputs[:, letters:marker] == copying.BLANK).all()
    assert (inputs[:, marker] == alphabet + 1).all()
    assert (inputs[:, marker + 1 :] == copying.BLANK).all()
    assert (targets[:, :marker] == copying.BLANK).all()
    assert (targets[:, marker:] == words).all()


@given(seeds, counts, st.integers(2, 60))
def test_adding_samples(seed: int, count: int, length: int):
    values, markers, targets = adding.sample(generator(seed), count, length)
    assert values.shape == (count, length) and values.dtype == np.float32
    assert values.min() >= 0 and values.max() < 1
    assert markers.shape == (count, 2) and markers.dtype == np.int64
    assert ((markers[:, 0] >= 0) & (markers[:, 0] < length // 2)).all()
    assert ((markers[:, 1] >= length // 2) & (markers[:, 1] < length)).all()

    seen = adding.inputs(values, markers)
    assert seen.shape == (count, length, 2) and seen.dtype == np.float32
    assert (seen[:, :, 0] == values).all()
    assert (seen[:, :, 1].sum(axis=1) == 2).all()
    assert (np.sort(np.argsort(seen[:, :, 1], axis=1)[:, -2:], axis=1) == markers).all()
    assert targets.shape == (count,) and targets.dtype == np.float32
    np.testing.assert_allclose((seen[:, :, 0] * seen[:, :, 1]).sum(axis=1), targets, rtol=1e-6)


def test_adding_markers_cover_both_halves_and_the_baseline_is_a_sixth():
    _, markers, targets = adding.sample(generator(0), 20_000, 7)
    assert set(markers[:, 0]) == {0, 1, 2} and set(markers[:, 1]) == {3, 4, 5, 6}
    assert np.mean((targets - 1) ** 2) == pytest.approx(adding.VARIANCE, abs=0.005)


def test_digits():
    arrays = digits.prepare(Path("nowhere"), {})
    assert arrays["train_images"].shape == (1437, 64) and arrays["test_images"].shape == (360, 64)
    assert arrays["train_images"].dtype == arrays["test_labels"].dtype == np.uint8
    scaled = arrays["train_images"] / arrays["levels"]
    assert scaled.dtype == np.float32 and scaled.min() == 0 and scaled.max() == 1
    # The split is part of the result: the same images are held out on every machine.
    assert arrays["test_labels"][:10].tolist() == [7, 6, 3, 7, 7, 3, 2, 8, 9, 3]
    assert int(arrays["test_images"].sum()) == 112350
    assert np.bincount(arrays["test_labels"]).tolist() == [36, 36, 35, 37, 36, 37, 36, 36, 35, 36]


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


def test_mnist_is_read_row_by_row(tmp_path: Path):
    rng = generator(0)
    written = {
        "train-images-idx3-ubyte": rng.integers(0, 256, (6, 28, 28)),
        "t10k-images-idx3-ubyte": rng.integers(0, 256, (4, 28, 28)),
        "train-labels-idx1-ubyte": rng.integers(0, 10, 6),
        "t10k-labels-idx1-ubyte": rng.integers(0, 10, 4),
    }
    for name, array in written.items():
        (tmp_path / name).write_bytes(idx(array))
    arrays = mnist.prepare(tmp_path, {})
    assert (arrays["train_images"][2, 28 * 5 + 7] == written["train-images-idx3-ubyte"][2, 5, 7]).all()
    assert np.array_equal(arrays["test_images"].reshape(4, 28, 28), written["t10k-images-idx3-ubyte"])
    assert np.array_equal(arrays["train_labels"], written["train-labels-idx1-ubyte"])
    assert arrays["levels"] == 255 and arrays["levels"].dtype == np.float32
    assert {array.dtype for name, array in arrays.items() if name != "levels"} == {np.dtype(np.uint8)}


WRONG = {
    "copying": [{"blanks": 0}, {"blanks": 1.5}, {"alphabet": 256}, {"test_size": 0}],
    "adding": [{"length": 1}, {"seed": -1}],
    "digits": [{"enlarge": bad} for bad in (0, 1.5, True, None, "2")],
    "mnist": [{"side": 9}, {"side": 0}, {"side": "14"}],
    "svhn": [{"side": 9}],
    "cifar10": [{"side": 9}],
    "ptb": [{"words": 0}, {"words": 929_590}],
    "invented_text": [{"vocabulary": 0}, {"vocabulary": 1e3}, {"train": 0}],
    "synthetic_speech": [{"train": 0}, {"shortest": 0}, {"longest": 299}, {"longest": 1.5}],
    "ornstein_uhlenbeck": [
        *[{"series": 0}, {"series": 1.5}, {"rate": 11}, {"rate": 0.001}, {"until": 30.0}, {"speeds": [1.0]}],
        *[{"speeds": [1.0, "fast"]}, {"speeds": [1.0, 0]}, {"correlation": 1}, {"noise": -0.1}, {"seed": "one"}],
    ],
    "intensive_care_stays": [{"stays": 0}, {"visits": 0}, {"unknown": 1}, {"seed": -1}],
    "tagged_movements": [{"sequences": 0}, {"reports": 0}],
    "physionet2012": [
        *[{"sets": []}, {"sets": ["b", "a"]}, {"sets": "a"}, {"quantisation": 0}, {"quantisation": "fine"}]
    ],
}
DATASETS = load().datasets
SHIPPED = {name: {} for name in DATASETS} | {
    "copying": {"blanks": 30, "letters": 10, "alphabet": 8, "test_size": 50, "seed": 1},
    "adding": {"length": 12, "test_size": 5, "seed": 1},
    "invented_text": {"train": 60, "validation": 20, "test": 30, "vocabulary": 50},
    "synthetic_speech": {"train": 6, "validation": 2, "test": 3, "shortest": 300, "longest": 700},
}


@pytest.mark.parametrize("name", SHIPPED)
def test_settings_of_a_dataset_are_checked(tmp_path: Path, name: str):
    prepare, right = import_module(DATASETS[name].module).prepare, SHIPPED[name]
    with refused("nonsense", name):
        prepare(tmp_path, right | {"nonsense": 1})
    for key in right:
        with refused(key, name):
            prepare(tmp_path, {other: value for other, value in right.items() if other != key})
    for wrong in WRONG.get(name, []):
        with refused(next(iter(wrong))):
            prepare(tmp_path, right | wrong)


PUBLISHED = {
    (row["dataset"], row["data"], row["data_digest"])
    for scale in ("paper", "evening")
    for row in read_rows(ROOT / "docs/evidence" / scale / "runs.csv")
    if DATASETS[row["dataset"]].files
}


@pytest.mark.slow
@pytest.mark.mirror
@pytest.mark.parametrize(("name", "settings", "digest"), sorted(PUBLISHED))
def test_the_data_of_published_runs_are_made_again_from_a_mirror(tmp_path: Path, name: str, settings: str, digest: str):
    about, mirror = DATASETS[name], os.environ.get("HIDDEN_DYNAMICS_MIRROR")
    if not mirror:
        pytest.skip(f"HIDDEN_DYNAMICS_MIRROR names no mirror with the real {about.title}")
    for file, remote in about.files_for(json.loads(settings)).items():
        fetch(name, file, remote, tmp_path / file, mirror)
        verify(tmp_path / file, remote)
    assert prepared.digest(import_module(about.module).prepare(tmp_path, json.loads(settings))) == digest


def test_the_registry_and_the_modules_agree():
    one_file = {"cifar10": cifar10.ARCHIVE, "fsdd": fsdd.ARCHIVE, "human_activity": human_activity.FILE}
    files = {name: [file] for name, file in (one_file | {"ushcn": ushcn.FILE}).items()} | {"ptb": [*ptb.FILES.values()]}
    assert {name: list(DATASETS[name].files) for name in files} == files
    stays, by_number = DATASETS["physionet2012"], {"set-a.tar", "set-b.tar", "Outcomes-a.txt", "Outcomes-b.txt"}
    assert set(stays.files_for({"sets": ["a"]})) == by_number
    assert set(stays.files_for({"order": "released"})) - by_number == {"set-a_0.016.pt", "set-b_0.016.pt"}
    assert [file.count for file in stays.files.values() if file.archive] == [4000] * 2
    originals = {"intensive_care_stays": "physionet2012", "tagged_movements": "human_activity"}
    originals |= {"ornstein_uhlenbeck": "ushcn"}
    assert {name: DATASETS[name].originals for name in originals} == {k: (v,) for k, v in originals.items()}
    for name in ("human_activity", "tagged_movements"):
        assert tuple(DATASETS[name].classes) == CLASSES
    kinds = [f"{kind}-ubyte" for kind in ("images-idx3", "labels-idx1")]
    assert set(DATASETS["mnist"].files) == {f"{name}-{kind}" for name in mnist.FILES.values() for kind in kinds}
    assert list(DATASETS["svhn"].files) == [f"{split}_32x32.mat" for split in ("train", "test")]
    packed = DATASETS["cifar10"].files[cifar10.ARCHIVE]
    assert (packed.count, packed.size) == (6, 6 * 10_000 * 3073)


def test_the_data_layer_imports_neither_torch_nor_scikit_learn():
    code = """
import json, pkgutil, importlib, sys
import hidden_dynamics.data as data
for module in pkgutil.iter_modules(data.__path__):
    importlib.import_module(f"hidden_dynamics.data.{module.name}")
print(json.dumps([name for name in ("torch", "sklearn") if name in sys.modules]))
"""
    assert json.loads(printed_by(code)) == []
