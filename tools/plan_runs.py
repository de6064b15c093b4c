"""Start or continue the runs of docs/evidence/PLAN.md, block by block, in its order.

    nice python tools/plan_runs.py --results DIRECTORY [--cores N] [--mirror DIRECTORY] [--only BLOCK ...]
    python tools/plan_runs.py --results DIRECTORY --commands [--only BLOCK ...] | xargs -d '\\n' -n 1 -P 2 sh -c
    python tools/plan_runs.py --results DIRECTORY --keep ../hidden-dynamics/docs/evidence/begun
    python tools/plan_runs.py --results DIRECTORY --publish BLOCK [--mirror DIRECTORY]

The first runs them: one thread a run, N at a time. What is there already stays, what was killed goes on, and what is
kept in docs/evidence/begun, or published, is not trained again. Work from a clone of its own, at a commit that stays.
Results, data and checkpoints are below DIRECTORY.

The second prints the trainings that are left, to be run from here without Snakemake, where the data are prepared: of M9
those to its first end, epoch 50. With --device cuda, N of them share a GPU.

The third keeps the records of the runs that have finished, for another machine, beside what is kept there: one archive
for each task. They are neither read nor judged before their block is whole.

The fourth, in a clone without results, publishes a block that is whole with what docs/evidence/paper has.
"""

import argparse
import contextlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # where the library is

from hidden_dynamics.configuration import load, parse_settings  # noqa: E402
from hidden_dynamics.errors import UserError, run_main  # noqa: E402
from hidden_dynamics.publication.command import settings_of  # noqa: E402
from hidden_dynamics.publication.restoring import METADATA, RECORDS, Publication, put_all_back, refusal  # noqa: E402
from hidden_dynamics.results import archives  # noqa: E402
from hidden_dynamics.results.run_files import RECORD  # noqa: E402

PAPER = ROOT / "docs" / "evidence" / "paper"
BEGUN = PAPER.parent / "begun"
Files = dict[str, bytes]  # of a record, by name
HEAD = [
    "# How far the runs of the plan are",
    "",
    "`records/` has what has finished of blocks that are not whole, for another machine (tools/plan_runs.py). It is",
    "not looked at before; a whole block is judged, and published in [`paper`](../paper/README.md).",
    "",
    "| claims | task | runs finished | hours |",
    "|---|---|---|---|",
]
CELLS = ["lstm", "momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm"]


class Block(NamedTuple):
    """Runs of a task: some models of one of the paper's sizes, in the first part of their training or all of it."""

    name: str
    task: str
    models: list[str]
    size: int
    epochs: int | None = None

    def runs(self) -> Iterator[str]:
        """Their ids, seed after seed."""
        for seed in range(15 if self.task == "physionet_splits" else 5):
            yield from (f"{self.task}/{model}-n{self.size}/seed{seed}" for model in self.models)


BLOCKS = [  # A8 and M6b first: see the plan's changes
    Block("A8", "physionet_extrapolation", ["latent_ode", "ace_latent_ode"], 20),
    Block("M6b", "adding", CELLS, 128, 20),  # of 100 iterations
    Block("M6b-s", "adding", ["scaled_lstm"], 128, 20),  # after M6b had been seen: exploratory
    Block("A1-A3", "physionet_splits", ["latent_ode", "ace_latent_ode", "ode_rnn", "rnn_impute", "rnn_gru_d"], 20),
    Block("M1", "pmnist", ["lstm", "momentum_lstm"], 128, 13),
    Block("M1-s", "pmnist", ["pmnist_gain_lstm"], 128, 13),  # the plan's control of M1, after M1 had been seen
    Block("M6a", "copying_1k", CELLS, 190, 2000),  # of one
    *(Block("M9", "pmnist_dtriv", ["dtriv", "momentum_dtriv"], 170, epochs) for epochs in (50, 100, 150)),
]
TASKS = list(dict.fromkeys(block.task for block in BLOCKS))


