"""A forest plot: a row a comparison, its standardised difference with an interval, in the colour of its verdict."""

from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import ConnectionPatch

from hidden_dynamics.artifacts.kinds.forest import IDLE, Comparison, Forest, departing
from hidden_dynamics.artifacts.notes import scale_notes
from hidden_dynamics.artifacts.sheet import STYLE, page
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.verdict import FAILS, HOLDS, UNDECIDED
from hidden_dynamics.results.rows import Row

PAPERS = "the paper’s own"
STYLES = {  # Okabe and Ito's colours; told apart by shape, too
    HOLDS: {"color": "#0072B2", "marker": "o"},
    FAILS: {"color": "#D55E00", "marker": "X"},
    UNDECIDED: {"color": "0.35", "marker": "s"},
    IDLE: {"color": "0.7", "marker": "v"},
    PAPERS: {"color": "0.15", "marker": "D", "mfc": "white"},
}
WIDTH, LINE, SIZE = 7.0, 0.185, 8.5  # inches: of the page, and from row to row; points: of text
TICKS = (0, 1, 3, 10, 30, 100, 300)
EXPLANATION = (
    "Difference of the two models’ means over seeds in pooled standard deviations (Hedges’ g), positive where the "
    "first is better, with its 95 % interval (linear to ±1, logarithmic beyond); of iterations, by their logarithms. "
    "The verdict is on the paper’s claim: that the first is better or, with *, the second. Its test is adjusted within "
    "a family, so that it can be undecided where the interval is without 0."
)
COUNTED = "comparisons that count (mirrored ones and validation metrics do not)"


def draw(artifact: Forest, sources: Sources) -> Figure:
    """Without any comparison, a page that says so."""
    claims, rows = sources.claims, artifact.drawn(sources.claims)
    marks = [verdict for verdict in STYLES if any(row.verdict == verdict for row in rows)]
    marks += [PAPERS] if any("published_effect" in row.effects for row in rows) else []
    lines = lines_of(rows)
    with matplotlib.rc_context(STYLE):
        figure, body = page(
            artifact.settings,
            subtitle=f"scale: {artifact.configuration.scale_name}",
            width=WIDTH,
            height=LINE * len(lines) + 0.85 if rows else 1.0,
            notes=notes_of(artifact, claims, rows),
            handles=[Line2D([], [], **STYLES[mark], ls="none", ms=6, label=mark) for mark in marks],
        )
        if not rows:
            body.text(0.5, 0.5, nothing(artifact, claims), ha="center", va="center", color="0.4", gid="nothing")
            return figure
        labels, ax = body.subplots(1, 2, sharey=True, width_ratios=[1, 1.3])
        labels.axis("off")
        labels.set_xlim(0, 1)
        for y, line in enumerate(lines):
            if isinstance(line, Comparison):
                draw_row(labels, ax, y, line)
            elif line:
                colour = "0.55" if "" in lines[:y] else "black"
                labels.text(0, y, line, va="center", weight="bold", fontsize=SIZE, color=colour, gid="heading")
            else:
                draw_rule(labels, ax, y)
        describe(ax, [number for row in rows for number in row.effects.values()], len(lines))
    return figure


def lines_of(rows: Sequence[Comparison]) -> list[str | Comparison]:
    """From top to bottom: rows, a heading above those of one task and measure, "" above those of which none learned."""
    found: list[str | Comparison] = []
    before: tuple[bool, str] = (False, "")
    for row in rows:
        here = row.verdict == IDLE, row.about
        found += [""] if here[0] and not before[0] else []
        found += [row.about] if here != before else []
        found.append(row)
        before = here
    return found


def draw_row(labels: Axes, ax: Axes, y: int, row: Comparison) -> None:
    style, effects, name = STYLES[row.verdict], row.effects, row.row["id"]
    colour = "0.55" if row.verdict == IDLE else "black"
    labels.text(0.03, y, row.names, va="center", fontsize=SIZE, color=colour, gid=f"label {name}")
    ends = [effects["effect_low"], effects["effect_high"]]
    ax.plot(ends, [y, y], color=style["color"], lw=1.4, gid=f"interval {name}")
    ax.plot([effects["effect"]], [y], **style, ms=6, mew=0, ls="none", zorder=4, gid=f"{row.verdict} {name}")
    if "published_effect" in effects:
        theirs = {"ms": 5, "mew": 0.9, "ls": "none", "zorder": 3, "gid": f"published {name}"}
        ax.plot([effects["published_effect"]], [y], **STYLES[PAPERS], **theirs)


def draw_rule(labels: Axes, ax: Axes, y: int) -> None:
    ends = labels.get_yaxis_transform(), ax.get_yaxis_transform()
    rule = ConnectionPatch((0, y), (1, y), *ends, color="0.5", lw=0.8, gid="rule")
    rule.set_in_layout(False)
    labels.add_artist(rule)
    ax.patch.set_visible(False)  # the rule passes below it


def describe(ax: Axes, effects: Sequence[float], lines: int) -> None:
    """Zero, and a scale that is linear to 1 either way and logarithmic beyond."""
    left, right = min(-1.5, 1.3 * min(effects)), max(1.5, 1.3 * max(effects))
    ax.set_xscale("symlog", linthresh=1, linscale=1)
    ax.set_xlim(left, right)
    ax.set_ylim(lines - 0.4, -1.4)
    ticks = sorted({sign * tick for tick in TICKS for sign in (-1, 1) if left <= sign * tick <= right})
    ax.set_xticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    ax.minorticks_off()
    ax.axvline(0, color="black", lw=0.8, zorder=1, gid="zero")
    for text, side in (("← worse  ", "right"), ("  better →", "left")):
        ax.text(0, -0.9, text, ha=side, va="center", fontsize=SIZE, color="0.3")
    ax.grid(axis="x", color="0.9", lw=0.6, zorder=0)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", left=False, labelleft=False)
    ax.set_xlabel("standardised difference g", fontsize=SIZE)


def nothing(artifact: Forest, claims: Sequence[Row]) -> str:
    """Why nothing is drawn."""
    judged = artifact.comparisons(claims)
    if judged:
        return f"No difference can be drawn of the {len(judged)} comparisons judged: {judged[0].row['reason']}."
    return f"No comparison on this question is judged at the {artifact.configuration.scale_name} scale."


def notes_of(artifact: Forest, claims: Sequence[Row], rows: Sequence[Comparison]) -> list[str]:
    """The caption, by paragraph."""
    scale, judged = scale_notes(artifact.configuration), artifact.comparisons(claims)
    if not rows:
        return scale
    drawn = [EXPLANATION]
    if any("published_effect" in row.effects for row in rows):
        drawn.append("Hollow: the paper’s own numbers, in its own standard deviations.")
    if any(row.verdict == IDLE for row in rows):
        drawn.append("Below the line: undecided, as a model has not beaten the best naive answer.")
    if any("†" in row.names for row in rows):
        drawn.append("†: is behind, and has learned nothing.")
    left, without = len(judged) - len(rows), ""
    shown = f"All {len(judged)} {COUNTED}."
    if left:
        shown = f"{len(rows)} of {len(judged)} {COUNTED}: those with an effect, of the main tables first, then the "
        shown += f"largest. Not drawn, but among all claims: {left}."
    if none := dict.fromkeys(f"{one.names} ({one.about})" for one in artifact.comparisons(claims, none=True)):
        values = " or ".join(f"{name} = {value:g}" for name, value in artifact.settings.unless.items())
        without = f" Left out, with {values}: {'; '.join(none)}."
    return [" ".join([*scale, departing(judged)]), " ".join(drawn), shown + without]
