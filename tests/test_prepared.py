"""Prepared data on disk: the round trip, damage, and the script that writes it."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import prepare
import pytest
from conftest import refused
from raw import with_dataset

from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError

ARRAYS = {
    "images": np.arange(24, dtype=np.uint8).reshape(4, 6),
    "labels": np.array([3, 1, 2, 0], np.int64),
    "levels": np.array(16, np.float32),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "empty": np.zeros((0, 3), np.float32),
}
PROVENANCE = {"dataset": "toy", "settings": {"length": 3}}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A prepared file."""
    prepared.save(tmp_path / "toy.npz", ARRAYS, PROVENANCE)
    return tmp_path / "toy.npz"


def test_round_trip(tmp_path: Path, toy: Path):
    loaded = prepared.load(toy)
    assert prepared.digest(loaded.arrays) == loaded.digest == prepared.digest(ARRAYS)
    assert loaded.digest == json.loads((tmp_path / "toy.json").read_text())["digest"]
    assert loaded.provenance == PROVENANCE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.json", "toy.npz"]


def test_the_same_arrays_give_the_same_file(tmp_path: Path):
    prepared.save(tmp_path / "a.npz", ARRAYS, PROVENANCE)
    prepared.save(tmp_path / "b.npz", dict(reversed(ARRAYS.items())), PROVENANCE)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_digest_is_stable_and_sees_names_types_shapes_and_bytes():
    array = np.arange(6, dtype=np.int32)
    expected = hashlib.sha256(b'["a", "<i4", [6]]' + array.tobytes()).hexdigest()
    assert prepared.digest({"a": array}) == expected
    others = [{"b": array}, {"a": array.astype(np.uint32)}, {"a": array.reshape(2, 3)}, {"a": array + 1}, {}]
    assert len({expected, *map(prepared.digest, others)}) == 1 + len(others)
    assert prepared.digest({"a": array.reshape(2, 3).T.copy()}) == prepared.digest({"a": array.reshape(2, 3).T})
    with pytest.raises(TypeError, match="a: an array of Python objects"):
        prepared.digest({"a": np.array([{}])})


def test_a_flipped_byte_never_passes_unseen(tmp_path: Path):
    path = tmp_path / "toy.npz"
    prepared.save(path, {"a": np.arange(5), "b": np.ones(2, np.float32)}, PROVENANCE)
    good, whole = prepared.load(path), path.read_bytes()
    noticed = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        try:
            loaded = prepared.load(path)
        except UserError as error:
            noticed += 1
            assert str(error).startswith(f"{path} cannot be used: ") and "run snakemake again" in str(error)
        else:  # a byte that carries nothing, such as the archive's date
            assert prepared.digest(loaded.arrays) == good.digest
    assert noticed > len(whole) / 2


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_a_truncated_or_missing_file_is_refused(toy: Path, suffix: str):
    damaged = toy.with_suffix(suffix)
    content = damaged.read_bytes()
    for share in (0, 0.1, 0.5, 0.99):
        damaged.write_bytes(content[: int(share * len(content))])
        with refused("truncated or altered", file=toy):
            prepared.load(toy)
        prepared.save(toy, ARRAYS, PROVENANCE)
    damaged.unlink()
    with refused(f"{damaged} is missing. Run snakemake again", file=toy):
        prepared.load(toy)


class Trace:
    """Calls `mkdir` where it is unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return self.path.mkdir, ()


def test_pickled_objects_are_never_loaded(toy: Path, tmp_path: Path):
    np.savez(toy, a=np.array([Trace(tmp_path / "unpickled")], dtype=object))
    with refused("truncated or altered"):
        prepared.load(toy)
    assert not (tmp_path / "unpickled").exists()


SETTINGS = {"blanks": 30, "letters": 10, "alphabet": 8, "test_size": 500, "seed": 1}
COPYING = ("--dataset", "copying", "--settings", json.dumps(SETTINGS), "--raw", "nowhere")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dataset", "copyng"), "--dataset: unknown dataset 'copyng'. Did you mean 'copying'?"),
        (("--settings", "{blanks: 3}"), "--settings is not valid JSON"),
        (("--settings", "[3]"), "--settings must be a JSON object"),
        (("--settings", "{}"), "copying: blanks: Field required"),
        (("--output", "copying.txt"), "--output must end in .npz"),
    ],
)
def test_script_says_what_is_wrong(tmp_path: Path, ended, arguments: tuple[str, ...], message: str):
    done = ended(prepare.main, *COPYING, "--output", tmp_path / "copying.npz", *arguments)
    assert done.code == 1 and done.err.startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def test_script_refuses_raw_files_that_are_not_the_registered_ones(tmp_path: Path, ended, monkeypatch):
    content = b"registered"
    file = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "urls": ["http://nowhere.invalid"]}
    toy = with_dataset(module="no_such_module", files={"data.bin": file})
    monkeypatch.setattr(prepare, "load", lambda settings: toy)
    arguments = ("--dataset", "toy", "--raw", tmp_path, "--output", tmp_path / "toy.npz")
    for written, said in (
        (b"Registered", f"{tmp_path}/data.bin: the content: 10 bytes with SHA-256"),
        (gzip.compress(content)[:-9], f"{tmp_path}/data.bin: the archive is broken off"),
        (content, "config/datasets.yaml: toy.module: there is no module"),
    ):
        (tmp_path / "data.bin").write_bytes(written)
        done = ended(prepare.main, *arguments)
        assert done.code == 1 and done.err.startswith(f"error: {said}")
