"""What a test found, in a sentence or in brief: words of direction follow from the sign, numbers are the row's."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hidden_dynamics.artifacts import Artifact
from hidden_dynamics.claims.verdict import Words, plain
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.papers.claims import OF_OTHERS, load_claims
from hidden_dynamics.papers.published import within_sentence
from hidden_dynamics.publication.questions import reason_of
from hidden_dynamics.results.rows import Row

OF_RATIOS = ("faster", "gradients", "ratio", "smaller")  # whose estimate is a ratio: subject over reference
PAIRS = ("higher_or_lower", "more_or_less")  # words for an estimate above 0, and below
OF_A_METRIC = "{at}{subject} has {a_metric} {apart} {higher_or_lower} than {reference}"
SENTENCES = {
    "better": OF_A_METRIC,
    "not_better": f"{OF_A_METRIC}, where the claim is that it is not better",
    "similar": f"{OF_A_METRIC}, where the claim is that both are alike",
    "steadier": "{at}{subject}’s {metric} varies {ratio} times as much between seeds as {reference}’s",
    "overfitting": "{at}{subject}’s {metric} rises {apart} {more_or_less} above its lowest than {reference}’s",
    "faster": "{at}{subject} needs {ratio} times the iterations of {reference} to reach the same {metric}",
    "gradients": "{at}{ratio} times as much of {subject}’s gradients reaches early steps as of {reference}’s",
    "reaches": "{at}the early steps get {ratio} times the gradients of the last ones in {subject}",
    "smaller": "{at}{subject} has {ratio} times the parameters of {reference}",
    "ratio": "{at}{subject}’s {metric} is {ratio} times {reference}’s",
}
BRIEF = {  # what was compared, and what was found
    "better": ("{metric}", "{apart} {higher_or_lower}"),
    "not_better": ("{metric} (claimed to be no better)", "{apart} {higher_or_lower}"),
    "similar": ("{metric} (claimed to be alike)", "{apart} {higher_or_lower}"),
    "steadier": ("spread of the {metric}", "× {ratio}"),
    "overfitting": ("rise of the {metric} above its lowest", "{apart} {more_or_less}"),
    "faster": ("iterations to the same {metric}", "× {ratio}"),
    "gradients": ("gradients that reach early steps", "× {ratio}"),
    "reaches": ("gradients of the early steps against the last", "× {ratio}"),
    "smaller": ("parameters", "× {ratio}"),
    "ratio": ("{metric} (claimed to be on the printed side of × 1)", "× {ratio}"),
}
WITH_A_WAY = ("better", "gain", "faster", "steadier", "overfitting", "gradients")  # kinds of claims: theirs is a sign
REFUTED = "the paper’s own table says otherwise"


@dataclass(frozen=True)
class Sentences:
    """Writes claims as sentences, with the titles that results have.

    Attributes:
        labels: (label, size) of a model, by task and variant.
        tasks: the title of a task and that of its data, by its name.
        entries: what an entry of published/claims.yaml says, by its id.
    """

    configuration: Configuration
    artifacts: Mapping[str, Artifact]
    labels: Mapping[tuple[str, str], tuple[str, str]]
    tasks: Mapping[str, tuple[str, str]]
    entries: Mapping[str, str]

    @classmethod
    def of(cls, configuration: Configuration, artifacts: Mapping[str, Artifact], runs: list[Row]) -> "Sentences":
        """With the titles of these runs."""
        labels = {(run["task"], run["variant"]): (run["label"], run["size"]) for run in runs}
        tasks = {run["task"]: (run["task_title"], run["dataset_title"]) for run in runs}
        return cls(configuration, artifacts, labels, tasks, {entry.id: entry.says for entry in load_claims().claims})

    def place(self, key: str) -> str:
        """The title of a task with its data; of an artifact, its place in the paper."""
        if key in self.tasks:
            title, data = self.tasks[key]
            return data if data.startswith(title) else f"{title} [{data}]"
        return self.artifacts[key].settings.source if key in self.artifacts else key

    def sentence(self, claim: Row, words: Words) -> str:
        """What was found, without the verdict, with its numbers in brackets; it stands under the name of its place.

        Of a claim that others decide, the reason of this kind of verdict: what was found are verdicts of the other.
        """
        if claim["kind"] in OF_OTHERS:
            return f"{self._compared(claim)} ({self.reason(claim, words) or claim['test']})"
        return f"{self._compared(claim)} ({'; '.join([*self._numbers(claim), *_refuted(claim)])})"

    def reason(self, claim: Row, words: Words) -> str:
        """The reason for the verdict of this kind; other claims that decide it say what they say, not their ids."""
        reason = reason_of(claim, words)
        if claim["kind"] not in OF_OTHERS:
            return reason
        return re.sub(r"[\w-]+", lambda found: self._quoted(found.group()), reason)

    def _quoted(self, name: str) -> str:
        return f"“{self.entries[name].rstrip('.')}”" if name in self.entries else name

    def compared(self, claim: Row) -> str:
        """What was compared, as a heading: "MomentumLSTM and LSTM, test accuracy on PMNIST [Digits], N = 48"."""
        if claim["kind"] in OF_OTHERS or not claim["subject"]:
            return claim["statement"].rstrip(".")
        subject, reference, size = self._sides(claim)
        if claim["kind"] not in SENTENCES:
            return claim["statement"].rstrip(".")
        pair, at = f"{subject} and {reference}" if reference else subject, f", {size}" if size else ""
        return f"{pair}, {_KINDS.get(claim['kind'], '')}{self._metric(claim)} on {self.place(claim['task'])}{at}"

    def pair(self, claim: Row) -> str:
        """The models that are compared: "MomentumLSTM against LSTM"; of a claim on more than two, its statement."""
        if not _of_a_pair(claim):
            return f"“{claim['statement'].rstrip('.')}”"
        subject, reference, _ = self._sides(claim)
        return f"{subject} against {reference}" if reference else subject

    def brief(self, claim: Row, words: Words) -> tuple[str, str]:
        """(what of the pair was compared, what was found): ("test loss", "6.18 lower (N = 42)")."""
        if not _of_a_pair(claim):
            return "", self.difference(claim) if claim["estimate"] else self.reason(claim, words)
        heading, found = (text.format(**self._values(claim)) for text in BRIEF[claim["kind"]])
        about = [*filter(None, [self._sides(claim)[2]]), *_refuted(claim)]
        return heading, f"{found} ({'; '.join(about)})" if about else found

    def difference(self, claim: Row) -> str:
        """The estimate and its interval: "+1.2 [0.4, 2] points"; a ratio and tau are marked as such."""
        if not claim["estimate"]:
            return "–"
        text = _mark(claim) + (number(claim["estimate"]) if _mark(claim) else _signed(claim["estimate"]))
        text += f" [{', '.join(_bounds(claim))}]" if claim["low"] else ""
        if claim["kind"] == "steadier":
            return f"× {number(claim['effect'])}; mean absolute deviations {text}{self._unit(claim)} apart"
        return text + self._unit(claim)

    def detectable(self, claim: Row) -> str:
        """The smallest difference or ratio that the test finds; of `not_better`, how far from its margin."""
        if not claim["detectable"]:
            none = claim["kind"] == "steadier" and claim["test"]
            return f"no ratio, with n = {claim['n_reference']}" if none else "–"
        text = _mark(claim) + number(claim["detectable"]) + self._unit(claim)
        return f"{text} from the margin" if claim["kind"] == "not_better" else text

    def _compared(self, claim: Row) -> str:
        if not _of_a_pair(claim):
            return self.pair(claim)
        subject, reference, size = self._sides(claim)
        return SENTENCES[claim["kind"]].format(
            at=f"At {size}, " if size else "", subject=subject, reference=reference, **self._values(claim)
        )

    def _values(self, claim: Row) -> dict[str, str]:
        """What a sentence on a pair says of it: its metric and what was found, in words."""
        estimate, metric = float(claim["estimate"]), self._metric(claim)
        return {
            "metric": metric,
            "a_metric": f"{'an' if metric[:1] in 'aeiouAM' else 'a'} {metric}",
            "apart": number(abs(estimate)) + self._unit(claim),
            "ratio": number(claim["effect"] or estimate),
            **{pair: pair.split("_or_")[estimate <= 0] for pair in PAIRS},
        }

    def _numbers(self, claim: Row) -> list[str]:
        """What stands in brackets: the means, the interval, p, the seeds."""
        found = [claim["found"]] if claim["found"] else []
        if claim["estimate"] and not claim["subject"]:
            found.append(self.difference(claim))
        if claim["kind"] in ("not_better", "similar"):
            found.append(claim["test"])
        if claim["low"]:
            of = " of the difference of mean absolute deviations" if claim["kind"] == "steadier" else ""
            found.append(f"interval{of} {' to '.join(_bounds(claim))}{self._unit(claim)}")
        if claim["p"]:
            of = "of one test" if claim["tests"] == "1" else f"among {claim['tests']} tests"
            found.append(f"p {_small(claim['p_adjusted'])} {of}")
        seeds = [claim[key] for key in ("n_subject", "n_reference") if claim[key]]
        return [*found, f"n = {' and '.join(seeds)}"] if seeds else found

    def _sides(self, claim: Row) -> tuple[str, str, str]:
        """(subject, reference, the size of both); each names its own size where they differ in it."""
        (subject, size), (reference, other) = (self._label(claim, side) for side in ("subject", "reference"))
        if size == other or not reference:
            return subject, reference, f"N = {size}" if size.isdecimal() else ""
        return f"{subject} (N = {size})", f"{reference} (N = {other})", ""

    def _label(self, claim: Row, side: str) -> tuple[str, str]:
        """Label and size of a model; of one that was measured without runs here, as it is configured."""
        variant = claim[side]
        model, _, size = variant.rpartition("-")
        configured = self.configuration.models.get(model or variant)
        other = (configured.label if configured else variant, size.removeprefix("n") if model else "")
        return self.labels.get((claim["task"], variant), other)

    def _metric(self, claim: Row) -> str:
        """As the artifact that the claim is judged with names it."""
        if claim["metric"] not in self.configuration.metrics:
            return claim["metric"]
        artifact, metric = self.artifacts.get(claim["artifact"]), self.configuration.metrics[claim["metric"]]
        return within_sentence(artifact.heading(claim["metric"]) if artifact else metric.title)

    def _unit(self, claim: Row) -> str:
        """That of a difference; "" of a ratio."""
        if _mark(claim):
            return ""
        unit = self.configuration.metrics[claim["metric"]].unit if claim["metric"] in self.configuration.metrics else ""
        return {"percent": " points", "one": "", "10⁻³": " · 10⁻³"}.get(unit, f" {unit}".rstrip())


_KINDS = {"faster": "iterations to a ", "steadier": "spread of the ", "gain": "lead in ", "overfitting": "rise of the "}


def _of_a_pair(claim: Row) -> bool:
    return bool(claim["subject"] and claim["estimate"]) and claim["kind"] in SENTENCES


def _refuted(claim: Row) -> list[str]:
    return [REFUTED] if claim["against_table"] == "true" else []


def pointing(claims: Iterable[Row], configuration: Configuration) -> tuple[int, int]:
    """(how many comparisons point the way that the paper has them, how many there are that have a way).

    A comparison that two claims make, each the other's opposite, counts once; one on which the paper contradicts itself
    has the way of its table.
    """
    ways = {}
    for claim in claims:
        if claim["kind"] in WITH_A_WAY and claim["estimate"] and claim["against_table"] != "true":
            pair = frozenset((claim["subject"], claim["reference"]))
            ways[claim["kind"], claim["task"], claim["metric"], pair] = points_as_claimed(claim, configuration)
    return sum(ways.values()), len(ways)


def points_as_claimed(claim: Row, configuration: Configuration) -> bool:
    """Whether the estimate has the sign that the claim says."""
    estimate = float(claim["estimate"])
    if claim["kind"] in ("better", "gain"):
        return estimate * configuration.metrics[claim["metric"]].sign > 0
    if claim["kind"] == "gradients":
        return estimate > 1
    return estimate < 1 if claim["kind"] == "faster" else estimate < 0


def seeds_for(claim: Row) -> float | None:
    """How many seeds a model would find a true difference as large as the one found; None where no number tells."""
    text = claim["seeds_for_found"]
    return (int(text) if text.isdecimal() else math.inf) if text else None


def number(text: str | float, digits: int = 3) -> str:
    return plain(float(text), digits).replace("-", "−")


def _signed(text: str) -> str:
    return ("+" if float(text) > 0 else "") + number(text)


def _mark(claim: Row) -> str:
    if "ratio" in claim["effect_name"] and claim["kind"] in OF_RATIOS:
        return "× "
    return "tau = " if claim["kind"] == "ranking" else ""


def _bounds(claim: Row) -> tuple[str, str]:
    """Of the interval; of a ratio with a digit more, so that a bound of 1.001 is not read as the 1 that it excludes."""
    digits = 4 if _mark(claim) == "× " else 3
    return number(claim["low"], digits), number(claim["high"], digits)


def _small(text: str) -> str:
    p = float(text)
    return "< 0.0001" if p < 1e-4 else f"= {plain(p, 2)}"
