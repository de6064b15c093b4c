"""Try whether changed code trains as it did: by the code of a commit and by HEAD's, and compare to the bit.

    python tools/attest.py OLD_COMMIT [--also TASK/MODEL@SCALE ...]
    python tools/attest.py --self-test

What is tried is the code of each published run, where its digest (hidden_dynamics.configuration.runs.code_of) is
another at the two commits, and that of the runs that --also names. Both trees train the same specifications on the same
made data: each model at `demo`'s sizes (of several, the first and the last), in some epochs of one or two iterations,
so few that every event of its schedule is among them, stopped and continued twice; and each published model at its own
size (of several, the last), for two iterations.
What both give is compared: losses, metrics, weights, the state in checkpoints, generators, predictions, gradients.
Where all of a digest's trials agree, published/equal_code.csv gets a line; where one does not, the exit code is 1.
The data are small: drawn at random, or by the module of a dataset's stand-in, in the shapes of the dataset's.

--self-test takes HEAD and changes its behaviour, in each way of tools/attest_changes.py: none may be found equal.
"""

import argparse
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # where the library is
from attest_changes import CHANGES  # noqa: E402

from hidden_dynamics.configuration import Configuration, load, parse_settings  # noqa: E402
from hidden_dynamics.configuration.equal_code import PATH, Equal, all_equal  # noqa: E402
from hidden_dynamics.configuration.runs import runs_on  # noqa: E402
from hidden_dynamics.data import preparing  # noqa: E402
from hidden_dynamics.errors import UserError, run_main  # noqa: E402
from hidden_dynamics.publication.restoring import Publication  # noqa: E402
from hidden_dynamics.results.rows import write_rows  # noqa: E402

DIGESTED = ("hidden_dynamics", "scripts", "config")
# Epochs of a trial at `demo`: in 104 iterations DTRIV's base is projected (K = 1), in the 12th epoch the weight of the
# Kullback-Leibler term begins to grow.
LONGEST, LONG, SHORT = 52, 12, 4
STOPS = [3, 7]  # backward passes
SIDES = {"digits": 8, "mnist": 28, "svhn": 32, "cifar10": 32}
UTTERANCES = {"train": 64, "validation": 16, "test": 16, "shortest": 150, "longest": 2300}
# What stands for a dataset, and with which settings, so that two batches of a run's own size fill an epoch.
OWN = {
    "fsdd": ("synthetic_speech", UTTERANCES | {"seed": 0}),
    "physionet2012": ("intensive_care_stays", {"stays": 85, "visits": 40}),
    "human_activity": ("tagged_movements", {"sequences": 20, "reports": 140}),
    "ornstein_uhlenbeck": ("ornstein_uhlenbeck", {}),
    "copying": ("copying", {"test_size": 64}),
    "adding": ("adding", {"test_size": 64}),
}
# Settings that a dataset of `demo` gets, and the batch of which two, or one of all, fill an epoch. Test sets are larger
# than the batches in which they are measured.
DEMO = {
    "digits": ({}, 40),
    "copying": ({"test_size": 140}, 32),
    "adding": ({"test_size": 260}, 32),
    "synthetic_speech": ({"train": 12, "validation": 6, "test": 140}, 8),
    "ornstein_uhlenbeck": ({"series": 60}, 24),
    "intensive_care_stays": ({"stays": 60}, 60),
    "tagged_movements": ({"sequences": 5}, 100),
}


class Trial(NamedTuple):
    """A training to be tried: of a scale's run, in a specification of its own, on the arrays of a file."""

    scale: str
    task: str
    model: str
    seed: int
    spec: dict[str, Any]
    stops: list[int]
    arrays: str

    @property
    def name(self) -> str:
        return f"{self.task}/{self.model} at {self.scale}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", nargs="?", help="the commit of then")
    options.add_argument("--also", nargs="+", metavar="TASK/MODEL@SCALE", default=[], help="try these of a scale, too")
    options.add_argument("--self-test", action="store_true", help="try deliberate changes of HEAD")
    given = options.parse_args()
    if bool(given.old) == given.self_test:
        options.error("give the commit of then, or --self-test")
    if changed := _git("status", "--porcelain", "--", *DIGESTED).decode():
        raise UserError(f"These files are not committed: commit them, since what is tried is HEAD.\n{changed.rstrip()}")
    with tempfile.TemporaryDirectory(prefix="attest-") as place:
        directory = Path(place)
        trees = {"now": _tree("HEAD", directory / "now")}
        if given.self_test:
            return self_test(trees["now"], directory)
        trees["then"] = _tree(given.old, directory / "then")
        return attest(trees, trials(directory, given.also), directory, given.old)


