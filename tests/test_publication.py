"""The publication of a scale, on made-up results: what it has, its place, its description."""

import csv
import io
import json
import re
import shlex
import socket
from hashlib import sha256
from pathlib import Path

import publish_evidence
import pytest
import yaml
from conftest import ROOT, refused
from PIL import Image
from published_here import ARTIFACTS, COSTS, IMAGES, JACOBIAN, results_of
from repository import Workflow, copy_repository

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.claims.needed import tasks_of_claims
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.publication import publishing
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.publication.publishing import publication, publish
from hidden_dynamics.results.archives import unpacked

TEXT = re.compile(r"\.(md|csv|json|yaml|html)$")


@pytest.fixture(scope="module")
def published(configured, tmp_path_factory):
    places = {"directory": "data", "mirror": "/of mine", "copies": {"timit": "/of mine"}}
    root = tmp_path_factory.mktemp("published")
    return results_of(configured(scale="demo", seeds=[0], overrides={}, data=places, results=f"{root}/of mine"), root)


@pytest.fixture(scope="module")
def files(published):
    return published.files


def rows_of(files, name):
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_it_has_artifacts_tables_of_runs_and_settings_measurements_and_records(published, files):
    tasks = {run.task for run in all_runs(published.configuration)}
    drawn = {path for path in files if path.startswith(("tables/", "figures/"))}
    assert {Path(path).stem for path in drawn} == set(ARTIFACTS)
    figures = {JACOBIAN, *(name for name in ARTIFACTS if "figure" in name)}
    for form in ("png", "csv"):
        assert {Path(path).stem for path in drawn if path.endswith(form)} == figures
    floored = {task for one in load_artifacts(published.configuration).values() for task in one.floors()}
    floored |= {*tasks_of_claims(published.configuration)}
    assert set(files) - drawn == {
        *("README.md", "index.html", "findings.md", "ro-crate-metadata.json"),
        *("verdicts.csv", "runs.csv", "statistics.csv", "comparisons.csv"),
        *(f"costs/{COSTS}.csv", f"features/{IMAGES}.csv", f"features/{IMAGES}.npz", f"jacobian/{JACOBIAN}.csv"),
        *(f"floors/{task}.csv" for task in floored),
        *(f"records/{name}.tar.xz" for name in {*tasks, "configuration"}),
    }
    links = {link for link in re.findall(r"\]\(([^)]+)\)", files["README.md"].decode())}
    others = {path for path in files if "/" not in path} - {"README.md"}
    assert links == {path for path in drawn if path.endswith(".md")} | others


def test_a_figure_is_as_wide_as_a_page(tmp_path):
    Image.new("RGB", (2000, 500), "navy").save(tmp_path / "x.png")
    with Image.open(io.BytesIO(publishing.reduced(tmp_path / "x.png", 1200, 128))) as image:
        assert image.size == (1200, 300)


@pytest.mark.parametrize(
    "settings",
    [
        {"scale": "demo"},
        {"scale": "evening", "leave_out": ["svhn", "ptb"], "device": "cpu", "seeds": [0, 7]},
        {"device": {"default": "cuda", "physionet": "cpu"}, "evidence": "mine"},
        {"overrides": {"tasks": {"mnist": {"title": "It's another", "training": {"epochs": 3}}}}},
    ],
)
def test_the_command_has_the_settings_that_are_not_those_of_the_file(configured, settings):
    configuration, start = configured(**settings), ["snakemake", "--cores", "all", "evidence", "--config"]
    words = shlex.split(command_of(configuration))
    assert words[: len(start)] == start
    given = {name: yaml.safe_load(value) for name, _, value in (word.partition("=") for word in words[len(start) :])}
    assert given.keys() - {"scale"} == settings.keys() - {"scale"}
    assert configured(**given).settings == configuration.settings


def test_the_readme_says_what_was_run_and_how_long_it_took(published, files):
    text, runs = files["README.md"].decode(), rows_of(files, "runs.csv")
    assert f"\n{command_of(published.configuration)}\n```" in text
    assert published.configuration.scale.about in text and "in place of MNIST" in text and "numpy 2.4.6" in text
    seconds = sum(float(run["training_seconds"]) + float(run["evaluation_seconds"]) for run in runs)
    assert f"{seconds / 3600:.2f} hours of training and evaluation" in text


def test_each_run_is_there_once_with_what_it_measured_and_each_verdict_names_its_runs(published, files):
    runs = rows_of(files, "runs.csv")
    assert [run["run"] for run in runs] == list({run.id: None for run in all_runs(published.configuration)})
    assert all(run["code"] and run["data_digest"] and run["versions"] and run["measured"] for run in runs)
    assert not any("published" in run["variants"] for run in runs)  # only what is not the paper's text
    names = {name for row in rows_of(files, "verdicts.csv") for name in row["runs"].split()}
    assert names and names <= {run["run"] for run in runs}


