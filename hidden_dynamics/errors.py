"""Errors that a user can act on: one message that says what was found, what was expected and what to do."""

import errno
import gc
import sys
from collections.abc import Callable

DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
NEUTRAL = "how a mistake is worded changes no result"


class UserError(Exception):
    """Something the user gave (a file, a setting, a name) is wrong, or the machine refused (disk, network).

    Attributes:
        file: the file in question, as the message names it; "" where there is none.
        key: the place within it, such as "mnist.training.epochs"; "" where there is none.
    """

    def __init__(self, message: str, file: object = "", key: str = ""):
        super().__init__(message)
        self.file, self.key = str(file), key


class SolverFailure(Exception):
    """A solver of an initial value problem could not reach the end.

    Attributes:
        cause: "step size underflow", "step budget exceeded" or "state not finite".
        time: where on the way it was.
        step: index of the failing step, from 1.
        during: "forward" or "backward".
    """

    def __init__(self, cause: str, time: float, step: int, during: str):
        super().__init__(f"{cause} at t = {time:.6g}, step {step} ({during})")
        self.cause, self.time, self.step, self.during = cause, time, step, during


class ObservationError(ValueError):
    """A batch of irregular series that no network can take: its `series`, `row` of it, `feature`, from 0, or None."""

    def __init__(self, message: str, series: int | None = None, row: int | None = None, feature: int | None = None):
        self.series, self.row, self.feature = series, row, feature
        where = ", ".join(f"{name} {place}" for name, place in vars(self).items() if place is not None)
        super().__init__(f"{where}: {message}" if where else message)


def run_main(main: Callable[[], int | None]) -> None:
    """Run a script's `main`; a `UserError` or a refusal of the system becomes one line on stderr, and exit code 1.

    What was there before, and what is at the end, is not looked through for garbage."""
    code = 1
    gc.freeze()
    gc.enable()
    try:
        code = main() or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        remedy = " Check that the disk has room and can be written." if error.errno in DISK else ""
        print(f"error: {error.strerror or error}{where}.{remedy}", file=sys.stderr)
    gc.freeze()
    sys.exit(code)
