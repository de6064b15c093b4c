"""All that enters one verdict, as text, so that it can be checked by hand."""

from collections.abc import Iterable, Sequence

from hidden_dynamics.claims.evidence import Side
from hidden_dynamics.claims.judge import Judged
from hidden_dynamics.claims.verdict import NOT_RUN, OF_THE_DIRECTION, OF_THE_PAPER, Outcome, Words
from hidden_dynamics.results.rows import Row

SECOND = "Second verdict: on the claim’s direction under this scale’s own conditions, none on the paper’s claim"


def explain(judged: Judged) -> str:
    """Every number that enters the verdict, the test with its steps, the adjustment, the power, the verdict.

    The second verdict, where there is one, stands below it under its own name.
    """
    claim, outcome = judged.claim, judged.outcome
    lines = [claim.id, f"  {claim.statement}", f"  The paper: {claim.says} ({claim.source})"]
    lines += [f"  Also: {claim.also}"] if claim.also else []
    lines += _numbers(outcome.sides)
    untested = outcome.reason if outcome.supports is None else ""
    about = [("by", outcome.test), ("nothing is decided", untested), ("found", outcome.found), *outcome.working]
    lines += _listed("Test", [*about, *_result(outcome, judged.definitions.level)])
    lines += _family(judged)
    lines += _listed("Power", _power(judged))
    lines += ["Verdict", f"  {_with_reason(judged.verdict, judged.reason)}"]
    if judged.verdict == NOT_RUN and outcome.test:
        lines.append("  What stands above compares these runs, and says nothing of the paper.")
    if judged.here:
        lines += [SECOND, f"  {_with_reason(judged.here, judged.here_reason)}", f"  here: {judged.departures}"]
    return "\n".join(lines) + "\n"


def explain_of_others(claim: Row, rows: Sequence[Row]) -> str:
    """The same of a claim that other verdicts decide.

    Args:
        claim: its row (hidden_dynamics.claims.verdict.COLUMNS).
        rows: those of all claims.
    """
    lines = [claim["id"], f"  The paper: {claim['says']} ({claim['source']})"]
    parts = dict(found.split(": ", 1) for found in claim["found"].split("; "))
    for part, verdict in parts.items():
        lines += [f"{part}: {verdict}", *_of_part(part, rows, OF_THE_PAPER)]
    lines += ["Verdict", f"  {_with_reason(claim['verdict'], claim['reason'])}"]
    if claim["here"]:
        lines.append(SECOND)
        for part in parts:
            lines += [f"  {part}", *(f"  {line}" for line in _of_part(part, rows, OF_THE_DIRECTION))]
        lines += [f"  {_with_reason(claim['here'], claim['here_reason'])}", f"  here: {claim['departures']}"]
    return "\n".join(lines) + "\n"


def _of_part(part: str, rows: Sequence[Row], words: Words) -> list[str]:
    """The verdicts on the comparisons of an entry, each with its claim's id."""
    own = [row for row in rows if part in row["entries"].split()]
    return [f"  {row[words.column] or 'none'}  {row['id']}" for row in own]


def _with_reason(verdict: str, reason: str) -> str:
    return f"{verdict}: {reason}" if reason else verdict


def _numbers(sides: Sequence[Side]) -> list[str]:
    """Of each model, every run: its number, or that it has none."""
    lines = []
    for side in sides:
        about = ", ".join(filter(None, (side.label, side.rows[0]["task"], side.rows[0]["size"])))
        lines.append(f"{about}: {len(side.values)} of {len(side.rows)} runs have a number")
        for row in side.rows:
            number = _text(side.by_seed[row["seed"]]) if row["seed"] in side.by_seed else f"none ({row['status']})"
            lines.append(f"  seed {row['seed']}: {number}  {row['directory']}")
    return lines


def _result(outcome: Outcome, level: float) -> Iterable[tuple[str, object]]:
    """p, estimate and intervals, where there are any."""
    of_level = "interval" if outcome.p is None else f"interval of level {level:g}"
    yield "p", outcome.p
    yield "estimate", outcome.estimate
    for name, low, high in (
        (of_level, outcome.low, outcome.high),
        (f"{of_level}, seed by seed", outcome.paired_low, outcome.paired_high),
    ):
        if low == low:  # not a NaN
            yield name, f"{_text(low)} to {_text(high)}"


def _family(judged: Judged) -> list[str]:
    """Holm's steps: the family's p from the smallest on, each with the number it is multiplied by."""
    family = judged.family
    if family.p_adjusted is None:
        return []
    lines, ordered = [f"Family: {family.name}, {_count(family.tests)}"], sorted(judged.members, key=lambda of: of[1])
    for rank, (name, p) in enumerate(ordered):
        lines.append(f"  {_text(p)} x {family.tests - rank}  {name}")
    return [*lines, f"  adjusted p: {_text(family.p_adjusted)}, held to {judged.definitions.alpha:g}"]


def _count(tests: int) -> str:
    return f"{tests} test{'s' if tests > 1 else ''}"


def _power(judged: Judged) -> Iterable[tuple[str, object]]:
    yield "p is held to, in Holm's first step", judged.alpha if judged.outcome.p is not None else None
    yield "smallest detectable", judged.detectable
    alike = judged.claim.kind in ("similar", "value")
    sought = "show that there is no difference, if there is none" if alike else "find the printed difference, if true"
    yield f"seeds a model that would {sought}", judged.seeds_needed
    yield "seeds a model that would find a difference as large as the one found, if true", judged.seeds_for_found


def _listed(heading: str, named: Iterable[tuple[str, object]]) -> list[str]:
    """Lines of names and values, without those that have none."""
    lines = [f"  {name}: {_text(value)}" for name, value in named if value not in (None, "") and value == value]
    return [heading, *lines] if lines else []


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
