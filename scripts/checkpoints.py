"""Pack the checkpoints of runs into one file, outside the repository, with which they go on elsewhere.

    python scripts/checkpoints.py ../begun.tar --task pmnist
    python scripts/restore.py ../begun.tar

The first packs those of all runs that are configured, of a task, or of some models and seeds of it: of runs that have
ended, and can be asked for more epochs, and of runs that are under way. The second, with the same code and settings
there, puts them in the directories of their runs, where the next training goes on from them.
"""

import _bootstrap  # noqa: F401  isort: skip

from pathlib import Path

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.configuration.jobs import TrainingJobs
from hidden_dynamics.configuration.runs import all_runs, find
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import SHARED, parser
from hidden_dynamics.training.packed import pack


def main() -> None:
    options = parser(__doc__, "--config", "--model", "--seed")
    options.add_argument("file", type=Path, help="to write, such as ../begun.tar")
    options.add_argument("--task", help=SHARED["--task"]["help"] + "; default: all")
    given = options.parse_args()
    if given.model and not given.task:
        options.error("--model is of a task: name it with --task")
    configuration = load(parse_settings(given.config))
    if given.task:
        models, seeds = TrainingJobs(configuration, given.task).chosen(given.model, given.seed)
        runs = [find(configuration, given.task, model, seed) for model in models for seed in seeds]
    else:
        runs = all_runs(configuration, given.seed)
    packed = pack(given.file, runs)
    print(f"{len(packed)} checkpoints of {len(runs)} runs are in {given.file}: {', '.join(packed)}")


if __name__ == "__main__":
    run_main(main)
