"""Made-up runs of headline claims, and the verdicts on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made import make_run

from hidden_dynamics.claims import judge, kinds, needed
from hidden_dynamics.claims.verdict import Verdict
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.papers.claims import ClaimEntry, Paper, PaperClaims
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.record import RunRecord

SPREAD = (-0.1, 0.05, 0.0, 0.1, -0.05)
PAIR = {"task": "mnist", "metric": "test_accuracy", "subject": "momentum_lstm", "reference": "lstm", "size": 128}


def claim(id: str = "M1", **changes: Any) -> ClaimEntry:
    """A claim that MomentumLSTM is more accurate than LSTM on MNIST, which is of the paper's family."""
    about = {"says": "mine", "place": "my notes", "kind": "better", "printed": "nothing", "dagger": True, **PAIR}
    return ClaimEntry(id=id, **about | changes)


def under(directory: Path, configuration: Configuration) -> Configuration:
    """The same with its results in another directory."""
    return replace(configuration, settings=configuration.settings.model_copy(update={"results": str(directory)}))


def seeds(
    configuration: Configuration,
    model: str,
    mean: float,
    spread: Iterable[float] = SPREAD,
    metric: str = "test_accuracy",
    **about: Any,
) -> list[RunRecord]:
    """Runs of a seed each whose only evaluation is, in the unit that is shown, at some offset from a mean."""
    factor = configuration.metrics[metric].factor
    return written(configuration, model, [[(mean + offset) / factor] for offset in spread], metric, **about)


def written(
    configuration: Configuration,
    model: str,
    courses: Sequence[Sequence[float | None]],
    metric: str = "test_accuracy",
    task: str = "mnist",
    size: int | None = 128,
    losses: Sequence[Sequence[float]] | None = None,
    diverged: Iterable[int] = (),
    **about: Any,
) -> list[RunRecord]:
    """Runs as files, each with the metric after each epoch, in its own unit, where it is not None.

    Args:
        losses: of the minibatches of each seed.
        diverged: the seeds that did.
        about: as for `made.make_run`.
    """
    records = []
    for seed, course in enumerate(courses):
        run = resolve(configuration, task, model, size, seed)
        reports = run.spec["training"]["report"]["metric"]
        rows = [
            {"iteration": 10 * n, "epoch": float(n), reports: 0.5} | ({} if value is None else {metric: value})
            for n, value in enumerate(course, 1)
        ]
        own = {
            "naive": {"test_accuracy": {"majority class": 0.1135}},
            "diverged_at": 5 if seed in diverged else None,
            "losses": losses and losses[seed],
        } | about
        make_run(Path(), configuration, run, rows, **own)
        records.append(RunRecord.read(configuration, run, Path()))
    return records


def judged(
    configuration: Configuration, runs: Iterable[RunRecord], *claims: ClaimEntry, **measured: Any
) -> list[Verdict]:
    """The verdicts on claims, as if there were no other ones, of one paper."""
    content = PaperClaims(paper=Paper(title="Mine", year=2020), claims=list(claims or [claim()]))
    return judged_of(Evidence(configuration, list(runs), **measured), {"momentumrnn": content})


def judged_of(evidence: Evidence, papers: Mapping[str, PaperClaims]) -> list[Verdict]:
    """The verdicts on the claims of these papers."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (judge, needed):
            patch.setattr(module, "load_claims", lambda: papers)
        for kept in (kinds._number, kinds._smoothed):
            kept.cache_clear()  # other runs may have lain in the same directories
        return judge.verdicts(evidence)
