"""TIMIT (LDC93S1): read speech of 630 American speakers, from the user's own copy (MomentumRNN, Appendix A.2).

Which utterances belong where follows the authors' code, after Wisdom et al. (NeurIPS 2016): training takes every path
of TRAIN that does not contain "sa". That drops the two sentences SA1 and SA2, which all speakers read, and with them
the 7 speakers whose names contain "sa". The usual roles of the other two sets are swapped there: the core test set of
24 speakers is the validation set, and the 50 speakers on whom systems are usually developed are the test set.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.reading import Entry, typed
from hidden_dynamics.data import speech
from hidden_dynamics.errors import UserError

RATE = 16000
TRAIN_SPEAKERS = 455  # the 462 of TRAIN without the 7 whose names contain "sa"
SENTENCES = 8  # of each speaker, without SA1 and SA2

# The core test set, as TESTSET.DOC of the corpus lists it.
CORE_TEST = """
    mdab0 mwbt0 felc0 mtas1 mwew0 fpas0 mjmp0 mlnt0 fpkt0 mlll0 mtls0 fjlm0
    mbpm0 mklt0 fnlp0 mcmj0 mjdh0 fmgd0 mgrt0 mnjm0 fdhc0 mjln0 mpam0 fmld0
"""
# The development set, as the TIMIT recipe of Kaldi lists it.
DEVELOPMENT = """
    faks0 fdac1 fjem0 mgwt0 mjar0 mmdb1 mmdm2 mpdf0 fcmh0 fkms0 mbdg0 mbwm0 mcsh0 fadg0 fdms0 fedw0 mgjf0
    mglb0 mrtk0 mtaa0 mtdt0 mthc0 mwjg0 fnmr0 frew0 fsem0 mbns0 mmjr0 mdls0 mdlf0 mdvc0 mers0 fmah0 fdrw0
    mrcs0 mrjm4 fcal1 mmwh0 fjsj0 majc0 mjsw0 mreb0 fgjd0 fjmg0 mroa0 mteb0 mjfc0 mrjr0 fmml0 mrws1
"""

Speakers = dict[str, dict[str, Path]]  # the sentences' files, by speaker and sentence in lower case


def prepare(raw: Path, settings: dict) -> dict[str, np.ndarray]:
    """Read the user's copy and turn it into frames.

    Args:
        raw: the directory with TRAIN and TEST, or one that holds it as TIMIT; upper, lower or mixed case.
        settings: none are known.

    Returns:
        What `speech.pack` gives for train (3,640 utterances), validation (192) and test (400), each in the order of
        speakers and sentences.

    Raises:
        UserError: `raw` is no such directory, speakers or sentences are missing, or a recording cannot be used; the
            message names them.
    """
    typed(Entry, settings, "timit")  # none are known
    corpus = find_corpus(Path(raw))
    train = {
        name: sentences
        for name, sentences in _without_sa(_speakers(_child(corpus, "train"))).items()
        if "sa" not in name
    }
    others = _without_sa(_speakers(_child(corpus, "test")))
    _check(corpus, "TRAIN", train, TRAIN_SPEAKERS)
    splits = {"train": train}
    for split, names in (("validation", CORE_TEST), ("test", DEVELOPMENT)):
        wanted = sorted(names.split())
        splits[split] = {name: others[name] for name in wanted if name in others}
        _check(corpus, "TEST", splits[split], len(wanted), [name for name in wanted if name not in others])
    return speech.pack({split: _frames(speakers) for split, speakers in splits.items()})


def find_corpus(directory: Path) -> Path:
    """The directory with TRAIN and TEST: `directory`, or TIMIT within it.

    Raises:
        UserError: there is none.
    """
    corpus = directory
    while not (_child(corpus, "train") and _child(corpus, "test")):
        inner = _child(corpus, "timit")
        if inner is None:
            found = sorted(path.name for path in directory.iterdir())[:5] if directory.is_dir() else None
            what = f"it holds {', '.join(found) or 'nothing'}" if found is not None else "it is not a directory"
            raise UserError(
                f"{directory}: expected a copy of TIMIT, a directory with TRAIN and TEST (or with TIMIT, which has "
                f"them); {what}. Set data.copies.timit to yours."
            )
        corpus = inner
    return corpus


def _child(directory: Path, name: str) -> Path | None:
    """The directory `name` within `directory`, in any case."""
    if not directory.is_dir():
        return None
    return next((path for path in sorted(directory.iterdir()) if path.name.lower() == name and path.is_dir()), None)


def _speakers(part: Path) -> Speakers:
    """Every recording in `part` (TRAIN or TEST): <dialect region>/<speaker>/<sentence>.WAV, in any case.

    Other files, such as transcripts or the copies named SA1.WAV.wav that some distributions add, are passed over.
    """
    speakers: Speakers = {}
    for path in sorted(part.glob("*/*/*")):
        region, speaker, file = (name.lower() for name in path.parts[-3:])
        if re.fullmatch(r"dr\d", region) and re.fullmatch(r"[a-z0-9]+\.wav", file):
            sentences = speakers.setdefault(speaker, {})
            sentence = file.removesuffix(".wav")
            if sentence in sentences:
                raise UserError(f"{path}: the same recording as {sentences[sentence]}; keep one of them")
            sentences[sentence] = path
    if not speakers:
        raise UserError(
            f"{part}: there are no recordings; expected <dialect region>/<speaker>/<sentence>.WAV, such as "
            "DR1/FCJF0/SX127.WAV. Copy the directory from LDC93S1."
        )
    return dict(sorted(speakers.items()))


def _without_sa(speakers: Speakers) -> Speakers:
    return {
        name: {sentence: path for sentence, path in sentences.items() if "sa" not in sentence}
        for name, sentences in speakers.items()
    }


def _check(corpus: Path, part: str, speakers: Speakers, expected: int, absent: Iterable[str] = ()) -> None:
    """Refuse a copy that has not just the speakers and sentences that it must have."""
    if len(speakers) == expected and all(len(sentences) == SENTENCES for sentences in speakers.values()):
        return
    odd = [f"{len(found)} of {name}" for name, found in speakers.items() if len(found) != SENTENCES]
    problems = [*(f"none of {name}" for name in absent), *odd]
    more = f" and {len(problems) - 5} more speakers" if len(problems) > 5 else ""
    details = f" ({', '.join(problems[:5])}{more})" if problems else ""
    raise UserError(
        f"{corpus}: {part} is not that of LDC93S1: expected {expected * SENTENCES:,} recordings without SA1 and SA2, "
        f"{SENTENCES} of each of {expected} speakers, found {sum(map(len, speakers.values())):,} of "
        f"{len(speakers)}{details}. Copy it from there."
    )


def _frames(speakers: Speakers) -> Iterator[np.ndarray]:
    for sentences in speakers.values():
        for _, path in sorted(sentences.items()):
            samples = speech.halve_rate(speech.read(path.read_bytes(), str(path), RATE))
            yield speech.frames(samples, str(path))
