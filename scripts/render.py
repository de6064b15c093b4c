"""Draw one table (csv, md, tex, html) or figure (pdf, png) of a paper from the files that it is made of."""

import _bootstrap  # noqa: F401, I001

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.artifacts.row_verdicts import verdicts_on
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--root").parse_args()
    artifact = artifact_named(load(parse_settings(given.config)), given.artifact, "--artifact")
    drawn = artifact.draw(Sources(artifact, given.root, verdicts_on(artifact, given.root)))
    files = [given.root / file for file in artifact.files()]
    if artifact.form == "table":
        from hidden_dynamics.artifacts.tables import write_table  # pandas

        write_table(drawn, files)
    else:
        from hidden_dynamics.artifacts.sheet import save  # matplotlib

        save(drawn, files[0].with_suffix(""))


if __name__ == "__main__":
    run_main(main)