def test_a_run_that_is_missing_or_altered_is_named(published, tmp_path):
    run = next(run for run in all_runs(published.configuration) if run.task == "adding")
    path = published.root / run.directory / "clock.csv"
    whole = path.read_bytes()
    for change, word in ((path.unlink, "missing"), (lambda: path.write_bytes(b"?"), "altered")):
        change()
        with refused(word, file=path):
            publication(published.configuration, published.root)
    path.write_bytes(whole)


def test_it_is_the_same_from_the_same_results_and_tells_nothing_of_this_machine(published, files):
    assert publication(published.configuration, published.root) == files
    packed = [unpacked(content, re.compile(".*")) for path, content in files.items() if path.endswith(".xz")]
    texts = [name.encode() + b"\n" + own[name] for own in (files, *packed) for name in own if TEXT.search(name)]
    for own in (str(published.root), str(ROOT), str(Path.home()), socket.gethostname(), "of mine"):
        assert not [text[:99] for text in texts if own.encode() in text]


def test_the_script_puts_it_in_the_place_of_the_one_before(ended, published, monkeypatch):
    monkeypatch.setattr(publish_evidence, "load", lambda settings: published.configuration)
    (published.directory / "README.md").write_text("of before")
    assert ended(publish_evidence.main, "--root", published.root).code == 0
    paths = [path for path in published.directory.rglob("*") if path.is_file()]
    there = {path.relative_to(published.directory).as_posix(): path.read_bytes() for path in paths}
    assert there == published.files
    assert [path.name for path in published.directory.parent.iterdir()] == ["demo"]


@pytest.mark.parametrize("before", [False, True])
def test_a_directory_with_something_else_is_left_alone(files, tmp_path, before):
    if before:
        publish(files, tmp_path / "evidence")
    mine = tmp_path / "evidence/tables/mine.txt"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    there = sorted(tmp_path.rglob("*"))
    with refused("mine.txt", file=mine, key="evidence"):
        publish(files, tmp_path / "evidence")
    assert sorted(tmp_path.rglob("*")) == there and mine.read_text() == "mine"


def test_one_with_runs_that_the_new_one_lacks_stays(files, tmp_path):
    publish(files, tmp_path / "evidence")
    lines = files["runs.csv"].decode().splitlines(keepends=True)
    with refused("has 1 runs", file=tmp_path / "evidence", key=lines.pop().partition(",")[0]):
        publish(files | {"runs.csv": "".join(lines).encode()}, tmp_path / "evidence")
    assert (tmp_path / "evidence/runs.csv").read_bytes() == files["runs.csv"]


def test_one_that_cannot_take_its_place_leaves_the_one_before(files, tmp_path, monkeypatch):
    publish(files, tmp_path / "evidence")
    rename = Path.rename

    def interrupted(path, target):
        if path.name == "new":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(files | {"README.md": b"new"}, tmp_path / "evidence")
    assert (tmp_path / "evidence/README.md").read_bytes() == files["README.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


def test_the_crate_has_each_file_by_its_digest(files):
    graph = {entity["@id"]: entity for entity in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    named = {entity["@id"] for entity in graph["./"]["hasPart"]}
    assert named == set(files) - {"ro-crate-metadata.json"} == graph.keys() - {"./", "ro-crate-metadata.json"}
    assert all(graph[path]["sha256"] == sha256(files[path]).hexdigest() for path in named)


@pytest.mark.slow
def test_the_rule_publishes_finished_results(tmp_path, configured):
    """Those of one dataset, which are made up, the others being left out."""
    copy_repository(tmp_path)
    (tmp_path / "CITATION.cff").write_bytes((ROOT / "CITATION.cff").read_bytes())
    settings = {"scale": "demo", "seeds": [0], "results": "out", "overrides": {}}
    settings["leave_out"] = sorted({task.dataset for task in configured(**settings).tasks.values()} - {"adding"})
    configuration = configured(**settings)
    results_of(configuration, tmp_path, [*configuration.artifact_layers])
    Workflow(tmp_path).run("evidence", "--allowed-rules", "evidence", evidence="published-here", **settings)
    readme = (tmp_path / "published-here/demo/README.md").read_text(encoding="utf-8")
    assert all(f"[{artifact.settings.title}]" in readme for artifact in load_artifacts(configuration).values())
    assert "acenode_figure4" in readme.partition("Not made, as what they show is left out: ")[2]
