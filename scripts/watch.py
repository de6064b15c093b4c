"""Watch the runs of a scale while they are trained: in this terminal or a file, and as a page, until Ctrl-C.

    python scripts/watch.py results/paper
    python scripts/watch.py results/evening --page watch.html

It only reads, and locks nothing: it may run on any machine that sees the results. A run is shown twenty seconds after
its start. One that is silent for three minutes, and three times its longest pause, is shown as standing still.
"""

import _bootstrap  # noqa: F401  isort: skip

import contextlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.configuration.runs import Case, Run, all_runs
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.papers.logs import Log, load_logs
from hidden_dynamics.papers.published import PUBLISHED
from hidden_dynamics.results.record import baselines_of
from hidden_dynamics.results.run_files import RECORD, UNDERWAY, RunFiles, disagreement, is_long_enough
from hidden_dynamics.results.seeds import best
from hidden_dynamics.system.arguments import parser, positive
from hidden_dynamics.system.files import atomic

SILENT, PAUSES = 180.0, 3  # seconds, and pauses, after which a run stands still
BARS, WIDTH, POINTS = "▁▂▃▄▅▆▇█", 15, 15
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="{{ every }}">
<meta name="viewport" content="width=device-width"><title>{{ scale }}: {{ summary[0] }}</title><style>
:root { color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem } table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #8885; padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top }
progress { width: 10rem } .bad { color: light-dark(#a00, #f88) } svg { height: 1.5rem; width: 8rem; display: block }
svg { overflow: visible } polyline { fill: none; stroke: currentColor; vector-effect: non-scaling-stroke }
</style></head><body><h1>Runs of {{ scale }}</h1>{% for line in summary %}<p>{{ line }}</p>{% endfor %}
{% if rows %}<table><thead><tr>{% for name in columns %}<th scope="col">{{ name }}{% endfor %}</tr></thead><tbody>
{% for row in rows %}<tr><th scope="row">{{ row.name[0] }}<br><small>{{ row.name[1] }}</small>
<td><progress max="1" value="{{ row.share }}"></progress><br>{{ row.progress|join("<br>"|safe) }}
<td>{{ row.loss }}{% if row.heights %}<svg viewBox="0 -1 {{ row.heights|length - 1 }} 1" preserveAspectRatio="none">
<polyline points="{% for y in row.heights %}{{ loop.index0 }},{{ -y }} {% endfor %}"/></svg>{% endif %}
<td>{{ row.evaluation|join("<br>"|safe) }}<td{% if row.still %} class="bad"{% endif %}>{{ row.left }}</tr>
{% endfor %}</tbody></table>{% endif %}{% for line in failed %}<p class="bad">{{ line }}</p>{% endfor %}
<p><small>Read at {{ at }}; again every {{ every }} s, as long as watch.py runs.</small></p></body></html>
"""
COLUMNS = {"Run": 3, "Progress": 3, "Train loss": 2, "Last evaluation": 4, "Left": 2}  # and their shares of the width


@dataclass
class Row:
    """A run that is under way, in words. The `heights`, 0 to 1, are of the curve of its train losses."""

    name: list[str]
    share: float
    progress: list[str]
    loss: str
    heights: list[float]
    evaluation: list[str]
    left: str
    still: bool
    seconds: tuple[float, float] | None  # that are left, and of the whole run


class Watch:
    """Looks at a configuration's runs: `rows` of those under way, lines on those that `failed`, and a `summary`."""

    def __init__(self, configuration: Configuration):
        self.configuration, self.runs = configuration, all_runs(configuration)
        self.logs = [load_logs(str(path.relative_to(PUBLISHED))) for path in sorted(PUBLISHED.glob("*/logs.yaml"))]
        self._ends: dict[str, tuple[int, Mapping[str, Any], str]] = {}  # by run; when they were written
        self._logs: dict[str, Log | None] = {}  # of the authors', that which speaks to a run

    def look(self) -> None:
        self.rows, self.failed = list[Row](), list[str]()
        counts: dict[str, int] = {"finished": 0, "diverged": 0, "failed": 0}
        seconds, waiting, outdated = defaultdict[Case, list[float]](list), list[Run](), 0
        for run in self.runs:
            row = self._under_way(run)  # read before run.json, which it makes room for
            record, end = self._end(run)
            if end in counts:
                counts[end] += 1
            elif row:
                self.rows.append(row)
                seconds[run.case] += row.seconds[1:] if row.seconds else ()
            else:
                outdated += end == "outdated"
                waiting.append(run)
            if end == "finished":
                seconds[run.case].append(sum(record["seconds"].values()))
            elif end == "failed":
                self.failed.append(f"{run.id} failed: {record['failure']['error']}")
        known = [float(np.mean(seconds[run.case])) for run in waiting if seconds[run.case]]
        self.summary = self._summary(counts, len(waiting), outdated, known)

    def _end(self, run: Run) -> tuple[Mapping[str, Any], str]:
        """The record of a run that has ended, and how; "outdated" where it is of other code, settings or length."""
        path = Path(run.directory, RECORD)
        try:
            written = path.stat().st_mtime_ns
            if run.id not in self._ends or self._ends[run.id][0] != written:
                record = RunFiles(path.parent).record()
                outdated = record["status"] != "failed" and (
                    disagreement(run, record) or not is_long_enough(run, record)
                )
                self._ends[run.id] = written, record, "outdated" if outdated else record["status"]
            return self._ends[run.id][1:]
        except (OSError, UserError):
            return {}, ""

    def _under_way(self, run: Run) -> Row | None:
        path = Path(run.directory, UNDERWAY)
        try:
            record, silent = json.loads(path.read_bytes()), time.time() - path.stat().st_mtime
        except (OSError, ValueError):  # not there, or of a machine that lost its power
            return None
        about, done = record["under_way"], record["iterations"]
        metrics = about.get("evaluations", [])  # none in a file that was written by earlier code
        whole, pace, loss = about["iterations"], about["pace"], [float(np.mean(about["losses"] or [math.nan]))]
        left = ((whole - done) / pace, whole / pace) if pace else None
        still = silent > max(SILENT, PAUSES * about["longest_pause"])
        return Row(
            name=[f"{record['label']}, seed {run.seed}", run.id],
            share=done / whole,
            progress=[f"{done} of {whole}", f"epoch {about['epoch']:.4g} of {about['epochs']:.4g}"],
            loss=f"{loss[0]:.4g}",
            heights=heights([*(row["train_loss"] for row in metrics), *loss]),
            evaluation=[*self._evaluated(record, metrics), *self._authors(run, metrics)],
            left=f"no sign for {duration(silent)}" if still else duration(left[0]) if left else "not known",
            still=still,
            seconds=left,
        )

    def _evaluated(self, record: Mapping[str, Any], metrics: list[dict[str, float]]) -> list[str]:
        """The last evaluation, and the best naive baseline of its metric."""
        name = record["spec"]["training"]["report"]["metric"]
        metric = self.configuration.metrics[name]
        numbers = {metric.title: metrics[-1][name]} if metrics else {}
        if naive := best(baselines_of(record["naive"]), name, metric.sign):
            numbers[f"naive, {naive[0]}"] = naive[1]
        unit = {"percent": " %", "one": ""}.get(metric.unit, f" {metric.unit}")
        return [f"{title}: {value * metric.factor:.{metric.decimals}f}{unit}" for title, value in numbers.items()]

    def _authors(self, run: Run, metrics: list[dict[str, float]]) -> list[str]:
        """The authors' loss after the last epoch that both have, and the run's own; nothing where they logged none."""
        if run.id not in self._logs:
            self._logs[run.id] = next(filter(None, (logs.of(self.configuration, run) for logs in self.logs)), None)
        log = self._logs[run.id] or ()
        name = f"{log[0].split}_loss" if log else ""
        ours = {row["epoch"]: row[name] for row in metrics if name in row}
        return [
            f"{point.split} loss after epoch {point.epoch}: {ours[point.epoch]:.4g}, the authors': {point.mean:.4g} ± "
            f"{point.sd:.2g} (n = {point.n})"
            for point in log
            if point.epoch in ours
        ][-1:]

    def _summary(self, counts: dict[str, int], waiting: int, outdated: int, known: list[float]) -> list[str]:
        """Counts; the time left, of runs under way by their pace, of others as those of their task and model took."""
        still = sum(row.still for row in self.rows)
        running, unknown = len(self.rows) - still, waiting - len(known)
        numbers = {**counts, "running": running, "standing still": still, "waiting": waiting}
        text = ", ".join(f"{number} {name}" for name, number in numbers.items() if number)
        again = f" ({outdated} of them there, of other code or settings)" if outdated else ""
        left = sum(known) + sum(row.seconds[0] for row in self.rows if row.seconds)
        at_once = f", {duration(left / running)} with {running} at a time" if running > 1 else ""
        others = [f"not known: {unknown} runs of models of which none has begun"] if unknown else []
        hours = [f"{duration(left)} of training{at_once}"] if left or not unknown else []
        return [f"{len(self.runs)} runs: {text}{again}", f"Left: {'; '.join(hours + others)}"]

    def screen(self) -> Group:
        table = Table(expand=True, box=None, padding=(0, 2, 1, 0), header_style="bold")
        for name, ratio in COLUMNS.items():
            table.add_column(name, ratio=ratio, overflow="fold")
        for row in self.rows:
            bar, curve = "█" * round(WIDTH * row.share), "".join(BARS[round(7 * height)] for height in row.heights)
            cells = row.name, [f"{bar:░<{WIDTH}}", *row.progress], [row.loss, curve], row.evaluation
            table.add_row(*(Text("\n".join(lines)) for lines in cells), Text(row.left, "red" * row.still))
        failed = (Text(line, "red") for line in self.failed)
        return Group(*self.summary, "", *([table] if self.rows else []), *failed)

    def page(self, every: int) -> str:
        template = jinja2.Template(PAGE, undefined=jinja2.StrictUndefined, autoescape=True)
        about = {"scale": self.configuration.results, "columns": COLUMNS, "at": time.strftime("%Y-%m-%d %H:%M:%S")}
        return template.render(vars(self), every=every, **about)


def heights(losses: list[float]) -> list[float]:
    finite = [loss for loss in losses if math.isfinite(loss)]
    means = [part.mean() for part in np.array_split(finite, min(POINTS, max(1, len(finite))))]
    return [] if len(means) < 2 else ((means - min(means)) / ((max(means) - min(means)) or 1.0)).tolist()


def duration(seconds: float) -> str:
    units = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))
    unit, size = next(((unit, size) for unit, size in units if seconds >= 2 * size), units[-1])
    return f"{seconds / size:.{1 if size > 1 and seconds < 20 * size else 0}f} {unit}"


def main() -> None:
    options = parser(__doc__, "--config")
    options.add_argument("results", nargs="?", type=Path, help="of a scale, as results/paper; default: config.yaml's")
    options.add_argument("--once", action="store_true", help="look once")
    options.add_argument("--page", type=Path, metavar="FILE", help="write a page at each look, which renews itself")
    options.add_argument("--every", type=positive, default=5, help="seconds between looks; default: %(default)s")
    given = options.parse_args()
    settings = parse_settings(given.config)
    if given.results:
        settings |= {"results": str(given.results.parent), "scale": given.results.name}
    watch, console = Watch(load(settings)), Console(highlight=False)

    def look() -> Group:
        watch.look()
        if given.page:
            with atomic(given.page) as handle:
                handle.write(watch.page(given.every))
        return watch.screen()

    if given.once:
        return console.print(look())
    with contextlib.suppress(KeyboardInterrupt):
        while not console.is_terminal:  # in a file look stands below look
            console.print(time.strftime("%Y-%m-%d %H:%M:%S"), look(), sep="\n")
            time.sleep(given.every)
        with Live(look(), console=console, auto_refresh=False) as live:
            while True:
                time.sleep(given.every)
                live.update(look(), refresh=True)


if __name__ == "__main__":
    run_main(main)
