"""Every figure that the project owes of a GPU: part after part, in at most 20 minutes.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --mirror DIR --parts tests lstm epoch
    python benchmarks/gpu.py --device cpu --small --output /tmp/gpu.csv

A part runs benchmarks, scripts or tests of this repository as programs of their own and reads figures from what they
write (gpu_parts.py). Each figure is printed with its target, and stands in one CSV. A part may take the seconds that it
has and those that the parts before it left; then it is ended, and the next one begins. One that fails leaves the others
alone, is named at the end, and makes the exit status 1; so does a machine without a GPU, before anything is run. A
target that is missed is a result.

Give the same command again where it was stopped: parts that are finished are kept, unless the code that they ran, the
GPU or torch is another one since. What the programs print, and the runs that are trained, are in the directory beside
the CSV that has its name; the benchmarks' own CSVs are beside it.

On a CPU (--device cpu) the figures are a CPU's, and parts that need a GPU say so. With --small, sizes are such that the
path is run and nothing is measured. In both cases there are no targets.
"""

import argparse
import csv
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from gpu_parts import PARTS, Failed, Figure, Session, digest_of  # noqa: E402
from shared import RESULTS, machine, write  # noqa: E402

from hidden_dynamics.errors import UserError, run_main  # noqa: E402

WHOLE, NEEDS_GPU = "the whole part", "skipped: needs a GPU"


class Book:
    """The rows of the CSV: of each part the figures and, last, where it came to its end, its seconds.

    Args:
        about: columns that say where a figure was taken; a part of another device or torch is taken again.
        judged: whether figures have targets.
    """

    def __init__(self, path: Path, about: dict[str, str], judged: bool):
        self.path, self.about, self.judged, self.rows = path, about, judged, []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = list(csv.DictReader(file))

    def of(self, part: str) -> list[dict]:
        return [row for row in self.rows if row["part"] == part]

    def keeps(self, part: str, code: str) -> bool:
        """Whether the part was finished with this code, here."""
        rows, wanted = self.of(part), {"code": code} | {key: self.about[key] for key in ("device", "torch")}
        alike = all(row[key] == value for row in rows for key, value in wanted.items())
        return alike and any(row["what"] in (WHOLE, NEEDS_GPU) for row in rows)

    def drop(self, part: str) -> None:
        self.rows = [row for row in self.rows if row["part"] != part]

    def add(self, part: str, code: str, figure: Figure, seconds: float) -> dict:
        row = {"part": part, **figure.columns(self.judged), "seconds": f"{seconds:.1f}", **self.about, "code": code}
        self.rows.append(row)
        self.rows.sort(key=lambda row: list(PARTS).index(row["part"]) if row["part"] in PARTS else len(PARTS))
        write(self.rows, self.path)
        return row


def main() -> int:
    options = parse_arguments()
    if options.device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no usable NVIDIA GPU here: nothing was measured (--device cpu: on the CPU).")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the programs of a part end with it
    about = {key: str(value) for key, value in machine(options).items()}
    print(f"{about['device']}, torch {about['torch']}, {about['date']}{', small' if options.small else ''}", flush=True)
    book, failures = Book(options.output, about, options.device == "cuda" and not options.small), []
    begun = due = time.monotonic()
    for name in options.parts:
        due += PARTS[name].seconds
        failure = take(name, book, due, options)
        failures += [f"{name}: {failure}"] if failure else []
    rows = [row for name in options.parts for row in book.of(name)]
    met = [row["met"] for row in rows if row["met"]]
    print(f"\n{met.count('yes')} of {len(met)} targets met, in {(time.monotonic() - begun) / 60:.1f} minutes")
    print(f"Written to {options.output}", flush=True)
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def take(name: str, book: Book, due: float, options: argparse.Namespace) -> str | None:
    """Take the figures of a part that is not there yet, and print them; why it failed, where it did."""
    part, code = PARTS[name], digest_of(name, options.small, options.mirror is not None)
    if book.keeps(name, code):
        print(f"\n{name}: kept, of {book.of(name)[0]['date']}")
        for row in book.of(name):
            show(row)
        return None
    book.drop(name)
    print(f"\n{name}", flush=True)
    begun = time.monotonic()

    def add(figure: Figure) -> None:
        show(book.add(name, code, figure, time.monotonic() - begun))

    if part.needs_gpu and options.device == "cpu":
        add(Figure(NEEDS_GPU))
        return None
    session = Session(name, options.device, options.small, options.mirror, options.output, due)
    try:
        for figure in figures_of(name, session):
            add(figure)
    except Failed as failure:
        return f"{failure} (its output: {session.log})"
    add(Figure(WHOLE))
    return None


def figures_of(name: str, session: Session) -> Iterator[Figure]:
    """A part's figures; what its programs wrote may lack what they should have written."""
    try:
        yield from PARTS[name].take(session)
    except (KeyError, ValueError, OSError) as error:
        raise Failed(f"what it wrote cannot be read: {error!r}") from error


def show(row: dict) -> None:
    if not row["value"]:
        print(f"  {row['what']}" + (f", {row['seconds']} s" if row["what"] == WHOLE else ""), flush=True)
        return
    spread = f" ({row['lowest']} – {row['highest']})" if row["lowest"] != row["highest"] else ""
    verdict = {"yes": "met", "no": "MISSED", "": ""}[row["met"]]
    print(f"  {row['what']:72} {row['value'] + spread:28} {row['target']:8} {verdict}".rstrip(), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="default: all")
    parser.add_argument("--mirror", type=Path, help="a directory that holds mnist/ and physionet2012/ as downloaded")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true", help="sizes that only show that everything runs")
    parser.add_argument("--output", type=Path, default=RESULTS / "gpu.csv", help="CSV (default: %(default)s)")
    options = parser.parse_args()
    options.output, options.threads = options.output.resolve(), torch.get_num_threads()
    options.mirror = options.mirror.resolve() if options.mirror else None
    return options


if __name__ == "__main__":
    run_main(main)
