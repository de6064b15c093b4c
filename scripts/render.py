"""Make one table (csv, md, html, json) or figure (md, pdf, png, csv, json) of a paper from the files of its runs.

python scripts/render.py --artifact momentumrnn_figure3
"""

import _bootstrap  # noqa: F401, I001

from pathlib import Path

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.notes import code_note
from hidden_dynamics.artifacts.sheet import save
from hidden_dynamics.artifacts.tables import Table, write_table
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    draw(artifact_named(configuration, given.artifact, "--artifact"), given.root)


def draw(artifact: Artifact, root: Path) -> None:
    """The files of a table or figure under `root`, made of those of its runs there."""
    evidence = artifact.evidence(root)
    drawn = artifact.draw(evidence)
    drawn.notes[:0] = filter(None, [code_note(evidence.runs)])
    files = [root / file for file in artifact.files()]
    if isinstance(drawn, Table):
        write_table(drawn, files)
    else:
        save(drawn, files[0].with_suffix(""))


if __name__ == "__main__":
    run_main(main)
