"""What others take the repository by: licence, citation, names of targets, links of documents."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from markup import tables

import hidden_dynamics
from hidden_dynamics.claims.verdict import Outcome, Verdict, read_verdicts
from hidden_dynamics.claims.words import effect_text
from hidden_dynamics.pages.findings import outcome_text
from hidden_dynamics.results.rows import read_rows

EVIDENCE = ROOT / "docs/evidence"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md"), *EVIDENCE.glob("*.md")])
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
    assert (CITATION["version"], CITATION["license"]) == (hidden_dynamics.__version__, PROJECT["license"])
    for work in (CITATION, *CITATION["references"]):
        assert {"title", "authors"} <= work.keys()


def test_every_artifact_is_among_the_documented_targets():
    rows = re.findall(
        r"^\| (`[a-z]+_.+?) \|", (ROOT / "docs/targets.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(names) == sorted(ARTIFACTS)


def test_the_readme_shows_the_published_verdicts():
    """Each row of its second table has its claim's verdict, interval and printed difference; it is of one screen."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, (_, _, *rows), *_ = tables(readme)
    published = {one.id: one for one in read_verdicts(EVIDENCE / "paper/verdicts.csv") if one.outcome.of_the_paper}
    for claim, printed, here, outcome in rows:
        verdict = published.pop(claim.partition(":")[0])
        assert outcome == outcome_text(verdict)
        by = verdict.printed_difference if " to " in here else None
        assert all(re.search(r"(?<![\d.])" + re.escape(text), here) for text in _shown(verdict, here))
        assert by is None or printed.startswith(effect_text(by, None, None, verdict.decimals))
    assert not published and len(readme.splitlines()) <= 110 and len(readme.encode()) <= 7000


def _shown(verdict: Verdict, here: str) -> list[str]:
    """Its difference and, where it is named, that from its control; without an interval the subject's mean."""
    if " to " not in here:
        return [] if verdict.subject_mean is None else [f"{verdict.subject_mean:.{verdict.decimals}f}"]
    effects = [(verdict.difference, verdict.low, verdict.high)]
    effects += [(verdict.control_difference, verdict.control_low, verdict.control_high)] * ("control" in here)
    texts = [effect_text(*effect, verdict.decimals) for effect in effects]
    return [text.replace("+", "") if verdict.kind == "faster" else text for text in texts]


def test_the_readme_counts_the_published_verdicts():
    """How many claims there are; on small data the directions, those open, those without learning."""
    said = re.search(r"How much is settled\?.+?\n\n", prose(ROOT / "README.md"), re.DOTALL)
    paper, evening = (read_verdicts(EVIDENCE / of / "verdicts.csv") for of in ("paper", "evening"))
    judged = [one.id for one in paper if one.outcome.of_the_paper]
    assert judged == ["M1", "M3", "M6a", "M6b", "M9", "M11", "A1", "A2", "A3", "A8"]
    assert all(one.outcome.of_the_paper for one in paper if one.plan == "yes")
    found = Counter(one.outcome for one in evening)
    small = [found[one] for one in (Outcome.AGREES, Outcome.DISAGREES, Outcome.OPEN, Outcome.UNLEARNED)]
    text = re.sub(r"\]\(.+?\)", "", said[0]) if said else ""
    assert [int(number) for number in re.findall(r"\d+", text)] == [len(paper), sum(small), *small]


def test_what_was_found_is_told_in_the_published_losses():
    """The losses of its tables are those of the publications' statistics, and of their table of logs."""
    controls, logs = tables((EVIDENCE / "README.md").read_text(encoding="utf-8"))
    places = ("paper", "dtriv/paper", "evening")
    published = [row for of in places for row in read_rows(EVIDENCE / of / "statistics.csv")]
    means = [(float(row["mean"]), float(row["std"])) for row in published if row["mean"] and row["std"]]
    course = "".join((EVIDENCE / of / "tables/momentumrnn_course.md").read_text(encoding="utf-8") for of in places[:2])
    for losses, there, count in ((controls, means, 22), (logs, _with_deviations(course), 10)):
        rounded = {(round(mean, digits), round(std, digits)) for mean, std in there for digits in (2, 3)}
        assert len(own := _with_deviations(str(losses))) == count and own <= rounded


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
