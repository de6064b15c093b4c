"""The page of a scale, on made-up results: what it says, what it links to, and how it behaves in a real browser."""

import base64
import html
import re
import shutil
from dataclasses import replace

import pytest
import render_index
from approved import approved
from chromium import PROGRAM, Chromium
from conftest import refused
from made import row_of, sources_of, summary_of
from markup import Reader
from PIL import Image

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.tables import write_table
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.pages.claims_list import findings
from hidden_dynamics.pages.index import index_page
from hidden_dynamics.results import run_files
from hidden_dynamics.results.archives import write
from hidden_dynamics.results.rows import write_rows

TABLE, HYPERPARAMETERS, CURVES, IMAGE = (f"momentumrnn_{name}" for name in ("table11", "table7", "figure9", "figure8"))
IMAGES = "acenode_table2"
QUESTION = "acenode_attention"  # nothing is drawn of it
CONFIGURED = (IMAGE, CURVES, TABLE, IMAGES, HYPERPARAMETERS, QUESTION)
FIGURES = (IMAGE, CURVES)
ORDER = [HYPERPARAMETERS, TABLE, IMAGE, CURVES, IMAGES, QUESTION]  # the papers'
EVIL = "LSTM <img src=x onerror=alert(1)> & “co”"
CLAIMS = [
    ("a", TABLE, "holds", "MomentumLSTM beats LSTM"),
    ("b", CURVES, "fails", "It <script>alert(1)</script> converges faster"),
    ("c", TABLE, "undecided", "SRLSTM beats LSTM"),
    ("d", IMAGES, "not run", "ACE-ODE-Net is best"),
]
SIZE = (1200, 600)  # of a figure, in pixels
NOTE = "<b> is no markup"
NOTHING = "Nothing to <draw>."
LINES = """[...document.querySelectorAll("thead th > span")].map(e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
})"""
SAYS = "Momentum helps"
DEVIATIONS = "N = 32, not 128"


def about(run):
    """What a run reports: its accuracy is different from the others'; a guess is as good as those of the first seed."""
    accuracy = round(0.5 + 0.1 * run.seed + 0.001 * len(run.sized_model), 4)
    evaluation = {"iteration": 10, "epoch": 1.0, "train_loss": 1.0, "validation_loss": 0.5, "test_loss": 0.5}
    naive = {"test_accuracy": {"majority class": 0.55}}
    return {"evaluations": [evaluation | {"test_accuracy": accuracy}], "seconds": 1.25, "naive": naive}


def claim(name, artifact, verdict, statement):
    runs = "results/demo/runs/mnist/lstm-n32/seed0 results/demo/runs/mnist/lstm-n32/seed1"
    found = {"test": "Welch's t", "estimate": "0.012345", "low": "-0.01", "high": "0.03", "p": "0.04"}
    said = {"source": "Table 1", "says": SAYS, "reason": f"reason {name}", "deviations": ""}
    if verdict == "not run":
        said |= {"reason": f"Digits in place of MNIST; {DEVIATIONS}", "deviations": DEVIATIONS}
    of = {"id": name, "paper": artifact.partition("_")[0], "artifact": artifact, "kind": "better", "runs": runs}
    found |= {
        "p_adjusted": "0.12",
        "verdict": verdict,
        "statement": statement,
        "ran": statement,
        "level": "0.95",
        "counted": "true",
    }
    found |= {"family": name, "effect": str(len(name + statement) / 10)}
    return dict.fromkeys(COLUMNS, "") | found | said | of | {"data": "Digits"}


def configuration_at(configured, scale):
    whole = configured(scale=scale, seeds=[0, 1], overrides={})
    models = whole.models | {"lstm": whole.models["lstm"].model_copy(update={"label": EVIL})}
    layers = {name: [("here", whole.artifacts[name])] for name in CONFIGURED}
    return replace(whole, models=models, artifact_layers=layers)