def main() -> int:
    """The code of the first command that did not end well, such as a Snakemake that was interrupted; else 0."""
    options = parse()
    runs = options.results.resolve() / "results" / "paper" / "runs"
    if options.publish:
        return publish(next(block for block in BLOCKS if block.name == options.publish), runs, options)
    if options.keep:
        kept, unusable = keep(runs, options.keep)
        print(f"{len(kept)} runs are kept in {options.keep}", *(f"not kept: {why}" for why in unusable), sep="\n")
        return int(bool(unusable))
    for directory in (BEGUN, PAPER):
        take_up(directory, runs)
    for block in BLOCKS:
        if options.only and block.name not in options.only:
            continue
        if options.commands:
            for training in trainings(block, runs, options):
                print(shlex.join(training))
        else:
            print(f"{block.name}: {block.task}, {', '.join(block.models)}", flush=True)
            if code := subprocess.run(command(block, runs, options), cwd=ROOT).returncode:
                return code
    return 0


def command(block: Block, runs: Path, options: argparse.Namespace) -> list[str]:
    """Of Snakemake: the runs' own records are its targets."""
    targets = [f"{runs / run}/run.json" for run in block.runs()]
    given = [f"{name}={json.dumps(value)}" for name, value in settings(block, options).items()]
    threads = ["--set-threads", f"train_{block.task}=1"]
    return ["snakemake", *targets, "--cores", str(options.cores), *threads, "--config", *given]


def trainings(block: Block, runs: Path, options: argparse.Namespace) -> list[list[str]]:
    """The commands of the runs that have not finished."""
    given = ["--config", json.dumps(settings(block, options)), "--threads", "1"]
    first = next(one for one in BLOCKS if one.name == block.name)
    left = [run.split("/") for run in block.runs() if block is first and not finished(runs / run)]
    train = ["python", "scripts/train.py", "--task", block.task]
    return [[*train, "--model", model, "--seed", seed.removeprefix("seed"), *given] for _, model, seed in left]


def settings(block: Block, options: argparse.Namespace) -> dict[str, Any]:
    """Of config.yaml, those that a block is run with."""
    results, mirror = options.results.resolve(), options.mirror and str(options.mirror.resolve())
    training = {} if block.epochs is None else {"training": {"epochs": block.epochs}}
    return {
        "scale": "paper",
        "device": options.device,
        "runs_per_gpu": options.cores,
        "results": str(results / "results"),
        "data": {"directory": str(results / "data"), "mirror": mirror},
        "overrides": {"tasks": {block.task: training} if training else {}},
    }


def planned() -> list[str]:
    """The ids of all runs, each once."""
    return list(dict.fromkeys(run for block in BLOCKS for run in block.runs()))


def keep(runs: Path, directory: Path) -> tuple[list[str], list[str]]:
    """Write the records of the runs that have finished, here or as they are kept there, and are not published beside.

    Returns:
        The runs that are kept now; why others, which have a record here, are not.

    Raises:
        UserError: the directory has a publication.
    """
    if (directory / METADATA).exists():
        raise UserError(f"{directory} is a publication: name another directory.", directory)
    published, records, unusable = held(directory.parent / PAPER.name), held(directory), list[str]()
    for run in planned():
        try:
            records[run] = longest(records.get(run), finished(runs / run))
        except UserError as error:
            unusable.append(str(error))
    records = {run: files for run, files in records.items() if files and run not in published}
    packed = {f"{RECORDS}/{name}": content for name, content in archives.archives(records).items()}
    archives.write(directory, packed | {"README.md": about(published | records).encode()})
    for archive in {directory / RECORDS / f"{task}.tar.xz" for task in TASKS}:
        if f"{RECORDS}/{archive.name}" not in packed:  # all its runs have been published since
            archive.unlink(missing_ok=True)
    return list(records), unusable


def finished(directory: Path) -> Files:
    """The files of a run that has finished, or whose record was put there; of both those of more epochs; none where
    there are neither. A `UserError` where it failed, or a file was altered."""
    places = (directory / archives.KEPT, directory)
    return longest(*(archives.files_of_run(place) for place in places if (place / RECORD).is_file()))


def longest(*records: Files | None) -> Files:
    """Those of most epochs; none of none."""
    return max(filter(None, records), key=epochs, default={})


def epochs(files: Files) -> float:
    return json.loads(files[RECORD])["spec"]["training"]["epochs"] if files else 0


