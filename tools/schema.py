"""Write what config.yaml may hold: config/schema.json, for editors, and the table of keys in config/README.md.

python tools/schema.py            # write them
python tools/schema.py --check    # fail if they are not what hidden_dynamics/configuration/schema.py says
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from hidden_dynamics.configuration.entries import read_yaml  # noqa: E402
from hidden_dynamics.configuration.schema import Settings  # noqa: E402
from hidden_dynamics.errors import UserError, run_main  # noqa: E402

TABLE = re.compile(r"(?<=\| key of `config.yaml` \| default \| meaning \|\n\|---\|---\|---\|\n)(\| .*\n)+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    check = parser.parse_args().check
    schema, readme = Settings.model_json_schema(), ROOT / "config/README.md"
    written, count = TABLE.subn(table(schema).replace("\\", r"\\"), readme.read_text(encoding="utf-8"))
    if count != 1:
        raise UserError(f"{readme} has no table under the heading that {__file__} looks for.", file=readme)
    files = {ROOT / "config/schema.json": json.dumps(schema, indent=2) + "\n", readme: written}
    for path, content in files.items():
        if not check:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            raise UserError(f"{path} is not what the schema says: run python tools/schema.py and commit it.", file=path)


def table(schema: dict) -> str:
    """A row of each key, with its value in config.yaml, where that is no mapping of its own."""
    given = read_yaml(ROOT / "config.yaml")
    rows = []
    for key, about in schema["properties"].items():
        value = given.get(key, about.get("default"))
        shown = (
            "" if isinstance(value, dict) and key in ("data", "forecast") else f"`{json.dumps(value)}`".replace('"', "")
        )
        rows.append(f"| `{key}` | {shown} | {' '.join(about['description'].split())} |\n")
    return "".join(rows)


if __name__ == "__main__":
    run_main(main)
