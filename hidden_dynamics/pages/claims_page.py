"""The page of all verdicts, as Markdown and as HTML; both begin with what data the verdicts are of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import jinja2

from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.claims.judge import plain
from hidden_dynamics.claims.verdict import NOT_RUN, VERDICTS
from hidden_dynamics.configuration import Configuration

PAPERS = {"momentumrnn": "MomentumRNN", "acenode": "ACE-NODE"}
HEADINGS = ("Claim", "Verdict", "Found", "Difference or ratio", "Effect", "p", "n", "Published", "Source")


def first_line(configuration: Configuration, rows: Sequence[Mapping[str, str]]) -> str:
    """What data the verdicts are of; where any is a stand-in, first that it cannot speak for the papers."""
    stand_ins = _named(row["data"] for row in rows if row["stand_in"] == "true")
    papers = _named(row["data"] for row in rows if row["stand_in"] == "false")
    changed = all(row["departures"] for row in rows if row["stand_in"] == "false" and row["data"])
    settings = ", but with other settings or sizes than the papers’" if changed else ""
    theirs = f"{', '.join(papers)}: as in the papers{settings}." if papers else ""
    if not stand_ins:
        return f"Verdicts at the {configuration.scale_name} scale. Data: {theirs or 'none.'}"
    return (
        f"Stand-in data cannot speak for the papers. At the {configuration.scale_name} scale, these verdicts are of "
        f"{'; '.join(stand_ins)}. {theirs}"
    ).strip()


def rules() -> list[str]:
    """How verdicts come about, as far as a reader of the page needs it."""
    definitions = load_claims()["definitions"]
    level, costs, smoothing, early, vanished = (
        definitions[key] for key in ("level", "costs", "smoothing", "early", "vanished")
    )
    margins = ", ".join(
        f"{metric.replace('_', ' ')}: {_margin(**margin)}" for metric, margin in definitions["margins"].items()
    )
    return [
        f"Reproduced: the test speaks for the claim, with p < {1 - level:.2g} after Holm’s adjustment over its family, "
        "the claims of one kind that rest on one table or figure. Contradicted: it speaks as clearly against it. "
        "Inconclusive: neither. A verdict is of the runs at hand, and of no others.",
        "Better: Welch’s t over seeds, two-sided, degrees of freedom rounded down; the effect g is Hedges’.",
        "Faster: iterations until the train loss, smoothed by a triangle over "
        f"{smoothing:.0%} of the run, first reaches the lowest level that every finished run of both models reaches. "
        "Their logarithms are compared: by a studentised bootstrap over seeds where there are five or more a model, "
        "by Welch’s t where there are fewer, because so few cannot be resampled.",
        f"Gradients: the mean norm of ∂L/∂h over the first {early:.0%} of the steps as a share of that over the last, "
        "iteration by iteration; the ratio of both models’, by a bootstrap over blocks of iterations where there is "
        f"one run of each. Where the reference’s share is {vanished:g} or more, there is nothing to alleviate.",
        f"Value and similar: whether the difference is within a margin ({margins}) or outside of it, by two one-sided "
        "t tests each way. A value is judged only on the paper’s own data, sizes and training.",
        "Steadier: the F test of the variances over seeds. Overfitting: how far the test loss ends above its lowest, "
        "by Welch’s t. Ranking: Kendall’s tau between our means and the published ones. Smaller: parameters, counted.",
        "Ratio: costs measured in interleaved rounds; all rounds must lie on the printed side, which is above "
        f"1 + {costs:g}, below 1 / (1 + {costs:g}) or between. Memory on a CPU, "
        "measured once, is inconclusive. Times to an accuracy are those of the runs’ clocks, by "
        "Welch’s t of logarithms; a run that misses it enters with its whole time, and forbids a verdict in its "
        "model’s favour.",
        "A run that diverged has no number: it is counted, and forbids a verdict in its model’s favour. With fewer "
        "than two numbers a model, or seeds without spread, a claim is inconclusive.",
        f"Intervals have level {level:.0%}, unadjusted. “Quoted” is a number that the paper took from another one.",
    ]


def _margin(relative: float | None = None, errors: float | None = None) -> str:
    return f"{relative:.0%}" if errors is None else f"{errors:.0%} of the errors"


def counts(rows: Sequence[Mapping[str, str]]) -> list[tuple[str, ...]]:
    """A row for each paper: its name, how many claims have each verdict, and their sum."""
    table = []
    for paper, name in PAPERS.items():
        found = Counter(row["verdict"] for row in rows if row["paper"] == paper)
        if found:
            table.append((name, *(str(found[verdict]) for verdict in VERDICTS), str(found.total())))
    return table


def markdown(configuration: Configuration, rows: Sequence[Mapping[str, str]]) -> str:
    """The page as Markdown; claims that were not run are counted under each artifact, the CSV has them one by one."""
    lines = [first_line(configuration, rows), "", f"# Claims at the {configuration.scale_name} scale", ""]
    lines += [*_table(("Paper", *VERDICTS, "claims"), counts(rows)), ""]
    lines += ["How the verdicts come about (more in docs/claims.md):", "", *(f"- {rule}" for rule in rules())]
    for heading, about, shown in _groups(configuration, rows):
        lines += ["", f"## {heading}", ""]
        lines += [f"Run on: {about}", ""] if about else []
        judged = [row for row in shown if row["verdict"] != NOT_RUN]
        if judged:
            lines += [*_table(HEADINGS, [cells(row) for row in judged]), ""]
        waiting = Counter(row["kind"] for row in shown if row["verdict"] == NOT_RUN)
        if waiting:
            kinds = ", ".join(f"{count} of kind {kind}" for kind, count in waiting.items())
            lines += [f"Not run at this scale: {kinds}."]
    return "\n".join(lines).rstrip() + "\n"


def html(configuration: Configuration, rows: Sequence[Mapping[str, str]]) -> str:
    """One page that loads nothing, with filters."""
    return _PAGE.render(
        scale=configuration.scale_name,
        first=first_line(configuration, rows),
        counts=counts(rows),
        verdicts=VERDICTS,
        papers=PAPERS,
        kinds=list(dict.fromkeys(row["kind"] for row in rows)),
        rules=rules(),
        headings=HEADINGS[:-1],
        not_run=NOT_RUN,
        groups=[(heading, about, _entries(shown)) for heading, about, shown in _groups(configuration, rows)],
    )


def _entries(rows: Sequence[Mapping[str, str]]) -> list[tuple[str, list]]:
    """(what the paper says and where, its claims and their cells without the place) of every entry."""
    places = groupby(rows, key=lambda row: f"{row['source']}: {row['says']}")
    return [
        (place, [(row, [_unbroken(cell) for cell in cells(row)[2:-1]]) for row in shown]) for place, shown in places
    ]


def _unbroken(text: str) -> str:
    """With a number, its sign, spread or brackets on one line."""
    for mark in (" ± ", "× ", " = ", "Holm "):
        text = text.replace(mark, mark.replace(" ", "\u00a0"))
    start, bracket, rest = text.partition("[")
    return start + bracket + rest.replace(" ", "\u00a0")


def cells(row: Mapping[str, str]) -> tuple[str, ...]:
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


def interval(row: Mapping[str, str]) -> str:
    """The estimate and its interval; a ratio is marked as one."""
    if row["estimate"] == "":
        return ""
    ratio = "ratio" in row["effect_name"]
    number = _number if ratio or row["kind"] == "ranking" else _signed
    mark = "× " if ratio else "tau = " if row["kind"] == "ranking" else ""
    text = mark + number(row["estimate"])
    return text if row["low"] == "" else f"{text} [{number(row['low'])}, {number(row['high'])}]"


def probability(row: Mapping[str, str]) -> str:
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


def _groups(configuration: Configuration, rows: Sequence[Mapping[str, str]]) -> list[tuple[str, str, list[Any]]]:
    """(heading, what its runs are of, rows) of every artifact."""
    groups = []
    for artifact, shown in groupby(rows, key=lambda row: row["artifact"]):
        members = list(shown)
        about = "; ".join(dict.fromkeys(row["departures"] or row["data"] for row in members if row["data"]))
        parts = "; ".join(dict.fromkeys(about.split("; ")))
        source = configuration.artifacts[artifact]["source"]
        groups.append((f"{source}: {configuration.artifacts[artifact]['title']} ({artifact})", parts, members))
    return groups


def _named(texts: Any) -> list[str]:
    return list(dict.fromkeys(part for text in texts for part in text.split("; ") if part))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


_PAGE = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Claims, {{ scale }} scale</title>
<style>
body { font: 16px/1.45 system-ui, sans-serif; color: #1b1f24; background: #fff; margin: 1rem auto; padding: 0 1rem;
  max-width: 95rem; }
.first { border-left: 5px solid #9a6700; background: #fff8e5; padding: .6rem .9rem; margin: 0; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .3rem; }
.about { font-size: .875rem; color: #57606a; margin: 0 0 .5rem; max-width: 70rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8125rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #d8dee4; }
thead th { border-bottom: 2px solid #57606a; }
.claims td:first-child { min-width: 16rem; } .claims td:nth-child(2) { min-width: 10rem; }
.claims td:nth-child(n+3) { min-width: 5rem; } .claims td:nth-child(3) { min-width: 9rem; }
.says { font-weight: 400; font-style: italic; background: #f6f8fa; }
.verdict { font-weight: 600; white-space: nowrap; }
.reproduced { color: #116329; } .contradicted { color: #a40e26; } .inconclusive { color: #57606a; }
.not { color: #8c959f; }
form { position: sticky; top: 0; background: #fff; padding: .5rem 0; border-bottom: 1px solid #d8dee4; }
form label, form select { margin-right: .9rem; white-space: nowrap; }
details { margin: 1rem 0; } details li { font-size: .875rem; max-width: 70rem; }
</style>
</head>
<body>
<p class="first">{{ first }}</p>
<h1>Claims at the {{ scale }} scale</h1>
<div class="scroll"><table>
<thead><tr><th scope="col">Paper</th>{% for verdict in verdicts %}<th scope="col">{{ verdict }}</th>{% endfor %}
<th scope="col">claims</th></tr></thead>
<tbody>
{% for row in counts %}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table></div>
<details><summary>How the verdicts come about</summary>
<ul>
{% for rule in rules %}
<li>{{ rule }}</li>
{% endfor %}
</ul></details>
<form>
<select id="paper" aria-label="paper"><option value="">both papers</option>
{% for key, name in papers.items() %}
<option value="{{ key }}">{{ name }}</option>
{% endfor %}
</select>
<select id="kind" aria-label="kind"><option value="">every kind</option>
{% for kind in kinds %}
<option>{{ kind }}</option>
{% endfor %}
</select>
{% for verdict in verdicts %}
<label><input type="checkbox" name="verdict" value="{{ verdict }}"{{ '' if verdict == not_run else ' checked' }}> \
{{ verdict }}</label>
{% endfor %}
<span id="count"></span>
</form>
{% for heading, about, entries in groups %}
<section>
<h2>{{ heading }}</h2>
{% if about %}
<p class="about">Run on: {{ about }}</p>
{% endif %}
<div class="scroll"><table class="claims">
<thead><tr>{% for name in headings %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
{% for says, rows in entries %}
<tbody>
<tr><th class="says" colspan="{{ headings | length }}" scope="rowgroup">{{ says }}</th></tr>
{% for row, cells in rows %}
<tr data-paper="{{ row.paper }}" data-kind="{{ row.kind }}" data-verdict="{{ row.verdict }}" id="{{ row.id }}">
<td>{{ row.statement }}</td>
<td><span class="verdict {{ row.verdict }}">{{ row.verdict }}</span>
{% if row.reason %}
<br>{{ row.reason }}
{% endif %}
</td>
{% for cell in cells %}
<td>{{ cell }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
{% endfor %}
</table></div>
</section>
{% endfor %}
<script>
const rows = [...document.querySelectorAll("tr[data-verdict]")], form = document.querySelector("form");
function filter() {
  const checked = [...form.querySelectorAll("input:checked")].map(box => box.value);
  const paper = form.querySelector("#paper").value, kind = form.querySelector("#kind").value;
  let shown = 0;
  for (const row of rows) {
    row.hidden = !checked.includes(row.dataset.verdict) || (paper && row.dataset.paper !== paper)
      || (kind && row.dataset.kind !== kind);
    shown += !row.hidden;
  }
  for (const section of document.querySelectorAll("section, section tbody"))
    section.hidden = !section.querySelector("tr[data-verdict]:not([hidden])");
  document.querySelector("#count").textContent = shown + " of " + rows.length + " claims";
}
form.addEventListener("change", filter);
filter();
</script>
</body>
</html>
"""
)
