"""Python's help topics (pydoc_data.topics): English prose that comes with Python. A stand-in for Penn Treebank.

What `help("topics")` shows: sections of the language reference, as text. Its prose is brought to the form of Penn
Treebank's text: a sentence a line, lower case, no punctuation, possessives and contractions apart (object 's, does
n't), numbers as N, rare words as <unk>. Topics repeat each other's paragraphs; each counts once, at its first place.
"""

import hashlib
import json
import pydoc_data.topics
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from hidden_dynamics.configuration.entries import Entry, typed
from hidden_dynamics.data import text
from hidden_dynamics.errors import UserError

SOURCE = "pydoc_data/topics.py"
# Paragraphs are dealt in runs, so that a part is no heap of single paragraphs: of ten runs, eight train.
RUN = 4
TURNS = ("train",) * 4 + ("validation",) + ("train",) * 4 + ("test",)
SHORTEST = 3  # words of a sentence; what is shorter is a label, such as "See also:"

MARKER = re.compile(r"\s*(?:\*|\d+\.|\[\d+\]) +")  # of an item of a list, or of a footnote
FOOTNOTE = re.compile(r"\s*\[\d+\]")
# Code within a sentence is in double quotes; it may be a string that has its own.
LITERAL = re.compile(r"""(?<![\w"])("{1,3})(?=\S)(.+?)\1(?![\w"])""")
NAME = re.compile(r"\w+(?:\.\w+)*")
SENTENCE_END = re.compile(r"""(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)[)”’]*\s+(?=[“‘(]*["*A-Z])""")
SENTENCE = re.compile(r"""[“‘(]*["*A-Z].*[.?!:][)"”’*]*""")
CODE = re.compile(r"""["=#{}<>@|\\$^%~`\[\]]""")  # what prose does not have but in literals
NUMBER = re.compile(r"(?<![\w.'])(?<!\w-)\d+(?:[.,]\d+)*(?!\w)")
ENDING = re.compile(r"\((re|s|es)\)")  # such as in clause(s)
CLITIC = re.compile(r"(n't|(?<=\w)'(?:s|re|ve|ll|d|m))\b")
WORD = re.compile(r"<unk>|(?:e\.g|i\.e|etc)\.|(?:n't|'(?:s|re|ve|ll|d|m))\b|\w+(?:[.'-]\w+)*")

Paragraph = tuple[tuple[str, ...], ...]  # sentences, of words


class Settings(Entry):
    vocabulary: int = Field(ge=3)  # words, <unk> and <eos> among them


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Number the words of the topics' prose.

    The split is always the same: the paragraphs, in their order, in runs of four; of ten runs the fifth is for
    validation, the tenth for testing and the others for training. No paragraph is in two parts, but a few stock
    sentences recur in different paragraphs. How much text there is depends on the version of Python.

    Args:
        raw: not used: the text comes with Python.
        settings: `vocabulary`, the number of words, <unk> and <eos> among them. The others are the most frequent of the
            training part; of equally frequent ones, the first in the alphabet.

    Returns:
        What `text.number` gives: `train`, `validation` and `test`, (tokens,), int32; `vocabulary`, (vocabulary,).

    Raises:
        UserError: the setting is missing, unknown or out of range.
    """
    size = typed(Settings, settings, "python_topics").vocabulary
    splits = {split: [line for paragraph in part for line in paragraph] for split, part in deal(paragraphs()).items()}
    counts = Counter(word for line in splits["train"] for word in line if word != text.UNKNOWN)
    if size - 2 >= len(counts):  # every word would be kept, and <unk> might never be seen in training
        raise UserError(
            f"python_topics: vocabulary: found {size:,}, expected {len(counts) + 1:,} at most, so that a word is rare",
            key="vocabulary",
        )
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[: size - 2]
    return text.number({split: text.rare_to_unknown(part, set(frequent)) for split, part in splits.items()})


def embedded() -> dict[str, str]:
    """SHA-256 of the topics as JSON in the order of their names: they differ from one version of Python to another."""
    content = json.dumps(pydoc_data.topics.topics, sort_keys=True, ensure_ascii=False)
    return {SOURCE: hashlib.sha256(content.encode()).hexdigest()}


def paragraphs() -> list[Paragraph]:
    """The prose of all topics: its different paragraphs, in the order of the topics' names."""
    found = (_sentences(block) for _, topic in sorted(pydoc_data.topics.topics.items()) for block in _blocks(topic))
    return list(dict.fromkeys(paragraph for paragraph in found if paragraph))


def deal(found: Sequence[Paragraph]) -> dict[str, list[Paragraph]]:
    """Split paragraphs into train, validation and test, by their place alone."""
    splits: dict[str, list[Paragraph]] = {split: [] for split in text.SPLITS}
    for place, paragraph in enumerate(found):
        splits[TURNS[place // RUN % len(TURNS)]].append(paragraph)
    return splits


def words(sentence: str) -> list[str]:
    """The words of a sentence, as Penn Treebank's text would have them.

    A quoted name is a word ("str.format()" is str.format); any other quoted code is one unknown word.
    """
    plain = LITERAL.sub(lambda literal: f" {_spoken(literal[2])} ", sentence)
    plain = ENDING.sub(r"\1", plain.replace("’", "'").lower())
    return WORD.findall(CLITIC.sub(r" \1", NUMBER.sub("N", plain)))


def _spoken(code: str) -> str:
    name = code.strip("'").removesuffix("()")
    return name if NAME.fullmatch(name) else text.UNKNOWN


def _sentences(block: str) -> Paragraph:
    """The sentences of a block of text; none where it is a heading, a piece of code or a label."""
    found = []
    for sentence in SENTENCE_END.split(FOOTNOTE.sub("", block)):
        if SENTENCE.fullmatch(sentence) and not CODE.search(LITERAL.sub("", sentence)):
            line = tuple(words(sentence))
            found += [line] if len(line) >= SHORTEST else []
    return tuple(found)


def _blocks(topic: str) -> Iterator[str]:
    """The pieces of a topic that blank lines, marks of lists or another indentation set apart, each as one line."""
    for chunk in re.split(r"\n\s*\n", topic):
        block: list[str] = []
        depth = 0
        for line in chunk.splitlines():
            marker = MARKER.match(line)
            content = line[marker.end() :] if marker else line.lstrip()
            if marker or len(line) - len(content) != depth:
                yield _joined(block)
                block = []
            depth = len(line) - len(content)
            block.append(content.rstrip())
        yield _joined(block)


def _joined(block: list[str]) -> str:
    """Lines as one; a word that was broken at its hyphen is whole again."""
    return re.sub(r"(?<=\w-) (?=\w)", "", " ".join(block))
