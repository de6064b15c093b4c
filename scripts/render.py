"""Draw one table (csv, md, tex, html) or figure (pdf, png) of a paper from the files that it is made of."""

import _bootstrap  # noqa: F401, I001
import argparse
from pathlib import Path

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.results.rows import read_rows
from hidden_dynamics.errors import run_main
from hidden_dynamics.papers.claims import artifacts_with_claims


def main() -> None:
    arguments = parse_arguments()
    artifact = artifact_named(load(parse_settings(arguments.config)), arguments.artifact, "--artifact")
    drawn = artifact.draw(Sources(artifact, arguments.root, verdicts_on(artifact, arguments.root)))
    files = [arguments.root / file for file in artifact.files()]
    if artifact.form == "table":
        from hidden_dynamics.artifacts.tables import write_table  # pandas

        write_table(drawn, files)
    else:
        from hidden_dynamics.artifacts.sheet import save  # matplotlib

        save(drawn, files[0].with_suffix(""))


def verdicts_on(artifact: Artifact, root: Path) -> tuple[dict[str, str], ...]:
    """The verdicts on the claims that rest on a table, which mark its rows."""
    configuration = artifact.configuration
    if artifact.form != "table" or artifact.name not in artifacts_with_claims(configuration):
        return ()
    return tuple(read_rows(root / configuration.paths.verdicts(artifact.name), COLUMNS))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact", required=True, help="name in config/artifacts.yaml")
    parser.add_argument("--config", help="settings as JSON, merged over config.yaml")
    parser.add_argument("--root", type=Path, default=Path(), help="what paths are relative to; by default, here")
    return parser.parse_args()


if __name__ == "__main__":
    run_main(main)
