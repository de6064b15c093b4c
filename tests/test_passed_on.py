"""What others take the repository by: licence, citation, names of targets, links of documents."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from markup import tables

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ARTIFACTS = yaml.safe_load((ROOT / "config/artifacts.yaml").read_text(encoding="utf-8"))


def prose(document: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(document: Path) -> set[str]:
    """The names under which GitHub links a document's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_licence():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) 2026 the Hidden Dynamics authors\n")
    assert PROJECT["license"] == CITATION["license"] == "MIT"


def test_citation_has_what_its_format_requires():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= CITATION.keys()
    assert CITATION["version"] == PROJECT["version"]
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= reference.keys()


def test_citation_names_both_papers_and_their_authors():
    authors = [[author["family-names"] for author in paper["authors"]] for paper in CITATION["references"]]
    assert authors == [["Nguyen", "Baraniuk", "Bertozzi", "Osher", "Wang"], ["Jhin", "Jo", "Kong", "Jeon", "Park"]]


def test_every_artifact_is_among_the_documented_targets():
    rows = re.findall(
        r"^\| (`[a-z]+_.+?) \|", (ROOT / "docs/targets.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(names) == sorted(ARTIFACTS)


def test_readme_counts_the_artifacts_that_are_there():
    of_the_papers = [name for name in ARTIFACTS if re.search(r"_(table|figure)\d+$", name)]
    assert len(of_the_papers) == 40
    assert "regenerates the 40 tables and figures" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_rows_of_the_published_evidence():
    """The cells of each row of its first table are those of one row of the publication's."""
    (_, _, *shown), *_ = tables((ROOT / "README.md").read_text(encoding="utf-8"))
    published = tables((ROOT / "docs/evidence/tables/acenode_table9.md").read_text(encoding="utf-8"))
    assert shown and all(any(set(row) <= set(own) for table in published for own in table) for row in shown)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", prose(document)):
        place, _, anchor = next(filter(None, link)).partition("#")
        if place.startswith("http"):
            continue
        target = document.parent / place if place else document
        assert target.exists(), place
        assert not anchor or anchor in anchors(target), anchor


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_no_document_has_a_section_twice(document):
    sections = Counter(re.findall(r"^## (.+)$", prose(document), flags=re.MULTILINE))
    assert not [section for section, count in sections.items() if count > 1]
