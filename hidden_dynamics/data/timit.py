"""TIMIT (LDC93S1): read speech of 630 American speakers, from the user's own copy (MomentumRNN, Appendix A.2).

Which utterances belong where follows the authors' code, after Wisdom et al. (NeurIPS 2016): training takes every path
of TRAIN that does not contain "sa". That drops the two sentences SA1 and SA2, which all speakers read, and with them
the 7 speakers whose names contain "sa". The usual roles of the other two sets are swapped there: the core test set of
24 speakers is the validation set, and the 50 speakers on whom systems are usually developed are the test set.
"""

import glob
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hidden_dynamics.configuration.entries import Entry, typed
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
    """The frames, as `speech.pack` has them, of train (3,640 utterances), validation (192) and test (400), in the
    order of speakers and sentences; below `raw` are TRAIN and TEST somewhere, in upper, lower or mixed case. A
    `UserError` names speakers or sentences that are missing, or a recording that cannot be used."""
    typed(Entry, settings, "timit")  # none are known
    train, others = _speakers(Path(raw), "train"), _speakers(Path(raw), "test")
    splits, wanted = {"train": {name: train[name] for name in train if "sa" not in name}}, {"train": TRAIN_SPEAKERS}
    for split, names in (("validation", CORE_TEST), ("test", DEVELOPMENT)):
        splits[split] = {name: others[name] for name in sorted(names.split()) if name in others}
        wanted[split] = len(names.split())
    for split, speakers in splits.items():
        odd = [f"{len(found)} of {name}" for name, found in speakers.items() if len(found) != SENTENCES]
        if odd or len(speakers) != wanted[split]:
            raise UserError(
                f"{raw} is no whole copy of LDC93S1, <TRAIN or TEST>/<dialect region>/<speaker>/<sentence>.WAV: for "
                f"{split}, expected {SENTENCES} recordings without SA1 and SA2 of each of {wanted[split]} speakers, "
                f"found {len(speakers)} speakers{''.join(f', {text}' for text in odd[:5])}. Set data.copies.timit.",
                file=raw,
            )
    return speech.pack({split: _frames(speakers) for split, speakers in splits.items()})


def _speakers(raw: Path, part: str) -> Speakers:
    """The recordings of TRAIN or TEST, but SA1 and SA2: <dialect region>/<speaker>/<sentence>.WAV, in any case.

    Other files, such as transcripts or the copies named SA1.WAV.wav that some distributions add, are passed over.
    """
    speakers: Speakers = {}
    for name in sorted(glob.glob("**", root_dir=raw, recursive=True)):
        parts = re.fullmatch(rf"(?:.*/)?{part}/dr\d/([a-z0-9]+)/([a-z0-9]+)\.wav", name.lower())
        if parts and "sa" not in parts[2]:
            path = speakers.setdefault(parts[1], {}).setdefault(parts[2], raw / name)
            if path != raw / name:
                raise UserError(f"{raw / name}: the same recording as {path}; keep one of them", file=raw / name)
    return dict(sorted(speakers.items()))


def _frames(speakers: Speakers) -> Iterator[np.ndarray]:
    for sentences in speakers.values():
        for _, path in sorted(sentences.items()):
            samples = speech.halve_rate(speech.read(path.read_bytes(), str(path), RATE))
            yield speech.frames(samples, str(path))
