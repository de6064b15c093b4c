"""From recorded speech to frames of a spectrogram in dB (MomentumRNN, Section 3.2 and Appendix A.2).

The paper names its features and refers to Wisdom et al. (Full-Capacity Unitary Recurrent Neural Networks, NeurIPS 2016)
for how they are made; this is their definition. Speech at 8 kHz with n samples, as numbers in [-1, 1), is padded with
zeros to a multiple of 128 and then with 256 zeros at both ends. A Hann window of 256 samples (periodic) moves over it
in steps of 128, S is the discrete Fourier transform under it, and a frame is 10 log10(1e-5 + |S|^2) in its 129 bins,
without any normalisation. There are T = ceil(n / 128) + 3 frames, of which the first and the last are silent.
"""

import io
import math
import re
from collections.abc import Iterable, Mapping

import numpy as np

from hidden_dynamics.errors import UserError

RATE = 8000  # samples per second
WINDOW = 256  # samples
HOP = 128  # samples from one frame to the next
BINS = WINDOW // 2 + 1
FLOOR = 1e-5  # power that is added before the logarithm: silence has 10 log10(FLOOR) = -50 dB

# torch, torchaudio and soundfile are imported where they are used: reading prepared frames takes none of them.


def read(content: bytes, name: str, rate: int) -> np.ndarray:
    """The samples of a recording, (n,), int16: NIST SPHERE or WAV, one channel of 16-bit PCM at this rate; a
    `UserError` with its `name` where it is empty, damaged, broken off or another kind of recording."""
    import soundfile

    if not content:
        raise UserError(f"{name}: the file is empty")
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as sound:
            kind, form = sound.format, (sound.channels, sound.samplerate, sound.subtype)
            samples = sound.read(dtype="int16", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise UserError(f"{name}: cannot be read as NIST SPHERE or WAV: {error.error_string}") from None
    if kind not in ("NIST", "WAV"):
        raise UserError(f"{name}: cannot be read as NIST SPHERE or WAV: it is {kind}")
    if form != (1, rate, "PCM_16"):
        raise UserError(
            f"{name}: expected one channel of 16-bit PCM at {rate:,} Hz, found {form[0]} of {form[2]} at {form[1]:,} Hz"
        )
    if len(samples) == 0:
        raise UserError(f"{name}: the recording has no samples")
    if content.startswith(b"NIST"):
        announced = re.search(rb"^sample_count -i (\d+)$", content[:1024], flags=re.MULTILINE)
        if announced is None or len(samples) != int(announced[1]):
            said = "no sample_count" if announced is None else f"{int(announced[1]):,} samples"
            raise UserError(f"{name}: the header announces {said}, found {len(samples):,}: broken off?")
    return samples[:, 0]


def halve_rate(samples: np.ndarray) -> np.ndarray:
    """Resample from 16 kHz to 8 kHz: (n,), int16 -> (ceil(n / 2),), int16.

    A sinc with 10 zero crossings on each side under a Kaiser window with beta = 5: the filter that MATLAB's `resample`
    has by default, which the preprocessing of Wisdom et al. calls before it stores 16 bits again.
    """
    import torch
    from torchaudio.functional import resample

    waveform = torch.from_numpy(samples.astype(np.float32) / 32768)
    kaiser = {"lowpass_filter_width": 10, "rolloff": 1.0, "resampling_method": "sinc_interp_kaiser", "beta": 5.0}
    halved = resample(waveform, 2 * RATE, RATE, **kaiser).numpy()
    return np.clip(np.rint(halved * 32768), -32768, 32767).astype(np.int16)


def frames(samples: np.ndarray, name: str) -> np.ndarray:
    """The spectrogram of an utterance in dB, (T, 129), float32, T = ceil(n / 128) + 3, of samples (n,), int16, at 8
    kHz; a `UserError` with its `name` where it is shorter than one window."""
    import torch
    from torchaudio.functional import spectrogram

    if len(samples) < WINDOW:
        raise UserError(
            f"{name}: {len(samples)} samples at {RATE:,} Hz are shorter than one window of {WINDOW} samples"
        )
    padded = np.zeros(math.ceil(len(samples) / HOP) * HOP + 2 * WINDOW, np.float32)
    padded[WINDOW : WINDOW + len(samples)] = samples / 32768
    power = spectrogram(
        torch.from_numpy(padded),
        pad=0,
        window=torch.hann_window(WINDOW, periodic=True),
        n_fft=WINDOW,
        hop_length=HOP,
        win_length=WINDOW,
        power=2.0,
        normalized=False,
        center=False,
    )
    return (10 * torch.log10(FLOOR + power)).T.contiguous().numpy()


def pack(splits: Mapping[str, Iterable[np.ndarray]]) -> dict[str, np.ndarray]:
    """The utterances of each split, each (T, 129), one after another: `<split>_frames` (sum of T, 129), float32, and
    `<split>_lengths` (utterances,), int64, the T."""
    arrays = {}
    for split, given in splits.items():
        utterances = list(given)
        arrays[f"{split}_frames"] = np.concatenate(utterances)
        arrays[f"{split}_lengths"] = np.array([len(utterance) for utterance in utterances], np.int64)
    return arrays
