"""All that enters one verdict, as text, so that it can be checked by hand."""

from hidden_dynamics.claims.judge import Judged
from hidden_dynamics.results.rows import Row

SHOWN = ("test", "estimate", "null", "margin", "p", "other", "gap", "tau", "ratio", "bars", "found")


def explain(judged: Judged, row: Row) -> str:
    """Every run's number, the test's result by fields, Holm's family from the smallest p on, and the claim's row."""
    claim, result = judged.claim, judged.result
    lines = [claim.id, f"  {claim.statement}", f"  The paper: {claim.says} ({claim.source})", "Runs"]
    for runs in result.samples:
        lines.append(f"  {runs.label}: {len(runs.values)} of {len(runs.rows)} have a number")
        for place in runs.rows:
            seed = place.get("seed", place.get("process", ""))
            naive = f", {runs.naive_name} {_text(runs.naive[seed])}" if seed in runs.naive else ""
            lines.append(f"    {seed}: {_text(runs.by_seed.get(seed, 'none'))}{naive}  {place.get('directory', '')}")
    lines.append("Test")
    shown = [(name, getattr(result, name)) for name in SHOWN]
    lines += [f"  {name}: {_text(value)}" for name, value in shown if value not in (None, "", ("", ""))]
    tests = sorted(judged.family, key=lambda test: test[1])
    lines += [f"Family: {claim.family}"] if tests else []
    lines += [f"  {_text(p)} x {len(tests) - rank}  {name}" for rank, (name, p) in enumerate(tests)]
    lines.append("Verdict")
    lines += [f"  {name}: {_text(value)}" for name, value in row.items() if value != "" and name != "runs"]
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
