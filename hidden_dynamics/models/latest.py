"""What was observed last, in series whose rows stand side by side and are padded after their ends."""

import torch
from torch import Tensor
from torch.nn import functional


def rows_until_latest(mask: Tensor) -> Tensor:
    """How many rows it took until the latest observation of each feature among the first 0 to S; 0 where there is none.

    Args:
        mask: (N, S, D), above 0 where a feature was observed.

    Returns:
        (N, S + 1, D) int64.
    """
    number = torch.arange(1, mask.shape[1] + 1, device=mask.device)[:, None]
    return functional.pad(torch.where(mask > 0, number, 0).cummax(1).values, (0, 0, 1, 0))


def latest_before(values: Tensor, latest: Tensor) -> Tensor:
    """The latest value before each row, 0 where there is none: (N, S, D).

    Args:
        values: (N, S, D), of the rows.
        latest: (N, S + 1, D), as `rows_until_latest` gives it.
    """
    return functional.pad(values, (0, 0, 1, 0)).gather(1, latest[:, :-1])
