"""The page of a scale, on made-up results: what it says, what it links to, and how it behaves in a real browser."""

import difflib
import json
import re
import shutil
from dataclasses import replace

import pytest
import render_index
from approved import approved
from chromium import PROGRAM, Chromium
from conftest import refused
from made import curves_of, row_of, summary_of, write_inputs
from markup import Reader
from PIL import Image

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.artifacts.tables import RowKey, Table
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.pages import times
from hidden_dynamics.pages.claims_list import findings
from hidden_dynamics.pages.index import index_page
from hidden_dynamics.pages.pictures import picture_of, thumbnail_of
from hidden_dynamics.pages.table_parts import COLUMNS as COLUMNS_OF_A_SCREEN
from hidden_dynamics.pages.table_parts import parts_of, unbroken
from hidden_dynamics.pages.templating import duration
from hidden_dynamics.results import summary
from hidden_dynamics.results.rows import read_rows, write_rows

TABLE, HYPERPARAMETERS, CURVES, IMAGE = (f"momentumrnn_{name}" for name in ("table11", "table7", "figure9", "figure8"))
IMAGES = "acenode_table2"
CONFIGURED = (IMAGE, CURVES, TABLE, IMAGES, HYPERPARAMETERS)
KEY_FIGURES = (IMAGE, CURVES)
ORDER = [HYPERPARAMETERS, TABLE, IMAGE, CURVES, IMAGES]  # the papers'
EVIL = "LSTM <img src=x onerror=alert(1)> & “co”"
CLAIMS = [
    ("a", TABLE, "reproduced", "MomentumLSTM beats LSTM"),
    ("b", CURVES, "contradicted", "It <script>alert(1)</script> converges faster"),
    ("c", TABLE, "inconclusive", "SRLSTM beats LSTM"),
    ("d", IMAGES, "not run at this scale", "ACE-ODE-Net is best"),
]
SAYS = "Momentum helps"
DEPARTURES = "N = 32, not 128"


def about(run):
    """What a run reports: its accuracy is different from the others'."""
    accuracy = round(0.5 + 0.1 * run.seed + 0.001 * len(run.variant), 4)
    evaluation = {"iteration": 10, "epoch": 1.0, "train_loss": 1.0, "validation_loss": 0.5, "test_loss": 0.5}
    return {"evaluations": [evaluation | {"test_accuracy": accuracy}], "seconds": 1.25}


def accuracy_of(run):
    return about(run)["evaluations"][0]["test_accuracy"]


def claim(name, artifact, verdict, statement):
    runs = "results/demo/runs/mnist/lstm-n32/seed0 results/demo/runs/mnist/lstm-n32/seed1"
    found = {"test": "Welch's t", "estimate": "0.012345", "low": "-0.01", "high": "0.03", "p": "0.04"}
    said = {"source": "Table 1", "says": SAYS, "reason": f"reason {name}", "stand_in": "false", "departures": ""}
    if verdict == "not run at this scale":
        said |= {"reason": f"Digits in place of MNIST; {DEPARTURES}", "stand_in": "true", "departures": DEPARTURES}
    of = {"id": name, "paper": artifact.partition("_")[0], "artifact": artifact, "kind": "better", "runs": runs}
    found |= {"p_adjusted": "0.12", "verdict": verdict, "statement": statement}
    return dict.fromkeys(COLUMNS, "") | found | said | of | {"data": "Digits"}


@pytest.fixture(scope="module")
def configuration(configured):
    whole = configured(scale="demo", seeds=[0, 1], overrides={})
    models = whole.models | {"lstm": whole.models["lstm"].model_copy(update={"label": EVIL})}
    layers = {name: [("here", whole.artifacts[name] | {"key_figure": name in KEY_FIGURES})] for name in CONFIGURED}
    return replace(whole, models=models, artifact_layers=layers)


@pytest.fixture(scope="module")
def runs(configuration):
    """Every run, once."""
    return list({run.id: run for artifact in load_artifacts(configuration).values() for run in artifact.runs}.values())


