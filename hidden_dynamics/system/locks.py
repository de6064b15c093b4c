"""Locks between processes: the system frees them when their holder ends, however it ends."""

import contextlib
import errno
import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)  # said by some network file systems


@contextlib.contextmanager
def alone(path: Path, what: str) -> Iterator[bool]:
    """Hold the lock file `path` for the block, and remove it then; where another process holds it, say so (`what` is
    locked) and wait for that to end. Gives whether it had to wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock, waited = FileLock(path), False
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waited = True
        _say(f"{what}: another process is at it; waiting until it ends. Nothing is done twice.")
        lock.acquire()
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        _say(f"{what}: {path.parent} is on a file system without locks: run no second process for it meanwhile.")
    try:
        yield waited
    finally:
        path.unlink(missing_ok=True)  # while it is held: who waits for it sees that, and makes it anew
        lock.release()


@contextlib.contextmanager
def one_of(paths: Sequence[Path], waiting: str) -> Iterator[int]:
    """Hold the first of these lock files (in one directory, which is made) that is free for the block; gives its index.

    Until there is one, all are tried again every half second; `waiting` is said once.
    """
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    for attempt in itertools.count():
        for index, path in enumerate(paths):
            with contextlib.suppress(Timeout), FileLock(path, timeout=0):
                yield index
                return
        if attempt == 0:
            _say(waiting)
        time.sleep(0.5)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