def attest(trees: Mapping[str, Path], trying: list[Trial], directory: Path, old: str) -> int:
    """Try all that has another digest now, and write the lines of what is equal: the exit code."""
    places = _run({side: (tree, trying) for side, tree in trees.items()}, directory / "codes", "--codes")
    codes = {side: json.loads((place / "codes.json").read_bytes()) for side, place in places.items()}
    pairs = list(zip(codes["then"], codes["now"], strict=True))
    differing = [(trial, pair) for trial, pair in zip(trying, pairs, strict=True) if pair[0] != pair[1]]
    found: dict[tuple[str, str], list[Outcome]] = {pair: [] for _, pair in differing}
    print(f"{len(set(pairs))} digests, {len(found)} of them changed: {len(differing)} trials", flush=True)
    tried = [trial for trial, _ in differing]
    places = _run({side: (tree, tried) for side, tree in trees.items()}, directory / "trials")
    for number, (trial, pair) in enumerate(differing):
        found[pair].append(_compared(trial, *(_given(places[side], number) for side in ("then", "now"))))
        if different := found[pair][-1].difference:
            print(f"NOT EQUAL {pair[0][:8]} {pair[1][:8]}: {trial.name}: {different}", flush=True)
    equal = {pair: all_of for pair, all_of in found.items() if not any(outcome.difference for outcome in all_of)}
    _write([_line(pair, outcomes, old) for pair, outcomes in equal.items()])
    print(f"{len(equal)} digests are equal: lines of {PATH.relative_to(ROOT)}; {len(found) - len(equal)} are not")
    return int(len(equal) < len(found))


def self_test(now: Path, directory: Path) -> int:
    """Try each deliberate change on runs that it reaches; the exit code is 1 where one of them does not notice it."""
    every = [trial for trial in trials(directory, []) if trial.scale == "demo"]
    tried = {name for change in CHANGES for name in change.tried.split()}
    trying = list({_cell(trial): trial for trial in reversed(every) if _cell(trial) in tried}.values())
    sides, unnoticed = {"then": (now, trying)}, 0
    for number, change in enumerate(CHANGES):
        sides[str(number)] = (
            _tree("HEAD", directory / f"changed{number}"),
            [t for t in trying if _cell(t) in change.tried.split()],
        )
        change.apply(sides[str(number)][0])
    places = _run(sides, directory / "trials")
    for number, change in enumerate(CHANGES):
        for place, trial in enumerate(sides[str(number)][1]):
            given = _given(places["then"], trying.index(trial)), _given(places[str(number)], place)
            different = _compared(trial, *given).difference
            unnoticed += not different
            print(f"{change.what}: {trial.name}: {different or 'NOT NOTICED'}", flush=True)
    print(f"{len(CHANGES)} changes, {unnoticed} trials that do not notice theirs")
    return int(unnoticed > 0)


# What is tried


