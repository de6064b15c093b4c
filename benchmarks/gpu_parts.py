"""The parts of gpu.py: the programs that each runs, and the figures that it reads from what they write."""

import csv
import hashlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from hidden_dynamics.configuration import load_datasets
from hidden_dynamics.configuration.paths import Paths
from hidden_dynamics.data import images, mnist, prepared
from hidden_dynamics.data.fetch import fetch
from hidden_dynamics.data.preparing import provenance

ROOT = Path(__file__).resolve().parents[1]
LSTM_SIZES, PLAIN = (128, 256, 512), ", plain"
# GRU-D is left out: its plain form is the released loop over missing entries, each of which would wait for the GPU.
SERIES = {  # target of each: times faster than its plain form
    **dict.fromkeys(("Latent-ODE", "ACE-Latent-ODE", "ACE-Latent-ODE, released", "ODE-RNN"), 4),
    **dict.fromkeys(("RNN-VAE", "RNN Delta"), 2),
}
SHARING = (1, 2, 5)  # trainings at once
EPOCH_MODELS, SHARED_MODEL = ("lstm-n256", "momentum_lstm-n256"), "lstm-n128"
SHARED_IMAGES = {"train": 12_800, "test": 1_000}  # 100 iterations an epoch
FEW_IMAGES = {"train": 8, "test": 4}
ENDING = 10.0  # seconds that a program is given to end by itself


class Failed(Exception):
    """A part could not be finished; the message says why, in a line."""


class Target(NamedTuple):
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}"

    def met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "≤" else value >= self.bound


def at_most(bound: float) -> Target:
    return Target("≤", bound)


def at_least(bound: float) -> Target:
    return Target("≥", bound)


class Figure(NamedTuple):
    """What was found, and the lowest and the highest of its rounds, where there were several."""

    what: str
    value: float | None = None
    target: Target | None = None
    lowest: float | None = None
    highest: float | None = None

    def columns(self, judged: bool = True) -> dict[str, str]:
        """Of the CSV; `judged`: whether the target is one for where this was measured."""
        numbers = {"value": self.value, "lowest": self.lowest, "highest": self.highest}
        texts = {name: "" if number is None else f"{number:.4g}" for name, number in numbers.items()}
        target = self.target if judged else None
        met = "" if target is None or self.value is None else "yes" if target.met(self.value) else "no"
        return {"what": self.what, **texts, "target": str(target or ""), "met": met}


