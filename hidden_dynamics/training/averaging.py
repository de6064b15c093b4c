"""Averaging of the weights, begun once training no longer makes progress: NT-ASGD.

Non-monotonically triggered averaged SGD (Merity, Keskar and Socher 2018, Algorithm 1; MomentumRNN follows it on Penn
Treebank): when the validation loss is above its minimum of all but the last n evaluations, the weights' average over
the steps that follow is what is evaluated from then on. The steps themselves go on as before.
"""

from collections.abc import Sequence


def is_due(losses: Sequence[float], nonmonotone: int) -> bool:
    """True where averaging begins after the last of `losses`, the validation losses so far.

    Args:
        nonmonotone: n, the evaluations before the last among which a lower loss does not count.
    """
    *before, last = losses
    return len(before) > nonmonotone and last > min(before[:-nonmonotone])
