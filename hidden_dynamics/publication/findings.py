"""findings.md: a table for each paper of what was found of its claims, and how much was compared beside them."""

from collections.abc import Sequence
from pathlib import Path

from hidden_dynamics.artifacts import left_out_note
from hidden_dynamics.artifacts.tables import markdown_text
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages.findings import exploratory_of, findings_of
from hidden_dynamics.pages.sections import figure_of, papers_of
from hidden_dynamics.publication.readme import filled, hours_of
from hidden_dynamics.results.record import RunRecord


def findings_page(configuration: Configuration, runs: Sequence[RunRecord], root: Path) -> str:
    """
    Args:
        runs: each once.
        root: where the results directory is, and the publications.
    """
    artifacts = [artifact for paper in papers_of(configuration) for artifact in paper.artifacts]
    questions = [one for one in artifacts if one.settings.kind == "forest" and not figure_of(one, root).instead]
    return filled(
        "findings.md.j2",
        configuration=configuration,
        runs=runs,
        hours=hours_of(runs),
        papers=findings_of(configuration, root),
        exploratory=exploratory_of(configuration, root),
        questions=questions,
        left_out=left_out_note(configuration),
        text=markdown_text,
    )
