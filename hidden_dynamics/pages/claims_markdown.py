"""All verdicts as Markdown (claims.md); the first line says what data they are of."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.rules import rules
from hidden_dynamics.claims.verdict import NOT_RUN, VERDICTS, counts
from hidden_dynamics.claims.wording import plain
from hidden_dynamics.results.rows import Row

HEADINGS = ("Claim", "Verdict", "Found", "Difference or ratio", "Effect", "p", "n", "Published", "Source")


def markdown(scale: str, artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> str:
    """The page; claims that were not run are counted under each artifact, the CSV has them one by one.

    Args:
        artifacts: by name, those that the rows (hidden_dynamics.claims.verdict.COLUMNS) are of.
    """
    lines = [first_line(scale, rows), "", f"# Claims at the {scale} scale", ""]
    lines += [*_table(("Paper", *VERDICTS, "claims"), _papers(artifacts, rows)), ""]
    lines += ["How the verdicts come about (more in docs/claims.md):", "", *(f"- {rule}" for rule in rules())]
    for name, members in groupby(rows, key=lambda row: row["artifact"]):
        lines += _section(artifacts[name], list(members))
    return "\n".join(lines).rstrip() + "\n"


def first_line(scale: str, rows: Sequence[Row]) -> str:
    """What data the verdicts are of; where any is a stand-in, first that it cannot speak for the papers."""
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


def _papers(artifacts: Mapping[str, Artifact], rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """A row for each paper: its name, how many claims have each verdict, and their sum."""
    papers: dict[str, list[Row]] = {}
    for row in rows:
        papers.setdefault(artifacts[row["artifact"]].paper_title, []).append(row)
    return [(paper, *map(str, counts(own).values()), str(len(own))) for paper, own in papers.items()]


def _section(artifact: Artifact, rows: Sequence[Row]) -> list[str]:
    about = "; ".join(_parts(row["departures"] or row["data"] for row in rows))
    lines = ["", f"## {artifact.settings.source}: {artifact.settings.title} ({artifact.name})", ""]
    lines += [f"Run on: {about}", ""] if about else []
    judged = [row for row in rows if row["verdict"] != NOT_RUN]
    if judged:
        lines += [*_table(HEADINGS, [cells(row) for row in judged]), ""]
    waiting = Counter(row["kind"] for row in rows if row["verdict"] == NOT_RUN)
    if waiting:
        kinds = ", ".join(f"{count} of kind {kind}" for kind, count in waiting.items())
        lines += [f"Not run at this scale: {kinds}."]
    return lines


def cells(row: Row) -> tuple[str, ...]:
    """What a reader sees of a claim, in the order of `HEADINGS`."""
    own = "; the paper’s own table says otherwise" if row["against_table"] == "true" else ""
    return (
        row["statement"],
        row["verdict"] + (f": {row['reason']}" if row["reason"] and row["verdict"] != NOT_RUN else ""),
        row["found"],
        interval(row),
        f"{row['effect_name']} = {_number(row['effect'])}" if row["effect_name"] == "g" else "",
        probability(row),
        " and ".join(filter(None, (row["n_subject"], row["n_reference"]))),
        row["published"],
        row["source"] + own,
    )


def interval(row: Row) -> str:
    """The estimate and its interval; a ratio is marked as one."""
    if row["estimate"] == "":
        return ""
    ratio = "ratio" in row["effect_name"]
    number = _number if ratio or row["kind"] == "ranking" else _signed
    mark = "× " if ratio else "tau = " if row["kind"] == "ranking" else ""
    text = mark + number(row["estimate"])
    return text if row["low"] == "" else f"{text} [{number(row['low'])}, {number(row['high'])}]"


def probability(row: Row) -> str:
    """p and, where it differs, the p adjusted over the family."""
    if row["p"] == "":
        return ""
    p, adjusted = (_small(float(row[key])) for key in ("p", "p_adjusted"))
    return p if p == adjusted else f"{p}; Holm {adjusted}"


def _small(p: float) -> str:
    return "<0.0001" if p < 1e-4 else plain(p, 2)


def _number(text: str) -> str:
    return plain(float(text)).replace("-", "−")


def _signed(text: str) -> str:
    return ("+" if float(text) > 0 else "") + _number(text)


def _parts(texts: Iterable[str]) -> list[str]:
    """Each part once of texts whose parts are joined by semicolons."""
    return list(dict.fromkeys(part for text in texts for part in text.split("; ") if part))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
