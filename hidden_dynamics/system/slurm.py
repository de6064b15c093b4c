"""A job's questions to SLURM about itself, and its requests."""

import re
import subprocess
import sys


def seconds_left(job: str) -> float | None:
    """Seconds until a job's time limit; None where it has none, or where SLURM does not say, which is reported."""
    answer = _ask("squeue", "--noheader", "--jobs", job, "--format", "%L")
    if answer is None or answer == "UNLIMITED":
        return None
    time = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", answer)
    if time is None:
        _report(f"squeue tells no time limit of job {job} ({answer or 'no answer'})")
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in time.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds


def requeue(job: str) -> bool:
    """Have a running job started anew, under its number, as soon as there is room; whether SLURM does so."""
    return _ask("scontrol", "requeue", job) is not None


def _ask(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except FileNotFoundError:
        _report(f"there is no {command[0]} on this node")
    except subprocess.TimeoutExpired:
        _report(f"{command[0]} did not answer within a minute")
    except subprocess.CalledProcessError as error:
        _report(f"{' '.join(command)} failed: {error.stderr.strip()}")
    else:
        return done.stdout.strip()
    return None


def _report(problem: str) -> None:
    print(f"SLURM: {problem}", file=sys.stderr, flush=True)
