"""The progress of a run: a live bar on a terminal, plain lines in a log."""

import sys
import time
from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from hidden_dynamics.tasks.schedule import Schedule
    from hidden_dynamics.training.loop import History

SECONDS_BETWEEN_LINES = 60.0
SECONDS_BETWEEN_EVALUATIONS_SHOWN = 10.0


class Progress:
    """Called after every step and evaluation of the training named `name`."""

    def __init__(self, name: str):
        self.name, self.bar, self.said, self.rows = name, None, 0.0, None
        self.live = sys.stderr.isatty()

    def __call__(self, history: "History", schedule: "Schedule") -> None:
        if self.live:
            self._draw(history, schedule)
        elif self._due(history):
            self.rows, self.said = len(history.metrics), time.monotonic()
            loss = f", minibatch loss {history.losses[-1]:.4g}" if history.losses else ""
            print(
                f"{self.name}: iteration {history.iteration} of {schedule.iterations}{loss}{_numbers(history)}",
                flush=True,
            )

    def _due(self, history: "History") -> bool:
        waited = time.monotonic() - self.said
        news = len(history.metrics) != self.rows
        return waited > (SECONDS_BETWEEN_EVALUATIONS_SHOWN if news else SECONDS_BETWEEN_LINES)

    def _draw(self, history: "History", schedule: "Schedule") -> None:
        if self.bar is None:
            self.bar = tqdm(total=schedule.iterations, desc=self.name, initial=history.iteration, unit="it")
        self.bar.update(history.iteration - self.bar.n)
        self.bar.set_postfix_str(_numbers(history).lstrip(", "), refresh=False)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _numbers(history: "History") -> str:
    if not history.metrics:
        return ""
    shown = {key: value for key, value in history.metrics[-1].items() if key not in ("iteration", "epoch")}
    return "".join(f", {key.replace('_', ' ')} {value:.4g}" for key, value in shown.items())