@pytest.fixture(scope="module")
def root(configuration, runs, tmp_path_factory):
    """Finished results."""
    root = tmp_path_factory.mktemp("index")
    paths = configuration.paths
    rows = [row_of(configuration, run, **about(run)) for run in runs]
    write_rows(root / paths.summary("all"), summary.COLUMNS, rows)
    for artifact in load_artifacts(configuration).values():
        if artifact.averaged:
            write_inputs(root, artifact, curves=curves_of(artifact))
        if artifact.summarised:
            write_inputs(root, artifact, summary=summary_of(artifact, about))
    picture = root / paths.figure(IMAGE, "png")
    picture.parent.mkdir()
    Image.new("RGB", (1200, 300), "navy").save(picture)
    write_rows(root / paths.all_verdicts("csv"), COLUMNS, [claim(*given) for given in CLAIMS])
    for name in (TABLE, IMAGES):
        write_rows(root / paths.verdicts(name), COLUMNS, [claim(*given) for given in CLAIMS if given[1] == name])
    return root


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
    text = text[text.index(f'<section class="artifact" id="{name}">') :]
    return text[: text.index("</section>")].replace("&nbsp;", " ")


def words(text):
    return " ".join(text.split())


# Content


def test_everything_stands_on_the_page_once_in_the_papers_order(read, configuration):
    places = list(read.texts)
    assert [place for place in places if place in CONFIGURED] == ORDER
    parts = ["overview", "momentumrnn", "acenode", "claims", "times", "data"]
    assert [place for place in places if place in parts] == parts
    for name, settings in configuration.artifacts.items():
        assert settings["title"] in read.texts[name]
    links = [link[1:] for link in read.links() if link.startswith("#")]
    assert set(CONFIGURED) <= set(links) <= set(places)  # none leads nowhere


@pytest.mark.parametrize("part", ["overview", "claims"])
def test_what_the_first_screen_and_the_claims_say_is_as_approved(read, part):
    lines = [words(line) for line in read.texts[part].splitlines()]
    approved(f"index_{part}.txt", "\n".join(filter(None, lines)))


def test_the_first_screen_has_a_matrix_of_verdicts(read, page):
    cells = [a for tag, a in read.tags if tag == "a" and a.get("class") == "count"]
    found = [(a["data-artifact"], a["data-verdict"], a["href"]) for a in cells if "data-artifact" in a]
    assert found == [
        (TABLE, "reproduced", f"#{TABLE}-claims"),
        (TABLE, "inconclusive", f"#{TABLE}-claims"),
        (CURVES, "contradicted", f"#{CURVES}-claims"),
        (IMAGES, "not run at this scale", f"#{IMAGES}-claims"),
    ]
    assert [a["data-verdict"] for a in cells if a.get("data-paper") == "ACE-NODE"] == ["not run at this scale"]
    rows = re.findall(r'<tr><th scope="row"><a href="#(\w+)">([^<]+)', page.read_text(encoding="utf-8"))
    assert rows == [*zip(ORDER, ["Table 7", "Table 11", "Figure 8", "Figure 9", "Table 2"], strict=True)]


def test_key_figures_are_pictures_that_lead_to_their_sections(page):
    text = page.read_text(encoding="utf-8")
    pictures = text[text.index('<div class="key-figures">') : text.index("<nav")]
    assert re.findall(r'<a href="#(\w+)">', pictures) == [IMAGE, CURVES]
    assert f'<use href="#{CURVES}-panel-1"' in pictures and pictures.count('src="data:image/png') == 1


def test_what_is_not_in_a_paper_stands_last(configured):
    names = ("acenode_table5", "acenode_table10", "acenode_figure4", "acenode_nfe")
    positions = [artifact_named(configured(scale="demo"), name).position for name in names]
    assert positions == sorted(positions)


def test_on_the_papers_data_nothing_is_said_of_stand_ins(configuration, root, tmp_path):
    shutil.copytree(root, tmp_path / "real")
    paths = configuration.paths
    for artifact in ("all", TABLE, CURVES, IMAGES):
        path = tmp_path / "real" / paths.summary(artifact)
        write_rows(path, summary.COLUMNS, [run | {"stand_in_for": ""} for run in read_rows(path)])
    path = tmp_path / "real" / paths.all_verdicts("csv")
    write_rows(path, COLUMNS, [row | {"stand_in": "false"} for row in read_rows(path)])
    text = index_page(configuration, tmp_path / "real")
    assert "No stand-in data: every task ran on the data that it names." in text
    assert "cannot speak" not in text and "Stand-in data:" not in text and "on stand-in data" not in text


