"""The next word by the two before it: a trigram with interpolated Kneser-Ney smoothing (Chen and Goodman 1999)."""

from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

from hidden_dynamics.floors.fitted import Answering, Fitted, measured
from hidden_dynamics.models.language_model import LanguageOutput
from hidden_dynamics.tasks.language import LanguageModelling

DISCOUNTS = (0.6, 0.7, 0.8, 0.9, 0.95)


def trigram(task: LanguageModelling, seed: int) -> Fitted:
    words = task.texts["train"].numpy()
    models = {discount: Trigram(words, task.vocabulary_size, discount) for discount in DISCOUNTS}

    def loss(discount: float) -> float:
        return task.evaluate(Answering(models[discount].answer))["validation_loss"]

    with torch.no_grad():
        best = min(DISCOUNTS, key=loss)
    scores = measured(task, models[best].answer)
    return Fitted("smoothed trigram", f"discount {best:g}", f"{len(words)} words of training", scores)


class Discounted(NamedTuple):
    """The share of each word after each history, a row, and what is left for the order below: of an empty row, all."""

    shares: csr_matrix
    left: NDArray

    @classmethod
    def of(cls, counts: csr_matrix, discount: float) -> "Discounted":
        total = np.asarray(counts.sum(1)).ravel()
        kinds = np.diff(counts.indptr)
        shares = (counts.data - discount) / np.repeat(total, kinds)
        left = np.where(kinds > 0, discount * kinds / np.maximum(total, 1), 1.0)
        return cls(
            csr_matrix((shares.astype(np.float32), counts.indices, counts.indptr), counts.shape),
            left.astype(np.float32),
        )

    def over(self, histories: NDArray, below: NDArray) -> NDArray:
        """Probabilities (n, V) after histories (n,), which are numbers of rows, by those of the order below."""
        return self.shares[histories].toarray() + self.left[histories, None] * below


class Trigram:
    """Words count after two words as often as they occur; after one, and after none, by how many different words they
    follow there. From each count above 0 the discount is taken, for the order below; below all, words are as probable.
    """

    def __init__(self, words: NDArray, size: int, discount: float):
        self.size, keys = size, words[:-2] * size + words[1:-1]
        self.pairs, rows = np.unique(keys, return_inverse=True)
        ones, shape = np.ones(len(rows)), (len(self.pairs) + 1, size)  # the last row: pairs that are unknown
        after_two = csr_matrix((ones, (rows, words[2:])), shape)
        rows, last = after_two.nonzero()
        after_one = csr_matrix((np.ones(len(rows)), (self.pairs[rows] % size, last)), (size, size))
        after_none = csr_matrix(np.bincount(after_one.nonzero()[1], minlength=size)[None].astype(float))
        self.after_two, self.after_one, lowest = (
            Discounted.of(counts, discount) for counts in (after_two, after_one, after_none)
        )
        self.words = lowest.over(np.zeros(1, int), np.full(size, 1 / size, np.float32))[0]

    def answer(self, words: Tensor, before: Tensor | None) -> LanguageOutput:
        """As a language model answers; its state is the word before these, none where the text begins."""
        first = torch.full_like(words[:1], -1) if before is None else before
        pairs = (torch.cat([first, words[:-1]]) * self.size + words).numpy().ravel()
        rows = np.searchsorted(self.pairs, pairs)
        known = self.pairs[np.minimum(rows, len(self.pairs) - 1)] == pairs
        rows = np.where(known, rows, len(self.pairs))
        shares = self.after_two.over(rows, self.after_one.over(words.numpy().ravel(), self.words))
        logits = torch.from_numpy(np.log(shares)).view(*words.shape, self.size)
        return LanguageOutput(logits, logits, logits, cast(Any, words[-1:]))
