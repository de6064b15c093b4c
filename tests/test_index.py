"""The page of a scale, on made-up results: what it says, what it links to, and how it behaves in a real browser."""

import csv
import json
import re
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from chromium import PROGRAM, Chromium
from conftest import ROOT
from PIL import Image
from test_summarise import make_run

from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.figures import read_rows
from hidden_dynamics.pages import index_page, times
from hidden_dynamics.pages.claims_list import findings, read_claims
from hidden_dynamics.pages.index import duration, image_of
from hidden_dynamics.pages.rendered_tables import read_table
from hidden_dynamics.artifacts.tables import write_table
from hidden_dynamics.configuration.runs import runs_of

sys.path.insert(0, str(ROOT / "scripts"))
import render_index  # noqa: E402
import render_table  # noqa: E402
import summarise  # noqa: E402

TABLE, HYPERPARAMETERS, CURVES, IMAGE = (f"momentumrnn_{name}" for name in ("table11", "table7", "figure9", "figure8"))
EVIL = "LSTM <img src=x onerror=alert(1)> & “co”"
CLAIMS = [
    ("a", "momentumrnn", TABLE, "reproduced", "MomentumLSTM beats LSTM"),
    ("b", "momentumrnn", CURVES, "contradicted", "It <script>alert(1)</script> converges faster"),
    ("c", "momentumrnn", TABLE, "inconclusive", "SRLSTM beats LSTM"),
    ("d", "ACE-NODE", "acenode_table2", "not run at this scale", "ACE-ODE-Net is best"),
]


def value_of(run):
    return round(0.5 + 0.1 * run.seed + 0.001 * len(run.variant), 4)


def write_claims(path, **changes):
    columns = (
        "id paper artifact source kind statement says verdict reason test estimate low high level p effect effect_name"
    )
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, [*columns.split(), "n_subject", "stand_in", "runs"], restval="")
        writer.writeheader()
        for name, paper, artifact, verdict, statement in CLAIMS:
            found = {"test": "Welch's t", "estimate": "0.012345", "low": "-0.01", "high": "0.03", "level": "0.95"}
            claim = {"id": name, "paper": paper, "artifact": artifact, "verdict": verdict, "statement": statement}
            claim |= {"source": "Table 1", "reason": f"reason {name}", "stand_in": "true", "p": "0.04"}
            claim |= {"says": "Momentum helps" if artifact == TABLE else ""}
            claim |= {"runs": "results/demo/runs/mnist/lstm-n32/seed0 results/demo/runs/mnist/lstm-n32/seed1"}
            writer.writerow(claim | found | changes)


@pytest.fixture(scope="module")
def configuration(configured):
    whole = configured(scale="demo", seeds=[0, 1], overrides={})
    whole.models["lstm"]["label"] = EVIL
    return replace(whole, artifacts={name: whole.artifacts[name] for name in (TABLE, HYPERPARAMETERS, CURVES, IMAGE)})


@pytest.fixture(scope="module")
def root(configuration, tmp_path_factory):
    """Finished results, made by the scripts' own functions from made-up runs."""
    root = tmp_path_factory.mktemp("index")
    results = root / configuration.results
    runs = {run.id: run for name in configuration.artifacts for run in runs_of(configuration, name)}
    for run in runs.values():
        path = make_run(root, configuration, run) / "run.json"
        record = json.loads(path.read_text())
        record["reported"] |= {
            "value": value_of(run),
            "metrics": record["reported"]["metrics"] | {"test_accuracy": value_of(run)},
        }
        record |= {"code": f"c0de{run.model}", "versions": {"torch": "2.11.0"}}
        record["dataset"]["digest"] = f"d1635{run.task}"
        path.write_text(json.dumps(record))
    for artifact, runs_shown in ((TABLE, None), (CURVES, None), ("all", list(runs.values()))):
        shown = runs_shown or summarise.runs(configuration, artifact)
        rows = [summarise.row_of(configuration, artifact, run, root) for run in shown]
        name = "runs" if artifact == "all" else artifact
        summarise.write(results / "summary" / f"{name}.csv", summarise.COLUMNS, rows)
    summarise.write(
        results / "summary" / f"{CURVES}.curves.csv",
        summarise.CURVE_COLUMNS,
        summarise.curves_of(configuration, CURVES, root),
    )
    for name in (TABLE, HYPERPARAMETERS):
        table = render_table.render(configuration, name, results / "summary" / f"{name}.csv", None)
        write_table(table.frame, results / "tables" / name, table.title, table.notes, table.data)
    (results / "figures").mkdir()
    Image.new("RGB", (1200, 300), "navy").save(results / "figures" / f"{IMAGE}.png")
    write_claims(results / "claims.csv")
    return root