def test_every_number_leads_to_its_runs(page, configuration, runs):
    """From a cell of ours over its link to the runs of its row: all of their values average to the cell's number."""
    text = section(page, TABLE)
    artifact = artifact_named(configuration, TABLE)
    (table,) = re.findall(r"<table>(.*?)</table>", text, flags=re.DOTALL)
    rows = re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", table, flags=re.DOTALL)
    for row, entry in zip(rows, artifact.settings.rows, strict=True):
        anchors = set(re.findall(r'<a href="#([^"]+)">', row))
        ours = re.findall(r'<a href="#[^"]+">([\d.]+)\s±\s[\d.]+ \(n\s=\s2', row)
        shown = [run for run in artifact.runs if run.model == entry.model]
        (body,) = re.findall(rf'<tbody id="{anchors.pop()}">(.*?)</tbody>', text, flags=re.DOTALL)
        assert anchors == set()
        assert re.findall(r"test_accuracy\s([\d.]+)", body) == [f"{accuracy_of(run):.4g}" for run in shown]
        directories = [run.directory.removeprefix("results/demo/") for run in shown]
        assert re.findall(r'<a href="(runs/[^"]+)/">', body) == directories
        for number, task in zip(ours, artifact.tasks(), strict=True):  # MNIST and PMNIST, side by side
            values = [100 * accuracy_of(run) for run in shown if run.task == task]
            assert float(number) == pytest.approx(sum(values) / 2, abs=0.006)
        assert 'title="digest of digits"' in body and f'title="code of {entry.model}"' in body


def test_links_to_files_lead_to_what_the_workflow_makes(read, configuration, runs):
    paths = configuration.paths
    made = [file for a in load_artifacts(configuration).values() for file in [*a.files(), *a.inputs().values()]]
    made += [paths.all_verdicts("csv"), paths.all_verdicts("md")]
    made += [f"{run.directory}/{file}" for run in runs for file in ("", "run.json")]
    links = {link for link in read.links() if not link.startswith("#")}
    assert links == {path.removeprefix("results/demo/") for path in made} - {"summary/runs.csv"}


def test_notes_are_folded_and_their_summary_names_stand_ins(page):
    (summary_line, first) = re.search(
        r"<summary>(\d+ notes.*?)</summary>.*?<li>(.*?)</li>", section(page, TABLE), re.S
    ).groups()
    assert re.match(r"\d+ notes\. <strong>Stand-in data:</strong> Digits 8x8 .* in place of MNIST", summary_line)
    assert first.startswith("Scale: demo")


def test_where_numbers_come_from_that_no_run_reports_and_which_claims_rest_on_an_artifact(read):
    assert "The numbers are the configuration's" in read.texts[HYPERPARAMETERS]
    assert "drawn from the generated data itself" in read.texts[IMAGE]
    assert "Claims that rest on it: contradicted 1" in words(read.texts[CURVES])


def test_nothing_of_what_is_shown_becomes_markup(page, read):
    text = page.read_text(encoding="utf-8")
    assert "<img src=x" not in text and "<script>alert" not in text
    assert EVIL in read.texts[TABLE] and EVIL in read.texts[CURVES]
    assert "<script>alert(1)</script>" in read.texts["claim-b"]
    assert [tag for tag, _ in read.tags].count("script") == 1


