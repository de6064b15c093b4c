"""Locks between processes: the system frees them when their holder ends, however it ends."""

import contextlib
import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)  # said by some network file systems


@contextlib.contextmanager
def alone(path: Path, what: str) -> Iterator[bool]:
    """Hold the lock file `path` for the block; where another process holds it, say so and wait for that to end.

    Gives whether it had to wait.

    Args:
        path: beside what must not be written by two processes; removed after the block.
        what: what is locked, for the message.

    Raises:
        OSError: `path` cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, waited = _acquire(path, what)
    try:
        yield waited
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _acquire(path: Path, what: str) -> tuple[int, bool]:
    waited = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not waited:
                holder = os.read(descriptor, 200).decode(errors="replace") or "one that has just begun"
                _say(f"{what}: another process is at it ({holder}); waiting until it ends. Nothing is done twice.")
            waited = True
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            _say(f"{what}: {path.parent} is on a file system without locks: run no second process for it meanwhile.")
            return descriptor, waited
        if _is_still_there(descriptor, path):
            with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
            return descriptor, waited
        os.close(descriptor)  # its holder has removed it


def _is_still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def one_of(paths: Sequence[Path], poll: float = 0.5) -> Iterator[int]:
    """Hold the first of these lock files that is free for the block, waiting until there is one; gives its index.

    Args:
        paths: in one directory, which is made; they stay.
        poll: seconds between attempts.
    """
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    while True:
        for index, path in enumerate(paths):
            with open(path, "w") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                yield index
                return
        time.sleep(poll)


def forget_a_killed_snakemake(directory: Path) -> IO | None:
    """Remove the locks that a killed Snakemake left in `directory` (.snakemake), if none is alive there.

    Every invocation holds a shared lock from before it makes locks of its own until its end: who gets it exclusively is
    the only one. Some network file systems keep such locks to one host; so nothing is removed where invocations have
    ever come from several hosts, and Snakemake's own message says what to do.

    Returns:
        What holds the shared lock, to be kept as long as Snakemake runs; None where `directory` takes no locks.
    """
    host = socket.gethostname()
    try:
        directory.mkdir(exist_ok=True)
        handle = open(directory / "invocations", "a+", encoding="utf-8")  # noqa: SIM115  (it stays open)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            only_one = True
        except BlockingIOError:
            only_one = False
        handle.seek(0)
        hosts = set(handle.read().split())
        left = list((directory / "locks").glob("*.lock"))
        if only_one and hosts == {host} and left:
            _say("A Snakemake in this directory was killed, and none is alive: its locks are removed.")
            for lock in left:
                lock.unlink()
        if host not in hosts:
            print(host, file=handle, flush=True)
        fcntl.flock(handle, fcntl.LOCK_SH)
    except OSError:  # a read-only directory, a full disk, no locks: Snakemake says what it cannot do without
        return None
    return handle


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
