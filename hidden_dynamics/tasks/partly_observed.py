# pyright: reportUnknownMemberType=false
"""Tasks of partly observed series: their split, the scale of their values, their batches.

Mortality, regression and activity recognition of Rubanova et al. (NeurIPS 2019), which ACE-NODE (Sections 4.3 to 4.5)
follows.
"""

import contextlib
import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping
from typing import Annotated, Any, Literal, Protocol, TypeVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from hidden_dynamics.configuration.entries import Entry
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.latent_family.family import Prediction, SeriesBatch, entry_weights
from hidden_dynamics.models.observations import Observations, Rows, at_times, batch_of
from hidden_dynamics.tasks import naive_scores
from hidden_dynamics.tasks.items import sums
from hidden_dynamics.tasks.task import Arrays, Batch, Metrics, PartlyTestedTask, TaskOfParts, ValidatedTask

SPLIT_SEED, TRAINED_ON = 42, 0.8  # of the released code, whatever the seed of a run; "by_seed" draws by that
EVALUATION_SEED = 0
PLACEHOLDER, DESCRIPTORS = -1.0, 5  # PhysioNet's for what is unknown of a patient, in its first parameters alone
WITHOUT_DIVERGENCE, GROWTH = 10, 0.99  # epochs, and by which factor per epoch what is missing shrinks


class Settings(Entry):
    """The settings of a task; all but `split` must be given.

    `validation` is the share of the training part, series or windows, that is held out; `split`, "once" for all seeds,
    or "by_seed", anew for each.
    """

    validation: Annotated[float, Field(ge=0, lt=1)]
    split: Literal["once", "by_seed"] = "once"

    def split_seed(self, seed: int) -> int:
        """The seed that a run of this seed splits its series by."""
        return seed if self.split == "by_seed" else SPLIT_SEED


class StaySettings(Settings):
    placeholders: Literal["missing", "values"]
    normalisation: Literal["range", "maximum"]
    zero_times: Literal["kept", "dropped"]


Scores = Literal["averaged", "pooled"]
Seen = TypeVar("Seen", contravariant=True)
Answer = TypeVar("Answer")


class SeriesNetwork(Protocol[Seen, Answer]):
    """A network of irregular series, as tasks use it, by what it sees and what it answers."""

    def __call__(self, batch: Seen, /) -> Answer: ...

    def loss(self, prediction: Answer, batch: Seen, /) -> Tensor: ...

    def penalty(self, output: Answer, part: str | None, /) -> Tensor | float: ...


LatentSeriesNetwork = SeriesNetwork[SeriesBatch, Prediction]
Network = TypeVar("Network", bound=SeriesNetwork[Any, Any])


class SplitSeries(ValidatedTask[Network, Batch], PartlyTestedTask[Network, Batch], TaskOfParts[Network, Batch]):
    """A task on series that are split once; derived classes make its batches, and say what is measured.

    Args:
        rows: of all series, D features, as networks see them.
        parts: the places of the series of each part, (n,) int64, in the order in which fixed batches take them: train,
            test, and validation where series are held out.
    """

    items = {}

    def __init__(self, rows: Rows, parts: Mapping[str, np.ndarray], device: torch.device):
        self.rows, self.parts, self.device = rows, dict(parts), device
        self.features = rows.values.shape[1]
        self.train_size = len(parts["train"])
        self.split = {"series": len(rows.lengths)} | {name: len(part) for name, part in parts.items()}
        self.validated = "validation" in parts
        self.test_set = naive_scores.test_set(len(self.parts["test"]))

    def loss(self, network: Network, batch: Batch, part: str | None = None) -> Tensor:
        """The network's own loss and its penalty; `part` is what alternating training trains."""
        prediction = network(batch)
        return network.loss(prediction, batch) + network.penalty(prediction, part)

    def test_on_first(self, items: int, network: Network) -> tuple[int, Metrics]:
        fewer = copy.copy(self)
        fewer.parts = self.parts | {"test": self.parts["test"][:items]}
        return len(fewer.parts["test"]), fewer.measure("test", network)

    @property
    def naive(self) -> naive_scores.Scores:
        parts = [self._naive(part) for part in self.parts if part != "train"]
        return {metric: scores for found in parts for metric, scores in found.items()}

    @abstractmethod
    def _naive(self, part: str) -> naive_scores.Scores: ...


