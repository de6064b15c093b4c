"""Publish a scale's results as a small directory that is kept with the code: docs/evidence/<scale>, by config.yaml.

    python scripts/publish_evidence.py

It takes the place of what was published there before, complete or not at all, and is the same from the same results.
"""

import _bootstrap  # noqa: F401  isort: skip

from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import run_main
from hidden_dynamics.publication.publishing import publication, publish
from hidden_dynamics.system.arguments import parser


def main() -> None:
    given = parser(__doc__, "--config", "--root").parse_args()
    configuration = load(parse_settings(given.config))
    files = publication(configuration, given.root)
    publish(files, given.root / configuration.published_in)
    print(f"{configuration.published_in}: {len(files)} files, {sum(map(len, files.values())):,} bytes")


if __name__ == "__main__":
    run_main(main)
