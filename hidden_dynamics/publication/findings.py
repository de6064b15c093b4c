"""findings.md: the claims judged at the papers' or their code's settings; the errors over all tests; the questions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.artifacts.kinds.forest import EFFECTS, IDLE, Comparison, Forest, deviating
from hidden_dynamics.claims.multiplicity import in_a_sentence
from hidden_dynamics.claims.verdict import FAILS, HOLDS, NOT_RUN, OF_THE_PAPER, UNDECIDED, plain, word
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.claims_list import shown
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.results.rows import Row

TEMPLATE = Path(__file__).parent / "templates" / "findings.md.j2"
TABLES = {  # kinds that answer a question of ours, no claim of the papers
    "contrast_table": "Each filter beside a control without momentum, whose input is scaled.",
    "course": "Whether the implementation is faithful: our losses beside those that the authors logged.",
}


def page(
    configuration: Configuration, claims: Sequence[Row], artifacts: Mapping[str, Artifact], drawn: Mapping[str, bytes]
) -> str:
    """
    Args:
        claims: the rows of claims.csv.
        artifacts: by their files in the publication; those that answer a question are chosen here.
        drawn: the contents of these files.
    """
    questions = [
        _answered(path, one, claims) if isinstance(one, Forest) else _tabled(path, one, drawn[path].decode())
        for path, one in artifacts.items()
        if isinstance(one, Forest) or one.settings.kind in TABLES
    ]
    about: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), undefined=jinja2.StrictUndefined, **about)
    return template.render(
        command=command_of(configuration),
        scale=configuration.scale_name,
        found=at_the_papers_settings(claims),
        claims=_in_words(configuration, claims),
        overall=in_a_sentence(claims),
        questions=questions,
    )


def at_the_papers_settings(claims: Sequence[Row]) -> str:
    """How many claims have which verdict at the papers' or their code's settings; "" where none was judged."""
    found = Counter(map(word, claims))
    own = {verdict: found[verdict] for verdict in OF_THE_PAPER.values()}
    if not any(own.values()):
        return ""
    own[NOT_RUN] = len(claims) - sum(own.values())
    counted = ", ".join(f"{count} {verdict}" for verdict, count in own.items())
    return f"Of {len(claims)} claims at the settings of the papers or of their released code: {counted}."


def _in_words(configuration: Configuration, claims: Sequence[Row]) -> list[dict[str, str]]:
    """The claims judged at the papers' or their code's settings, decided ones first, with their numbers and places."""
    order, found = list(OF_THE_PAPER.values()), []
    for row in sorted((row for row in claims if word(row) in order), key=lambda row: order.index(word(row))):
        told = shown(row)
        effect = f"Effect: {_g({name: float(row[name]) for name in EFFECTS if row[name]})}" if row["effect"] else ""
        paper = configuration.artifacts[row["artifact"]]["source"].partition(", ")[0]
        place = f"{paper}, {told['source']}" + (f"; variant `{row['variant']}`" if row["variant"] else "")
        numbers = " · ".join(filter(None, (effect, told["numbers"])))
        found.append({**told, "numbers": numbers, "place": f"{place}; `{row['id']}`"})
    return found


def _answered(path: str, forest: Forest, claims: Sequence[Row]) -> dict[str, Any]:
    judged, scale = forest.comparisons(claims), forest.configuration.scale_name
    if not judged:
        sentences = [f"No comparison on this question is judged at the {scale} scale."]
        return {"title": forest.settings.title, "sentences": sentences, "picture": None}
    holds, fails = (_largest(judged, verdict, way) for verdict, way in ((HOLDS, max), (FAILS, min)))
    verdicts = [one.verdict for one in judged]
    counted = ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in (HOLDS, FAILS, UNDECIDED, IDLE))
    sentences = [
        f"Comparisons that count: {len(judged)} ({counted}).",
        f"The largest effect that holds: {holds}; the largest that fails: {fails}.",
        deviating(judged),
    ]
    return {"title": forest.settings.title, "sentences": sentences, "picture": path if forest.drawn(claims) else None}


def _largest(judged: Sequence[Comparison], verdict: str, way: Callable) -> str:
    """The comparison of this verdict whose effect, as the paper claims it, is the largest, or the smallest."""
    own = [one for one in judged if one.verdict == verdict and one.effects]
    if not own:
        return "none"
    one = way(own, key=lambda one: float(one.row["effect"]))
    return f"{one.names} ({one.about}), {_g(one.effects)}"


def _g(effects: Mapping[str, float]) -> str:
    """By column of `EFFECTS`: "g = 3 [2.5, 3.5]"."""
    g, low, high = (plain(effects[name]).replace("-", "−") for name in EFFECTS[:3])
    return f"g = {g} [{low}, {high}]"


def _tabled(path: str, table: Artifact, text: str) -> dict[str, Any]:
    """The rows of a table that was drawn, without its title and notes."""
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    where = f"No claim of the paper. What is compared, and what deviates from its setup: [{path}]({path}).\n\n{rows}"
    return {"title": table.settings.title, "sentences": [TABLES[table.settings.kind], where], "picture": None}
