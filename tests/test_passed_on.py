"""What others take the repository by: licence, citation, names of targets, links of documents."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from markup import tables

from hidden_dynamics.claims.verdict import FAILS, HOLDS, OF_THE_PAPER, UNDECIDED, word
from hidden_dynamics.results.rows import read_rows

EVIDENCE = ROOT / "docs/evidence"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md"), *EVIDENCE.glob("*.md")])
OWN, DIRECTIONS = tuple(OF_THE_PAPER.values()), (HOLDS, FAILS, UNDECIDED)
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


def test_the_citation_is_of_this_package():
    assert (CITATION["version"], CITATION["license"]) == (PROJECT["version"], PROJECT["license"])
    for work in (CITATION, *CITATION["references"]):
        assert {"title", "authors"} <= work.keys()


def test_every_artifact_is_among_the_documented_targets():
    rows = re.findall(
        r"^\| (`[a-z]+_.+?) \|", (ROOT / "docs/targets.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(names) == sorted(ARTIFACTS)


def test_the_readme_shows_rows_of_the_published_evidence():
    """The cells of each row of its second table are those of one row of the publication's; it is of one screen."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, (_, _, *shown), *_ = tables(readme)
    published = tables((EVIDENCE / "paper/tables/acenode_table7.md").read_text(encoding="utf-8"))
    assert shown and all(any(set(row) <= set(own) for table in published for own in table) for row in shown)
    assert len(readme.splitlines()) <= 110 and len(readme.encode()) <= 7000


def test_the_readme_counts_the_published_verdicts():
    said = re.search(r"How much is settled\?.+?\n\n", prose(ROOT / "README.md"), re.DOTALL)
    paper, evening = ([row for row in read_rows(EVIDENCE / of / "verdicts.csv")] for of in ("paper", "evening"))
    own, asked = Counter(map(word, paper)), Counter(map(word, evening))
    own, asked = ([found[verdict] for verdict in of] for found, of in ((own, OWN), (asked, DIRECTIONS)))
    counts = [len(paper), sum(own), *own, sum(asked), *asked]
    assert said and [int(number) for number in re.findall(r"\d+", said[0])] == counts


def test_what_was_found_is_told_in_the_published_losses():
    """The losses of its tables are, with three decimals, those of the publications' controls and logs."""
    controls, logs = tables((EVIDENCE / "README.md").read_text(encoding="utf-8"))
    for losses, pages, count in (
        (controls, "*/tables/momentumrnn_controls.md", 19),
        (logs, "paper/tables/momentumrnn_course.md", 10),
    ):
        there = _with_deviations("".join(page.read_text(encoding="utf-8") for page in EVIDENCE.glob(pages)))
        assert len(own := _with_deviations(str(losses))) == count and own <= there


def _with_deviations(text: str) -> set[tuple[float, float]]:
    found = re.findall(r"(\d+\.\d+) ± (\d+\.\d+)", text)
    return {(round(float(mean), 3), round(float(deviation), 3)) for mean, deviation in found}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", prose(document)):
        place, _, anchor = next(filter(None, link)).partition("#")
        if place.startswith("http"):
            continue
        target = document.parent / place if place else document
        assert target.exists(), place
        assert not anchor or anchor in anchors(target), anchor
