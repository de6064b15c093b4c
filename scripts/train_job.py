"""Train the runs of one job of the workflow, by scripts/train.py.

    python scripts/train_job.py --task pmnist --model lstm-n128 --threads 4 --at-once 4

Without --model it trains all models of the task, without --seed the configured seeds.

A run that fails is recorded so, and the job goes on and succeeds; the workflow tells of it at its end (Snakefile).

The runs go through one process, one after another. With --at-once, so many of them run side by side, each in a process
of its own: this is how several small runs share a GPU. Memory and --threads are the job's, and shared.

With --requeue, in a job of SLURM's, the runs are asked to stop a little before the job's time limit. Their checkpoints
are then whole, and the job is queued again, under the same number, and continues from them. So a run takes as many time
limits as it needs, and none of the attempts that are meant for failures. A limit in which nothing was trained is a
failure.
"""

import _bootstrap  # noqa: F401  isort: skip

import hashlib
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hidden_dynamics.errors import run_main
from hidden_dynamics.system import slurm
from hidden_dynamics.system.arguments import parser, positive
from hidden_dynamics.training.interruption import obeyed

TRAIN = [sys.executable, str(Path(__file__).with_name("train.py"))]
STOPPED = (128 + signal.SIGTERM, -signal.SIGTERM)  # of a training asked to stop: within its loop; before or after it


def main() -> int:
    options = parser(__doc__, "--task", "--model", "--seed")
    options.add_argument("--threads", required=True, type=positive, help="CPU threads of the job")
    options.add_argument("--at-once", type=positive, default=1, help="runs side by side; default: %(default)s")
    options.add_argument("--requeue", action="store_true", help="in a job of SLURM's: go on after its time limit")
    given = options.parse_args()
    threads = max(1, given.threads // given.at_once)
    job = os.environ.get("SLURM_JOB_ID") if given.requeue else None
    if job is None and given.at_once == 1:
        command = training(given.task, given.model, given.seed, threads)
        os.execv(command[0], command)  # what stops it then reaches it directly

    from hidden_dynamics.configuration import load, parse_settings  # half a second: not where it becomes its training
    from hidden_dynamics.configuration.jobs import TrainingJobs
    from hidden_dynamics.configuration.runs import find

    configuration = load(parse_settings(None))
    models, seeds = TrainingJobs(configuration, given.task).chosen(given.model, given.seed)
    runs = [(model, seed) for seed, model in itertools.product(seeds, models)]
    groups = [(models, seeds)] if given.at_once == 1 else [([model], [seed]) for model, seed in runs]
    commands = [training(given.task, *group, threads) for group in groups]
    files = [Path(find(configuration, given.task, *run).directory, "checkpoint.pt") for run in runs]
    left = slurm.seconds_left(job) if job is not None else None
    before = digests(files)
    trainings = Trainings(commands, given.at_once)
    code = trainings.run(time.monotonic() + left - margin(left) if left is not None else None)
    if job is None or not trainings.out_of_time or code not in STOPPED:
        return code if code >= 0 else 128 - code
    if digests(files) == before:
        print("error: nothing was trained within this time limit: ask for a longer one (time_limit).", file=sys.stderr)
        return 1
    print(f"the time limit is near: job {job} is queued again and continues from the checkpoints", flush=True)
    if slurm.requeue(job):
        time.sleep(300)  # SLURM ends it
    return 128 + signal.SIGTERM


def training(task: str, models: Sequence[str] | None, seeds: Sequence[int] | None, threads: int) -> list[str]:
    """The command that trains them; all of the task's models, or seeds, where none are given."""
    named = {"--model": models, "--seed": seeds, "--threads": [threads]}
    options = [[name, *map(str, values)] for name, values in named.items() if values]
    return [*TRAIN, "--job", "--task", task, *itertools.chain(*options)]


def margin(left: float) -> float:
    """Seconds before the time limit at which the runs stop: enough for an iteration and to write a checkpoint."""
    return min(10 + left / 20, 300)


def digests(files: Sequence[Path]) -> list[str | None]:
    """Those of the runs' checkpoints: where none has changed, nothing was done."""
    return [hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else None for file in files]


class Trainings:
    """Processes of scripts/train.py, a number of them at a time; they end when done, told to, or out of time.

    SIGTERM is handed on to them, and SIGINT unless this process ignores it.
    """

    def __init__(self, commands: Sequence[Sequence[str]], at_once: int):
        self.waiting, self.running, self.at_once = list(commands), [], at_once
        self.signals: list[int] = []  # those that are still to be handed on
        self.stopping = self.out_of_time = False
        for signum in obeyed():
            signal.signal(signum, self._receive)

    def run(self, deadline: float | None) -> int:
        """The first exit code that speaks of a failure, or else of a stop, or 0. A failure leaves the others alone."""
        codes = []
        while self.running or (self.waiting and not self.stopping):
            while self.waiting and len(self.running) < self.at_once and not self.stopping:
                self.running.append(subprocess.Popen(self.waiting.pop(0)))
            time.sleep(0.2)
            if deadline is not None and time.monotonic() > deadline and not self.out_of_time:
                self.out_of_time = True
                self._receive(signal.SIGTERM)
            while self.signals:  # here, since the handler may be called before a training that starts is listed
                signum = self.signals.pop(0)
                for process in self.running:
                    process.send_signal(signum)  # which does nothing to one that has ended
            codes += [self._ended(process) for process in self.running if process.poll() is not None]
            self.running = [process for process in self.running if process.returncode is None]
        if self.waiting:
            codes.append(STOPPED[0])
        return next((code for code in codes if code not in (0, *STOPPED)), max(codes, key=abs))

    def _ended(self, process: subprocess.Popen) -> int:
        if process.returncode == -signal.SIGKILL:
            largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 // 10**6
            print(
                "error: a training was killed, as a machine or a cluster does to what takes more memory than there is, "
                f"or than was asked for (mem_mb). The largest training of this job that ended took {largest} MB.",
                file=sys.stderr,
                flush=True,
            )
        return process.returncode

    def _receive(self, signum: int, frame: object = None) -> None:
        self.stopping = True
        self.signals.append(signum)


if __name__ == "__main__":
    run_main(main)
