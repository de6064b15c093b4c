"""Deliberate changes of what a run computes: each must change the digest of the runs that it reaches, and none of these
may be found equal (tools/attest.py --self-test, tests/test_digest.py)."""

from pathlib import Path
from typing import NamedTuple

LIBRARY = Path("hidden_dynamics")


class Change(NamedTuple):
    """A change of a file of the library.

    Attributes:
        what: in words.
        file, old, new: the text `old`, which stands in the file, is replaced.
        tried: the runs of `demo` that notice it within a few iterations, "task/model".
        reached: the models or tasks that it touches; None is all.
    """

    what: str
    file: str
    old: str
    new: str
    tried: tuple[str, ...]
    reached: frozenset[str] | None

    def apply(self, root: Path) -> None:
        """Make it in a copy of the project."""
        path = root / LIBRARY / self.file
        text = path.read_text(encoding="utf-8")
        assert self.old in text, f"{self.file} has no {self.old!r} any more"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


ALL = None
WITH_MOMENTUM = frozenset({"momentum_lstm", "scaled_lstm", "gain_lstm", "momentum_dtriv", "scaled_dtriv"})  # a control's is 0
ORTHOGONAL = frozenset({"dtriv", "momentum_dtriv", "scaled_dtriv", "adam_dtriv", "rmsprop_dtriv", "sr_dtriv"})
RESTARTED = frozenset({"sr_lstm", "sr_scaled_lstm", "nag_lstm", "sr_dtriv"})
PIXELS = frozenset({"mnist", "pmnist", "mnist_ablation", "pmnist_dtriv", "pmnist_gradients"})
IMAGES = frozenset({"mnist_images", "svhn_images", "cifar10_images"})
LANGUAGE = frozenset({"ptb", "ptb_ablation"})
SPEECH = frozenset({"timit", "timit_recall", "timit_ablation", "timit_dtriv", "timit_dtriv_recall"})
MORTALITY = ("raw_attention", "random_rate", "tied", "joint", "start_label", "fixed_batches", "model_bugs", "released")
STAYS = frozenset({"physionet", "physionet_interpolation", "physionet_extrapolation", *(f"physionet_{n}" for n in MORTALITY)})
FAMILY = STAYS | {"human_activity"}
CHANGES: list[Change] = []
