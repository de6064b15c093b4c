"""All verdicts as Markdown (claims.md); the first line says what data they are of."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.rules import rules
from hidden_dynamics.claims.verdict import NOT_RUN, counts
from hidden_dynamics.pages.claims_list import findings
from hidden_dynamics.results.rows import Row


def markdown(scale: str, artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> str:
    """The page; claims that were not run are counted under each artifact, the CSV has them one by one.

    Args:
        artifacts: by name, those that the rows (hidden_dynamics.claims.verdict.COLUMNS) are of.
    """
    lines = [first_line(scale, rows), "", f"# Claims at the {scale} scale", ""]
    lines += [*_table(_papers(artifacts, rows)), ""]
    lines += ["How the verdicts come about (more in docs/claims.md):", "", *(f"- {rule}" for rule in rules())]
    for name, members in groupby(rows, key=lambda row: row["artifact"]):
        lines += _section(artifacts[name], list(members))
    return "\n".join(lines).rstrip() + "\n"


def first_line(scale: str, rows: Sequence[Row]) -> str:
    """The data of the verdicts; where any is a stand-in, first that it cannot speak for the papers."""
    stand_ins = _parts(row["data"] for row in rows if row["stand_in"] == "true")
    papers = _parts(row["data"] for row in rows if row["stand_in"] == "false")
    changed = all(row["departures"] for row in rows if row["stand_in"] == "false" and row["data"])
    settings = ", but with other settings or sizes than the papers’" if changed else ""
    theirs = f"{', '.join(papers)}: as in the papers{settings}." if papers else ""
    if not stand_ins:
        return f"Verdicts at the {scale} scale. Data: {theirs or 'none.'}"
    return (
        f"Stand-in data cannot speak for the papers. At the {scale} scale, these verdicts are of "
        f"{'; '.join(stand_ins)}. {theirs}"
    ).strip()


def _papers(artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> list[dict[str, object]]:
    """A row for each paper: its name, how many claims have each verdict, and their sum."""
    papers: dict[str, list[Row]] = {}
    for row in rows:
        papers.setdefault(artifacts[row["artifact"]].paper_title, []).append(row)
    return [{"Paper": paper, **counts(own), "claims": len(own)} for paper, own in papers.items()]


def _section(artifact: Artifact, rows: Sequence[Row]) -> list[str]:
    about = "; ".join(_parts(row["departures"] or row["data"] for row in rows))
    lines = ["", f"## {artifact.settings.source}: {artifact.settings.title} ({artifact.name})", ""]
    lines += [f"Run on: {about}", ""] if about else []
    judged = [row for row in rows if row["verdict"] != NOT_RUN]
    if judged:
        lines += [*_table([_cells(row) for row in judged]), ""]
    waiting = Counter(row["kind"] for row in rows if row["verdict"] == NOT_RUN)
    if waiting:
        kinds = ", ".join(f"{count} of kind {kind}" for kind, count in waiting.items())
        lines += [f"Not run at this scale: {kinds}."]
    return lines


def _cells(row: Row) -> dict[str, str]:
    """A claim's text for the reader, by heading."""
    own = "; the paper’s own table says otherwise" if row["against_table"] == "true" else ""
    reason = f": {row['reason']}" if row["reason"] else ""
    return {
        "Claim": row["statement"],
        "Verdict": row["verdict"] + reason,
        **findings(row),
        "Source": row["source"] + own,
    }


def _parts(texts: Iterable[str]) -> list[str]:
    """Each part once of texts whose parts are joined by semicolons."""
    return list(dict.fromkeys(part for text in texts for part in text.split("; ") if part))


def _table(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The lines of a table; each row has its cells by heading."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
