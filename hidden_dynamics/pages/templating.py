"""The page's templates, and how they write numbers, times and addresses."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from hidden_dynamics.pages.curve_drawings import dasharray

TEMPLATES = Path(__file__).parent / "templates"


def environment(results: str) -> jinja2.Environment:
    """Jinja with the page's filters; everything is escaped but what is our own.

    Args:
        results: the directory that the page's links are relative to.
    """
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "breakable": lambda path: escape(path).replace("/", Markup("/<wbr>")),
        "brief": brief,
        "dasharray": dasharray,
        "duration": duration,
        "identifier": lambda text: re.sub(r"[\s%]", "-", text),
        "relative": _relative_to(results),
    }
    jinja.globals["own"] = lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8"))
    return jinja


def _relative_to(results: str) -> Callable[[str], str]:
    return lambda path: os.path.relpath(path, results)


def brief(value: Any) -> str:
    """A number to four significant digits; anything else as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def duration(seconds: float | str) -> str:
    """Seconds as a reader takes them in: "0.8 s", "3 min 20 s", "5 h 02 min"."""
    seconds = float(seconds)
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
