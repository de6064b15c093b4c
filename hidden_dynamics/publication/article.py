"""The article: what the publications found, as a manuscript in Markdown for pandoc, with the metadata that ReScience C
asks for (https://rescience.github.io). Numbers and tables are the publications', words docs/evidence/README.md's."""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import yaml

from hidden_dynamics.artifacts.tables import markdown_text
from hidden_dynamics.claims.verdict import read_verdicts
from hidden_dynamics.configuration import Configuration, read_yaml
from hidden_dynamics.pages.findings import found, outcome_text
from hidden_dynamics.papers.claims import PLAN
from hidden_dynamics.papers.deviations import first_part
from hidden_dynamics.publication.restoring import Publication
from hidden_dynamics.publication.texts import filled
from hidden_dynamics.results.rows import Row, read_rows
from hidden_dynamics.system.files import ROOT

EVIDENCE = ROOT / "docs/evidence"
FULL = ("paper", "dtriv/paper")  # at the papers' settings
PLACES = (*FULL, "evening")  # on small data
FIGURES = {  # by the section that they follow
    "Momentum and vanishing gradients": (
        "momentumrnn_jacobian",
        "Norms of gradients in untrained cells: by autograd, the plain product, Eq. 13.",
    )
}
MORTALITY = ("tables/acenode_table7.md", "tables/acenode_splits.md")
TITLE = "[Re] MomentumRNN and ACE-NODE: which of their claims hold?"
SUMMARY, RUN = "In short", "What was run, and what words mean"  # of the second the article has its own
CHANGE = re.compile(r"^\| \d+(?:st|nd|rd|th)\b", re.MULTILINE)  # a line of the table of changes begins with its day
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)([^)]+)\)")


def article() -> str:
    """The manuscript; a `UserError` where a file of a publication is missing or altered."""
    publications = {place: Publication(EVIDENCE / place) for place in PLACES}
    for publication in publications.values():
        for file in ("verdicts.csv", "runs.csv"):
            publication.read(file)  # which holds it to its digest
    verdicts = {place: read_verdicts(EVIDENCE / place / "verdicts.csv") for place in ("paper", "evening")}
    runs = {place: read_rows(EVIDENCE / place / "runs.csv") for place in PLACES}
    main = [run for place in FULL for run in runs[place]]
    words, configuration = sections("README.md"), publications["paper"].configuration
    del words[RUN]
    text = filled(
        "article.md.j2",
        title=TITLE,
        citation=read_yaml(ROOT / "CITATION.cff"),
        ended=max(one.entities["./"]["datePublished"] for one in publications.values())[:10],
        summary=summary(words.pop(SUMMARY)),
        main=main,
        small=runs["evening"],
        hours=hours,
        cut_short=sum(bool(first_part(publications[at].configuration, run["task"])) for at in FULL for run in runs[at]),
        outcomes={
            place: Counter(outcome_text(one) for one in own if place == "paper" or one.deviations)
            for place, own in verdicts.items()
        },
        planned=[one for one in verdicts["paper"] if one.plan == "yes"],
        changed=len(CHANGE.findall((EVIDENCE / "CHANGES.md").read_text(encoding="utf-8"))),
        plan=PLAN,
        words=words,
        figures=FIGURES,
        mortality=mortality(publications["paper"]),
        papers=found(verdicts["paper"], beside=verdicts["evening"], directions=False),
        variants=released(configuration, main),
        changes=sections("PLAN.md")["Changes"],
        text=markdown_text,
    )
    return with_notes(text)


def figures() -> dict[str, bytes]:
    """The pictures, PNG, by name; a `UserError` where one is missing or altered."""
    publication = Publication(EVIDENCE / "paper")
    return {name: publication.read(f"figures/{name}.png") for name, _ in FIGURES.values()}


def metadata() -> str:
    """metadata.yaml; what only authors and editors know is left to them."""
    about = read_yaml(ROOT / "CITATION.cff")
    works = [{"cite": work["title"], "url": work.get("url"), "doi": work.get("doi")} for work in about["references"]]
    unknown = {"orcid": None, "email": None, "affiliations": "*"}
    text: dict[str, Any] = {
        "title": TITLE,
        "authors": [{"name": author["name"], **unknown} for author in about["authors"]],
        "keywords": ", ".join(about["keywords"]),
        "code": [{"url": about.get("repository-code")}, {"doi": about.get("doi")}],
        "replication": works,
        "abstract": summary(sections("README.md")[SUMMARY]).replace("*", ""),
        "type": "Replication",
        "domain": "Machine learning",
        "language": "Python",
    }
    return yaml.safe_dump(text, sort_keys=False, allow_unicode=True)


def sections(file: str) -> dict[str, str]:
    """The text under each heading of second order, of a file in docs/evidence."""
    _, *parts = re.split(r"^## +", (EVIDENCE / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading: text.strip() for heading, _, text in (part.partition("\n") for part in parts)}


def summary(items: str) -> str:
    """The items of a list, one after the other."""
    return " ".join(" ".join(item.split()) for item in re.split(r"^- ", items, flags=re.MULTILINE) if item.strip())


def hours(runs: Iterable[Row]) -> float:
    """Of training and evaluation, by the runs' own clocks."""
    return sum(float(run["training_seconds"]) + float(run["evaluation_seconds"]) for run in runs) / 3600


def released(configuration: Configuration, runs: Iterable[Row]) -> dict[str, tuple[str, str]]:
    """What text and code say, by subject, where a run has the code's side."""
    taken = {name for run in runs for name, value in json.loads(run["variants"]).items() if value == "released"}
    entries = [entry for name, entry in configuration.variants.items() if name in taken]
    return {entry.about: (entry.published.text, entry.released.text) for entry in entries if entry.released}


def mortality(publication: Publication) -> dict[str, list[str]]:
    """The AUCs of deaths by model, as they are printed and as they are ours in each part of its tables; "Model" has the
    headings, "–" stands where there is none."""
    text = "\n\n".join(publication.read(path).decode() for path in MORTALITY if path in publication.entities)
    parts = re.findall(r"\*\*([^*]+): AUC\*\*\n\n(.+?)\n\n", text, flags=re.DOTALL)
    rows = {"Model": ["printed", *(title for title, _ in parts)]}
    for place, (_, table) in enumerate(parts, 1):
        for line in table.splitlines()[2:]:
            model, _, _, ours, printed, *_ = (cell.strip() for cell in line.strip("|").split("|"))
            rows.setdefault(model, [printed, *"–" * len(parts)])[place] = ours
    return rows


def with_notes(markdown: str) -> str:
    """The text, in which links to files of the project are footnotes that name these."""
    notes: list[str] = []

    def noted(link: re.Match[str]) -> str:
        place = posixpath.normpath(f"docs/evidence/{link[2].partition('#')[0]}")
        notes.append(f"[^{len(notes) + 1}]: `{place}`")
        return f"{link[1]}[^{len(notes)}]"

    return "\n\n".join([LINK.sub(noted, markdown), *notes]) + "\n"
