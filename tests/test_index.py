"""The page of a scale, on made-up results: what it shows, what it links to, and how it behaves in a real browser."""

import base64
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import render_index
from chromium import PROGRAM, Chromium
from conftest import refused
from markup import Reader
from published_here import COSTS, GRADIENTS, JACOBIAN, PATIENT, TABLE, results_of

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims.verdict import Outcome, Verdict, write_verdicts
from hidden_dynamics.pages.index import index_page, pictures, sentence
from hidden_dynamics.pages.sections import Drawn, drawn_of, in_order
from hidden_dynamics.results.archives import write

EVIL = "LSTM <img src=x onerror=alert(1)> & “co”"
SHOWN = (TABLE, COSTS, GRADIENTS, PATIENT, JACOBIAN)
ABOUT = {"place": "Table 7", "kind": "better", "difference": 0.5, "low": 0.1, "high": 0.9}
VERDICTS = [
    Verdict(
        id="M1", paper="momentumrnn", says="<script>alert(1)</script>", outcome=Outcome.OPEN, sentence=EVIL, **ABOUT
    ),
    Verdict(id="A1", paper="acenode", says="Attention helps", outcome=Outcome.AGREES, sentence="So it is.", **ABOUT),
]
LINES = """[...document.querySelectorAll("thead th > span")].map(e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
})"""


@pytest.fixture(scope="module")
def results(configured, tmp_path_factory):
    """Results of some artifacts, with a model of an evil name and made-up verdicts."""
    whole = configured(scale="demo", seeds=[0], overrides={})
    models = whole.models | {"lstm": whole.models["lstm"].model_copy(update={"label": EVIL})}
    made = results_of(replace(whole, models=models), tmp_path_factory.mktemp("index"), SHOWN)
    write_verdicts(made.root / made.configuration.paths.verdicts, VERDICTS)
    return made


@pytest.fixture(scope="module")
def page(results):
    """The page's path."""
    path = results.root / results.configuration.paths.index
    path.write_text(index_page(results.configuration, results.root), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def read(page):
    return Reader(page.read_text(encoding="utf-8"))


def test_everything_stands_on_the_page_once_findings_first_then_in_the_papers_order(read, results):
    artifacts = in_order(results.configuration)
    parts = ["overview", "findings", "momentumrnn-M1", "acenode-A1"]
    parts += dict.fromkeys(name for artifact in artifacts for name in (artifact.paper, artifact.name))
    assert [place for place in read.texts if place in parts] == parts
    assert all(results.configuration.artifacts[name]["title"] in read.texts[name] for name in SHOWN)
    links = {link[1:] for link in read.links() if link.startswith("#")}
    assert {*SHOWN} <= links <= {*read.texts}  # none leads nowhere


def test_papers_are_those_that_are_configured(configured):
    whole = configured(scale="demo", overrides={})
    place, table = whole.artifact_layers[TABLE][-1]
    own = {"g8ode_table2": table | {"source": "G8ODE, Table 2"}, "g8ode_table1": table | {"source": "G8ODE, Table 1"}}
    layers = {TABLE: whole.artifact_layers[TABLE], **{name: [(place, one)] for name, one in own.items()}}
    _, *third = in_order(replace(whole, artifact_layers=layers))
    assert {(artifact.paper, artifact.paper_title) for artifact in third} == {("g8ode", "G8ODE")}
    assert [artifact.name for artifact in third] == ["g8ode_table1", "g8ode_table2"]


def test_pictures_and_tables_are_those_that_were_drawn(page, read, results):
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r'<a class="card" href="([^"]+)"[^>]*><img src="data:image/png;base64,([^"]+)"', text)
    own = [(address, content) for address, content in shown if not address.startswith("#")]
    assert len(shown) - len(own) == 3  # of the first screen
    assert [address for address, _ in own] == [f"figures/{name}.png" for name in (GRADIENTS, JACOBIAN, PATIENT)]
    for address, content in own:
        assert base64.b64decode(content) == (results.results / address).read_bytes()
    for name in (TABLE, COSTS):
        drawn = drawn_of(artifact_named(results.configuration, name), results.root)
        assert [name for _, name in drawn.columns] in read.rows
        rows = [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in read.rows]
        assert all(row in rows for row in drawn.rows)
        assert all(note in read.texts[name] for note in drawn.notes)


def test_columns_stand_under_the_names_of_their_groups():
    def groups(*columns):
        return Drawn(title="", instead="", columns=list(columns), rows=[], notes=[]).groups

    assert groups(("", "Model"), ("", "N"), ("MNIST", "ours"), ("MNIST", "paper")) == [("", 2), ("MNIST", 2)]
    assert groups(("", "Model"), ("", "ours")) == []


