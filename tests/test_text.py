"""Language modelling's data: words to numbers, Penn Treebank's files, and an invented text."""

import json
from pathlib import Path

import numpy as np
import prepare
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.data import invented_text, prepared, ptb

a_word = st.text("abcdeN<>'.-", min_size=1, max_size=4)
some_lines = st.lists(st.lists(a_word, max_size=6), max_size=6)
three_parts = st.fixed_dictionaries({split: some_lines for split in ptb.FILES})


@given(three_parts)
def test_numbers_become_the_words_again(splits: dict[str, list[list[str]]]):
    arrays = ptb.number(splits)
    assert sorted(arrays) == ["test", "train", "validation", "vocabulary"]
    assert arrays["vocabulary"].dtype.kind == "U"
    seen: list[str] = []
    for split in ptb.FILES:
        assert arrays[split].dtype == np.int32
        found = arrays["vocabulary"][arrays[split]].tolist()
        assert found == [word for line in splits[split] for word in (*line, "<eos>")]
        assert len(found) == sum(len(line) + 1 for line in splits[split])
        seen += found
    assert arrays["vocabulary"].tolist() == list(dict.fromkeys(seen))  # each once, by first appearance


@pytest.mark.parametrize("content", [b"a b\n\nc\n", b"a b\n\nc", b"a b\r\n\r\nc\r\n"])
def test_a_line_without_words_counts_and_the_last_need_not_be_closed(tmp_path: Path, content: bytes):
    (tmp_path / "file.txt").write_bytes(content)
    assert ptb.read_lines(tmp_path / "file.txt") == [["a", "b"], [], ["c"]]


def test_ptb_is_read(tmp_path: Path):
    (tmp_path / "ptb.train.txt").write_text(" the <unk> rose N \n the end \n")
    (tmp_path / "ptb.valid.txt").write_text(" the end rose \n")
    (tmp_path / "ptb.test.txt").write_text(" the last rose \n N \n")
    arrays = ptb.prepare(tmp_path, {})
    # A word of the test set alone has a number too.
    assert arrays["vocabulary"].tolist() == ["the", "<unk>", "rose", "N", "<eos>", "end", "last"]
    assert arrays["train"].tolist() == [0, 1, 2, 3, 4, 0, 5, 4]
    assert arrays["validation"].tolist() == [0, 5, 2, 4] and arrays["test"].tolist() == [0, 6, 2, 4, 3, 4]
    shorter = ptb.prepare(tmp_path, {"words": 5})
    assert shorter["train"].tolist() == [0, 1, 2, 3, 4] and shorter["validation"].tolist() == [0, 5, 2, 4]
    assert shorter["vocabulary"].tolist() == arrays["vocabulary"].tolist()


def test_a_script_prepares_generated_data(tmp_path: Path, ended):
    def prepare_by_script(dataset: str, options: dict) -> prepared.Prepared:
        output, given = tmp_path / "new" / f"{dataset}.npz", ["--settings", json.dumps(options)]
        done = ended(prepare.main, "--dataset", dataset, "--raw", "nowhere", *given, "--output", output)
        assert done == (0, "", "")
        return prepared.load(output)

    settings = {"train": 90, "validation": 20, "test": 10, "vocabulary": 7}
    loaded = prepare_by_script("invented_text", settings)
    assert loaded.digest == prepared.digest(invented_text.prepare(Path("nowhere"), settings))
    assert loaded.provenance["stand_in_for"] == ["ptb"] and loaded.provenance["settings"] == settings
    about = prepare_by_script("adding", {"length": 10, "test_size": 2, "seed": 0}).provenance
    assert (about["dataset"], about["files"], about["stand_in_for"]) == ("adding", {}, [])
