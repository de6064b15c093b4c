"""Files that are whole once they are at their final name."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def atomic(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file beside `path`; move it there only if the block ends without an error.

    Args:
        path: the final name; its directory is made if it does not exist.
        mode: "w" (UTF-8 text) or "wb".

    Raises:
        OSError: the disk is full or read-only; nothing is left at `path` that was not there before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(descriptor, mode, **text) as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp made it private to this user
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
