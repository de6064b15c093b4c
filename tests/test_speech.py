"""Speech: recordings to frames, the corpora TIMIT and FSDD in their formats, and the generated stand-in."""

import io
import itertools
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import prepare
import pytest
import scipy.signal
import soundfile
from conftest import refused
from hypothesis import example, given
from hypothesis import strategies as st
from raw import pack, with_dataset

from hidden_dynamics.data import fsdd, prepared, speech, synthetic_speech, timit
from hidden_dynamics.data.generated import LIKE
from hidden_dynamics.data.streams import generator

seeds = st.integers(0, 2**32)


def noise(seed: int, length: int, peak: int = 32767) -> np.ndarray:
    return generator(seed, "noise").integers(-peak - 1, peak + 1, length, dtype=np.int16)


def audio(samples: np.ndarray, rate: int = 16000, kind: str = "NIST", subtype: str = "PCM_16") -> bytes:
    content = io.BytesIO()
    soundfile.write(content, samples, rate, format=kind, subtype=subtype)
    return content.getvalue()


def transforms(samples: np.ndarray) -> np.ndarray:
    """The definition's S, in float64 and without a library for spectrograms."""
    x = np.concatenate([np.zeros(256), samples / 32768, np.zeros(-len(samples) % 128), np.zeros(256)])
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(256) / 256)
    rows = [x[start : start + 256] * window for start in range(0, len(x) - 255, 128)]
    basis = np.exp(-2j * np.pi * np.outer(np.arange(256), np.arange(129)) / 256)
    return np.array(rows) @ basis


def decibels(magnitude: np.ndarray) -> np.ndarray:
    return 10 * np.log10(1e-5 + magnitude**2)