def finished(configuration, root, claims):
    """Results: rendered tables, figures that are blank, the summary of all runs, verdicts."""
    paths, artifacts = configuration.paths, load_artifacts(configuration).values()
    runs = {run.id: run for artifact in artifacts for run in artifact.runs}.values()
    write_rows(root / paths.all_runs, run_files.COLUMNS, [row_of(configuration, run, **about(run)) for run in runs])
    write_rows(root / paths.all_verdicts, COLUMNS, claims)
    for artifact in artifacts:
        files = [root / file for file in artifact.files()]
        if artifact.form == "table":
            write_table(artifact.draw(sources_of(artifact, root, summary=summary_of(artifact, about))), files)
        else:
            blank(root / paths.figure(artifact.name, "png"), artifact.name in FIGURES)
    return root


def blank(path, drawn):
    path.parent.mkdir(parents=True, exist_ok=True)
    if drawn:
        Image.new("RGB", SIZE, "navy").save(path)
    shown = f"![A figure]({path.name})" if drawn else NOTHING
    path.with_suffix(".md").write_text(f"# A figure\n\n{shown}\n\n- {NOTE}\n", encoding="utf-8")


@pytest.fixture(scope="module")
def configuration(configured):
    return configuration_at(configured, "demo")


@pytest.fixture(scope="module")
def root(configuration, tmp_path_factory):
    return finished(configuration, tmp_path_factory.mktemp("index"), [claim(*given) for given in CLAIMS])


@pytest.fixture(scope="module")
def page(configuration, root):
    """The page's path."""
    path = root / configuration.paths.index
    path.write_text(index_page(configuration, root), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def read(page):
    return Reader(page.read_text(encoding="utf-8"))


def section(page, name):
    """The part of the page that shows an artifact."""
    text = page.read_text(encoding="utf-8")
    text = text[text.index(f' id="{name}">') :]
    return text[: text.index("</section>")].replace("&nbsp;", " ")


def words(text):
    return " ".join(text.split())


def lines(*texts):
    return "\n".join(filter(None, (words(line) for text in texts for line in text.splitlines())))


# Content


def test_everything_stands_on_the_page_once_in_the_papers_order(read, configuration):
    places = list(read.texts)
    assert [place for place in places if place in CONFIGURED] == ORDER
    parts = ["overview", "momentumrnn", "acenode", "claims"]
    assert [place for place in places if place in parts] == parts
    for name, settings in configuration.artifacts.items():
        assert settings["title"] in read.texts[name] and settings["title"] in read.texts["overview"]
    links = [link[1:] for link in read.links() if link.startswith("#")]
    assert set(CONFIGURED) <= set(links) <= set(places)  # none leads nowhere


@pytest.mark.parametrize("part", ["overview", "claims"])
def test_what_the_first_screen_and_the_claims_say_is_as_approved(read, part):
    approved(f"index_{part}.txt", lines(read.texts[part]))


def test_pictures_and_tables_are_those_that_were_rendered(page, root, configuration):
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r'<a class="card" href="([^"]+)"[^>]*><img src="data:image/png;base64,([^"]+)"', text)
    figures = {name: configuration.paths.figure(name, "png") for name in FIGURES}
    opened = [figures[name].removeprefix("results/demo/") for name in FIGURES]
    first = [CURVES, IMAGE]  # of the first screen
    assert [address for address, _ in shown] == [*(f"#{name}" for name in first), *opened]
    for (_, content), name in zip(shown, [*first, *FIGURES], strict=True):
        assert base64.b64decode(content) == (root / figures[name]).read_bytes()
    assert text.count("<li>&lt;b&gt; is no markup</li>") == len((*FIGURES, QUESTION))
    assert "<p>Nothing to &lt;draw&gt;.</p>" in section(page, QUESTION)
    for name in (TABLE, HYPERPARAMETERS, IMAGES):
        rendered = (root / configuration.paths.table(name, "html")).read_text(encoding="utf-8")
        (table,) = re.findall(r"<table>.*?</table>", rendered, flags=re.DOTALL)
        assert table.replace("&nbsp;", " ") in re.sub("</?span[^>]*>", "", section(page, name))


