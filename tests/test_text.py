"""Language modelling's data: words to numbers, Penn Treebank's files, and the prose of Python's help topics."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import prepare
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.data import prepared, ptb, python_topics, text

a_word = st.text("abcdeN<>'.-", min_size=1, max_size=4)
some_lines = st.lists(st.lists(a_word, max_size=6), max_size=6)
three_parts = st.fixed_dictionaries({split: some_lines for split in text.SPLITS})


@given(three_parts)
def test_numbers_become_the_words_again(splits: dict[str, list[list[str]]]):
    arrays = text.number(splits)
    assert sorted(arrays) == ["test", "train", "validation", "vocabulary"]
    assert arrays["vocabulary"].dtype.kind == "U"
    seen: list[str] = []
    for split in text.SPLITS:
        assert arrays[split].dtype == np.int32
        found = arrays["vocabulary"][arrays[split]].tolist()
        assert found == [word for line in splits[split] for word in (*line, "<eos>")]
        assert len(found) == sum(len(line) + 1 for line in splits[split])
        seen += found
    assert arrays["vocabulary"].tolist() == list(dict.fromkeys(seen))  # each once, by first appearance


@pytest.mark.parametrize("content", [b"a b\n\nc\n", b"a b\n\nc", b"a b\r\n\r\nc\r\n"])
def test_a_line_without_words_counts_and_the_last_need_not_be_closed(tmp_path: Path, content: bytes):
    (tmp_path / "file.txt").write_bytes(content)
    assert text.read_lines(tmp_path / "file.txt") == [["a", "b"], [], ["c"]]


def test_rare_words_become_unknown():
    assert text.rare_to_unknown([("a", "b"), ("<unk>",), ()], {"a"}) == [["a", "<unk>"], ["<unk>"], []]


def small_ptb(directory: Path) -> None:
    """Three files of Penn Treebank's form with 7 words."""
    (directory / "ptb.train.txt").write_text(" the <unk> rose N \n the end \n")
    (directory / "ptb.valid.txt").write_text(" the end rose \n")
    (directory / "ptb.test.txt").write_text(" the last rose \n N \n")


def test_ptb_is_read(tmp_path: Path):
    small_ptb(tmp_path)
    arrays = ptb.prepare(tmp_path, {})
    # A word of the test set alone has a number too.
    assert arrays["vocabulary"].tolist() == ["the", "<unk>", "rose", "N", "<eos>", "end", "last"]
    assert arrays["train"].tolist() == [0, 1, 2, 3, 4, 0, 5, 4]
    assert arrays["validation"].tolist() == [0, 5, 2, 4] and arrays["test"].tolist() == [0, 6, 2, 4, 3, 4]
    shorter = ptb.prepare(tmp_path, {"words": 5})
    assert shorter["train"].tolist() == [0, 1, 2, 3, 4] and shorter["validation"].tolist() == [0, 5, 2, 4]
    assert shorter["vocabulary"].tolist() == arrays["vocabulary"].tolist()


@pytest.mark.mirror
def test_ptb_from_a_mirror(from_mirror):
    arrays = ptb.prepare(from_mirror("ptb"), {})
    lengths = {"train": 929_589, "validation": 73_760, "test": 82_430, "vocabulary": 10_000}
    assert {name: len(array) for name, array in arrays.items()} == lengths
    assert arrays["train"].max() == 9_999  # every word is one of train's
    assert arrays["vocabulary"][[0, 1, 2, 24]].tolist() == ["aer", "banknote", "berlitz", "<eos>"]
    counts = Counter(arrays["vocabulary"][arrays["train"]].tolist())
    assert counts["<eos>"] == 42_068 and {"<unk>", "N", "the"} <= set(counts)


TOPIC = """\
The "with" statement
********************

The "with" statement wraps a block.  It has, as usual, 3
non-empty suites. See also:

   with_stmt ::= "with" expression ":" suite

object.__enter__(self)

   Enter the context of this object.
   Return it.
"""
PROSE = [
    ["the with statement wraps a block", "it has as usual N non-empty suites"],
    ["enter the context of this object"],
]


