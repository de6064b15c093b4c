# pyright: reportUnknownMemberType=false
"""Which patients of an intensive care unit die in hospital (ACE-NODE, Section 4.3)."""

import numpy as np
import torch
from torch import Tensor

from hidden_dynamics.configuration.entries import typed
from hidden_dynamics.models.latent_family.family import entry_weights, mean_squared_error
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.partly_observed import IntensiveCare, LatentSeriesNetwork, Scores, StaySettings
from hidden_dynamics.tasks.scoring import area_under_roc, average_precision, calibration_error, of_samples
from hidden_dynamics.tasks.task import Arrays, Metrics, TaskSettings


class Settings(StaySettings):
    scores: Scores


class Mortality(IntensiveCare):
    """Death in hospital, by the first 48 hours. All rows are context and targets. The settings are those of
    `IntensiveCare`, and `scores`, as in `scoring.of_samples`."""

    labels, classes = "series", 1

    def __init__(self, arrays: Arrays, settings: TaskSettings, seed: int, device: torch.device):
        self.settings = typed(Settings, settings, "the task", "settings")
        super().__init__(arrays, self.settings, seed, device)
        self.died = arrays["died"].astype(np.float32)
        self.test_set = naive_scores.test_set(len(self.parts["test"]), self.died[self.parts["test"]].sum())

    def _labels(self, chosen: np.ndarray, targets: object) -> Tensor:
        return torch.from_numpy(self.died[chosen])

    def _naive(self, part: str) -> naive_scores.Scores:
        """One probability for all has an area of a half, and the share of the positive as its precision."""
        return {
            f"{part}_auc": {naive_scores.CHANCE: 0.5},
            f"{part}_average_precision": {
                naive_scores.CHANCE: float(self.died[self.parts[part]].mean(dtype=np.float64))
            },
            f"{part}_interpolation_mse": self._naive_errors(part, entry_weights),
        }

    def _measure(self, part: str, network: LatentSeriesNetwork) -> Metrics:
        """Area under the ROC curve, average precision and expected calibration error (fractions) of a part; and the
        mean squared error of the target rows, as that of interpolation."""
        batch = self.part(part)
        prediction = network(batch)
        assert prediction.labels is not None  # the task has them
        probabilities = torch.sigmoid(prediction.labels.double()).cpu().numpy()
        if part == "test":
            errors = self._errors_of_series(prediction.values, batch.targets)
            self.items = {"probability": probabilities.mean(0).astype(np.float32), "squared_error": errors}
        died, scores = of_samples(self.settings.scores, self.died[self.parts[part]], probabilities)
        return {
            f"{part}_auc": area_under_roc(died, scores),
            f"{part}_average_precision": average_precision(died, scores),
            f"{part}_calibration_error": calibration_error(died, scores),
            f"{part}_interpolation_mse": mean_squared_error(prediction.values, batch.targets).item(),
        }
