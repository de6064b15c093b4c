"""What mkdocs.yml calls while it builds the site: pages that lie outside docs/, or are made of the configuration.

In the repository a page links to others by their places in it, README.md and source files among them. The site has the
pages of `OUTSIDE` under other names; a link to what it does not have, such as a module, loses its address and keeps its
words.
"""

import os
import re
import sys
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "config/README.md": "configuration.md",
    "published/README.md": "published.md",
    "benchmarks/RESULTS.md": "speed.md",
}
PAGES = OUTSIDE | {  # by their places in the repository
    "docs/README.md": "index.md",
    "benchmarks/README.md": "speed.md",
    "docs/evidence/paper/README.md": "evidence/paper/index.html",
    "docs/evidence/dtriv/paper/README.md": "evidence/dtriv/paper/index.html",
    "docs/evidence/evening/README.md": "evidence/evening/index.html",
}
LINK = re.compile(r"(!?\[[^\]\n]*(?:\n[^\]\n]*)?\])\(([^)\s]+)\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
IMAGE = re.compile(r'(<img src=")([^"]+)(")')


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside docs/, and the page of every public name."""
    from mkdocs.structure.files import File

    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "api.md", content=names()))
    return files


def on_page_markdown(text: str, page: Any, config: Any, files: Any) -> str:
    """Let a page's links lead to pages of the site, and append what is made of the configuration."""
    site_path = page.file.src_uri
    source = next((place for place, name in OUTSIDE.items() if name == site_path), f"docs/{site_path}")
    known = {file.src_uri for file in files}

    def link(match: re.Match[str]) -> str:
        address = address_of(match[2], source, site_path, known)
        words = match[1].removeprefix("!").removeprefix("[").removesuffix("]")
        return f"{match[1]}({address})" if address else words

    def image(match: re.Match[str]) -> str:
        return f"{match[1]}{address_of(match[2], source, site_path, known) or match[2]}{match[3]}"

    text = IMAGE.sub(image, LINK.sub(link, text))
    return text + variants() if site_path == "variants.md" else text


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Turn a page's formulas from LaTeX into MathML, which browsers draw without a script."""
    from latex2mathml.converter import convert

    def formula(match: re.Match[str]) -> str:
        return convert(unescape(match[2]), display="block" if match[1] == "div" else "inline")

    return FORMULA.sub(formula, html)


def address_of(target: str, source: str, site_path: str, known: set[str]) -> str | None:
    """A link's address on the site; None where the site has no such page.

    Args:
        target: as the page has it.
        source: the page's file in the repository.
        site_path: the page's place on the site.
        known: the places of all pages and files of the site.
    """
    if re.match(r"[a-z]+:|#", target):
        return target
    path, _, heading = target.partition("#")
    place = os.path.normpath(PurePosixPath(source).parent / path)
    reached = PAGES.get(place) or place.removeprefix("docs/")
    if reached not in known or (not place.startswith("docs/") and place not in PAGES):
        return None
    return os.path.relpath(reached, PurePosixPath(site_path).parent) + (f"#{heading}" if heading else "")


def names() -> str:
    """The page of `hidden_dynamics.nn`: a heading of each public name, with what its docstring says."""
    sys.path.insert(0, str(ROOT))
    import hidden_dynamics.nn as hd

    head = "# The library, name by name\n\nThe [guide](library.md); the [equations](cells.md).\n"
    return head + "".join(f"\n::: hidden_dynamics.nn.{name}\n" for name in hd.__all__)


def variants() -> str:
    """A heading of each variant, with its values, as config/variants.yaml has them."""
    entries = yaml.safe_load((ROOT / "config/variants.yaml").read_text(encoding="utf-8"))
    return "\n\n## Each variant\n" + "".join(variant(name, entry) for name, entry in entries.items())


def variant(name: str, entry: dict[str, Any]) -> str:
    """One variant's heading, what it is about, and a line of each value."""
    values = {key: entry[key] for key in ("published", "released") if key in entry} | entry.get("others", {})
    concerned = ", ".join(f"`{each}`" for key in ("models", "tasks") for each in entry.get(key, []))
    lines = [f"- **{value}**: {content['text']}" for value, content in values.items()]
    return (
        f"\n### `{name}`\n\n{entry['about'][0].upper()}{entry['about'][1:]} ({concerned}).\n\n"
        + "\n".join(lines)
        + "\n"
    )
