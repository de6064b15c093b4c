"""The first screen: three pictures that answer most, each with a sentence on what was found there, and what is done."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hidden_dynamics.artifacts.kinds.forest import Forest
from hidden_dynamics.artifacts.questions import BETTER, WORSE, Comparison
from hidden_dynamics.claims.verdict import NOT_RUN, word
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.pages.sections import Section
from hidden_dynamics.papers.deviations import listed
from hidden_dynamics.results.rows import Row
from hidden_dynamics.results.seeds import BY_CHANCE, margin_of

MOST = 3
PREFERRED = (  # of all figures, those that answer most: the questions, then what reads best
    *("acenode_attention", "momentumrnn_momentum", "momentumrnn_adam", "momentumrnn_figure9", "momentumrnn_figure7"),
    *("momentumrnn_figure2", "acenode_figure6", "momentumrnn_figure4", "momentumrnn_figure11", "momentumrnn_figure8"),
)


def pictures(sections: Sequence[Section]) -> list[Section]:
    """The first of the preferred figures that are drawn; where these are too few, others after them."""
    drawn = {section.name: section for section in sections if section.picture}
    return [drawn[name] for name in dict.fromkeys((*PREFERRED, *drawn)) if name in drawn][:MOST]


def done(
    configuration: Configuration, sections: Sequence[Section], runs: Sequence[Row], claims: Sequence[Row]
) -> list[tuple[int, int, str]]:
    """(how many, of how many, what): of the runs of the scale, chosen here or not; of tables and figures, of claims.

    Args:
        runs: the summary of all runs.
    """
    whole = replace(configuration, settings=configuration.settings.model_copy(update={"only": [], "leave_out": []}))
    ended = {run["directory"]: run["status"] for run in runs}
    shown = sum(bool(section.picture) or section.artifact.form == "table" for section in sections)
    judged = sum(claim["verdict"] != NOT_RUN for claim in claims)
    return [
        (sum(status == "finished" for status in ended.values()), len(all_runs(whole)), "runs finished"),
        (shown, len(configuration.artifacts), "tables and figures have something to show"),
        (judged, len(claims), "claims judged"),
    ]


def sentence(section: Section, claims: Sequence[Row]) -> str:
    """What was found there: of a question how its comparisons are decided, of another figure what its runs learned.

    Args:
        claims: all verdicts.
    """
    if isinstance(section.artifact, Forest):
        return answer(section.artifact.comparisons(claims), section.artifact.settings.without)
    gains = list(_gains(section))
    ahead = sum(gain > BY_CHANCE for gain in gains)
    texts = [f"{ahead} of {len(gains)} runs beat the best guess that needs no network."] if gains else []
    if section.judged:
        texts.append(f"Its claims: {listed([f'{count} {verdict}' for verdict, count in section.judged.items()])}.")
    return " ".join(texts) or section.artifact.origin


def _gains(section: Section) -> Iterable[float]:
    """By which share each run is better than the best naive baseline, in what it reports."""
    metrics = section.artifact.configuration.metrics
    for run in section.runs:
        gain = margin_of(run, run["metric"], metrics[run["metric"]].sign) if run["metric"] else -1.0
        if gain is not None:
            yield gain


def answer(comparisons: Sequence[Comparison], without: Mapping[str, str]) -> str:
    """How many comparisons are decided which way, and the means of a model and of the same without what is asked for;
    where these are not compared, of the clearest comparison.

    Args:
        without: {model: the same without it}.
    """
    sides = Counter(one.side for one in comparisons)
    text = f"Of {len(comparisons)} comparisons {sides[BETTER]} decided for it, {sides[WORSE]} against it."
    measured = [one for one in comparisons if one.effects and one.row["kind"] == "better"]  # those of one number a run
    alone = [one for one in measured if without.get(one.own) == one.other]
    decided = [one for one in measured if one.side in (BETTER, WORSE)]
    one = next(iter(alone), max(decided, key=lambda one: abs(one.effects["effect"]), default=None))
    if one is None:
        return text
    means = [side.partition(" ±")[0] for side in one.row["found"].split(" against ")][:: -1 if one.reverse else 1]
    return f"{text} {one.names}: {' against '.join(means)} ({one.about}), {word(one.row)}."
