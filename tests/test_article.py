"""The article: each claim and all words of the publications; LaTeX and PDF where pandoc and XeLaTeX are installed."""

import json
import re
import shutil
from itertools import chain

import pytest
import write_article
import yaml
from conftest import ROOT, refused
from markup import tables

from hidden_dynamics.claims.verdict import read_verdicts
from hidden_dynamics.publication import article as module
from hidden_dynamics.publication.article import article, figures, metadata, sections, with_notes
from hidden_dynamics.results.rows import read_rows


@pytest.fixture(scope="module")
def text():
    return article()


def test_every_claim_stands_in_it_with_its_verdict(text):
    verdicts = read_verdicts(ROOT / "docs/evidence/paper/verdicts.csv")
    rows = {row.split()[1].strip("†"): row for row in text.splitlines() if re.match(r"\| [AM]\d+[ab]?†? ", row)}
    found = {one.id: "not judged" if one.id == "M2" else one.outcome.value for one in verdicts}  # M2 has numbers alone
    assert found and all(word in rows[name].split("|")[2] for name, word in found.items())


def test_the_words_of_the_evidence_stand_in_it_each_link_as_a_note(text):
    for heading in sections("README.md"):
        placed = "Appendix: on small data {-}" if heading == "On small data" else heading
        assert (heading in (module.SUMMARY, module.RUN)) != (f"\n# {placed}\n" in text)
    notes = re.findall(r"^\[\^(\d+)\]: `(.+)`$", text, re.MULTILINE)
    assert notes and all((ROOT / path).exists() for _, path in notes)
    assert [number for number, _ in notes] == [str(number) for number in range(1, len(notes) + 1)]
    assert re.findall(r"\[\^(\d+)\](?!:)", text) == [number for number, _ in notes]


def test_a_link_is_a_note_where_it_is_of_the_project():
    made = with_notes("[a](paper/x.md#y), [b](../c.md), ![d](e.png), [f](https://g)")
    assert (
        made == "a[^1], b[^2], ![d](e.png), [f](https://g)\n\n[^1]: `docs/evidence/paper/x.md`\n\n[^2]: `docs/c.md`\n"
    )


def test_it_counts_what_was_planned_and_what_was_changed(text):
    """M11 is planned, though no test of the family: it needs no runs."""
    verdicts = read_verdicts(ROOT / "docs/evidence/paper/verdicts.csv")
    planned = [one for one in verdicts if one.plan == "yes"]
    assert all(one.outcome.of_the_paper for one in planned)
    assert f"{len(planned)} belong to a plan that is older than its runs, all judged |" in text
    changes, *_ = tables((ROOT / "docs/evidence/CHANGES.md").read_text(encoding="utf-8"))
    assert f"{len(changes) - 2} changes that were made after numbers had been seen" in text


def test_each_picture_follows_a_section(text):
    for heading, (name, _) in module.FIGURES.items():
        section = text.partition(f"\n# {heading}\n")[2].partition("\n# ")[0]
        assert f"({name}.png)" in section and figures()[name].startswith(b"\x89PNG")


def test_the_variants_in_it_are_those_that_a_run_took_as_released(text):
    assert "| one permutation per seed, that of RandomState(seed) |" in text  # of PMNIST
    runs = [read_rows(ROOT / f"docs/evidence/{place}/runs.csv") for place in module.FULL]
    taken = {name for run in chain(*runs) for name, value in json.loads(run["variants"]).items() if value == "released"}
    (shown,) = [table for table in tables(text) if table[0] == ["What", "The text", "The code"]]
    assert len(shown) - 2 == len(taken) > 20


def test_its_table_of_deaths_has_the_cells_of_the_published_one(text):
    (_, *rows), *_ = [table for table in tables(text) if table[0][0] == "Model"]
    published = tables((ROOT / "docs/evidence/paper/tables/acenode_table7.md").read_text(encoding="utf-8"))[0]
    printed = {model: (ours, there) for model, _, _, ours, there, *_ in published[2:]}
    assert {row[0]: (row[2], row[1]) for row in rows[1:]} == printed


def test_its_metadata_are_of_the_papers_and_leave_open_what_only_authors_know():
    made = yaml.safe_load(metadata())
    assert [bool(work["url"] or work["doi"]) for work in made["replication"]] == [True, True]
    assert made["authors"][0]["orcid"] is None and made["title"] == module.TITLE and "**" not in made["abstract"]


def test_an_altered_publication_is_refused(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "docs/evidence", tmp_path / "evidence")
    monkeypatch.setattr(module, "EVIDENCE", tmp_path / "evidence")
    with (tmp_path / "evidence/paper/verdicts.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    with refused(file=tmp_path / "evidence/paper/verdicts.csv"):
        article()


def test_without_pandoc_the_manuscript_is_written_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["write_article.py", str(tmp_path)])
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused(key="pandoc"):
        write_article.main()
    assert (tmp_path / "article.md").read_text(encoding="utf-8") == article()


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, write_article.TOOLS)), reason="pandoc or XeLaTeX is not installed")
def test_its_text_is_of_few_pages_and_every_character_has_a_glyph(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["write_article.py", str(tmp_path)])
    write_article.main()
    labels = (tmp_path / "article.aux").read_text(encoding="utf-8")
    begins = re.search(r"\\newlabel\{appendix-mortality-on-physionet-every-model\}\{\{.*?\}\{(\d+)\}", labels)
    assert begins and int(begins[1]) <= 7  # after six pages of text
    log = (tmp_path / "article.log").read_text(encoding="utf-8", errors="replace")
    assert "Missing character" not in log and "Overfull" not in log and "undefined" not in log
    assert (tmp_path / "article.pdf").read_bytes().startswith(b"%PDF")