def with_topics(monkeypatch: pytest.MonkeyPatch, topics: dict[str, str]) -> None:
    monkeypatch.setattr("pydoc_data.topics.topics", topics)


def written(paragraphs: list) -> list[list[str]]:
    return [[" ".join(sentence) for sentence in paragraph] for paragraph in paragraphs]


def test_prose_is_told_from_code_tables_and_headings(monkeypatch: pytest.MonkeyPatch):
    with_topics(monkeypatch, {"with": TOPIC})
    assert written(python_topics.paragraphs()) == PROSE


def test_a_repeated_paragraph_counts_once_however_it_is_broken(monkeypatch: pytest.MonkeyPatch):
    again = "Enter the context\nof this object.\n\nThis is new here.\n"
    with_topics(monkeypatch, {"z": again, "a": TOPIC, "b": TOPIC})
    assert written(python_topics.paragraphs()) == [*PROSE, ["this is new here"]]


def invented(paragraphs: int) -> str:
    """As many paragraphs, each with a word of its own, all with some that are frequent."""
    letters = "abcdefghij"
    names = ("".join(letters[int(digit)] for digit in f"{number:04}") for number in range(paragraphs))
    return "\n\n".join(f"The paragraph of q{name} is here.  It is the paragraph." for name in names)


def test_splits_of_other_topics(monkeypatch: pytest.MonkeyPatch):
    with_topics(monkeypatch, {"other": invented(400)})
    splits = python_topics.deal(python_topics.paragraphs())
    assert {split: len(part) for split, part in splits.items()} == {"train": 320, "validation": 40, "test": 40}
    assert splits["validation"][:4] == python_topics.paragraphs()[16:20]
    assert splits["test"][:4] == python_topics.paragraphs()[36:40]
    arrays = python_topics.prepare(Path("nowhere"), {"vocabulary": 8})
    # Six words are frequent; of the others, none is kept.
    assert arrays["vocabulary"].tolist() == ["the", "paragraph", "of", "<unk>", "is", "here", "<eos>", "it"]
    assert len(arrays["train"]) == 320 * 12
    assert (arrays["train"] == 3).sum() == 320 and (arrays["test"] == 3).sum() == 40
    # With one word more, the first in the alphabet of those that are equally frequent.
    arrays = python_topics.prepare(Path("nowhere"), {"vocabulary": 9})
    assert arrays["vocabulary"].tolist()[3] == "qaaaa" and (arrays["train"] == 3).sum() == 1


def test_a_vocabulary_of_all_words_is_refused(monkeypatch: pytest.MonkeyPatch):
    with_topics(monkeypatch, {"other": invented(39)})
    assert len(python_topics.prepare(Path("nowhere"), {"vocabulary": 36})["vocabulary"]) == 36
    with refused("found 100, expected 39 at most", key="vocabulary"):
        python_topics.prepare(Path("nowhere"), {"vocabulary": 100})


def test_script_prepares_the_topics(tmp_path: Path, ended):
    def prepare_by_script(dataset: str, options: dict) -> prepared.Prepared:
        output, given = tmp_path / "new" / f"{dataset}.npz", ["--settings", json.dumps(options)]
        done = ended(prepare.main, "--dataset", dataset, "--raw", "nowhere", *given, "--output", output)
        assert done == (0, "", "")
        return prepared.load(output)

    loaded = prepare_by_script("python_topics", {"vocabulary": 1000})
    assert loaded.digest == prepared.digest(python_topics.prepare(Path("nowhere"), {"vocabulary": 1000}))
    assert loaded.provenance["stand_in_for"] == ["ptb"] and loaded.provenance["settings"] == {"vocabulary": 1000}
    about = prepare_by_script("adding", {"length": 10, "test_size": 2, "seed": 0}).provenance
    assert (about["dataset"], about["files"], about["stand_in_for"]) == ("adding", {}, [])
