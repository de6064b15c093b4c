"""The page: what is shown of each artifact, and the template that shows it."""

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from hidden_dynamics.measurements import costs
from hidden_dynamics.measurements import features
from hidden_dynamics.claims.verdict import VERDICTS
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.figures import read_rows
from hidden_dynamics.pages import times
from hidden_dynamics.pages.claims_list import counts, findings, groups, read_claims
from hidden_dynamics.pages.curve_drawings import CurvesDrawing, colours, curves_drawing
from hidden_dynamics.pages.origins import Origin, Rows, origins_of, read_origins
from hidden_dynamics.pages.rendered_tables import RenderedTable, read_table

HERE = Path(__file__).parent
SLOWEST = 5
# Where the numbers come from that no run reports, by kind.
OTHER_SOURCES = {
    "hyperparameter_table": "The numbers are the configuration's (config/tasks.yaml, config/models.yaml, the scale).",
    "copying_example": "It is drawn from the generated data itself.",
}


@dataclass(frozen=True)
class Artifact:
    """A table or a figure: its heading, what shows it (one of table, curves, image), its files and its runs.

    `claims` counts the verdicts that rest on it.
    """

    name: str
    paper: str
    place: str
    title: str
    files: list[str]
    rows: list[Rows]
    measured: list[str]
    source: str
    claims: dict[str, int]
    table: RenderedTable | None = None
    curves: CurvesDrawing | None = None
    image: "Image | None" = None

    @property
    def short(self) -> str:
        return self.place if self.place.startswith(("Table ", "Figure ")) else self.title

    @property
    def runs(self) -> int:
        return len({origin.row["directory"] for row in self.rows for origin in row.origins})


@dataclass(frozen=True)
class Image:
    """A PNG as a data address, its size in pixels."""

    address: str = field(repr=False)
    width: int
    height: int


def index_page(configuration: Configuration, claims: Path, root: Path) -> str:
    """The page of the configured scale, from its finished results.

    Args:
        claims: the CSV of the verdicts.
        root: where the results directory is.

    Raises:
        UserError: a result is missing, damaged, or does not fit the others.
    """
    results = root / configuration.results
    judged = read_claims(claims)
    runs = read_rows(results / "summary" / "runs.csv")
    origins = read_origins(runs, root)
    data = data_of(configuration, origins)
    artifacts = [artifact_of(configuration, name, results, origins, judged) for name in configuration.artifacts]
    template = environment(configuration).get_template("page.html.j2")
    return template.render(
        scale=configuration.scale_name,
        about=configuration.scale["about"],
        overrides=any(configuration.settings["overrides"].values()) and configuration.settings["overrides"],
        seeds=configuration.seeds,
        colours=colours(configuration),
        data=data,
        replaced=replaced_by(data),
        stand_ins=sorted({run["task"] for run in runs if run["stand_in_for"]}),
        tasks=sorted({run["task"] for run in runs}),
        devices=sorted({f"{run['device']}, {run['precision']}" for run in runs}),
        versions=sorted({f"{name} {version}" for origin in origins for name, version in origin.versions.items()}),
        claims=judged,
        groups=groups(judged),
        papers={name.split("_")[0]: entry["source"].split(", ")[0] for name, entry in configuration.artifacts.items()},
        verdicts=counts(judged),
        tables=[artifact for artifact in artifacts if artifact.table],
        figures=[artifact for artifact in artifacts if not artifact.table],
        names=list(configuration.artifacts),
        runs=len({run["directory"] for run in runs}),
        trainings=times.trainings(runs),
        slowest=times.slowest(runs, SLOWEST),
        jobs=times.jobs(results / "logs"),
    )


