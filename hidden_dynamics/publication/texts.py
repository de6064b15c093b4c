"""The publication's texts, README.md, findings.md and those beside it, from their templates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def text(template: str, values: Mapping[str, Any]) -> str:
    """A template of this package with its values; a value that is missing is a mistake."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,  # Markdown
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda value: str(value).replace("|", "\\|")
    return environment.get_template(template).render(values)
