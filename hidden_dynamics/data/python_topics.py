"""Python's help topics (pydoc_data.topics): English prose that comes with Python. A stand-in for Penn Treebank.

What `help("topics")` shows: sections of the language reference, as text. Its sentences without code are brought to the
form of Penn Treebank's text: a sentence a line, lower case, no punctuation, numbers as N, rare words as <unk>. Topics
repeat each other's paragraphs; each counts once, at its first place.
"""

import pydoc_data.topics
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import text
from hidden_dynamics.errors import UserError

# Paragraphs are dealt in runs, so that a part is no heap of single paragraphs: of ten runs, eight train.
RUN = 4
TURNS = ("train",) * 4 + ("validation",) + ("train",) * 4 + ("test",)
SHORTEST = 3  # words of a sentence; what is shorter is a label, such as "See also:"

SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[*\"A-Z])")
SENTENCE = re.compile(r"[*\"A-Z][^=#{}<>@|\\$^%~`]*[.?!:]")  # without the marks of code
WORD = re.compile(r"\w+(?:[.'’-]\w+)*")

Paragraph = tuple[tuple[str, ...], ...]  # sentences, of words


class Settings(Entry):
    vocabulary: int = Field(ge=3)  # words, <unk> and <eos> among them


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """The words of the topics' prose as `text.number` gives them: `train`, `validation` and `test`, (tokens,), int32;
    `vocabulary`, (vocabulary,): the most frequent words of the training part, the first in the alphabet of equal ones.

    No paragraph is in two parts. How much text there is depends on the version of Python.
    """
    size = typed(Settings, settings, "python_topics").vocabulary
    splits = {split: [line for paragraph in part for line in paragraph] for split, part in deal(paragraphs()).items()}
    counts = Counter(word for line in splits["train"] for word in line)
    if size - 2 >= len(counts):  # every word would be kept, and <unk> might never be seen in training
        expected = f"found {size:,}, expected {len(counts) + 1:,} at most, so that a word is rare"
        raise UserError(f"python_topics: vocabulary: {expected}", key="vocabulary")
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[: size - 2]
    return text.number({split: text.rare_to_unknown(part, set(frequent)) for split, part in splits.items()})


def paragraphs() -> list[Paragraph]:
    """The prose of all topics: its different paragraphs, in the order of the topics' names."""
    blocks = (block for _, topic in sorted(pydoc_data.topics.topics.items()) for block in re.split(r"\n\s*\n", topic))
    sentences = (tuple(map(words, SENTENCE_END.split(" ".join(block.split())))) for block in blocks)
    prose = (tuple(line for line in paragraph if len(line) >= SHORTEST) for paragraph in sentences)
    return [paragraph for paragraph in dict.fromkeys(prose) if paragraph]


def deal(given: Sequence[Paragraph]) -> dict[str, list[Paragraph]]:
    """Split paragraphs into train, validation and test, by their place alone."""
    splits: dict[str, list[Paragraph]] = {split: [] for split in text.SPLITS}
    for position, paragraph in enumerate(given):
        splits[TURNS[position // RUN % len(TURNS)]].append(paragraph)
    return splits


def words(sentence: str) -> tuple[str, ...]:
    """The words of a sentence; none where it is a heading, a piece of code or a label."""
    matches = WORD.findall(sentence.lower()) if SENTENCE.fullmatch(sentence) else ()
    return tuple("N" if word[0].isdigit() else word for word in matches)
