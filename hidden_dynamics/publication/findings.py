"""findings.md: verdicts in numbers, the errors over all tests, the questions, the claims that are judged or decided."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.artifacts.kinds.forest import Forest, deviating
from hidden_dynamics.artifacts.notes import choices_notes
from hidden_dynamics.artifacts.questions import BETTER, EFFECTS, WORSE
from hidden_dynamics.claims.multiplicity import in_a_sentence
from hidden_dynamics.claims.verdict import FAILS, GATES, HOLDS, OF_THE_PAPER, UNBEATEN, UNDECIDED, counts, plain, word
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.claims_list import findings, shown
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.publication.readme import filled
from hidden_dynamics.results.rows import Row

LISTED = (*OF_THE_PAPER.values(), HOLDS, FAILS)
IN_SHORT = ("Found", "p", "n")  # of a claim that is asked for its direction alone


def page(
    configuration: Configuration, claims: Sequence[Row], artifacts: Mapping[str, Artifact], drawn: Collection[str]
) -> str:
    """
    Args:
        claims: the rows of claims.csv.
        artifacts: by their files in the publication; the questions among them are answered here.
        drawn: these files, and the pictures beside them.
    """
    forests = {path: one for path, one in artifacts.items() if isinstance(one, Forest)}
    listed = [row for row in claims if word(row) in LISTED]
    models = [row[side].partition("-")[0] for row in listed for side in ("subject", "reference")]
    return filled(
        "findings.md.j2",
        command=command_of(configuration),
        scale=configuration.scale_name,
        found=in_numbers(claims),
        claims=_in_words(configuration, listed),
        choices=choices_notes(configuration, models),
        overall=in_a_sentence(claims),
        questions=[_answered(_picture(path, drawn), one, claims) for path, one in forests.items()],
    )


def in_numbers(claims: Sequence[Row]) -> str:
    """How many claims have which verdict, at the papers' or their code's settings and at others; "" without any."""
    found = Counter(map(word, claims))
    own, asked = ([found[verdict] for verdict in of] for of in (OF_THE_PAPER.values(), (HOLDS, FAILS, UNDECIDED)))
    gated = [sum(bool(row["deviations"]) and row["reason"].startswith(gate) for row in claims) for gate in GATES]
    behind = sum(word(row) in LISTED and bool(row["nothing_learned"]) for row in claims)
    texts = {
        "{} claims, at the settings of the papers or of their released code: {} reproduced, {} contradicted, {} "
        "inconclusive, {} not yet run at these settings.".format(len(claims), *own, len(claims) - sum(own)): any(own),
        "{} claims asked for their direction alone, because runs deviate from the paper's setup: {} hold, {} fail, {} "
        "are undecided; in {} of these no learning is shown, in {} no network is shown to be better than a linear "
        "model that is fitted to the same data.".format(sum(asked), *asked, *gated): any(asked),
        f"In {behind} of those decided the model behind is not shown to beat the best naive baseline.": behind,
    }
    return " ".join(text for text, said in texts.items() if said)


def _in_words(configuration: Configuration, claims: Sequence[Row]) -> list[dict[str, str]]:
    """Claims by verdict, with their numbers and places; in short what is asked for its direction alone."""
    found = []
    for row in sorted(claims, key=lambda row: LISTED.index(word(row))):
        told = shown(row)
        if row["deviations"]:
            numbers = findings(row)
            told["numbers"] = " · ".join(f"{name}: {numbers[name]}" for name in IN_SHORT if numbers[name])
        effect = f"Effect: {_g({name: float(row[name]) for name in EFFECTS if row[name]})}" if row["effect"] else ""
        paper = configuration.artifacts[row["artifact"]]["source"].partition(", ")[0]
        place = f"{paper}, {told['source']}" + (f"; variant `{row['variant']}`" if row["variant"] else "")
        numbers = " · ".join(filter(None, (effect, told["numbers"])))
        found.append({**told, "numbers": numbers, "place": f"{place}; `{row['id']}`"})
    return found


def _picture(path: str, drawn: Collection[str]) -> str | None:
    """The place of the picture beside notes; None where there is none."""
    picture = f"{Path(path).with_suffix('.png')}"
    return picture if picture in drawn else None


def _answered(picture: str | None, forest: Forest, claims: Sequence[Row]) -> dict[str, Any]:
    judged, scale = forest.comparisons(claims), forest.configuration.scale_name
    if not judged:
        sentences = [f"No comparison on this question is judged at the {scale} scale."]
        return {"title": forest.settings.title, "sentences": sentences, "picture": picture}
    sides = Counter(one.side for one in judged)
    said = ", ".join(f"{verdict} {n}" for verdict, n in counts(one.row for one in judged).items())
    sentences = [
        f"Comparisons that count: {len(judged)}. The first model is better in {sides[BETTER]} and worse in "
        f"{sides[WORSE]}; {sides[UNDECIDED]} are undecided, and in {sides[UNBEATEN]} the model that is ahead is not "
        "shown to beat the best naive baseline.",
        f"Verdicts on what the papers say of them: {said}. {deviating(judged)}",
    ]
    return {"title": forest.settings.title, "sentences": sentences, "picture": picture}


def _g(effects: Mapping[str, float]) -> str:
    """By column of `EFFECTS`: "g = 3 [2.5, 3.5]"."""
    g, low, high = (plain(effects[name]).replace("-", "−") for name in EFFECTS[:3])
    return f"g = {g} [{low}, {high}]"