def test_nothing_is_loaded_from_elsewhere(page, read):
    assert [address for address in read.asked_for() if not address.startswith(("data:", "#"))] == []
    assert not re.search(r"@import|url\((?!#)", page.read_text(encoding="utf-8"))
    (policy,) = [a["content"] for tag, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_curves_are_drawn_for_every_model_of_every_panel(page, configuration):
    panels = re.findall(r"<svg viewBox[^>]*data-box.*?</svg>", section(page, CURVES), flags=re.DOTALL)
    settings = artifact_named(configuration, CURVES).settings
    for panel, entry in zip(panels, settings.panels, strict=True):
        assert f'data-scales="{entry.x_scale} {entry.y_scale}"' in panel
        for kind, of_a_model in (("curve", 1), ("seed", 2)):
            found = re.findall(rf'class="{kind}" data-model="(\w+)"', panel)
            assert sorted(found) == sorted(of_a_model * settings.models)


POWER = {"paired_low": "-0.5", "paired_high": "1.25", "detectable": "0.75", "seeds_needed": "12", "also": ""}


def test_a_finding_that_does_not_apply_is_left_out():
    row = dict.fromkeys(COLUMNS, "") | {"p": "0.5", "p_adjusted": "1", "effect": "-1.5", "effect_name": "g"}
    found = {name: text for name, text in findings(row).items() if text}
    assert found == {"Effect": "g = −1.5", "p": "0.5; Holm 1"}


@pytest.mark.parametrize(
    ("kind", "effect", "found"),
    [
        (
            "better",
            "g",
            {"Difference or ratio": "+0.5 [−1, +2]", "Paired by seed": "[−0.5, +1.25]", "Detectable": "0.75"},
        ),
        ("ratio", "ratio", {"Difference or ratio": "× 0.5 [−1, 2]", "Detectable": "× 0.75"}),
    ],
)
def test_a_claim_says_what_it_could_have_found_and_an_inconclusive_one_how_many_seeds_would_decide(kind, effect, found):
    row = dict.fromkeys(COLUMNS, "") | POWER | {"kind": kind, "effect_name": effect, "effect": "0.5"}
    row |= {"estimate": "0.5", "low": "-1", "high": "2"}
    for verdict, seeds in (("inconclusive", "12"), ("reproduced", "")):
        shown = findings(row | {"verdict": verdict})
        assert {name: shown[name] for name in found} == found and shown["Seeds needed"] == seeds
    assert findings(row | {"verdict": "not run at this scale"}) == {}


def test_where_nothing_is_judged_the_page_says_so_and_shows_neither_verdict_nor_number(configuration, root, tmp_path):
    """Of a claim that is not run: its statement, and the reason, which the group gives where all have it."""
    shutil.copytree(root, tmp_path / "none")
    rows = [claim(name, artifact, "not run at this scale", said) for name, artifact, _, said in CLAIMS]
    rows[2] |= {"reason": f"{rows[2]['reason']}; changed from the paper’s: training", "stand_in": "false"}
    write_rows(tmp_path / "none" / configuration.paths.all_verdicts("csv"), COLUMNS, rows)
    text = index_page(configuration, tmp_path / "none")
    read = Reader(text)
    lines = [words(line) for part in ("overview", "claims") for line in read.texts[part].splitlines()]
    approved("index_none_judged.txt", "\n".join(filter(None, lines)))
    assert {a["data-verdict"] for _, a in read.tags if "data-verdict" in a} == {"not run at this scale"}
    assert words(read.texts["claim-c"]).startswith("SRLSTM beats LSTM changed from the paper’s")


def test_second_verdicts_stand_apart_and_change_nothing_else(configuration, root, tmp_path):
    """Without them the page is the same, byte for byte; what comes with them is in boxes of their own."""
    shutil.copytree(root, tmp_path / "second")
    rows = [claim(*given) for given in (*CLAIMS, ("e", IMAGES, "not run at this scale", "ACE-ODE-Net beats ResNet"))]
    pages = []
    for second in ({}, {"d": ("holds here", ""), "e": ("undecided here", "the seeds’ spread allows both")}):
        for row in rows:
            row["here"], row["here_reason"] = second.get(row["id"], ("", ""))
        rows[-1]["seeds_needed"] = "7" if second else ""
        write_rows(tmp_path / "second" / configuration.paths.all_verdicts("csv"), COLUMNS, rows)
        pages.append(index_page(configuration, tmp_path / "second"))
    before, after = (page.splitlines() for page in pages)
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    assert {tag for tag, *_ in found} == {"equal", "insert"}
    added = [line for tag, _, _, start, end in found if tag == "insert" for line in after[start:end]]
    assert not re.search("reproduced|contradicted|inconclusive|data-verdict", "\n".join(added))
    assert not re.search("(holds|fails|undecided) here|second verdict|--second", pages[0], re.IGNORECASE)
    read = Reader(pages[1])
    texts = [read.texts[place] for place in ("second-verdicts", "claim-d", "claim-e")]
    lines = [words(line) for text in texts for line in text.splitlines()]
    approved("index_second.txt", "\n".join(filter(None, lines)))
    counts = [cell for row in read.rows for cell in row if re.fullmatch(r"\d+ here", cell)]
    assert counts == ["1 here", "1 here"] * 2  # of Table 2, and of all


def test_a_table_wider_than_a_screen_is_shown_group_by_group():
    """Each with the columns of no group; our numbers are still ours."""
    names = [("", "Model"), *((group, f"c{number}") for group in "ab" for number in range(COLUMNS_OF_A_SCREEN // 2))]
    table = Table.of("t", [], [(RowKey("m", None), dict.fromkeys(names, "1"))], [{}], {("a", "c0"): "task"})
    parts = parts_of(table, lambda key, task: f"#{task}")
    assert [part.heading for part in parts] == ["a", "b"]
    assert ['href="#task"' in part.html for part in parts] == [True, False]
    assert all(part.html.count('scope="col"') == 1 + COLUMNS_OF_A_SCREEN // 2 for part in parts)


def test_a_number_stays_on_one_line():
    assert unbroken("299.14 ± 138.04 (n = 2)") == "299.14\u00a0±\u00a0138.04 (n\u00a0=\u00a02)"
    assert unbroken("15.42 [22, 34] or else") == "15.42\u00a0[22,\u00a034] or else"


def test_run_times_are_sums_of_the_runs_clocks(runs, read):
    assert f"Training took {duration(1.25 * len(runs))} in all, over {len(runs)} runs" in read.texts["times"]


def test_jobs_are_summed_by_kind(tmp_path):
    head = "s\th:m:s\tmax_rss\n"
    (tmp_path / "train-mnist-0.tsv").write_text(head + "10.5\t0:00:10\t300.5\n")
    (tmp_path / "train-mnist-1.tsv").write_text(head + "20.5\t0:00:20\t200\n")
    (tmp_path / "render-x.tsv").write_text(head + "0.05\t0:00:00\t-\n")
    (tmp_path / "empty.tsv").write_text("")
    train, render = times.jobs(tmp_path)
    assert train == {"kind": "train", "count": 2, "total": 31.0, "longest": 20.5, "memory": 300.5}
    assert (render["kind"], render["count"], render["memory"]) == ("render", 1, 0.0)


def test_durations():
    said = [duration(seconds) for seconds in (0.123456, 59.4, 60, 3599.6, 3600, 7384)]
    assert said == ["0.123 s", "59.4 s", "1 min 00 s", "1 h 00 min", "1 h 00 min", "2 h 03 min"]


def test_the_script_writes_the_page_whole(ended, configuration, root, page, monkeypatch):
    before = page.read_bytes()
    monkeypatch.setattr(render_index, "load", lambda settings: configuration)
    assert ended(render_index.main, "--root", root).code == 0
    assert page.read_bytes() == before  # and the same bytes for the same results
    assert not list(page.parent.glob(".index.html*"))


# Errors


def test_a_picture_that_is_missing_or_none_is_named(tmp_path):
    path = tmp_path / "x.png"
    for read_picture in (picture_of, lambda path: thumbnail_of(path, 10)):
        for content in (None, b"GIF89a", b"\x89PNG\r\n\x1a\n"):
            path.write_bytes(content) if content else path.unlink(missing_ok=True)
            with refused("snakemake", file=path):
                read_picture(path)


def test_verdicts_that_are_missing_are_named(configuration, root, tmp_path):
    shutil.copytree(root, tmp_path / "cut")
    path = tmp_path / "cut" / configuration.paths.all_verdicts("csv")
    path.unlink()
    with refused(file=path):
        index_page(configuration, tmp_path / "cut")


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


def test_the_overview_fits_a_screen_and_tables_of_results_are_not_cut_off(browser, page):
    shown = browser.open(page, width=1280, height=900)
    assert shown.run('document.querySelector(".matrix tfoot").getBoundingClientRect().bottom') < 900
    wider = "boxes.filter(box => box.scrollWidth > box.clientWidth).length"
    assert (
        shown.run(f'(boxes => {wider})([...document.querySelectorAll("#{TABLE} > .scroll, #{IMAGES} > .scroll")])') == 0
    )


def test_a_cell_of_the_matrix_shows_its_claims(browser, page):
    shown = browser.open(page)
    shown.click(f".count[data-artifact={TABLE}][data-verdict=inconclusive]")
    shown.until('document.getElementById("claim-c").checkVisibility()')
    assert claims_seen(shown) == "c"
    assert shown.run("location.hash") == f"#{TABLE}-claims"
    shown.click(f"#{CURVES} a[data-artifact]")
    shown.until('document.getElementById("claim-b").checkVisibility()')
    assert claims_seen(shown) == "b"
    shown.click(".filters button")
    shown.until('document.querySelector("[name=count]").textContent.startsWith("4 ")')
    assert claims_seen(shown) == "abcd"


def test_without_scripts_all_is_there_but_what_switches(browser, page):
    shown = browser.open(page, width=360, scripts=False)
    assert shown.run('document.querySelector(".filters").checkVisibility()') is False
    assert shown.run('document.querySelectorAll(".panel svg .curve").length') == 5 * 6
    assert shown.run('[...document.querySelectorAll(".claims li, .says, .claimed")].every(e => !e.hidden)')
    assert shown.run('[...document.querySelectorAll("[data-toggles]")].every(e => e.disabled)')
    shown.click(f".count[data-artifact={IMAGES}]")
    shown.until(f'document.getElementById("{IMAGES}-claims").getBoundingClientRect().top < 800')


def claims_seen(shown):
    """The names of the claims that the filters leave, of which the page says how many they are."""
    left = 'filter(claim => !claim.hidden && !claim.closest(".says").hidden && !claim.closest(".claimed").hidden)'
    found = shown.run(f'[...document.querySelectorAll(".claims li")].{left}.map(claim => claim.id)')
    assert shown.run("filters.elements.count.textContent") == f"{len(found)} of 4 claims"
    return "".join(sorted(name.removeprefix("claim-") for name in found))


def test_claims_are_filtered(browser, page):
    shown = browser.open(page, width=360)

    def seen(**filters):
        shown.run(
            f"for (const [k, v] of Object.entries({json.dumps(filters)})) filters.elements[k].value = v; filter()"
        )
        return claims_seen(shown)

    assert seen() == "abcd"
    assert seen(verdict="contradicted") == "b"
    assert seen(verdict="", paper="MomentumRNN") == "abc"
    assert seen(artifact=TABLE) == "ac"
    assert seen(text="srlstm BEATS") == "c"
    assert seen(text="nothing of the kind") == ""
    shown.run('location.hash = "claim-d"')
    shown.until('document.getElementById("claim-d").checkVisibility()')  # a link to it shows it again
    assert seen() == "abcd"


def test_a_model_is_switched_off_and_on(browser, page):
    shown = browser.open(page)
    marks = '[...document.querySelectorAll(".curve[data-model=adam_lstm], .seed[data-model=adam_lstm]")]'
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
    rows = read_rows(root / configuration.paths.curves(CURVES))
    rows = [row for row in rows if (row["panel"], row["model"]) == ("0", "momentum_lstm")]
    near = min(rows, key=lambda row: abs(float(row["x"]) - float(place)))
    told = float(re.search(r"MomentumLSTM ([\d.]+)", values)[1])
    assert told == pytest.approx(float(near["mean"]), rel=0.02)
    shown.click("[data-toggles=momentum_lstm]")
    shown.point(".panel svg", across=0.6)
    assert "MomentumLSTM" not in shown.run('document.querySelector(".panel .reading").textContent')


def test_a_number_s_link_opens_the_place_that_it_leads_to(browser, page):
    shown = browser.open(page, width=360, height=800)
    link = f"#{TABLE} tbody th a"
    place = shown.run(f'document.querySelector("{link}").hash.slice(1)')
    assert not shown.run(f'document.getElementById("{place}").checkVisibility()')
    shown.click(link)
    shown.until(f'document.getElementById("{place}").checkVisibility()')
    shown.until(f'(top => 0 <= top && top < 800)(document.getElementById("{place}").getBoundingClientRect().top)')
