"""Errors that a user can act on: one message that says what was found, what was expected and what to do."""

import sys
from collections.abc import Callable


class UserError(Exception):
    """Something the user gave (a file, a setting, a name) is wrong, or the machine refused (disk, network)."""


def run_main(main: Callable[[], int | None]) -> None:
    """Run a script's `main`; a `UserError` or a refusal of the system becomes one line on stderr, and exit code 1."""
    try:
        sys.exit(main() or 0)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(
            f"error: {error.strerror or error}{where}. Check that the disk has room and can be written.",
            file=sys.stderr,
        )
    sys.exit(1)