@dataclass(frozen=True)
class Session:
    """Where and with what a part is taken.

    Attributes:
        deadline: of time.monotonic(), at which the part's program is ended.
    """

    part: str
    device: str
    small: bool
    mirror: Path | None
    output: Path
    deadline: float

    @property
    def place(self) -> Path:
        """The directory of what is no figure."""
        return self.output.with_suffix("")

    @property
    def log(self) -> Path:
        return self.place / f"{self.part}.log"

    def run(self, *arguments: object, settings: Mapping[str, Any] | None = None) -> None:
        """A program: what follows `python`, in the repository's root; its output goes to the part's log.

        Args:
            settings: of the workflow, for a script.

        Raises:
            Failed: it ended with an error, or was ended because the part's time is over.
        """
        self.place.mkdir(parents=True, exist_ok=True)
        environment = os.environ | ({} if settings is None else {"HIDDEN_DYNAMICS_CONFIG": json.dumps(settings)})
        name = next((str(given) for given in arguments if given != "-m"), "")
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, *map(str, arguments)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # what it starts ends with it
            )
            try:
                code = process.wait(max(self.deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                raise Failed(f"{name} was ended: the part's time is over") from None
            finally:
                _end(process)
        if code:
            said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise Failed(f"{name} ended with exit code {code}: {said[-1] if said else 'it said nothing'}")

    def benchmark(self, name: str, *arguments: object) -> Iterator[dict[str, str]]:
        """The rows that a benchmark writes on the device.

        Raises:
            Failed: as `run`, but after the rows that were written before.
        """
        table, failure = self.output.with_name(f"{name}-{self.device}.csv"), None
        table.unlink(missing_ok=True)
        try:
            self.run(f"benchmarks/{name}.py", "--device", self.device, "--output", table, *arguments)
        except Failed as error:
            failure = error
        if failure is None or table.exists():
            yield from rows_of(table)
        if failure is not None:
            raise failure

    def emptied(self, name: str) -> Path:
        directory = self.place / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory


def _end(process: subprocess.Popen) -> None:
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, signum)
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                continue


def rows_of(table: Path) -> list[dict[str, str]]:
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def figure_of(
    row: Mapping[str, str], what: str, target: Target | None = None, columns: tuple[str, str, str] | None = None
) -> Figure:
    """A figure of a row's columns of the value, the lowest and the highest; others than of these names, where given."""
    value, lowest, highest = (float(row[column]) for column in columns or ("value", "lowest", "highest"))
    return Figure(what, value, target, lowest, highest)


def tests(session: Session) -> Iterator[Figure]:
    """The tests marked `gpu`."""
    report = session.emptied("tests") / "report.xml"
    failure = None
    try:
        session.run("-m", "pytest", "-n", 0, "-m", "gpu", "--junitxml", report)
    except Failed as error:
        if not report.exists():
            raise
        failure = error
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    ends = [next((end.tag for end in case if end.tag in ("failure", "error", "skipped")), "passed") for case in cases]
    yield Figure("tests that passed", ends.count("passed"))
    yield Figure("tests that failed", ends.count("failure") + ends.count("error"), at_most(0))
    yield Figure("tests that were skipped", ends.count("skipped"), at_most(0))
    if failure is not None:
        names = [case.get("name") for case, end in zip(cases, ends, strict=True) if end in ("failure", "error")]
        raise Failed(f"tests failed: {', '.join(map(str, names)) or failure}")


def lstm(session: Session) -> Iterator[Figure]:
    """The LSTM family against nn.LSTM and against the loop over time."""
    given = ("--sizes", *LSTM_SIZES, "--rounds", 5)
    small = ("--sizes", 8, "--rounds", 1, "--steps", 6, "--batch", 4)
    for row in session.benchmark("train_step", "--reference", *(small if session.small else given)):
        name, adaptive = f"{row['variant']}, N = {row['size']}", row["variant"] in ("Adam", "RMSProp")
        if row["variant"] == "nn.LSTM":
            yield Figure(f"{name}: seconds of a step", float(row["seconds"]))
            continue
        ratio = ("ratio_to_nn_lstm", "ratio_lowest", "ratio_highest")
        yield figure_of(row, f"{name}: a step against nn.LSTM", at_most(1.25 if adaptive else 1.05), ratio)
        faster = float(row["times_faster_than_reference"])
        yield Figure(f"{name}: times faster than the loop over time", faster, at_least(10))
        if row["variant"] == "Adam" and row["memory_ratio_to_nn_lstm"]:
            yield Figure(f"{name}: memory against nn.LSTM", float(row["memory_ratio_to_nn_lstm"]), at_most(1.6))


def orthogonal(session: Session) -> Iterator[Figure]:
    """The orthogonal cells against plain loops left to autograd."""
    given = ("--sizes", *LSTM_SIZES, "--rounds", 5)
    small = ("--sizes", 8, "--rounds", 1, "--steps", 6, "--batch", 4)
    for row in session.benchmark("orthogonal_step", *(small if session.small else given)):
        name = f"{row['variant']}, N = {row['size']}"
        if "plain" in row["variant"]:
            continue
        faster = ("times_faster_than_plain", "lowest", "highest")
        yield Figure(f"{name}: seconds of a step", float(row["seconds"]))
        yield figure_of(row, f"{name}: times faster than the plain loop", at_least(8), faster)
        if row["variant"] != "DTRIV":
            ratio = ("ratio_to_dtriv", "ratio_lowest", "ratio_highest")
            yield figure_of(row, f"{name}: a step against DTRIV", at_most(1.05), ratio)


def language(session: Session) -> Iterator[Figure]:
    """The language model at the paper's size."""
    sizes = ("hidden", 8, "embedding", 8, "vocabulary", 30, "layers", 2, "batch", 2, "bptt", 4, "rounds", 1)
    small = [f"--{given}" if isinstance(given, str) else given for given in sizes]
    for row in session.benchmark("language_model", *(small if session.small else ("--rounds", 5))):
        name = f"{row['variant']}, {row['quantity']}"
        if row["peak_memory_gib"]:
            yield Figure(f"{row['variant']}: peak memory, GiB", float(row["peak_memory_gib"]), at_most(4))
        if row["variant"] == "LSTM":
            yield Figure(f"{name}: words per second", float(row["tokens_per_second"]))
            continue
        target = {"Momentum": 1.05, "SR": 1.05, "Adam": 1.25, "RMSProp": 1.25}.get(row["variant"])
        ratio = ("ratio_to_lstm", "ratio_lowest", "ratio_highest")
        yield figure_of(row, f"{name}: against the LSTM", target and at_most(target), ratio)


def ode(session: Session) -> Iterator[Figure]:
    """A training step of ODE-Net and ACE-ODE-Net."""
    given = ("--tolerance", 1e-3, "--rounds", 5)
    small = ("--parts", "steps", "--tolerance", 10, "--rounds", 1, "--batch", 1)
    peaks: dict[tuple[str, str], dict[str, float]] = {}
    for row in session.benchmark("ode_step", *(small if session.small else given)):
        name = f"{row['variant']}, {'adjoint' if row['adjoint'] == 'True' else 'without'}"
        if row["measure"].startswith("MiB"):
            steps = row["measure"].removeprefix("MiB, ").removesuffix(" steps")
            peaks.setdefault((name, row["adjoint"]), {})[steps] = float(row["value"])
        elif row["measure"] == "share of loading":
            yield figure_of(row, f"{row['variant']}, {row['task']}: share of making batches", at_most(0.05))
        elif not row["variant"].endswith(PLAIN):
            target = at_most(1.0) if row["measure"] == "to the plain form" else at_most(2.2)
            yield figure_of(row, f"{name}: a step {row['measure'].replace('to', 'against', 1)}", target)
    for (name, adjoint), of_steps in peaks.items():
        target = at_most(1.1) if adjoint == "True" else None
        yield Figure(f"{name}: memory of 64 steps against 4", of_steps["64"] / of_steps["4"], target)


def encoders(session: Session) -> Iterator[Figure]:
    """The Latent-ODE family, whose encoders read irregular series."""
    mirror = () if session.mirror is None else ("--mirror", session.mirror)
    given = ("--networks", *SERIES, "--rounds", 2, *mirror)
    few = ("Latent-ODE", "ACE-Latent-ODE", "RNN Delta")
    small = ("--parts", "steps", "attention", "--networks", *few, "--series", 4, "--rows", 5, "--rounds", 1)
    for row in session.benchmark("latent_series", *(small if session.small else given)):
        name, plain = row["variant"].removesuffix(PLAIN), row["variant"].endswith(PLAIN)
        if row["measure"] == "MiB" and not plain:
            yield figure_of(row, f"{name}: peak memory of a step, MiB", at_most(1024))
        elif row["measure"].startswith("to Latent-ODE"):
            yield figure_of(row, f"{name}: a step against Latent-ODE", at_most(2.2))
        elif row["measure"] == "to the other form":
            if plain:
                yield figure_of(row, f"{name}: times faster than the plain form", at_least(SERIES[name]))
            else:
                yield Figure(f"{name}: seconds of a step", float(row["seconds"]))


def sporadic(session: Session) -> Iterator[Figure]:
    """GRU-ODE-Bayes."""
    small = ("--parts", "steps", "--series", 3, "--rows", 4, "--span", 4, "--rounds", 1)
    for row in session.benchmark("sporadic", *(small if session.small else ("--rounds", 2))):
        name, plain = row["variant"].removesuffix(PLAIN), row["variant"].endswith(PLAIN)
        if row["measure"] == "MiB":
            yield Figure(f"{name}{PLAIN if plain else ''}: peak memory of a step, MiB", float(row["value"]))
        elif plain:
            yield figure_of(row, f"{name}: times faster than the plain form", at_least(4))
        else:
            yield Figure(f"{name}: seconds of a step", float(row["seconds"]))


def ragged(session: Session) -> Iterator[Figure]:
    """Utterances of different lengths against padding."""
    small = ("--models", "LSTM", "--rounds", 1, "--longest", 20)
    for row in session.benchmark("ragged", *(small if session.small else ("--rounds", 5))):
        if row["way"] == "data set":
            name = f"{row['model']}, N = {row['size']}, batches of {row['batch']}"
            faster = ("ragged_is_faster", "lowest", "highest")
            yield figure_of(row, f"{name}: times faster than padding all", at_least(1.8), faster)


def epoch(session: Session) -> Iterator[Figure]:
    """One epoch of PMNIST, trained as the pipeline does it."""
    directory = session.emptied("epoch")
    models = (SHARED_MODEL,) if session.small else EPOCH_MODELS
    arrays, data = images_of(session, FEW_IMAGES if session.small else None)
    settings = settings_of(session, directory, arrays)
    session.run("scripts/train.py", "--task", "pmnist", "--model", *models, "--seed", 0, settings=settings)
    for model in models:
        run = run_of(directory, model, 0)
        seconds = json.loads((run / "run.json").read_text(encoding="utf-8"))["seconds"]
        name = f"an epoch of PMNIST ({data}), {model}"
        yield Figure(f"{name}: seconds of training", seconds["training"])
        yield Figure(f"{name}: seconds of evaluation", seconds["evaluation"])
        if session.mirror is not None:
            last = rows_of(run / "metrics.csv")[-1]
            yield Figure(f"{name}: test accuracy, %", 100 * float(last["test_accuracy"]))


def sharing(session: Session) -> Iterator[Figure]:
    """Trainings that differ in their seed side by side on the GPU, each in a process, by scripts/train_job.py."""
    counts = FEW_IMAGES if session.small else SHARED_IMAGES
    arrays = images.stand_in(counts, mnist.SIDE, channels=1, levels=255)
    rates: dict[int, float] = {}
    for count in SHARING[: 2 if session.small else None]:
        directory = session.emptied(f"sharing-{count}")
        settings = settings_of(session, directory, arrays, epochs=2, runs_per_gpu=count)
        job = ("--task", "pmnist", "--model", SHARED_MODEL, "--seed", *range(count))
        session.run("scripts/train_job.py", *job, "--threads", 2 * count, "--at-once", count, settings=settings)
        epochs = [second_epoch(run_of(directory, SHARED_MODEL, seed)) for seed in range(count)]
        rates[count] = count * 3600 / fmean(epochs)
        name = f"{SHARED_MODEL}, {count} at once"
        yield Figure(f"{name}: epochs of {counts['train']} images per hour", rates[count])
        if count > 1:
            yield Figure(f"{name}: runs per hour against one at a time", rates[count] / rates[1])


def calibration(session: Session) -> Iterator[Figure]:
    """What the paper scale costs here. The calibration can be kept: docs/forecast.md."""
    table = session.output.with_name(f"{session.output.stem}-calibration.json")
    settings: dict[str, Any] = {"scale": "paper", "device": session.device, "results": str(session.emptied("forecast"))}
    if session.small:
        settings |= {"scale": "demo", "forecast": {"artifacts": ["momentumrnn_figure2"]}}
    seconds = 1 if session.small else 150
    session.run("scripts/calibrate.py", "--seconds", seconds, "--output", table, settings=settings)
    forecast = session.place / "forecast" / "forecast"
    session.run("scripts/forecast.py", "--calibration", table, "--output", forecast, settings=settings)
    (total,) = (row for row in rows_of(forecast.with_suffix(".csv")) if row["artifact"] == "total")
    name = f"the {settings['scale']} scale, {total['runs']} runs"
    yield Figure(f"{name}: hours of the device", float(total["device_hours"]))
    yield Figure(f"{name}: hours of the longest run", float(total["longest_hours"]))
    yield Figure(f"{name}: GPU memory of the largest run, GiB", float(total["gpu_memory_bytes"]) / 2**30)
    about = json.loads(table.read_text(encoding="utf-8"))
    yield Figure("configurations measured for it", len(about["groups"]))


@dataclass(frozen=True)
class Part:
    """
    Attributes:
        seconds: on one GPU, that it has; together 20 minutes.
        files: what it runs beside the library, the scripts and what the benchmarks share; as patterns.
    """

    take: Callable[[Session], Iterator[Figure]]
    seconds: float
    files: tuple[str, ...] = ()
    needs_gpu: bool = False


PARTS = {
    "tests": Part(tests, 140, ("tests/*.py",), needs_gpu=True),
    "lstm": Part(lstm, 80, ("benchmarks/train_step.py",)),
    "orthogonal": Part(orthogonal, 50, ("benchmarks/orthogonal_step.py",)),
    "language": Part(language, 80, ("benchmarks/language_model.py",)),
    "ode": Part(ode, 110, ("benchmarks/ode_step.py",)),
    "encoders": Part(encoders, 130, ("benchmarks/latent_series.py", "tests/plain_*.py")),
    "sporadic": Part(sporadic, 80, ("benchmarks/sporadic.py",)),
    "ragged": Part(ragged, 40, ("benchmarks/ragged.py",)),
    "epoch": Part(epoch, 80),
    "sharing": Part(sharing, 80),
    "calibration": Part(calibration, 270),
}
COMMON = ("hidden_dynamics/**/*.py", "scripts/*.py", "config/*.yaml", "config.yaml", "benchmarks/shared.py")


def digest_of(name: str, small: bool, mirror: bool) -> str:
    """16 hexadecimal digits over the files that a part runs, how it runs them, and with what."""
    part, total = PARTS[name], hashlib.sha256(f"{small} {mirror}\n{inspect.getsource(PARTS[name].take)}".encode())
    for path in sorted(path for pattern in (*COMMON, *part.files) for path in ROOT.glob(pattern)):
        total.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return total.hexdigest()[:16]


def images_of(session: Session, counts: Mapping[str, int] | None) -> tuple[dict[str, np.ndarray], str]:
    """MNIST from the mirror, or random images of its shape, as many as said; and which of them they are."""
    if session.mirror is None:
        wanted = counts or {split: count for split, (_, count) in mnist.IMAGES.items()}
        return images.stand_in(wanted, mnist.SIDE, channels=1, levels=255), "random images"
    raw = session.emptied("mnist")
    for file, about in load_datasets()["mnist"].files.items():
        fetch("mnist", file, about, raw / file, session.mirror)
    return mnist.prepare(raw, {}), "MNIST"


def settings_of(
    session: Session, directory: Path, arrays: Mapping[str, np.ndarray], epochs: int = 1, runs_per_gpu: int = 1
) -> dict[str, Any]:
    """Settings under which PMNIST is trained on these arrays, all files in the directory."""
    paths = Paths(str(directory / "data"), str(directory / "results"))
    about = provenance("mnist", load_datasets()["mnist"], {}, arrays, {})
    file = Path(paths.prepared("mnist", {}))
    file.parent.mkdir(parents=True)
    prepared.save(file, arrays, about)
    return {
        "scale": "paper",
        "device": session.device,
        "results": paths.results,
        "data": {"directory": paths.data},
        "runs_per_gpu": runs_per_gpu,
        "overrides": {"tasks": {"pmnist": {"training": {"epochs": epochs}}}},
    }


def run_of(directory: Path, model: str, seed: int) -> Path:
    """The directory of a run that was trained with `settings_of`."""
    return Path(Paths("", str(directory / "results" / "paper")).run("pmnist", model, seed))


def second_epoch(run: Path) -> float:
    """Seconds of a run's second epoch. In its first, libraries load, which several processes do in the time of one:
    what the start of a run gains side by side would seem to be gained by the whole run."""
    first, second = (
        float(row["training_seconds"]) + float(row["evaluation_seconds"]) for row in rows_of(run / "clock.csv")
    )
    return second - first