def test_on_the_papers_data_nothing_is_said_of_stand_ins(configured, tmp_path):
    configuration = configuration_at(configured, "paper")
    rows = [claim(*given) | {"critic": EVIL} for given in CLAIMS]
    text = index_page(configuration, finished(configuration, tmp_path, rows))
    assert text.count(f"Others: {html.escape(EVIL)}") == sum(verdict != "not run" for *_, verdict, _ in CLAIMS)
    assert "No stand-in data: every task ran on the data that it names." in text
    assert "cannot speak" not in text and "Stand-in data:" not in text and "on stand-in data" not in text


def test_links_to_files_lead_to_what_the_workflow_makes(read, configuration):
    paths, artifacts = configuration.paths, load_artifacts(configuration).values()
    made = [file for one in artifacts for file in [*one.files(), *(one.inputs() | one.floors()).values()]]
    assert paths.all_verdicts in made
    made += [paths.all_runs]
    links = {link for link in read.links() if not link.startswith("#")}
    assert links == {path.removeprefix("results/demo/") for path in made}


def test_beside_a_publication_it_links_to_its_files_alone_and_shows_theirs(browser, configuration, root, tmp_path):
    places = {f"figures/{name}.png": root / configuration.paths.figure(name, "png") for name in FIGURES}
    pictures = {name: path.read_bytes() for name, path in places.items()}
    files = pictures | {"verdicts.csv": b"", "runs.csv": b"", f"tables/{TABLE}.md": b""}
    write(tmp_path, files | {"index.html": index_page(configuration, root, files).encode()})
    read = Reader((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert {link for link in read.links() if not link.startswith("#")} == {*files}
    assert {*read.asked_for()} == {"data:,", *pictures}
    shown = browser.open(tmp_path / "index.html")
    assert shown.run("[...document.images].map(e => e.naturalWidth)") == [SIZE[0]] * 4
    own = {(tmp_path / name).resolve().as_uri() for name in ("index.html", *pictures)}
    assert {address for address in shown.requests() if not address.startswith("data:")} == own
    assert shown.complaints() == []


def test_an_artifact_says_where_its_numbers_come_from_and_which_claims_rest_on_it(page, read):
    text = words(section(page, TABLE))
    assert re.search(r"<summary>\d+ notes</summary> <p>Best test accuracy.*<li>How to read it", text)
    assert "The numbers are the configuration's" in read.texts[HYPERPARAMETERS]
    assert "drawn from the generated data itself" in read.texts[IMAGE]
    assert "Claims that rest on it: 1 contradicted" in words(read.texts[CURVES])


def test_nothing_of_what_is_shown_becomes_markup_and_nothing_is_loaded_from_elsewhere(page, read):
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text and "<script>alert" not in text
    assert EVIL in read.texts[TABLE]
    assert "<script>alert(1)</script>" in read.texts["claim-b"]
    assert "script" not in {tag for tag, _ in read.tags}
    assert [address for address in read.asked_for() if not address.startswith("data:")] == []
    assert not re.search(r"@import|url\(", page.read_text(encoding="utf-8"))
    (policy,) = [a["content"] for tag, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:;")


@pytest.mark.parametrize(
    "about, found",
    [
        ({"p": "0.5", "p_adjusted": "1"}, {"p": "0.5; Holm 1"}),
        (
            {"estimate": "0.5", "low": "-1", "high": "2", "level": "0.95", "detectable": "0.75"},
            {
                "Difference or ratio": "+0.5 [−1, +2] 95%",
                "Detectable": "0.75",
            },
        ),
        (
            {"estimate": "0.5", "low": "0.25", "high": "2", "level": "0.9", "test": "Welch's t of logarithms"},
            {"Difference or ratio": "× 0.5 [0.25, 2] 90%"},
        ),
        (
            {"low": "-1", "high": "2", "level": "0.95", "published_difference": "2.5"},
            {"Printed difference": "+2.5, outside the interval over seeds"},
        ),
        (
            {"low": "-1", "high": "2", "level": "0.95", "published_difference": "2.5", "deviations": "N = 8, not 128"},
            {},
        ),
        ({"estimate": "0.5", "kind": "ranking"}, {"Difference or ratio": "tau = 0.5"}),
        ({"estimate": "1.2", "test": "equal in all processes"}, {"Difference or ratio": "× 1.2"}),
        (
            {"naive": "chance: 0.5", "test_error": "0.026", "other_test": "undecided by paired t (p = 0.06)"}
            | {"classical": "gradient boosting: 0.8478", "beside_classical": "both behind"},
            {
                "Classical": "both behind gradient boosting, 0.848",
                "Other test": "undecided by paired t (p = 0.06)",
                "Without learning": "chance: 0.5",
                "Error of the test set": "± 0.026",
            },
        ),
    ],
)
def test_a_claim_says_what_its_test_found_and_leaves_out_what_does_not_apply(about, found):
    row = dict.fromkeys(COLUMNS, "") | {"verdict": "undecided"} | about
    assert {name: text for name, text in findings(row).items() if text} == found
    assert findings(row | {"verdict": "not run"}) == {}


def test_where_nothing_is_judged_the_page_says_so_and_shows_neither_verdict_nor_number(configuration, root, tmp_path):
    """Of a claim that is not run: its statement and the reason."""
    shutil.copytree(root, tmp_path / "none")
    rows = [claim(name, artifact, "not run", said) for name, artifact, _, said in CLAIMS]
    rows[2] |= {"reason": f"{rows[2]['reason']}; changed from the paper’s: training"}
    write_rows(tmp_path / "none" / configuration.paths.all_verdicts, COLUMNS, rows)
    read = Reader(index_page(configuration, tmp_path / "none"))
    approved("index_none_judged.txt", lines(read.texts["overview"], read.texts["claims"]))
    assert "0.0123" not in words(read.texts["claims"])
    path = tmp_path / "none" / configuration.paths.all_verdicts
    path.unlink()
    with refused(file=path):
        index_page(configuration, tmp_path / "none")


def test_the_script_writes_the_page_whole(ended, configuration, root, page, monkeypatch):
    before = page.read_bytes()
    monkeypatch.setattr(render_index, "load", lambda settings: configuration)
    assert ended(render_index.main, "--root", root).code == 0
    assert page.read_bytes() == before  # and the same bytes for the same results
    assert not list(page.parent.glob(".index.html*"))


# Browser


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


def test_the_first_screen_has_pictures_side_by_side_with_a_sentence_and_the_list_follows(browser, page):
    shown = browser.open(page, width=1280, height=900)
    boxes = "[...document.querySelectorAll('.pictures figure')].map(e => e.getBoundingClientRect())"
    assert shown.run(f"{boxes}.map(box => box.bottom < 900)") == [True] * len(FIGURES)
    assert len(set(shown.run(f"{boxes}.map(box => box.top)"))) == 1
    assert max(shown.run("[...document.querySelectorAll('figcaption span')].map(e => e.getClientRects().length)")) <= 2
    assert shown.run('[...document.querySelectorAll(".contents li")].every(e => e.scrollWidth <= e.clientWidth)')
    narrow = browser.open(page, width=360)
    assert len(set(narrow.run(f"{boxes}.map(box => box.left)"))) == 1


def test_headings_of_tables_have_at_most_three_lines(browser, page):
    found = browser.open(page, width=1280).run(LINES)
    assert 1 < max(found) <= 3


def test_a_link_opens_what_is_folded_away(browser, page):
    shown = browser.open(page, width=360)
    assert shown.run('document.getElementById("claim-d").checkVisibility()') is False  # as it is not run
    shown.click('a[href="#claim-d"]')
    shown.until('document.getElementById("claim-d").checkVisibility()')
