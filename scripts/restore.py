"""Put the runs of a publication back as finished runs, from archives verified by its digests.

    python scripts/restore.py docs/evidence/paper
    python scripts/restore.py docs/evidence/paper --draw redrawn

The first puts back, with the publication's settings or those of --config, the runs whose specification and code are
those that are here, and whose data are, where they are prepared. A run that is there already stays. What is measured
beside the runs of a task comes back where all its runs agree.

The second puts all runs back in another directory, whatever specification, code and data are here, and draws every
table and figure there, and the page with all of them, with the configuration that was published. Each says by which
commit its runs were made.
"""

import _bootstrap  # noqa: F401  isort: skip

import json
from collections import Counter
from pathlib import Path

from render import draw
from render_claims import render_claims
from render_index import write_index
from summarise import summarise

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.claims.needed import tasks_of_claims
from hidden_dynamics.configuration import Configuration, load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.publication.command import settings_of
from hidden_dynamics.publication.restoring import Publication, put_all_back
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser


def main() -> None:
    options = parser(__doc__, "--config", "--root")
    options.add_argument("publication", type=Path, help="its directory, such as docs/evidence/paper")
    options.add_argument("--draw", type=Path, metavar="DIRECTORY", help="draw everything in this directory, a new one")
    given = options.parse_args()
    publication = Publication(given.publication)
    if given.draw:
        if given.config or given.root != Path():
            raise UserError("--draw takes the publication's own settings: leave out --config and --root", key="--draw")
        if given.draw.exists():
            raise UserError(f"{given.draw} is there: name a directory that is not.", file=given.draw)
        put_all_back(publication, given.draw)
        draw_all(publication.configuration, given.draw)
        return
    settings = given.config or json.dumps(settings_of(publication.configuration))
    outcome = put_all_back(publication, given.root, load(parse_settings(settings)))
    for came_of_it, count in Counter(outcome.values()).most_common():
        print(f"{count} runs {came_of_it}")


def draw_all(configuration: Configuration, root: Path) -> None:
    """The summaries, the verdicts, every table and figure, and the page."""
    artifacts = load_artifacts(configuration).values()
    floors = [path for one in artifacts for path in one.floors().values()]
    floors += [configuration.paths.measured("floors", task) for task in tasks_of_claims(configuration)]
    for file in [root / path for path in floors]:
        if not file.is_file():  # published before classical baselines were fitted
            write_rows(file, (), ())
    summarise(configuration, root)
    render_claims(configuration, root)
    for one in artifacts:
        draw(one, root)
        print(root / one.file("md"), flush=True)
    write_index(configuration, root)
    print(f"All on one page: {root / configuration.paths.index}")


if __name__ == "__main__":
    run_main(main)