def about(records: Mapping[str, Files]) -> str:
    """How far each block is."""
    rows = list[str]()
    for block in {block.name: block for block in BLOCKS}.values():  # of M9 to its last epoch
        kept = [json.loads(records[run][RECORD]) for run in block.runs() if run in records]
        hours = sum(sum(record["seconds"].values()) for record in kept) / 3600
        rows.append(f"| {block.name} | `{block.task}` | {len(kept)} of {len(list(block.runs()))} | {hours:.1f} |")
    return "\n".join([*HEAD, *rows, ""])


def publish(block: Block, runs: Path, options: argparse.Namespace) -> int:
    """Publish a block with what is published at the papers' settings; the exit code of what did not end well.

    Nothing is trained: a `UserError` where a run of the block has not finished, or one of its or of those that are
    published is not of this code.
    """
    given = published_with(block, options)
    configuration, publication = load(parse_settings(json.dumps(given))), Publication(PAPER)
    records = dict(publication.runs()) | {run: finished(runs / run) for run in block.runs()}
    for run, files in records.items():
        why = refusal(configuration, run, json.loads(files[RECORD]), ROOT) if files else "not finished"
        if why:
            raise UserError(f"{run} is {why}: nothing is published.", key=run)
    put_all_back(publication, ROOT, configuration)
    for run in block.runs():
        archives.write(ROOT / "results" / "paper" / "runs" / run / archives.KEPT, records[run])
    settings = [f"{name}={json.dumps(value)}" for name, value in given.items()]
    make = ["snakemake", "evidence", "--cores", str(options.cores), "--config", *settings]
    return subprocess.run(make, cwd=ROOT).returncode


def published_with(block: Block, options: argparse.Namespace) -> dict[str, Any]:
    """The settings of what is published at the papers' settings, and of the block; a `UserError` where other runs of
    its task are published."""
    own, known = settings(block, options), settings_of(Publication(PAPER).configuration)
    tasks = {block.task: {"variants": {"default": "published"}} | own["overrides"]["tasks"].get(block.task, {})}
    if known["overrides"]["tasks"].get(block.task, tasks[block.task]) != tasks[block.task]:
        raise UserError(f"{PAPER} has {block.task} by other settings: publish these apart.", PAPER, block.task)
    chosen = [*known["only"], *(f"{block.task}/{model}/{block.size}" for model in block.models)]
    overrides = known["overrides"] | {"tasks": known["overrides"]["tasks"] | tasks}
    return known | {"only": [*dict.fromkeys(chosen)], "overrides": overrides, "data": own["data"]}


def take_up(directory: Path, runs: Path) -> list[str]:
    """Put what is kept beside the runs that have less, of which their jobs then make their files, where specification,
    code and data are the same; the ids of these runs."""
    new = list[str]()
    for run, files in held(directory).items():
        here: Files = {}
        with contextlib.suppress(UserError):  # of a run that failed, or was altered, nothing is there
            here = finished(runs / run)
        if epochs(files) > epochs(here):
            archives.write(runs / run / archives.KEPT, files)
            new.append(run)
    return new


def held(directory: Path) -> dict[str, Files]:
    """The files of the planned runs that are kept or published in a directory, by run and name."""
    records: dict[str, Files] = {}
    for task in TASKS:
        archive = directory / RECORDS / f"{task}.tar.xz"
        files = archives.unpacked(archive.read_bytes(), archives.RUNS, archive) if archive.is_file() else {}
        for path, content in files.items():
            folder, _, name = path.rpartition("/")
            records.setdefault(f"{task}/{folder}", {})[name] = content
    return {run: records[run] for run in planned() if run in records}


def parse() -> argparse.Namespace:
    names = [*dict.fromkeys(block.name for block in BLOCKS)]
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, required=True, help="where results, data and checkpoints are")
    options.add_argument("--cores", type=int, default=1, help="runs at a time (default: %(default)s)")
    options.add_argument("--mirror", type=Path, help="directory with the datasets")
    options.add_argument("--only", nargs="+", choices=names, help="some blocks")
    options.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="default: %(default)s")
    options.add_argument("--commands", action="store_true", help="print the trainings that are left, and start none")
    options.add_argument("--keep", type=Path, metavar="DIRECTORY", help="keep there what has finished")
    options.add_argument(
        "--publish", metavar="BLOCK", choices=names, help="publish this block, which is whole, in docs/"
    )
    return options.parse_args()


if __name__ == "__main__":
    run_main(main)
