"""The page: everything of a scale, from its finished results."""

from pathlib import Path

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.claims.rules import OF_THE_SECOND_VERDICT, rules
from hidden_dynamics.claims.verdict import COLUMNS, NOT_RUN, SECOND_VERDICTS
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.pages import times
from hidden_dynamics.pages.claims_list import findings, in_a_sentence, verdicts_shown
from hidden_dynamics.pages.curve_drawings import colours
from hidden_dynamics.pages.provenance import data_of, provenance_of
from hidden_dynamics.pages.second_verdicts import HEADING, findings_here, second_in_a_sentence
from hidden_dynamics.pages.sections import papers_of, section_of
from hidden_dynamics.pages.templating import environment
from hidden_dynamics.results.rows import read_rows

SLOWEST = 5


def index_page(configuration: Configuration, root: Path) -> str:
    """The page of the configured scale.

    Args:
        root: where the results directory is.

    Raises:
        UserError: a result is missing, damaged, or does not fit the others.
    """
    paths = configuration.paths
    claims = read_rows(root / paths.all_verdicts("csv"), COLUMNS)
    runs = read_rows(root / paths.summary("all"))
    sections = [section_of(artifact, runs, claims, root) for artifact in load_artifacts(configuration).values()]
    template = environment(configuration.results).get_template("index.html.j2")
    return template.render(
        configuration=configuration,
        provenance=provenance_of(configuration, runs),
        papers=papers_of(sections),
        colours=colours(configuration),
        claims=claims,
        verdicts=verdicts_shown(claims),
        not_run=NOT_RUN,
        in_a_sentence=in_a_sentence(claims),
        rules=rules(),
        findings=findings,
        second_in_a_sentence=second_in_a_sentence(claims),
        second_verdicts=SECOND_VERDICTS,
        second_heading=HEADING,
        second_rule=OF_THE_SECOND_VERDICT,
        findings_here=findings_here,
        data=data_of(runs, configuration.title_of),
        trainings=times.trainings(runs),
        slowest=sorted(runs, key=lambda run: float(run["training_seconds"]), reverse=True)[:SLOWEST],
        jobs=times.jobs(root / paths.logs),
    )
