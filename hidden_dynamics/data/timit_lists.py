"""The files missing from a copy of TIMIT, by name where the copy has the corpus's own lists.

    DOC/SPKRSENT.TXT    speaker, and the numbers of the ten sentences: two SA, five SX, three SI
    DOC/SPKRINFO.TXT    speaker, sex (M or F), number of the dialect region, part (TRN or TST), and more

Lines that begin with ";" are comments (README.DOC, Section 6). A speaker stands there without the sex, which is the
first letter of the directory: DAC0 is MDAC0. Sentences are numbered through, so the kind follows from the number: SA is
1 and 2, SX 3 to 452, SI 453 to 2342. Rows of any other form are passed over, for the lists serve messages alone.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SENTENCES = {"SX": 5, "SI": 3}  # of each speaker, by kind, without the two SA
PARTS = {"TRN": "TRAIN", "TST": "TEST"}


@dataclass(frozen=True)
class Listed:
    """A speaker as the lists have it.

    Attributes:
        sentences: the eight without SA1 and SA2, such as "SX117".
        part: TRAIN or TEST; None where only SPKRSENT.TXT is there.
        directory: within the part, such as "DR2/MDAC0"; "DR?/?DAC0" where only SPKRSENT.TXT is there.
    """

    sentences: tuple[str, ...]
    part: str | None
    directory: str


def read_lists(corpus: Path) -> dict[str, Listed]:
    """The speakers of SPKRSENT.TXT, by name without the sex, in capitals; none where the copy has no such list.

    The lists are looked for in the directory DOC of `corpus`, in `corpus` and in the directory above, in any case.
    """
    places = {
        speaker.upper(): (PARTS[part.upper()], f"DR{region}/{sex}{speaker}".upper())
        for speaker, sex, region, part, *_ in (row for row in _rows(corpus, "spkrinfo.txt") if len(row) >= 4)
        if part.upper() in PARTS
    }
    listed = {}
    for speaker, *numbers in _rows(corpus, "spkrsent.txt"):
        sentences = tuple(_sentence(int(number)) for number in numbers if number.isdecimal() and int(number) > 2)
        if Counter(name[:2] for name in sentences) == SENTENCES:
            part, directory = places.get(speaker.upper(), (None, f"DR?/?{speaker.upper()}"))
            listed[speaker.upper()] = Listed(sentences, part, directory)
    return listed


def describe_missing(
    corpus: Path,
    part: str,
    speakers: dict[str, dict[str, Path]],
    expected: int,
    absent: list[str] | None,
    others: set[str],
) -> list[str]:
    """The missing and the superfluous files of a part of the corpus: an entry for each speaker.

    Args:
        corpus: the directory with TRAIN and TEST.
        part: TRAIN or TEST.
        speakers: the files of the sentences that are there, without SA1 and SA2, by speaker and sentence.
        expected: how many speakers there should be.
        absent: the speakers that are not there; None to take them from the lists, but for those with "sa" in the name.
        others: speakers that belong to the other part; they count where the lists do not tell the part.
    """
    lists, problems = read_lists(corpus), []
    if absent is None:
        present = {name[1:].upper() for name in speakers}
        elsewhere = present | {name[1:].upper() for name in others}
        for name, listed in sorted(lists.items(), key=lambda item: item[1].directory):
            if "SA" not in name and name not in (present if listed.part else elsewhere) and listed.part in (part, None):
                problems.append(_absent(part, listed.directory, listed))
        if not lists and len(speakers) < expected:
            problems.append("the copy has no DOC/SPKRSENT.TXT, from which speakers that are missing could be named")
    for name in absent or []:
        listed = lists.get(name[1:].upper())
        directory = listed.directory if listed and listed.part == part else f"DR?/{name.upper()}"
        problems.append(_absent(part, directory, listed))
    for name, sentences in speakers.items():
        listed = lists.get(name[1:].upper())
        directory = next((path.parent.relative_to(corpus).as_posix() for path in sentences.values()), None)
        directory = directory or (f"{part}/{listed.directory}" if listed else f"{part}/DR?/{name.upper()}")
        problems += _unequal(directory, {sentence.upper() for sentence in sentences}, listed, bool(lists))
    return problems


def _absent(part: str, directory: str, listed: Listed | None) -> str:
    files = f": {_files(listed.sentences)}" if listed else f" with all {sum(SENTENCES.values())} sentences"
    return f"{part}/{directory}{files}"


def _unequal(directory: str, sentences: set[str], listed: Listed | None, known: bool) -> list[str]:
    """The differences between the sentences of a speaker who is there and the expected ones."""
    if listed:
        missing, surplus = set(listed.sentences) - sentences, sentences - set(listed.sentences)
        found = [f"{directory}: {_files(missing)}"] if missing else []
        return found + ([f"{directory} should not have {_files(surplus)}"] if surplus else [])
    if known:
        return [f"{directory} is no speaker of SPKRSENT.TXT"]
    count = Counter(sentence[:2] for sentence in sentences)
    if len(sentences) == sum(SENTENCES.values()):
        return []
    kinds = ", ".join(f"{count[kind]} of {number} {kind}" for kind, number in SENTENCES.items())
    return [f"{directory} has {len(sentences)} of {sum(SENTENCES.values())} sentences ({kinds})"]


def _files(sentences: set[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{name}.WAV" for name in sorted(sentences, key=lambda name: int(re.sub(r"\D", "", name) or 0)))


def _sentence(number: int) -> str:
    return f"{'SX' if number <= 452 else 'SI'}{number}"


def _rows(corpus: Path, name: str) -> list[list[str]]:
    """The words of each line of a list that is no comment."""
    for directory in (
        *(path for path in sorted(corpus.iterdir()) if path.name.lower() == "doc"),
        corpus,
        corpus.parent,
    ):
        if not (directory.is_dir() and os.access(directory, os.R_OK)):
            continue
        for path in sorted(directory.iterdir()):
            if path.name.lower() == name and path.is_file():
                lines = path.read_text(encoding="latin-1").splitlines()
                return [line.split() for line in lines if line.strip() and not line.lstrip().startswith(";")]
    return []