@pytest.fixture(scope="module")
def page(configuration, root):
    """The page's path."""
    path = root / configuration.results / "index.html"
    path.write_text(index_page(configuration, path.with_name("claims.csv"), root), encoding="utf-8")
    return path


class Reader(HTMLParser):
    """What a page holds: its tags in order with their attributes, every id, and the text in each element with an id."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in ("meta", "link", "input", "img", "br"):
            self.open.append((tag, attributes.get("id")))
        if "id" in attributes:
            assert attributes["id"] not in self.texts, f"id {attributes['id']} stands twice"
            self.texts[attributes["id"]] = ""

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, text):
        for _, identifier in self.open:
            if identifier:
                self.texts[identifier] += text


@pytest.fixture(scope="module")
def read(page):
    reader = Reader(page.read_text(encoding="utf-8"))
    assert reader.open == []  # every element is closed, in order
    return reader


# -------------------------------------------------------------------------------------------------------------- content


def test_everything_stands_on_the_page_once(read, configuration):
    assert {*configuration.artifacts, "claims", "tables", "figures", "times", "data"} <= set(read.texts)
    for name, entry in configuration.artifacts.items():
        assert entry["title"] in read.texts[name]
    links = [attributes["href"] for tag, attributes in read.tags if tag == "a"]
    assert {f"#{name}" for name in configuration.artifacts} <= set(links)
    assert {link[1:] for link in links if link.startswith("#")} <= set(read.texts)  # none leads nowhere


def test_stand_in_data_is_named_in_the_first_lines(page, configuration):
    text = page.read_text(encoding="utf-8")
    first = text[text.index("<h1>") :][:400]
    assert "Stand-in data cannot speak for the papers, and 4 of the 4 tasks here ran on it" in first
    assert "Digits 8x8" in first and "in place of MNIST" in first


def test_on_the_papers_data_nothing_is_said_of_stand_ins(configuration, root, tmp_path):
    shutil.copytree(root, tmp_path / "real")
    results = tmp_path / "real" / configuration.results
    runs = read_rows(results / "summary" / "runs.csv")
    summarise.write(results / "summary" / "runs.csv", summarise.COLUMNS, [run | {"stand_in_for": ""} for run in runs])
    text = index_page(configuration, results / "claims.csv", tmp_path / "real")
    assert "No stand-in data: every task ran on the data that it names." in text
    assert "cannot speak" not in text


def test_every_number_leads_to_its_runs(read, page, configuration, root):
    """From a cell of ours over its link to the runs of its row: all of their values average to the cell's number."""
    text = page.read_text(encoding="utf-8")
    section = text[text.index(f'<section class="artifact" id="{TABLE}">') :]
    section = section[: section.index("</section>")]
    rows = re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", section[: section.index("</table>")], flags=re.DOTALL)
    assert len(rows) == len(configuration.artifacts[TABLE]["rows"])
    for row, entry in zip(rows, configuration.artifacts[TABLE]["rows"], strict=True):
        anchors = set(re.findall(r'<a href="#([^"]+)">', row))
        ours = re.findall(r'<a href="#[^"]+">([\d.]+) ± [\d.]+ \(n = 2', row)
        assert len(anchors) == 1 and len(ours) == 2  # MNIST and PMNIST
        shown = [run for run in runs_of(configuration, TABLE) if run.model == entry["model"]]
        body = re.search(rf'<tbody id="{anchors.pop()}">(.*?)</tbody>', section, flags=re.DOTALL)[1]
        assert re.findall(r"test_accuracy ([\d.]+)", body) == [f"{value_of(run):.4g}" for run in shown]
        assert re.findall(r'<a href="(runs/[^"]+)/">', body) == [
            run.directory.removeprefix("results/demo/") for run in shown
        ]
        for task, number in zip(("mnist", "pmnist"), ours, strict=True):
            values = [100 * value_of(run) for run in shown if run.task == task]
            assert float(number) == pytest.approx(sum(values) / 2, abs=0.006)
        for run in shown:
            assert f"d1635{run.task}"[:12] in body and f"c0de{run.model}"[:12] in body
            assert (root / run.directory / "run.json").exists()