def trials(directory: Path, also: list[str]) -> list[Trial]:
    """Those of published runs, and of `also`, at their own sizes, and of these models at `demo`."""
    specs: dict[tuple[str, str, str], tuple[int, dict[str, Any]]] = {}
    for place in sorted((ROOT / "docs" / "evidence").rglob("records")):
        for name, files in Publication(place.parent).runs():
            record, (task, model, seed) = json.loads(files["run.json"]), name.split("/")
            specs.setdefault((place.parent.name, task, model), (int(seed.removeprefix("seed")), record["spec"]))
    for name, _, scale in (text.partition("@") for text in also):
        specs |= {(scale, *key): run for key, run in _configured(_scale(scale), {name})}
    cells = {f"{task}/{spec['model']}" for (_, task, _), (_, spec) in specs.items()}
    demo = {("demo", *key): run for key, run in _configured(_scale("demo"), cells)}
    chosen = [(key, demo[key]) for key in _ends(demo, (0, -1))] + [(key, specs[key]) for key in _ends(specs, (-1,))]
    made: dict[str, str] = {}
    return [
        Trial(*key, seed, small(spec, key[0]), STOPS * (key[0] == "demo"), _made(spec, key[0], made, directory))
        for key, (seed, spec) in chosen
    ]


def _ends(specs: Mapping[tuple[str, str, str], tuple[int, dict[str, Any]]], which: tuple[int, ...]) -> list[Any]:
    """Of each model's sizes, or grid, on each task at each scale, those that stand first and last, or last."""
    models: dict[tuple[str, str, str], list[Any]] = {}
    for key, (_, spec) in specs.items():
        models.setdefault((*key[:2], spec["model"]), []).append(key)
    return [key for keys in models.values() for key in dict.fromkeys(keys[place] for place in which)]


def _scale(name: str) -> Configuration:
    return load(parse_settings(json.dumps({"scale": name})))


def _configured(configuration: Configuration, cells: set[str]) -> Iterable[tuple[tuple[str, str], tuple[int, dict]]]:
    """(task, model with its size) and (seed, specification) of each configured run of these "task/model"."""
    for task in dict.fromkeys(cell.partition("/")[0] for cell in sorted(cells)):
        for run in runs_on(configuration, task, [configuration.seeds[0]]):
            if f"{task}/{run.model}" in cells:
                yield (task, run.sized_model), (run.seed, run.spec)


def _cell(trial: Trial) -> str:
    return f"{trial.task}/{trial.spec['model']}"


def small(spec: Mapping[str, Any], scale: str) -> dict[str, Any]:
    """A specification with all its schedule's events within a few iterations; at its own sizes, with two iterations."""
    training, settings = dict(spec["training"]), dict(spec["task_settings"])
    hyperparameters, demo = dict(spec["hyperparameters"]), scale == "demo"
    series = spec["dataset"] in ("intensive_care_stays", "tagged_movements")
    training["epochs"] = (LONG if series else LONGEST if hyperparameters.get("K") == 1 else SHORT) if demo else 1
    training.pop("evaluate_every", None)
    if "iterations_per_epoch" in training:
        training |= {"iterations_per_epoch": 2, "evaluate_every": 2}
    rates = {name: value for name, value in training.get("rates", {}).items() if demo or name != "until"}
    if demo:
        training["evaluate_every"] = (
            1 if training.get("averaging") else {LONGEST: 60, LONG: 5, SHORT: 4}[training["epochs"]]
        )
        if spec["dataset"] in DEMO:
            training["batch_size"] = 18 if training.get("drop_last") else DEMO[spec["dataset"]][1]
        events = {"drops": [1], "decay": 0.9, "floor": 0.5, "until": training["epochs"] - 0.5}
        rates |= {name: value for name, value in events.items() if name in rates}
        if "record_gradients" in training:
            training["record_gradients"] = 2
    if "rates" in training:
        training["rates"] = rates
    if isinstance(settings.get("validation"), int) and settings["validation"] > 1:
        settings["validation"] = 24
    if demo and training.get("averaging"):  # so large steps that the loss rises, which starts the averaging
        main = training["optimisers"]["main"]
        training["optimisers"] = {"main": main | {"lr": 10 * main["lr"]}}
        hyperparameters["dropouts"] = dict.fromkeys(hyperparameters["dropouts"], 0.1)
    return {**spec, "training": training, "task_settings": settings, "hyperparameters": hyperparameters}


# Data


