"""Make one table (csv, md, html) or figure (md, pdf, png) of a paper from the files of its runs.

    python scripts/render.py --artifact momentumrnn_figure3

Of the claims that rest on it, it writes <results>/<scale>/claims/<artifact>.csv, a row per claim
(hidden_dynamics.claims.verdict.COLUMNS). An empty cell means "none".
"""

import _bootstrap  # noqa: F401, I001

from hidden_dynamics.artifacts import artifact_named, load_claimed
from hidden_dynamics.artifacts.notes import code_note
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    sources = Sources(artifact_named(configuration, given.artifact, "--artifact"), given.root)
    if given.artifact in artifacts_with_claims(configuration):
        judge(sources)
    draw(sources)


def judge(sources: Sources) -> None:
    """The verdicts on an artifact's claims, as a file."""
    from hidden_dynamics.claims.epochs import with_epochs
    from hidden_dynamics.claims.expand import all_claims
    from hidden_dynamics.claims.judge import verdicts  # SciPy
    from hidden_dynamics.claims.verdict import COLUMNS

    artifact, configuration = sources.artifact, sources.artifact.configuration
    evidence, claims = sources.evidence, all_claims(load_claimed(configuration))[artifact.name]
    rows = with_epochs(evidence, claims, verdicts(evidence, claims))
    write_rows(sources.root / configuration.paths.verdicts(artifact.name), COLUMNS, rows)


def draw(sources: Sources) -> None:
    artifact, drawn = sources.artifact, sources.artifact.draw(sources)
    drawn.notes[:0] = filter(None, [code_note(artifact.runs, sources.summary)])
    files = [sources.root / file for file in artifact.files()]
    if artifact.form == "table":
        from hidden_dynamics.artifacts.tables import write_table  # pandas

        write_table(drawn, files)
    else:
        from hidden_dynamics.artifacts.sheet import save  # matplotlib

        save(drawn, files[0].with_suffix(""))


if __name__ == "__main__":
    run_main(main)
