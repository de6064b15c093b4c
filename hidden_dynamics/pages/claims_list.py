"""The verdicts on the papers' claims as readers see them: in a sentence, and as the rows of one table."""

from collections.abc import Sequence

from hidden_dynamics.claims.verdict import NOT_RUN, counts, plain, word
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.deviations import listed
from hidden_dynamics.results.rows import Row


def judged(claims: Sequence[Row]) -> list[Row]:
    """The claims that runs of this scale were asked for."""
    return [claim for claim in claims if claim["verdict"] != NOT_RUN]


def not_run(configuration: Configuration, claims: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """(place of the artifact, its claims) of those that no run was asked for, in their order."""
    found: dict[str, list[Row]] = {}
    for claim in claims:
        if claim["verdict"] == NOT_RUN:
            found.setdefault(claim["artifact"], []).append(claim)
    return [(configuration.artifacts[name]["source"], own) for name, own in found.items()]


def in_a_sentence(claims: Sequence[Row]) -> str:
    """The number of claims, and how many have which verdict."""
    if not judged(claims):
        return f"{len(claims)} claims of the papers; none is judged at this scale."
    return f"{len(claims)} claims of the papers: {listed([f'{n} {verdict}' for verdict, n in counts(claims).items()])}."


def findings(claim: Row) -> dict[str, str]:
    """What a claim's test found, by heading; "" where one does not apply; nothing of a claim that is not run."""
    if claim["verdict"] == NOT_RUN:
        return {}
    ratio = any(of in claim["test"] for of in ("logarithms", "of a ratio", "processes"))
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
        "Decided so at the epochs": claim["decided_at"],
        "n": " and ".join(filter(None, (claim["n_subject"], claim["n_reference"]))),
        "Without learning": claim["naive"],
        "Classical": _classical(claim),
        "Error of the test set": f"± {_number(claim['test_error'])}" if claim["test_error"] else "",
        "Detectable": mark + _number(claim["detectable"]) if claim["detectable"] else "",
        "Printed difference": _printed(claim),
        "Published": claim["published"],
        "Plan": claim["plan"],
    }


def shown(claim: Row) -> dict[str, str]:
    """A row of the table: verdict and reason, the claim, its numbers, its place."""
    against = "; the paper’s own table says otherwise" if claim["against_table"] == "true" else ""
    return {
        "verdict": word(claim),
        "reason": claim["reason"],
        "statement": claim["ran"] if claim["verdict"] != NOT_RUN else claim["statement"],
        "effect": _number(claim["effect"]) if claim["effect"] else "",
        "p": _number(claim["p_adjusted"]) if claim["p_adjusted"] else "",
        "numbers": " · ".join(f"{name}: {text}" for name, text in findings(claim).items() if text),
        "source": claim["source"] + against,
        "also": claim["also"],
        "critic": claim["critic"],
    }


def _classical(claim: Row) -> str:
    """On which side of the best classical baseline the models are: "both behind gradient boosting, 0.848"."""
    name, _, score = claim["classical"].rpartition(": ")
    return f"{claim['beside_classical']} {name}, {_number(score)}" if name else ""


def _printed(claim: Row) -> str:
    """The difference of the printed numbers, and whether it lies in the interval of ours; "" where runs deviate."""
    if claim["published_difference"] == "" or claim["deviations"]:
        return ""
    low, difference, high = (float(claim[key]) for key in ("low", "published_difference", "high"))
    place = "within" if low <= difference <= high else "outside"
    fixed = ", which holds the test set fixed" if claim["test_error"] else ""
    return f"{'+' * (difference > 0)}{_number(claim['published_difference'])}, {place} the interval over seeds{fixed}"


def _probability(claim: Row) -> str:
    """p and, where it differs, the p adjusted over the family."""
    if claim["p"] == "":
        return ""
    values = [float(claim[key]) for key in ("p", "p_adjusted")]
    p, adjusted = ("<0.0001" if value < 1e-4 else plain(value, 2) for value in values)
    return p if p == adjusted else f"{p}; Holm {adjusted}"


def _number(text: str) -> str:
    return plain(float(text)).replace("-", "−")
