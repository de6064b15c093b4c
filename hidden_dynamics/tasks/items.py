# pyright: reportUnknownMemberType=false
"""Answers of an evaluation, item by item of a test set, in arrays that are small enough to be kept of every run."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Items = Mapping[str, np.ndarray]  # of all items of the test set, in its order
GREATEST = 61440.0  # in float16 with three bits of its mantissa


def of_classes(logits: Tensor, labels: Tensor) -> Items:
    """The class that logits (n, classes) say of each item, and its loss in nats, to 6 percent, so that 10,000
    images fit into a record."""
    logits = logits.detach()
    losses = functional.cross_entropy(logits, labels, reduction="none").cpu().numpy()
    bits = np.clip(losses, 0, GREATEST).astype(np.float16).view(np.uint16)
    coarse = (bits + 0x40 & 0xFF80).view(np.float16)  # three of ten bits of the mantissa, rounded: it packs to a half
    return {"class": logits.argmax(1).to(torch.uint8).cpu().numpy(), "loss": coarse}


def sums(values: Tensor, items: Tensor, count: int) -> np.ndarray:
    """The sum of each item's values, (count,), float32: of (rows,) or (rows, D), each row of the item in `items`."""
    rows = values.detach().double().reshape(len(values), -1).sum(1)
    added = torch.zeros(count, dtype=torch.float64).index_add_(0, items.cpu(), rows.cpu())
    return added.float().numpy()
