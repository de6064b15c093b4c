"""Claims of kind `all`: what a paper says of several tables at once, decided by the verdicts on its parts.

The second verdict follows from the parts' second verdicts alone, by the same rules: a part that has none, because its
runs are the paper's, because it has no runs or because its kind has no direction, leaves it without one, unless others
fail already.
"""

from collections.abc import Iterable, Sequence

from hidden_dynamics.claims.verdict import COLUMNS, NOT_RUN, OF_THE_DIRECTION, OF_THE_PAPER, Words
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.results.rows import Row


def verdicts_of_others(entries: Sequence[ClaimEntry], rows: Sequence[Row]) -> list[dict[str, str]]:
    """A row of text (hidden_dynamics.claims.verdict.COLUMNS) for each entry of kind `all`.

    Every part has to hold, but for so many as the entry allows; each has to hold in every comparison. p is adjusted
    within each part's families alone: that all hold is said only where each is reproduced on its own.

    Args:
        rows: the verdicts on all other claims.
    """
    return [_row(entry, rows) for entry in entries]


def _of_entry(name: str, rows: Sequence[Row], words: Words) -> str:
    """The verdict on what an entry says, of those on its comparisons: all have to hold.

    Two readings of a task are two answers to one question: where they differ, it is inconclusive.
    """
    by_reading: dict[str, set[str]] = {}
    for row in rows:
        if name in row["entries"].split():
            by_reading.setdefault(row["reading"], set()).add(row[words.column])
    answers = {_of_all(found, words) for found in by_reading.values()}
    if len(answers) > 1 and words.none not in answers:
        return words.undecided
    return _of_all(answers, words)


def _of_all(found: set[str], words: Words) -> str:
    for verdict in (words.fails, words.none, words.undecided):
        if verdict in found:
            return verdict
    return words.holds if found else words.none


def _row(entry: ClaimEntry, rows: Sequence[Row]) -> dict[str, str]:
    parts, here = (
        {part: _of_entry(part, rows, words) for part in entry.of} for words in (OF_THE_PAPER, OF_THE_DIRECTION)
    )
    verdict, reason = _decided(entry, parts, OF_THE_PAPER)
    second, second_reason = _decided(entry, here, OF_THE_DIRECTION)
    given = verdict == NOT_RUN and second
    own = [row for row in rows if set(row["entries"].split()) & set(parts)]
    return {
        **dict.fromkeys(COLUMNS, ""),
        "id": entry.id,
        "paper": entry.artifact.split("_")[0],
        "artifact": entry.artifact,
        "source": entry.source,
        "kind": entry.kind,
        "statement": entry.says,
        "says": entry.says,
        "entries": entry.id,
        "verdict": verdict,
        "reason": reason,
        "here": second if given else "",
        "here_reason": second_reason if given else "",
        "test": f"the verdicts on {len(parts)} others",
        "found": "; ".join(f"{part}: {found}" for part, found in parts.items()),
        "against_table": str(bool(entry.against_table)).lower(),
        "stand_in": str(any(row["stand_in"] == "true" for row in own)).lower(),
        "data": _joined(row["data"] for row in own),
        "departures": _joined(row["departures"] for row in own),
    }


def _joined(texts: Iterable[str]) -> str:
    """The parts of texts that semicolons join, each once."""
    return "; ".join(dict.fromkeys(part for text in texts for part in text.split("; ") if part))


def _decided(entry: ClaimEntry, parts: dict[str, str], words: Words) -> tuple[str, str]:
    """(verdict, reason)."""
    may_fail = entry.but or 0
    by_verdict = {verdict: [part for part, found in parts.items() if found == verdict] for verdict in parts.values()}
    failed, absent = by_verdict.get(words.fails, []), by_verdict.get(words.none, [])
    if len(failed) > may_fail:
        fails = f"in {', '.join(failed)}"
        return (words.undecided, f"its evidence fails {fails}") if entry.sufficient else (words.fails, fails)
    if absent:
        return words.none, f"in {', '.join(absent)}"
    if len(by_verdict.get(words.holds, [])) < len(parts) - may_fail:
        return words.undecided, f"in {', '.join(by_verdict[words.undecided])}"
    return (words.undecided, f"nothing here checks {entry.lacking}") if entry.lacking else (words.holds, "")