def artifact_of(
    configuration: Configuration, name: str, results: Path, origins: Sequence[Origin], claims: Sequence[Mapping]
) -> Artifact:
    entry = configuration.artifacts[name]
    rows = origins_of(configuration, name, origins)
    paper, _, place = entry["source"].partition(", ")
    is_table = entry["kind"].endswith("_table")
    folder, forms = ("tables", ("html", "csv", "md", "tex")) if is_table else ("figures", ("png", "pdf"))
    return Artifact(
        name=name,
        paper=paper,
        place=place,
        title=entry["title"],
        files=[f"{folder}/{name}.{form}" for form in forms],
        rows=rows,
        measured=measurements_of(configuration, name),
        source=OTHER_SOURCES.get(entry["kind"], ""),
        claims=counts([claim for claim in claims if claim["artifact"] == name]),
        **shown(configuration, name, results, rows),
    )


def shown(configuration: Configuration, name: str, results: Path, rows: Sequence[Rows]) -> dict[str, Any]:
    """The table, the curves or the image of an artifact, by that name."""
    kind = configuration.artifacts[name]["kind"]
    if kind.endswith("_table"):
        by_runs = kind in ("results_table", "time_to_accuracy_table")
        anchors = {(row.model, row.paper_size): row.anchor for row in rows} if by_runs else {}
        return {"table": read_table(results / "tables" / name, anchors)}
    if kind == "curves":
        summary = [origin.row for row in rows for origin in row.origins]
        curves = read_rows(results / "summary" / f"{name}.curves.csv")
        return {"curves": curves_drawing(configuration, name, summary, curves)}
    return {"image": image_of(results / "figures" / f"{name}.png")}


def image_of(path: Path) -> Image:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again.") from None
    if content[:8] != b"\x89PNG\r\n\x1a\n" or len(content) < 24:
        raise UserError(f"{path} is not a PNG: remove it and run snakemake again.")
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    return Image(f"data:image/png;base64,{base64.b64encode(content).decode()}", width, height)


def measurements_of(configuration: Configuration, name: str) -> list[str]:
    """The files of measurements, beside runs, that an artifact shows; relative to the results directory."""
    kind = configuration.artifacts[name]["kind"]
    found = []
    if kind in costs.KINDS:
        found.append(f"costs/{costs.measurement_of(configuration, name)}.csv")
    if kind in features.KINDS:
        found.append(f"features/{features.measurement_of(configuration, name)}.csv")
    return found


def data_of(configuration: Configuration, origins: Sequence[Origin]) -> list[dict[str, Any]]:
    """Each prepared dataset: its title, what it stands in for, the tasks that use it, and its digest."""
    data: dict[str, dict[str, Any]] = {}
    for origin in origins:
        original = origin.row["stand_in_for"]
        entry = data.setdefault(
            origin.data, {"title": origin.row["dataset_title"], "stands_in_for": {}, "tasks": {}, "digest": origin.data}
        )
        entry["tasks"][origin.row["task_title"]] = True
        if original:
            entry["stands_in_for"][configuration.title_of(original)] = True
    return list(data.values())


def replaced_by(data: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """{title of a stand-in: titles of what it stands in for}."""
    replaced: dict[str, dict[str, bool]] = {}
    for entry in data:
        if entry["stands_in_for"]:
            replaced.setdefault(entry["title"], {}).update(entry["stands_in_for"])
    return {title: list(originals) for title, originals in replaced.items()}


def environment(configuration: Configuration) -> jinja2.Environment:
    """Jinja with the page's filters; everything is escaped but what is our own."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "brief": lambda value: f"{value:.4g}" if isinstance(value, float) else str(value),
        "duration": duration,
        "identifier": lambda text: re.sub(r"[\s%]", "-", text),
        "relative": lambda directory: os.path.relpath(directory, configuration.results),
        "run_links": lambda text: [os.path.relpath(run, configuration.results) for run in text.split()],
    }
    jinja.globals |= {
        "own": lambda name: Markup((HERE / name).read_text(encoding="utf-8")),
        "findings": findings,
        "VERDICTS": VERDICTS,
    }
    return jinja


def duration(seconds: float | str) -> str:
    """Seconds as a reader takes them in: "0.8 s", "3 min 20 s", "5 h 02 min"."""
    seconds = float(seconds)
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