def test_links_to_files_lead_to_files(read, page):
    made_later = {"claims.html", *(f"figures/{name}.{form}" for name in (CURVES, IMAGE) for form in ("png", "pdf"))}
    links = {
        attributes["href"] for tag, attributes in read.tags if tag == "a" and not attributes["href"].startswith("#")
    }
    missing = {link for link in links - made_later if not (page.parent / link).exists()}
    assert links and missing == set()


def test_nothing_of_what_is_shown_becomes_markup(page, read):
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text and "<script>alert" not in text
    assert EVIL in read.texts[TABLE] and EVIL in read.texts[CURVES]
    assert "<script>alert(1)</script>" in read.texts["claim-b"]
    assert [tag for tag, _ in read.tags].count("script") == 1


def test_nothing_is_loaded_from_elsewhere(page, read):
    for tag, attributes in read.tags:
        for name in ("src", "srcset", "data", "poster", "action", "xlink:href"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)
        if tag != "a" and "href" in attributes:
            assert attributes["href"].startswith(("#", "data:")), (tag, attributes)
    assert not re.search(r"@import|url\((?!#)", page.read_text(encoding="utf-8"))
    (policy,) = [a["content"] for tag, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_curves_are_drawn_for_every_model_of_every_panel(page, configuration):
    text = page.read_text(encoding="utf-8")
    panels = re.findall(r"<svg viewBox[^>]*data-box.*?</svg>", text, flags=re.DOTALL)
    entries = configuration.artifacts[CURVES]["panels"]
    assert len(panels) == len(entries)
    for panel, entry in zip(panels, entries, strict=True):
        assert f'data-scales="{entry["x_scale"]} {entry["y_scale"]}"' in panel
        for kind in ("curve", "band"):
            found = re.findall(rf'class="{kind}" data-model="(\w+)"', panel)
            assert sorted(found) == sorted(configuration.artifacts[CURVES]["models"])


def test_claims_are_counted_by_verdict_and_show_what_was_found(read):
    assert "reproduced 1 · contradicted 1 · inconclusive 1 · not run at this scale 1" in read.texts["claims"]
    assert re.search(r"Momentum helps\s+MomentumRNN, Table 1: reproduced 1 · inconclusive 1", read.texts["claims"])
    assert "Estimate: 0.01235 (95 % interval −0.01 to 0.03)" in read.texts["claim-a"]
    assert "reason a" in read.texts["claim-a"] and "on stand-in data" in read.texts["claim-a"]
    assert "Claims that rest on it: contradicted 1" in read.texts[CURVES]


def test_a_finding_that_does_not_apply_is_left_out():
    assert findings({"test": "", "p": "0.5", "effect": "-1.5", "effect_name": "Hedges' g"}) == [
        ("p", "0.5"),
        ("Hedges' g", "−1.5"),
    ]


def test_run_times_are_sums_of_the_runs_clocks(configuration, root, read):
    runs = {run.id for name in configuration.artifacts for run in runs_of(configuration, name)}
    assert f"Training took {duration(1.25 * len(runs))} in all, over {len(runs)} runs" in read.texts["times"]


def test_jobs_are_summed_by_kind(tmp_path):
    head = "s\th:m:s\tmax_rss\n"
    (tmp_path / "train-mnist-0.tsv").write_text(head + "10.5\t0:00:10\t300.5\n")
    (tmp_path / "train-mnist-1.tsv").write_text(head + "20.5\t0:00:20\t200\n")
    (tmp_path / "render-x.tsv").write_text(head + "0.05\t0:00:00\t-\n")
    (tmp_path / "empty.tsv").write_text("")
    train, render = times.jobs(tmp_path)
    assert (train.kind, train.count, train.total, train.longest, train.memory) == ("train", 2, 31.0, 20.5, 300.5)
    assert (render.kind, render.count, render.memory) == ("render", 1, 0.0)


def test_durations():
    said = [duration(seconds) for seconds in (0.123456, 59.4, 60, 3599.6, 3600, 7384)]
    assert said == ["0.123 s", "59.4 s", "1 min 00 s", "1 h 00 min", "1 h 00 min", "2 h 03 min"]


def test_the_script_writes_the_page_whole(configuration, root, page, tmp_path, monkeypatch):
    monkeypatch.setattr(render_index, "load", lambda settings: configuration)
    claims = page.with_name("claims.csv")
    command = ["render_index.py", "--claims", str(claims), "--root", str(root), "--output", str(tmp_path / "i.html")]
    monkeypatch.setattr(sys, "argv", command)
    render_index.main()
    assert (tmp_path / "i.html").read_bytes() == page.read_bytes()  # and the same bytes for the same results
    assert [path.name for path in tmp_path.iterdir()] == ["i.html"]


# --------------------------------------------------------------------------------------------------------------- errors


def test_what_is_missing_or_does_not_fit_is_said(configuration, root, tmp_path):
    with pytest.raises(UserError, match="claims.csv is missing"):
        read_claims(tmp_path / "claims.csv")
    write_claims(tmp_path / "claims.csv", verdict="surely")
    with pytest.raises(UserError, match="a: 'surely' is no verdict"):
        read_claims(tmp_path / "claims.csv")
    (tmp_path / "claims.csv").write_text("id,paper\na,MomentumRNN\n")
    with pytest.raises(UserError, match="has no artifact, source, statement"):
        read_claims(tmp_path / "claims.csv")
    table = root / configuration.results / "tables" / TABLE
    with pytest.raises(UserError, match="5 rows, and the runs of 1 of 5 are known"):
        read_table(table, {("lstm", "128"): "somewhere"})
    with pytest.raises(UserError, match="nothing.html is missing"):
        read_table(tmp_path / "nothing", {})
    (tmp_path / "cut.html").write_text(table.with_suffix(".html").read_text()[:900])
    with pytest.raises(UserError, match="cut.html is not a rendered table"):
        read_table(tmp_path / "cut", {})
    (tmp_path / "x.png").write_bytes(b"GIF89a")
    with pytest.raises(UserError, match="x.png is not a PNG"):
        image_of(tmp_path / "x.png")


def test_a_record_that_was_not_summarised_is_refused(configuration, root):
    path = root / runs_of(configuration, TABLE)[0].directory / "run.json"
    before = path.read_text()
    try:
        path.write_text(json.dumps(json.loads(before) | {"fingerprint": "another"}))
        with pytest.raises(UserError, match="run.json is not the run that was summarised"):
            index_page(configuration, root / configuration.results / "claims.csv", root)
    finally:
        path.write_text(before)


# -------------------------------------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not PROGRAM:
        pytest.skip("there is no Chromium on this machine to look at the page with")
    with Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_no_wider_than_the_screen_asks_for_nothing_and_does_not_complain(browser, page, width, dark):
    shown = browser.open(page, width=width, height=800, dark=dark)
    assert shown.run("document.documentElement.scrollWidth") <= width
    assert shown.run("document.body.scrollWidth") <= width
    assert [address for address in shown.requests() if not address.startswith("data:")] == [page.resolve().as_uri()]
    assert shown.complaints() == []
    background = shown.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") != dark


def test_a_model_is_switched_off_and_on(browser, page):
    shown = browser.open(page)
    marks = '[...document.querySelectorAll(".curve[data-model=adam_lstm], .band[data-model=adam_lstm]")]'
    drawn = f"{marks}.map(mark => getComputedStyle(mark).display)"
    other = 'getComputedStyle(document.querySelector(".curve[data-model=lstm]")).display'
    assert "none" not in shown.run(drawn)
    shown.click("[data-toggles=adam_lstm]")
    assert set(shown.run(drawn)) == {"none"} and shown.run(other) != "none"
    assert shown.run('document.querySelector("[data-toggles=adam_lstm]").ariaPressed') == "false"
    shown.click("[data-toggles=adam_lstm]")
    assert "none" not in shown.run(drawn)


def test_a_panel_tells_the_values_under_the_pointer(browser, page, configuration, root):
    """To three digits, what the curves' file says at the place; a model that is switched off is not told."""
    shown = browser.open(page)
    shown.point(".panel svg", across=0.7)
    said = shown.run('document.querySelector(".panel .reading").textContent')
    place, values = re.match(r"Iteration ([\d.e+]+): (.*)", said).groups()
    with (root / configuration.results / "summary" / f"{CURVES}.curves.csv").open(newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if (row["panel"], row["model"]) == ("0", "momentum_lstm")]
    near = min(rows, key=lambda row: abs(float(row["x"]) - float(place)))
    told = float(re.search(r"MomentumLSTM ([\d.]+)", values)[1])
    assert told == pytest.approx(float(near["mean"]), rel=0.02)
    shown.click("[data-toggles=momentum_lstm]")
    shown.point(".panel svg", across=0.6)
    assert "MomentumLSTM" not in shown.run('document.querySelector(".panel .reading").textContent')


def test_claims_are_filtered(browser, page):
    shown = browser.open(page, width=360)

    def seen(**filters):
        shown.run(
            f"for (const [k, v] of Object.entries({json.dumps(filters)})) filters.elements[k].value = v; filter()"
        )
        count = shown.run("filters.elements.count.textContent")
        left = 'filter(claim => !claim.hidden && !claim.closest(".says").hidden).map(claim => claim.id)'
        found = shown.run(f'[...document.querySelectorAll(".claims li")].{left}')
        assert count == f"{len(found)} of 4 claims"
        return "".join(sorted(name.removeprefix("claim-") for name in found))

    assert seen() == "abcd"
    assert seen(verdict="contradicted") == "b"
    assert seen(verdict="", paper="MomentumRNN") == "abc"
    assert seen(artifact=TABLE) == "ac"
    assert seen(text="srlstm BEATS") == "c"
    assert seen(text="nothing of the kind") == ""
    shown.run('location.hash = "claim-d"')
    shown.until('document.getElementById("claim-d").checkVisibility()')  # a link to it shows it again
    assert seen() == "abcd"


def test_a_number_s_link_opens_the_place_that_it_leads_to(browser, page):
    shown = browser.open(page, width=360, height=800)
    link = f"#{TABLE} tbody th a"
    place = shown.run(f'document.querySelector("{link}").hash.slice(1)')
    assert not shown.run(f'document.getElementById("{place}").checkVisibility()')
    shown.click(link)
    shown.until(f'document.getElementById("{place}").checkVisibility()')
    shown.until(f'(top => 0 <= top && top < 800)(document.getElementById("{place}").getBoundingClientRect().top)')


def test_without_scripts_all_is_there_but_what_switches(browser, page):
    shown = browser.open(page, width=360, scripts=False)
    assert shown.run('document.querySelector(".filters").checkVisibility()') is False
    assert shown.run('document.querySelectorAll(".panel svg .curve").length') == 5 * 6
    assert shown.run('[...document.querySelectorAll(".claims li, .says")].every(e => !e.hidden)')
    assert shown.run('document.querySelectorAll(".claims li").length') == 4
    assert shown.run('[...document.querySelectorAll("[data-toggles]")].every(e => e.disabled)')
