"""findings.md: verdicts in numbers, the errors over all tests, the questions, the claims that are judged or decided."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.artifacts.kinds.forest import Forest, deviating
from hidden_dynamics.artifacts.notes import choices_notes
from hidden_dynamics.artifacts.questions import BETTER, EFFECTS, WORSE, Comparison
from hidden_dynamics.claims.multiplicity import in_a_sentence
from hidden_dynamics.claims.verdict import FAILS, HOLDS, OF_THE_PAPER, UNDECIDED, UNLEARNED, counts, plain, word
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.claims_list import findings, shown
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.publication.readme import filled
from hidden_dynamics.results.rows import Row

LISTED = (*OF_THE_PAPER.values(), HOLDS, FAILS)
IN_SHORT = ("Found", "p", "n", "Classical", "Plan")  # of a claim that is asked for its direction alone
TABLES = {  # kinds that answer a question of ours, no claim of the papers
    "contrast_table": "Each filter beside a control without momentum, whose input is scaled. A lead is above 0 where "
    "the first is better. Numbers are of the epoch that a run reports: of (P)MNIST that of its best test accuracy.",
    "course": "Whether the implementation is faithful: our losses beside those that the authors logged, both at the "
    "last epoch that both have.",
}


def page(
    configuration: Configuration, claims: Sequence[Row], artifacts: Mapping[str, Artifact], drawn: Mapping[str, bytes]
) -> str:
    """
    Args:
        claims: the rows of claims.csv.
        artifacts: by their files in the publication; those that answer a question are chosen here.
        drawn: the contents of these files, and of pictures beside them.
    """
    questions = [
        _answered(_picture(path, drawn), one, claims)
        if isinstance(one, Forest)
        else _tabled(path, one, drawn[path].decode(), claims)
        for path, one in artifacts.items()
        if isinstance(one, Forest) or one.settings.kind in TABLES
    ]
    listed = [row for row in claims if word(row) in LISTED]
    models = [row[side].partition("-")[0] for row in listed for side in ("subject", "reference")]
    return filled(
        "findings.md.j2",
        command=command_of(configuration),
        scale=configuration.scale_name,
        found=in_numbers(claims),
        claims=_in_words(configuration, listed),
        choices=[*choices_notes(configuration, models), *_critics(listed)],
        overall=in_a_sentence(claims),
        questions=questions,
    )


def in_numbers(claims: Sequence[Row]) -> str:
    """How many claims have which verdict, at the papers' or their code's settings and at others; "" without any."""
    found = Counter(map(word, claims))
    own, asked = ([found[verdict] for verdict in of] for of in (OF_THE_PAPER.values(), (HOLDS, FAILS, UNDECIDED)))
    gated = sum(bool(row["deviations"]) and row["reason"].startswith(UNLEARNED) for row in claims)
    decided = [row for row in claims if row["verdict"] in (HOLDS, FAILS)]
    held, unbeaten = (sum(row["classical_beaten"] in of for row in decided) for of in (("true", "false"), ("false",)))
    behind = sum(word(row) in LISTED and bool(row["nothing_learned"]) for row in claims)
    texts = {
        "{} claims, at the settings of the papers or of their released code: {} reproduced, {} contradicted, {} "
        "inconclusive, {} not yet run at these settings.".format(len(claims), *own, len(claims) - sum(own)): any(own),
        "{} claims asked for their direction alone, because runs deviate from the paper's setup: {} hold, {} fail, {} "
        "are undecided; in {} of these no learning is shown.".format(sum(asked), *asked, gated): any(asked),
        f"In {behind} of those decided the model behind is not shown to beat the best naive baseline.": behind,
        f"{held} of the {len(decided)} decided have a classical baseline, fitted to the same data; were its score the "
        f"bar, {unbeaten} of them would be undecided.": held,
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


def _picture(path: str, drawn: Mapping[str, bytes]) -> str | None:
    """The place of the picture beside notes; None where there is none."""
    picture = f"{Path(path).with_suffix('.png')}"
    return picture if picture in drawn else None


def _answered(picture: str | None, forest: Forest, claims: Sequence[Row]) -> dict[str, Any]:
    judged, scale = forest.comparisons(claims), forest.configuration.scale_name
    if not judged:
        sentences = [f"No comparison on this question is judged at the {scale} scale."]
        return {"title": forest.settings.title, "sentences": sentences, "picture": picture}
    lead, lag = (_largest(judged, side, way) for side, way in ((BETTER, max), (WORSE, min)))
    sides = Counter(one.side for one in judged)
    said = ", ".join(f"{verdict} {n}" for verdict, n in counts(one.row for one in judged).items())
    sentences = [
        f"Comparisons that count: {len(judged)}. The first model is better in {sides[BETTER]} and worse in "
        f"{sides[WORSE]}; {sides[UNDECIDED]} are undecided, and in {sides[UNLEARNED]} the model that is ahead is not "
        "shown to beat the best naive baseline.",
        f"The largest lead that is decided: {lead}; the largest lag: {lag}.",
        f"Verdicts on what the papers say of them: {said}. {deviating(judged)}",
    ]
    return {"title": forest.settings.title, "sentences": sentences, "picture": picture}


def _largest(judged: Sequence[Comparison], side: str, way: Callable) -> str:
    """The comparison on this side whose effect is the largest, or the smallest."""
    own = [one for one in judged if one.side == side and one.effects]
    if not own:
        return "none"
    one = way(own, key=lambda one: one.effects["effect"])
    return f"{one.names} ({one.about}), {_g(one.effects)}"


def _g(effects: Mapping[str, float]) -> str:
    """By column of `EFFECTS`: "g = 3 [2.5, 3.5]"."""
    g, low, high = (plain(effects[name]).replace("-", "−") for name in EFFECTS[:3])
    return f"g = {g} [{low}, {high}]"


def _critics(claims: Sequence[Row]) -> list[str]:
    """What others say of claims, once each, with the entries of published/claims.yaml that it is said of."""
    entries: dict[str, dict[str, None]] = {}
    for row in claims:
        if row["critic"]:
            entries.setdefault(row["critic"], {})[f"`{row['id'].partition(':')[0]}`"] = None
    return [f"Others on {', '.join(names)}: {text}." for text, names in entries.items()]


def _tabled(path: str, table: Artifact, text: str, claims: Sequence[Row]) -> dict[str, Any]:
    """The rows of a table that was drawn, without its title and notes; above them its critics."""
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    where = f"No claim of the paper. What is compared, and what deviates from its setup: [{path}]({path}).\n\n{rows}"
    kind, about = table.settings.kind, [row for row in claims if row["task"] in table.tasks()]
    said = _critics(about) if kind == "contrast_table" else []
    return {"title": table.settings.title, "sentences": [TABLES[kind], *said, where], "picture": None}