def in_single_precision(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that float32 may give in dB: (frames, 129) each.

    An error of a bin is one of the whole frame: of the root of its summed power, 6.7 u in each of the 8 stages (Higham,
    Accuracy and Stability of Numerical Algorithms, 2002, Theorem 24.2) and 2 u of the window. In a bin of little power
    it is large in dB. The sum, the logarithm and the product are rounded, too, each to half an ulp of 64 dB.
    """
    u = np.finfo(np.float32).eps / 2
    whole = math.sqrt(2) * np.linalg.norm(s, axis=1, keepdims=True)  # no less than over all 256 bins
    error, rounding = (8 * 6.7 + 2) * u * whole, 3 * 64 * u
    return decibels(np.maximum(np.abs(s) - error, 0)) - rounding, decibels(np.abs(s) + error) + rounding


@given(seeds, st.integers(256, 3000), st.sampled_from([0, 1, 30, 1000, 32767]))
@example(2636, 378, 32767).via("a bin of almost no power")
def test_frames_are_the_definition(seed: int, length: int, peak: int):
    samples = noise(seed, length, peak) if peak else np.zeros(length, np.int16)  # silence
    found = speech.frames(samples, "x")
    assert found.shape == (math.ceil(length / 128) + 3, 129) and found.dtype == np.float32
    least, most = in_single_precision(transforms(samples))
    assert (least <= found).all() and (found <= most).all()
    assert found[0] == pytest.approx(-50, abs=1e-5) and found[-1] == pytest.approx(-50, abs=1e-5)


def test_an_utterance_shorter_than_a_window_is_refused():
    with refused("a.wav: 255 samples at 8,000 Hz are shorter than one window of 256 samples"):
        speech.frames(np.zeros(255, np.int16), "a.wav")


@given(seeds, st.integers(1, 2000))
def test_halving_the_rate_is_a_sinc_under_a_kaiser_window(seed: int, length: int):
    samples = noise(seed, length, 8000)
    halved = speech.halve_rate(samples)
    assert halved.shape == (math.ceil(length / 2),) and halved.dtype == np.int16
    # scipy scales its filter to gain 1 at 0 Hz, which this one has to 0.1 %.
    expected = scipy.signal.resample_poly(samples.astype(np.float64), 1, 2, window=("kaiser", 5.0))
    np.testing.assert_allclose(halved, expected, rtol=2e-3, atol=1)


@pytest.mark.parametrize("kind", ["NIST", "WAV"])
def test_recordings_come_back_as_written(kind: str):
    samples = noise(0, 777)
    assert np.array_equal(speech.read(audio(samples, kind=kind), "a.wav", 16000), samples)
    assert np.array_equal(speech.read(audio(samples, 8000, kind), "a.wav", 8000), samples)


@pytest.mark.parametrize(("order", "mark"), [("<", b"01"), (">", b"10")])
def test_sphere_with_the_header_of_timit(order: str, mark: bytes):
    samples = noise(0, 777)
    header = (
        b"NIST_1A\n   1024\ndatabase_id -s5 TIMIT\ndatabase_version -s3 1.0\nutterance_id -s8 cjf0_sa1\n"
        b"channel_count -i 1\nsample_count -i 777\nsample_rate -i 16000\nsample_min -i -2191\nsample_max -i 2790\n"
        b"sample_n_bytes -i 2\nsample_byte_format -s2 " + mark + b"\nsample_sig_bits -i 16\nend_head\n"
    ).ljust(1024)
    content = header + samples.astype(f"{order}i2").tobytes()
    assert np.array_equal(speech.read(content, "a.wav", 16000), samples)


NIST = audio(noise(0, 500))
UNUSABLE = {
    "empty": (b"", "the file is empty"),
    "not audio": (b"<html>not found</html>" * 100, "cannot be read as NIST SPHERE or WAV"),
    "broken off after the header": (NIST[:1024], "the recording has no samples"),
    "broken off": (NIST[:-100], "the header announces 500 samples, found 450"),
    "without a count": (NIST.replace(b"sample_count", b"sample_cxxxx"), "no sample_count"),
    "zero samples": (audio(np.zeros(0, np.int16)), "the recording has no samples"),
    "stereo": (audio(np.zeros((500, 2), np.int16)), "one channel .* at 16,000 Hz, found 2 of PCM_16 at 16,000"),
    "8 kHz": (audio(noise(0, 500), 8000), "at 16,000 Hz, found 1 of PCM_16 at 8,000 Hz"),
    "24 bits": (audio(noise(0, 500), subtype="PCM_24"), "found 1 of PCM_24"),
    "numbers with a fraction": (audio(noise(0, 500), kind="WAV", subtype="FLOAT"), "found 1 of FLOAT"),
    "another format": (audio(noise(0, 500), kind="FLAC"), "cannot be read as NIST SPHERE or WAV"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_an_unusable_recording_is_named(case: str):
    content, message = UNUSABLE[case]
    with refused(rf"^dr1/spk0/sx1\.wav: .*({message})"):
        speech.read(content, "dr1/spk0/sx1.wav", 16000)


TRAIN = ["fcjf0", "mdac0", "mkls0"]
CORE, DEV = ["mdab0", "felc0"], ["mwbt9", "faks0"]
SENTENCES = ["sa1", "sa2", "si1027", "si1657", "si648", "sx117", "sx127", "sx207", "sx27", "sx387"]


def write_corpus(directory: Path, case: Callable[[str], str] = str.upper, train=TRAIN):
    """A corpus in the layout of LDC93S1 whose recordings have all different lengths; the samples of each, by path."""
    written = {}
    for part, speakers in (("train", train), ("test", (*CORE, *DEV, "mzzz0"))):
        for number, speaker in enumerate(speakers):
            place = directory / case(part) / case(f"dr{1 + number % 8}") / case(speaker)
            place.mkdir(parents=True)
            for sentence in SENTENCES:
                length = 2 * (256 + 128 * (len(written) % 40))
                samples = noise(len(written), length, 3000)
                (place / case(f"{sentence}.wav")).write_bytes(audio(samples))
                (place / case(f"{sentence}.phn")).write_text("0 3050 h#\n")
                written[f"{part}/{speaker}/{sentence}"] = samples
    (directory / case("doc")).mkdir()
    return written


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module told to expect few speakers."""
    monkeypatch.setattr(timit, "TRAIN_SPEAKERS", len(TRAIN))
    monkeypatch.setattr(timit, "CORE_TEST", " ".join(CORE))
    monkeypatch.setattr(timit, "DEVELOPMENT", " ".join(DEV))


@pytest.mark.parametrize(("case", "inside"), [(str.upper, ""), (str.lower, "timit/Timit"), (str.title, "TIMIT")])
def test_timit_is_found_in_any_case_and_split_as_published(tmp_path: Path, small, case, inside: str):
    # "sa" in the user's own directories must not matter, in a speaker's name and in a sentence's it must.
    raw = tmp_path / "sara" / "samples"
    written = write_corpus(raw / inside, case, train=["fsah0", *reversed(TRAIN), "mesa0"])
    arrays = timit.prepare(raw, {})
    for split, part, speakers in (("train", "train", TRAIN), ("validation", "test", CORE), ("test", "test", DEV)):
        names = [f"{part}/{speaker}/{sentence}" for speaker in sorted(speakers) for sentence in SENTENCES[2:]]
        expected = [speech.frames(speech.halve_rate(written[name]), name) for name in names]
        assert arrays[f"{split}_lengths"].tolist() == [len(utterance) for utterance in expected]
        assert np.array_equal(arrays[f"{split}_frames"], np.concatenate(expected))


def test_the_lists_of_speakers():
    core, dev = timit.CORE_TEST.split(), timit.DEVELOPMENT.split()
    assert (len(core), len(dev)) == (24, 50) and len({*core, *dev}) == 74
    assert sum(name.startswith("m") for name in core) == 16  # two men and one woman of each of the 8 regions
    assert sum(name.startswith("m") for name in dev) == 32
    assert all("sa" not in name for name in core + dev)
    assert timit.TRAIN_SPEAKERS * timit.SENTENCES == 462 * 8 - 56 == 3640


def removed(corpus: Path, *patterns: str) -> None:
    """Speakers or sentences are missing."""
    for path in [path for pattern in patterns for path in corpus.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def added(corpus: Path, path: str, copy: str) -> None:
    """A speaker or a sentence is there again, by another name."""
    copied = shutil.copytree if (corpus / path).is_dir() else shutil.copy
    copied(corpus / path, (corpus / path).with_name(copy))


INCOMPLETE = {
    "a speaker is missing": (removed, "train, .* each of 3 .* found 2", "TRAIN/DR2/MDAC0"),
    "two speakers of the core test set are missing": (removed, "validation, .* found 0", "TEST/DR1", "TEST/DR2"),
    "two sentences are missing": (removed, "6 of fcjf0", "TRAIN/DR1/FCJF0/SI1027.WAV", "TRAIN/DR1/FCJF0/SX27.WAV"),
    "a speaker has SA alone": (removed, "train, .* found 2", "TRAIN/*/MDAC0/S[IX]*.WAV"),
    "TRAIN is empty": (removed, "found 0", "TRAIN/*"),
    "a speaker is added": (added, "found 4", "TRAIN/DR2/MDAC0", "MDAC9"),
    "a sentence is added": (added, "9 of mdac0", "TRAIN/DR2/MDAC0/SX117.WAV", "SX118.WAV"),
    "a sentence is there twice": (added, "the same recording as", "TRAIN/DR2/MDAC0/SX117.WAV", "sx117.wav"),
}


@pytest.mark.parametrize("about", INCOMPLETE)
def test_a_corpus_that_is_not_the_published_one_is_refused(tmp_path: Path, small, about: str):
    write_corpus(tmp_path)
    change, said, *names = INCOMPLETE[about]
    change(tmp_path, *names)
    with refused(said):
        timit.prepare(tmp_path, {})


def test_copies_that_some_distributions_add_are_passed_over(tmp_path: Path, small):
    write_corpus(tmp_path)
    before = prepared.digest(timit.prepare(tmp_path, {}))
    for path in list(tmp_path.glob("TRAIN/*/*/*.WAV")):
        path.with_name(f"{path.name}.wav").write_bytes(b"another form of the same")
    (tmp_path / "TRAIN/DR1/README").write_text("a file among the speakers")
    assert prepared.digest(timit.prepare(tmp_path, {})) == before


LICENSED = ("TIMIT is licensed (LDC93S1", "--config data='{copies: {timit: /path}}'", "dataset: fsdd")


@pytest.mark.parametrize(
    ("copies", "said"), [({}, LICENSED), ({"timit": "/nowhere"}, ("error: /nowhere is no whole copy of LDC93S1",))]
)
def test_without_a_whole_copy_the_script_says_what_to_do(tmp_path: Path, ended, copies: dict[str, str], said: tuple):
    settings = {"scale": "paper", "data": {"directory": "data", "mirror": None, "copies": copies}}
    done = ended(prepare.main, "--dataset", "timit", "--output", tmp_path / "timit.npz", settings=settings)
    assert done.code == 1 and all(part in done.err for part in said)
    assert list(tmp_path.iterdir()) == []


def test_of_an_own_copy_the_counts_are_recorded(tmp_path: Path, ended, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own.py").write_text("import numpy as np\ndef prepare(raw, settings): return {'a': np.zeros((3, 2))}\n")
    monkeypatch.setattr(prepare, "load", lambda settings: with_dataset("own", module="own", own_copy=True))
    command = ["--dataset", "own", "--raw", tmp_path]
    assert ended(prepare.main, *command, "--output", tmp_path / "own.npz").code == 0
    assert prepared.load(tmp_path / "own.npz").provenance["own_copy"] == {"a": 3}


def test_fsdd_is_split_by_number_and_in_order(tmp_path: Path):
    """From an archive of recordings with different lengths, not in order."""
    speakers = ("theo", "george")
    packed = [f"{digit}_{speaker}_{i}.wav" for i in reversed(range(12)) for digit in (0, 1) for speaker in speakers]
    written = {name: noise(place, 256 + 128 * (place % 50), 3000) for place, name in enumerate(packed)}
    members = {f"fsdd-1.0/recordings/{name}": audio(samples, 8000, "WAV") for name, samples in written.items()}
    (tmp_path / "recordings.tar").write_bytes(pack(members))
    arrays = fsdd.prepare(tmp_path, {})
    for split, indices in (("test", range(5)), ("validation", range(5, 10)), ("train", range(10, 12))):
        places = itertools.product(range(2), sorted(speakers), indices)
        names = [f"{digit}_{speaker}_{index}.wav" for digit, speaker, index in places]
        expected = [speech.frames(written[name], name) for name in names]
        assert arrays[f"{split}_lengths"].tolist() == [len(utterance) for utterance in expected]
        assert np.array_equal(arrays[f"{split}_frames"], np.concatenate(expected))
    assert [path.name for path in tmp_path.iterdir()] == ["recordings.tar"], "nothing is unpacked to the disk"


def test_batches_of_the_stand_in_for_fsdd_are_as_long_as_those_of_the_recordings():
    """Whose mean is 30.9 frames, and the mean of the longest of 32, in any order, 56.9."""
    lengths = LIKE["fsdd"].drawn(generator(0))["train_lengths"]
    batches = np.random.default_rng(0).permuted(np.tile(lengths, (50, 1)), axis=1).reshape(-1, 32)
    assert lengths.mean() == pytest.approx(30.9, rel=0.03)
    assert batches.max(axis=1).mean() == pytest.approx(56.9, rel=0.05)


ASKED = {"train": 6, "validation": 2, "test": 3, "shortest": 300, "longest": 700, "seed": 0}


def test_each_utterance_of_generated_speech_is_another():
    arrays = synthetic_speech.prepare(Path("nowhere"), ASKED)
    assert [len(arrays[f"{split}_lengths"]) for split in ("train", "validation", "test")] == [6, 2, 3]
    ends = np.cumsum(arrays["train_lengths"])
    beginnings = [arrays["train_frames"][start : start + 20] for start in (0, *ends[:-1])]
    assert len({beginning.tobytes() for beginning in beginnings}) == 6


def test_generated_speech_has_the_levels_of_speech():
    # Of the Free Spoken Digit Dataset: mean square 1335 dB^2, standard deviation 15.2 dB.
    frames = synthetic_speech.prepare(Path("nowhere"), ASKED | {"train": 30})["train_frames"].astype(np.float64)
    assert 1000 < np.square(frames).mean() < 1500
    assert 11 < frames.std() < 17