def _made(spec: Mapping[str, Any], scale: str, made: dict[str, str], directory: Path) -> str:
    """The file of a specification's arrays: each dataset's with its settings are made once."""
    key = json.dumps(
        [spec["dataset"], spec["data"], scale == "demo", spec["training"]["batch_size"] * (scale != "demo")]
    )
    if key not in made:
        arrays = _arrays(spec["dataset"], spec["data"], spec["training"]["batch_size"], scale == "demo")
        made[key] = str(directory / f"arrays{len(made)}.npz")
        np.savez(made[key], **arrays)
    return made[key]


def _arrays(dataset: str, settings: Mapping[str, Any], batch: int, demo: bool) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    if dataset in SIDES:
        side = settings.get("side", SIDES[dataset]) * settings.get("enlarge", 1)
        shape = (side * side,) if dataset in ("mnist", "digits") else (side, side, 3)
        sizes = {"train": 64 if demo else 2 * batch + 24, "test": 1010 if demo else 40}
        levels = {"levels": np.array(16 if dataset == "digits" else 255, np.float32)}
        pixels = {f"{part}_images": random.integers(0, 17, (n, *shape), np.uint8) for part, n in sizes.items()}
        return levels | pixels | {f"{part}_labels": random.integers(0, 10, n, np.uint8) for part, n in sizes.items()}
    if dataset in ("ptb", "invented_text"):
        words = 10000 if dataset == "ptb" else settings["vocabulary"]
        sizes = {"train": batch * (64 if demo else 150), "validation": 1200, "test": 400}
        texts = {part: random.integers(0, words, n, np.int32) for part, n in sizes.items()}
        return texts | {"vocabulary": np.array([f"word{number}" for number in range(words)])}
    stand_in, own = (dataset, DEMO.get(dataset, ({}, 0))[0]) if demo else OWN[dataset]
    kept = settings if stand_in == dataset else {}
    about = _scale("demo").datasets[stand_in]
    arrays = preparing.module_of(stand_in, about).prepare(Path(), {**kept, **own})
    if dataset == "physionet2012" and "quantisation" not in settings:  # to the minute, and not to the hour
        minutes = random.integers(0, 60, len(arrays["times"]))
        arrays["times"] = np.minimum(arrays["times"] + minutes / 60, 48).astype(arrays["times"].dtype)
    return arrays


# Both trees


class Outcome(NamedTuple):
    """What a trial came to: the first thing that differs, or nothing; what only one side has; the digest of it all."""

    trial: Trial
    difference: str
    one_sided: list[str]
    digest: str


def _tree(commit: str, directory: Path) -> Path:
    """The files of a commit, in a directory."""
    directory.mkdir()
    subprocess.run(
        ["tar", "-x", "-C", directory], input=_git("archive", commit, "--", *DIGESTED, "config.yaml"), check=True
    )
    return directory


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise UserError(f"git {' '.join(arguments)}: {done.stderr.decode().strip()}")
    return done.stdout


def _run(sides: Mapping[str, tuple[Path, list[Trial]]], directory: Path, *options: str) -> dict[str, Path]:
    """Where the process of each side, a tree and its trials, left what it gave; two at a time, of one thread each."""
    places = {side: directory / side for side in sides}

    def run(side: str) -> int:
        places[side].mkdir(parents=True)
        listed = places[side] / "trials.json"
        listed.write_text(json.dumps([trial._asdict() for trial in sides[side][1]]), encoding="utf-8")
        command = [sys.executable, Path(__file__).with_name("attest_trial.py"), sides[side][0], listed, places[side]]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        return subprocess.run([*map(str, command), *options], env=environment, check=False).returncode

    with ThreadPoolExecutor(2) as pool:
        failed = [side for side, code in zip(sides, pool.map(run, sides), strict=True) if code]
    if failed:
        raise UserError(f"The trials by the code of {', '.join(failed)} have ended with an error (above).")
    return places


def _given(place: Path, number: int) -> dict[str, dict[str, Any]]:
    """What a trial gave, part by part."""
    return pickle.loads((place / f"{number}.pickle").read_bytes())


