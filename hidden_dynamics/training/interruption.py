"""SIGTERM and SIGINT: stop the run at a point from which it can be continued."""

import contextlib
import faulthandler
import os
import signal
from collections.abc import Generator
from types import FrameType

NEUTRAL = "when a training is stopped changes no result; that it goes on from the same step is tested"


class Interrupted(BaseException):
    """The process was asked to stop by the signal `signum`."""

    def __init__(self, signum: int):
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


class Interruption:
    """SIGTERM and SIGINT, caught within a `with` block, in the main thread (a ValueError elsewhere).

    A training step must not be cut in two, so a signal is kept until `check` is called; within `immediate`, where
    nothing is modified (an evaluation, which may be long), it is raised at once. The handlers have a stack of their own
    (see `give_handlers_a_stack`).

    A SIGINT that the process ignores stays ignored, as Python has it: so a shell starts what a script runs in the
    background (`command &`), which Ctrl-C is not meant for. SIGTERM is caught even then. SIGHUP is left alone: it ends
    the process as SIGKILL does, or is ignored, as under `nohup`.
    """

    signum: int | None = None
    _immediate = False

    def __enter__(self) -> "Interruption":
        give_handlers_a_stack()
        self._handlers = {signum: signal.signal(signum, self._receive) for signum in obeyed()}
        return self

    def __exit__(self, *exception: object) -> None:
        for signum, handler in self._handlers.items():
            signal.signal(signum, handler)

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.signum is not None:
            raise Interrupted(self.signum)

    @contextlib.contextmanager
    def immediate(self) -> Generator[None]:
        self.check()
        self._immediate = True
        try:
            yield
        finally:
            self._immediate = False

    def _receive(self, signum: int, frame: FrameType | None) -> None:
        self.signum = signum
        if self._immediate:
            raise Interrupted(signum)


def obeyed() -> list[signal.Signals]:
    """The signals to catch: SIGTERM, and SIGINT unless this process ignores it."""
    both = (signal.SIGTERM, signal.SIGINT)
    return [signum for signum in both if signum == signal.SIGTERM or signal.getsignal(signum) != signal.SIG_IGN]


def give_handlers_a_stack() -> None:
    """Have the handlers of signals that come to this thread run on a stack of their own (sigaltstack) from now on.

    They otherwise run on the stack of what they interrupt. While torch's LSTM trains on a CPU, even a handler that does
    nothing was seen to corrupt memory there (torch 2.11; docs/faults.md).

    Python asks for the stack with each handler, but only `faulthandler` makes one, when it is enabled, and leaves it
    when it is disabled. Where it is enabled already, there is one.
    """
    if faulthandler.is_enabled():
        return
    with open(os.devnull, "w") as nowhere:  # enabling wants a file, and sys.stderr need not be one
        faulthandler.enable(nowhere)
        faulthandler.disable()