def test_links_to_files_lead_to_what_is_there(read, results):
    links = {link for link in read.links() if not link.startswith("#")}
    assert {"claims.csv", "comparisons.csv", "summary/runs.csv", f"costs/{COSTS}.csv", f"tables/{TABLE}.md"} <= links
    assert all((results.results / link).is_file() for link in links)


def test_beside_a_publication_it_links_to_its_files_alone_and_shows_theirs(browser, results, tmp_path):
    files = {name: content for name, content in results.files.items() if not name.endswith(f"{COSTS}.csv")}
    write(tmp_path, files | {"index.html": index_page(results.configuration, results.root, files).encode()})
    read = Reader((tmp_path / "index.html").read_text(encoding="utf-8"))
    links = {link for link in read.links() if not link.startswith("#")}
    assert {"verdicts.csv", "runs.csv", "comparisons.csv"} <= links <= {*files}
    pictures = {name for name in files if name.endswith(".png")}
    assert {*read.asked_for()} == {"data:,", *pictures}
    shown = browser.open(tmp_path / "index.html")
    own = {(tmp_path / name).resolve().as_uri() for name in ("index.html", *pictures)}
    assert {address for address in shown.requests() if not address.startswith("data:")} == own
    assert shown.complaints() == []


def test_nothing_of_what_is_shown_becomes_markup_and_nothing_is_loaded_from_elsewhere(page, read):
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text and "<script>alert" not in text
    assert EVIL in read.texts[TABLE] and EVIL in read.texts["findings"]
    assert "script" not in {tag for tag, _ in read.tags}
    assert [address for address in read.asked_for() if not address.startswith("data:")] == []
    assert not re.search(r"@import|url\(", text)
    (policy,) = [a["content"] for tag, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:;")


@pytest.mark.parametrize("name", [TABLE, GRADIENTS])
def test_what_was_drawn_and_is_missing_or_damaged_is_named(results, name):
    artifact = artifact_named(results.configuration, name)
    path = results.root / next(file for file in artifact.files() if file.endswith(".json"))
    whole = path.read_bytes()
    for change in (lambda: path.write_bytes(whole[:-9]), lambda: path.write_text('{"notes": []}'), path.unlink):
        change()
        with refused(file=path):
            index_page(results.configuration, results.root)
    path.write_bytes(whole)


def test_the_script_writes_the_page_whole(ended, results, page, monkeypatch):
    before = page.read_bytes()
    monkeypatch.setattr(render_index, "load", lambda settings: results.configuration)
    assert ended(render_index.main, "--root", results.root).code == 0
    assert page.read_bytes() == before  # and the same bytes for the same results
    assert not list(page.parent.glob(".index.html*"))


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


def test_the_first_screen_has_pictures_side_by_side_and_the_findings_follow(browser, page):
    shown = browser.open(page, width=1280, height=900)
    boxes = "[...document.querySelectorAll('.pictures figure')].map(e => e.getBoundingClientRect())"
    assert shown.run(f"{boxes}.map(box => box.bottom < 900)") == [True] * 3
    assert len(set(shown.run(f"{boxes}.map(box => box.top)"))) == 1
    assert shown.run("document.getElementById('findings').getBoundingClientRect().top") < 900
    narrow = browser.open(page, width=360)
    assert len(set(narrow.run(f"{boxes}.map(box => box.left)"))) == 1


def test_headings_of_tables_have_at_most_three_lines(browser, page):
    assert 1 < max(browser.open(page, width=1280).run(LINES)) <= 3


def test_the_sentence_of_a_question_counts_the_sides_of_its_comparisons(configured, tmp_path):
    artifact = artifact_named(configured(scale="demo"), "momentumrnn_momentum")
    path = tmp_path / artifact.file("csv")
    path.parent.mkdir(parents=True)
    learned = [f"{ends},False\n" for ends in ("1,2", "3,4", "5,6", "-2,-1", "-1,1", ",")]
    path.write_text("".join(["low,high,unlearned\n", *learned, "7,8,True\n"]), encoding="utf-8")
    said = sentence(SimpleNamespace(artifact=artifact), tmp_path)
    assert [int(number) for number in re.findall(r"\d+", said)] == [5, 7, 3, 1]


def test_the_first_pictures_are_those_of_questions():
    kinds = {"a": "curves", "b": "curves", "c": "forest", "d": "curves", "e": "forest"}
    sections = [
        SimpleNamespace(name=name, picture=name != "a", artifact=SimpleNamespace(settings=SimpleNamespace(kind=kind)))
        for name, kind in kinds.items()
    ]
    assert [section.name for section in pictures(sections)] == ["c", "e", "b"]
