"""Snakemake's own report of a real workflow: a table and a figure that need no training."""

import json
import re

import pytest
from chromium import PROGRAM, Chromium
from one_process import OneProcess
from repository import Workflow, copy_repository

TABLE, FIGURE = "momentumrnn_table7", "momentumrnn_figure8"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a table of hyperparameters and a figure of generated data, at demo scale."""
    root = tmp_path_factory.mktemp("report") / "repository"
    root.mkdir()
    copy_repository(root)
    settings = {"scale": "demo", "results": "out", "overrides": {}}
    with OneProcess(Workflow(root)) as process:
        process.run(TABLE, FIGURE, **settings)
        process.run("--report", "report.html", TABLE, FIGURE, **settings)
    return root / "report.html"


def part_of(report, name):
    """A part of what the report's own script shows."""
    text = report.read_text(encoding="utf-8")
    return json.loads(re.search(rf'<script id="{name}">\s*var \w+ = (.*?);\s*</script>', text, flags=re.DOTALL)[1])


@pytest.mark.slow
def test_every_result_has_category_labels_and_caption_and_every_rule_its_run_time(report):
    table, figure = f"out/demo/tables/{TABLE}.html", f"out/demo/figures/{FIGURE}.png"
    assert part_of(report, "categories") == {"Tables": {"MomentumRNN": [table]}, "Figures": {"MomentumRNN": [figure]}}
    results = part_of(report, "results")
    labels = {"paper": "MomentumRNN", "scale": "demo"}
    assert results[table]["labels"] == labels | {"artifact": TABLE, "kind": "hyperparameter table"}
    assert results[figure]["labels"] == labels | {"artifact": FIGURE, "kind": "copying example"}
    for path, title in ((table, "Table 7: Hyperparameters of the momentum cells"), (figure, "Data: Copying task")):
        assert title in results[path]["caption"] and "Scale: demo (" in results[path]["caption"]
        assert results[path]["data_uri"].startswith("data:")
    times = {value["rule"]: value["runtime"] for value in part_of(report, "runtimes")["data"]["values"]}
    assert {TABLE, FIGURE} <= set(times) and min(times.values()) > 0


@pytest.mark.slow
def test_the_report_opens_offline(report, tmp_path):
    if not PROGRAM:
        pytest.skip("there is no Chromium on this machine to look at the report with")
    with Chromium(tmp_path) as browser:
        shown = browser.open(report)
        body = "document.body.innerText"
        shown.until(f'{body}.includes("made again at the scale demo")')
        assert "it cannot speak for the papers" in shown.run(body)
        asked = {address.split(":")[0] for address in shown.requests()}
        assert asked <= {"file", "data", "blob"}
