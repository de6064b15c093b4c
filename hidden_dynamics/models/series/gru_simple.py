"""GRU-Simple (Che et al. 2018): a GRU that is told what is missing, and for how long."""

import torch
from torch import Tensor, nn

from hidden_dynamics.models.forecaster import SeriesTask
from hidden_dynamics.models.series.padding import Padded, Places
from hidden_dynamics.models.series.row_by_row import RowByRow


class GRUSimple(RowByRow):
    """h_k = GRU([x_k; m_k; delta_k], h_{k-1}): values, mask, and the time since each feature was last observed.

    Ours: what is not observed is 0, the mean of standardised values; delta is in units of the data, and counts from 0
    before the first observation; a prediction is read from [h; t], t the time since the last row.

    Args:
        task, hidden_size, dropout: as for `RowByRow`.
    """

    def __init__(self, task: SeriesTask, hidden_size: int, dropout: float = 0.2):
        super().__init__(task, hidden_size, hidden_size + 1, dropout)
        self.gru = nn.GRU(3 * task.features, hidden_size, batch_first=True)

    def states(self, batch: Padded) -> Tensor:
        h, _ = self.gru(torch.cat([batch.values, batch.mask, batch.since()], 2))
        return torch.cat([torch.zeros_like(h[:, :1]), h], 1)

    def seen(self, state: Tensor, places: Places) -> Tensor:
        return torch.cat([state, places.elapsed.unsqueeze(1)], 1)
