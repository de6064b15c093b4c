"""The progress of a run, as lines on stdout."""

import time
from collections.abc import Callable

from hidden_dynamics.system import memory
from hidden_dynamics.tasks.schedule import AnySchedule
from hidden_dynamics.training.loop import History

SECONDS, AFTER_AN_EVALUATION = 60.0, 10.0  # between lines; the latter where there is a new evaluation


class Progress:
    """Called after every step and evaluation of the training named `name`, as is then `write`."""

    def __init__(self, name: str, write: Callable[[History, AnySchedule], None]):
        self.name, self.write, self.said, self.evaluations = name, write, 0.0, -1

    def __call__(self, history: History, schedule: AnySchedule) -> None:
        self.write(history, schedule)
        wait = SECONDS if len(history.metrics) == self.evaluations else AFTER_AN_EVALUATION
        if time.monotonic() - self.said <= wait:
            return
        self.evaluations, self.said = len(history.metrics), time.monotonic()
        numbers = {"minibatch loss": history.losses[-1]} if history.losses else {}
        numbers |= history.metrics[-1] if history.metrics else {}
        shown = [f"{key.replace('_', ' ')} {numbers[key]:.4g}" for key in numbers if key not in ("iteration", "epoch")]
        done = f"iteration {history.iteration} of {schedule.iterations}"
        print(f"{self.name}: {', '.join([done, *shown, f'peak memory {memory.peak()} MB'])}", flush=True)