class PartlyObserved(SplitSeries[LatentSeriesNetwork, SeriesBatch]):
    """Derived classes say what the targets are, what has labels and what is measured.

    Validation and test part are one batch each: what a network answers about a series depends on the others in its
    batch, through the union of their times. With `zero_times` "dropped", as released, and not "kept", union times whose
    values add up to 0 are left out.
    """

    def __init__(self, rows: Rows, parts: Mapping[str, np.ndarray], zero_times: str, device: torch.device):
        super().__init__(rows, parts, device)
        self.zero_times = zero_times

    def batch(self, epoch: int, indices: np.ndarray) -> SeriesBatch:
        """These series of the training part."""
        return self._batch(self.parts["train"][indices], divergence_weight(epoch)).to(self.device)

    def part(self, name: str) -> SeriesBatch:
        """The series of a part, as one batch."""
        return self._batch(self.parts[name]).to(self.device)

    def _batch(self, chosen: np.ndarray, weight: float = 1.0) -> SeriesBatch:
        whole = batch_of(self.rows, chosen)
        context, targets = self._context_and_targets(whole)
        seen = self._seen(context, whole)
        targets = seen if targets is context else self._seen(targets, whole)
        return SeriesBatch(seen, targets, self._labels(chosen, targets), weight)

    def _seen(self, observations: Observations, whole: Observations) -> Observations:
        """A part of the batch, in units of the last time of the whole one, without what is dropped of it."""
        kept = without_zero_times(observations) if self.zero_times == "dropped" else observations
        return kept.but(times=kept.times / (float(whole.times[-1:].sum()) or 1.0))  # without any, 1

    def _context_and_targets(self, whole: Observations) -> tuple[Observations, Observations]:
        return whole, whole

    def _labels(self, chosen: np.ndarray, targets: Observations) -> Tensor | None:
        return None

    def _naive_errors(self, part: str, weights: Callable[[Observations], Tensor]) -> Metrics:
        """The squared errors of a part's targets, by `weights`; without the last value where all is context."""
        batch = self.part(part)
        errors = naive_scores.series_errors(
            batch.context, batch.targets.series, batch.targets.values, weights(batch.targets)
        )
        if batch.targets is batch.context:
            del errors[naive_scores.LAST_VALUE]
        return errors

    def measure(self, part: str, network: LatentSeriesNetwork) -> Metrics:
        with drawn_anew(self.device):
            return self._measure(part, network)

    def _errors_of_series(self, values: Tensor, targets: Observations) -> np.ndarray:
        """The terms (N,) of which the released MSE is the mean, one for each series, averaged over samples."""
        errors = (values - targets.values).square().mean(0) * entry_weights(targets)
        return sums(errors, targets.series, targets.size) * targets.size

    @abstractmethod
    def _measure(self, part: str, network: LatentSeriesNetwork) -> Metrics: ...


class IntensiveCare(PartlyObserved):
    """A task on patients in intensive care, in their first 48 hours: PhysioNet 2012 and what stands in for it.

    Args:
        arrays: those of hidden_dynamics.data.physionet2012, D features.
        settings: `placeholders`, whether -1 counts as "missing", or among "values"; `normalisation`, by the "range" of
            a feature or its "maximum", over all series; `zero_times`, "kept" or "dropped"; and those of `Settings`.
    """

    def __init__(self, arrays: Arrays, settings: StaySettings, seed: int, device: torch.device):
        rows = Rows(*(arrays[name] for name in Rows._fields))
        rows = without_placeholders(rows) if settings.placeholders == "missing" else rows
        parts = split(len(rows.lengths), settings.validation, settings.split_seed(seed))
        super().__init__(normalised(rows, settings.normalisation), parts, settings.zero_times, device)


@contextlib.contextmanager
def drawn_anew(device: torch.device) -> Generator[None]:
    """A block in which torch's generators start anew; afterwards they are where they were: what is latent is drawn in
    evaluations too, and training goes on as if nothing had been measured."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(EVALUATION_SEED)
        yield


def split(count: int, validation: float, seed: int = SPLIT_SEED) -> dict[str, np.ndarray]:
    """The places, (n,) int64, of the parts of `count` series, in the order of the permutation: scikit-learn's
    train_test_split with this random_state, 80 percent to train on; the last ones of these, as many as the share
    `validation` makes and at least one, are held out, none where it is 0. A `UserError` where a part would be empty."""
    order = np.random.RandomState(seed).permutation(count)
    trained = math.floor(TRAINED_ON * count)
    test, train = order[: count - trained], order[count - trained :]
    held = max(1, round(validation * len(train))) if validation else 0
    if len(train) <= held:
        raise UserError(f"{count} series are too few to be split: none would be left to train on.")
    parts = {"train": train[: len(train) - held], "validation": train[len(train) - held :], "test": test}
    return parts if held else {name: part for name, part in parts.items() if name != "validation"}


def divergence_weight(epoch: int) -> float:
    """The weight of the Kullback-Leibler divergence in the loss, by the epoch, counted from 0."""
    return 1 - GROWTH ** max(0, epoch - WITHOUT_DIVERGENCE)


def without_placeholders(rows: Rows) -> Rows:
    """Rows in which a descriptor of -1 is not observed."""
    mask = rows.mask.copy()
    mask[:, :DESCRIPTORS] &= rows.values[:, :DESCRIPTORS] != PLACEHOLDER
    return rows._replace(mask=mask)


def normalised(rows: Rows, by: str) -> Rows:
    """Rows as networks see them: of each feature to [0, 1] over all series, by its "range", (x - min) / (max - min), or
    its "maximum", (x - min) / max, as released; divided by 1 where that is 0. 0 where nothing was observed."""
    seen = rows.mask.any(0)
    lows = np.where(seen, rows.values.min(0, where=rows.mask, initial=np.inf), 0).astype(np.float64)
    highs = np.where(seen, rows.values.max(0, where=rows.mask, initial=-np.inf), 0).astype(np.float64)
    widths = highs - lows if by == "range" else highs
    values = (rows.values - lows) / np.where(widths == 0, 1, widths)
    return rows._replace(values=np.where(rows.mask, values, 0).astype(rows.values.dtype))


def without_zero_times(observations: Observations) -> Observations:
    """The batch without the union times at which all values add up to 0."""
    sums = torch.zeros(len(observations.times), dtype=observations.values.dtype)
    sums.index_add_(0, observations.rows_of_times(), observations.values.sum(1))
    return at_times(observations, sums != 0)
