"""The verdicts on the papers' claims as readers see them: in a sentence, and as the rows of one table."""

from collections import Counter
from collections.abc import Sequence

from hidden_dynamics.claims.verdict import NOT_RUN, UNDECIDED, counts, plain, word
from hidden_dynamics.papers.deviations import listed
from hidden_dynamics.results.rows import Row


def judged(claims: Sequence[Row]) -> list[Row]:
    """The claims that runs of this scale were asked for."""
    return [claim for claim in claims if claim["verdict"] != NOT_RUN]


def in_a_sentence(claims: Sequence[Row]) -> str:
    """The number of claims, how many have which verdict, and why the others have none."""
    if not claims:
        return "No claim of the papers rests on what is configured."
    start, waiting = f"{len(claims)} claims of the papers", [row for row in claims if row["verdict"] == NOT_RUN]
    if not judged(claims):
        return f"{start}; none is judged at this scale: {_reasons(waiting)}."
    there = [f"{count} {verdict}" for verdict, count in counts(judged(claims)).items()]
    text = f"{start}: {listed(there)}"
    return f"{text}; {len(waiting)} {NOT_RUN}: {_reasons(waiting)}." if waiting else f"{text}."


def _reasons(waiting: Sequence[Row]) -> str:
    """How many claims are not run for which reason: "9 rest on stand-in data and 3 on runs that are not there"."""
    (first, number), *others = Counter(_rests_on(claim) for claim in waiting).most_common()
    rests = f"{number} {'rests' if number == 1 else 'rest'} on {first}"
    return listed([rests, *(f"{number} on {reason}" for reason, number in others)])


def _rests_on(claim: Row) -> str:
    if claim["kind"] == "all":
        return "claims that are not run"
    if not claim["data"]:
        return "runs that are not there"
    return "stand-in data" if claim["stand_in"] == "true" else "other sizes or settings than the papers’"


def findings(claim: Row) -> dict[str, str]:
    """What a claim's test found, by heading; "" where one does not apply; nothing of a claim that is not run."""
    if claim["verdict"] == NOT_RUN:
        return {}
    ratio = claim["test"] == "count" or any(of in claim["test"] for of in ("logarithms", "of a ratio", "processes"))
    mark = "× " if ratio else "tau = " if claim["kind"] == "ranking" else ""

    def written(column: str) -> str:
        """A difference has a sign; a ratio and tau have a mark instead."""
        return ("+" if not mark and float(claim[column]) > 0 else "") + _number(claim[column])

    interval = f"[{written('low')}, {written('high')}]" if claim["low"] else ""
    level = f" {float(claim['level']):.0%}" if interval else ""
    return {
        "Found": claim["found"],
        "Difference or ratio": f"{mark}{written('estimate')} {interval}{level}".strip() if claim["estimate"] else "",
        "p": _probability(claim),
        "Other test": claim["other_test"],
        "n": " and ".join(filter(None, (claim["n_subject"], claim["n_reference"]))),
        "Without learning": claim["naive"],
        "Error of the test set": f"± {_number(claim['test_error'])}" if claim["test_error"] else "",
        "Detectable": mark + _number(claim["detectable"]) if claim["detectable"] else "",
        "Seeds to find the printed gap": claim["seeds_needed"] if claim["verdict"] == UNDECIDED else "",
        "Published": claim["published"],
    }


def shown(claim: Row) -> dict[str, str]:
    """A row of the table: verdict and reason, the claim, its numbers, its place."""
    against = "; the paper’s own table says otherwise" if claim["against_table"] == "true" else ""
    return {
        "verdict": word(claim),
        "reason": claim["reason"],
        "statement": claim["statement"],
        "effect": _number(claim["effect"]) if claim["effect"] else "",
        "p": _number(claim["p_adjusted"]) if claim["p_adjusted"] else "",
        "numbers": " · ".join(f"{name}: {text}" for name, text in findings(claim).items() if text),
        "source": claim["source"] + against,
        "also": claim["also"],
    }


def _probability(claim: Row) -> str:
    """p and, where it differs, the p adjusted over the family."""
    if claim["p"] == "":
        return ""
    values = [float(claim[key]) for key in ("p", "p_adjusted")]
    p, adjusted = ("<0.0001" if value < 1e-4 else plain(value, 2) for value in values)
    return p if p == adjusted else f"{p}; Holm {adjusted}"


def _number(text: str) -> str:
    return plain(float(text)).replace("-", "−")
