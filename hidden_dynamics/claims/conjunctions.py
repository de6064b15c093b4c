"""Claims of kind `all`: what a paper says of several tables at once, decided by the verdicts on its parts."""

from collections.abc import Iterable, Sequence

from hidden_dynamics.claims.statistics import holm
from hidden_dynamics.claims.verdict import COLUMNS, FAILS, HOLDS, NOT_RUN, UNDECIDED
from hidden_dynamics.configuration.entries import listed
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.results.rows import Row

ORDER = (FAILS, NOT_RUN, UNDECIDED, HOLDS)  # the joint verdict is the first that any comparison has


def verdicts_of_others(entries: Sequence[ClaimEntry], rows: Sequence[Row], alpha: float) -> list[dict[str, str]]:
    """A row (hidden_dynamics.claims.verdict.COLUMNS) for each entry of kind `all`.

    Every part has to hold in every comparison, but for as many parts as the entry allows. That all hold needs no
    adjustment, as each holds on its own; that all but k do takes Simes' test of the k + 1 largest p, as any of these
    may hold by chance (Benjamini and Heller 2008). That one fails takes Holm's adjustment over the parts' smallest p:
    else ten parts without any difference would be contradicted in up to 22 % of all cases.

    Args:
        rows: the verdicts on all other claims, as text.
        alpha: the level.
    """
    return [_row(entry, rows, alpha) for entry in entries]


def _row(entry: ClaimEntry, rows: Sequence[Row], alpha: float) -> dict[str, str]:
    parts = {part: _of_entry(part, rows) for part in listed(entry.of)}
    smallest = [_smallest_p(part, rows) for part in parts]
    for (part, found), p in zip(list(parts.items()), holm(smallest), strict=True):
        if found == FAILS and p >= alpha:
            parts[part] = UNDECIDED
    largest = [_largest_p(part, rows) if found == HOLDS else 1.0 for part, found in parts.items()]
    verdict, reason = _decided(entry, parts, _all_but(entry.but or 0, largest) < alpha)
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
        "counted": "false",
        "test": f"the verdicts on {len(parts)} others",
        "found": "; ".join(f"{part}: {found}" for part, found in parts.items()),
        "against_table": str(bool(entry.against_table)).lower(),
        "stand_in": str(any(row["stand_in"] == "true" for row in own)).lower(),
        "data": _joined(row["data"] for row in own),
        "deviations": _joined(row["deviations"] for row in own),
    }


def _of_entry(name: str, rows: Sequence[Row]) -> str:
    """The verdict on what an entry says, of those on its comparisons: all have to hold.

    Two variants of a task that were run are two answers to one question: where they differ, it is undecided.
    """
    by_variant: dict[str, set[str]] = {}
    for row in rows:
        if name in row["entries"].split():
            by_variant.setdefault(row["variant"], set()).add(row["verdict"])
    answers = {_first(found) for found in by_variant.values()} - {NOT_RUN}
    return UNDECIDED if len(answers) > 1 else _first(answers)


def _first(found: set[str]) -> str:
    return next((verdict for verdict in ORDER if verdict in found), NOT_RUN)


def _smallest_p(name: str, rows: Sequence[Row]) -> float:
    """The smallest p against an entry, adjusted over its families; a comparison that fails without a test has 0."""
    own = [row for row in rows if name in row["entries"].split()]
    against = [float(row["p_adjusted"] or 0.0) for row in own if row["verdict"] == FAILS]
    families = {(row["artifact"], row["kind"], row["metric"], row["variant"]) for row in own}
    return min(1.0, min(against, default=1.0) * len(families))


def _largest_p(name: str, rows: Sequence[Row]) -> float:
    """The largest adjusted p for an entry that holds; a comparison that holds without a test has 0."""
    own = [row for row in rows if name in row["entries"].split() and row["verdict"] == HOLDS]
    return max(float(row["p_adjusted"] or 0.0) for row in own)


def _all_but(k: int, of_parts: Sequence[float]) -> float:
    """p of all parts but k, at most, from the p of each."""
    return min(p * (k + 1) / rank for rank, p in enumerate(sorted(of_parts)[-k - 1 :], 1))


def _decided(entry: ClaimEntry, parts: dict[str, str], hold: bool) -> tuple[str, str]:
    """(verdict, reason)."""
    may_fail = entry.but or 0
    having = {verdict: [part for part, found in parts.items() if found == verdict] for verdict in ORDER}
    if len(having[FAILS]) > may_fail:
        fails = f"in {', '.join(having[FAILS])}"
        return (UNDECIDED, f"its evidence fails {fails}") if entry.sufficient else (FAILS, fails)
    if hold:
        return HOLDS, ""
    if len(having[HOLDS]) >= len(parts) - may_fail:
        return UNDECIDED, f"of so many parts {may_fail + 1} may hold by chance"
    verdict = NOT_RUN if having[NOT_RUN] else UNDECIDED
    return verdict, f"in {', '.join(having[verdict])}"


def _joined(texts: Iterable[str]) -> str:
    """The parts of texts that semicolons join, each once."""
    return "; ".join(dict.fromkeys(part for text in texts for part in text.split("; ") if part))
