"""All verdicts as Markdown (claims.md); the first line says what data they are of, or that there are none.

Second verdicts stand below those on the papers' claims, in tables of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.rules import OF_THE_SECOND_VERDICT, rules
from hidden_dynamics.claims.verdict import NOT_RUN, counts, counts_here
from hidden_dynamics.pages.claims_list import (
    SECOND_HEADING,
    findings,
    findings_here,
    in_a_sentence,
    judged,
    not_run,
    parts,
    reasons_of,
    second_in_a_sentence,
    seconds,
)
from hidden_dynamics.results.rows import Row


def markdown(scale: str, artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> str:
    """The page: claims with a verdict and their numbers, then those that were not run, with the reason.

    Args:
        artifacts: by name, those that the rows (hidden_dynamics.claims.verdict.COLUMNS) are of.
    """
    lines = [first_line(scale, rows), "", f"# Claims at the {scale} scale", ""]
    if judged(rows):
        lines += [in_a_sentence(rows), ""]
    lines += [*_table(_papers(artifacts, rows)), ""]
    lines += ["How the verdicts come about (more in docs/claims.md):", "", *(f"- {rule}" for rule in rules())]
    if seconds(rows):
        lines += ["", f"## {SECOND_HEADING}", "", OF_THE_SECOND_VERDICT, ""]
        lines += _table(_papers_here(artifacts, rows))
    for name in dict.fromkeys(row["artifact"] for row in rows):
        lines += _section(artifacts[name], [row for row in rows if row["artifact"] == name])
    return "\n".join(lines).rstrip() + "\n"


def first_line(scale: str, rows: Sequence[Row]) -> str:
    """The data of the verdicts; that none is judged; before either, that a stand-in cannot speak for the papers."""
    texts = ["Stand-in data cannot speak for the papers."] if any(row["stand_in"] == "true" for row in rows) else []
    if judged(rows):
        papers = _parts(row["data"] for row in judged(rows) if row["stand_in"] != "true")
        data = f"{', '.join(papers)}: as in the papers." if papers else "none."
        texts.append(f"Verdicts at the {scale} scale. Data: {data}")
    else:
        texts.append(in_a_sentence(rows))
    return " ".join(filter(None, [*texts, second_in_a_sentence(rows)]))


def _papers(artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> list[dict[str, object]]:
    """A row for each paper: its name, how many claims have each verdict, and their sum."""
    papers = _by(rows, lambda row: artifacts[row["artifact"]].paper_title)
    return [{"Paper": paper, **counts(own), "claims": len(own)} for paper, own in papers.items()]


def _papers_here(artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> list[dict[str, object]]:
    """The same of the second verdicts; each cell says that it is of them."""
    papers = _by(seconds(rows), lambda row: artifacts[row["artifact"]].paper_title)
    found = {paper: {**counts_here(own), "directions": len(own)} for paper, own in papers.items()}
    return [{"Paper": paper, **{name: f"{n} here" for name, n in own.items()}} for paper, own in found.items()]


def _by(rows: Iterable[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _section(artifact: Artifact, rows: Sequence[Row]) -> list[str]:
    lines = ["", f"## {artifact.settings.source}: {artifact.settings.title} ({artifact.name})", ""]
    if judged(rows):
        lines += [*_table([_cells(row) for row in judged(rows)]), ""]
    for reason, own in _by(not_run(rows), lambda row: "; ".join(reasons_of(row))).items():
        statements = dict.fromkeys(row["statement"] for row in own)
        lines += [f"{NOT_RUN.capitalize()}: {reason}", "", *(f"- {statement}" for statement in statements), ""]
    if seconds(rows):
        lines += [f"### {SECOND_HEADING}", ""]
    for conditions, own in _by(seconds(rows), lambda row: row["departures"]).items():
        lines += [f"Here: {conditions}", "", *_table([_cells_here(row) for row in own]), ""]
    return lines[:-1]


def _cells_here(row: Row) -> dict[str, str]:
    """The text on a claim's direction, by heading."""
    reason = f": {row['here_reason']}" if row["here_reason"] else ""
    return {"Direction": row["statement"], "Here": row["here"] + reason, **findings_here(row)}


def _cells(row: Row) -> dict[str, str]:
    """A claim's text for the reader, by heading."""
    said = f"{row['source']}; also {row['also']}" if row["also"] else row["source"]
    own = "; the paper’s own table says otherwise" if row["against_table"] == "true" else ""
    reason = f": {row['reason']}" if row["reason"] else ""
    return {
        "Claim": row["statement"],
        "Verdict": row["verdict"] + reason,
        **findings(row),
        "Source": said + own,
    }


def _parts(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(part for text in texts for part in parts(text)))


def _table(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The lines of a table; each row has its cells by heading."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