def _compared(trial: Trial, then: Mapping[str, Any], now: Mapping[str, Any]) -> Outcome:
    """Both must have what the code of then left; what only that of now leaves is named: a file, a metric, a baseline.
    Of a checkpoint's parts, either may lack one that the other keeps."""
    digest, differences, one_sided = hashlib.sha256(), [_missing(trial, then, "then"), _missing(trial, now, "now")], []
    for part in dict.fromkeys([*then, *now]):
        if part not in then or part not in now:
            one_sided.append(f"{part} only {'then' if part in then else 'now'}")
            if part in then and not part.startswith("stop"):
                differences.append(f"{part}: there then, not now")
            continue
        for name in dict.fromkeys([*then[part], *now[part]]):
            if name not in then[part] and (part.startswith("run.json") or part.endswith("metrics")):
                one_sided.append(f"{part} {name} only now")
                continue
            old, new = (_bits(side[part].get(name, "nothing")) for side in (then, now))
            digest.update(f"{part} {name}\n".encode() + old + b"\n")
            if old != new:
                differences.append(f"{part}{f' {name}' if name else ''}: {_first(then[part], now[part], name)}")
    return Outcome(trial, next(filter(None, differences), ""), one_sided, digest.hexdigest())


def _missing(trial: Trial, given: Mapping[str, Any], side: str) -> str:
    """What a trial did not come to by the code of a side, without which it says nothing."""
    if "error" in given:
        return f"{side}: {given['error']['']}"
    training, stops = trial.spec["training"], [f"stop {number + 1}: network" for number in range(len(trial.stops))]
    lacking = [part for part in (*stops, "losses", "weights", "run.json: status") if part not in given]
    if not lacking and given["run.json: status"][""] != "finished":
        return f"{side}: it {given['run.json: status']['']}"
    if not lacking and trial.stops and training.get("averaging") and given["run.json: averaged_since"][""] is None:
        return f"{side}: no averaging began"
    return f"{side}: no {lacking[0]}" if lacking else ""


def _bits(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} ".encode() + value.tobytes()
    return repr(float(value) if isinstance(value, float) else value).encode()


def _first(then: Mapping[str, Any], now: Mapping[str, Any], name: str) -> str:
    """A value then and now; of arrays, the first that differs."""
    old, new = then.get(name, "nothing"), now.get(name, "nothing")
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and (old.dtype, old.shape) == (new.dtype, new.shape):
        places = np.flatnonzero([a.tobytes() != b.tobytes() for a, b in zip(old.ravel(), new.ravel(), strict=True)])
        return (
            f"{len(places)} of {old.size} differ, first {old.ravel()[places[0]]!r} then, {new.ravel()[places[0]]!r} now"
        )
    return f"{old!r} then, {new!r} now"


# What is written


def _line(pair: tuple[str, str], outcomes: list[Outcome], old: str) -> Equal:
    """A line of equal_code.csv: which models were tried at which scale, what both trees gave."""
    tried: dict[str, dict[str, None]] = {}
    for outcome in outcomes:
        tried.setdefault(outcome.trial.scale, {})[_cell(outcome.trial)] = None
    texts = [f"{scale}: {' '.join(cells)}" for scale, cells in tried.items()]
    texts.append(f"data: made, as {' '.join(sorted({outcome.trial.spec['dataset'] for outcome in outcomes}))}")
    one_sided = sorted({re.sub(r"[0-9]+", "N", one) for outcome in outcomes for one in outcome.one_sided})
    texts += [f"not compared: {', '.join(one_sided)}"] if one_sided else []
    commits = [_git("rev-parse", "--short=10", commit).decode().strip() for commit in (old, "HEAD")]
    result = hashlib.sha256("\n".join(outcome.digest for outcome in outcomes).encode()).hexdigest()
    return Equal(*pair, *commits, "; ".join(texts), result)


def _write(lines: list[Equal]) -> None:
    """Add lines to equal_code.csv, in place of earlier ones of the same digests."""
    merged = {(line.old, line.new): line for line in [*all_equal(), *lines]}
    write_rows(PATH, list(Equal._fields), [merged[key]._asdict() for key in sorted(merged)])


if __name__ == "__main__":
    run_main(main)
