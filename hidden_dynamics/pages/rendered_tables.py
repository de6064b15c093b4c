"""A table as scripts/render_table.py wrote it, taken into the page: its rows lead to the runs behind them."""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup

from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.figures import read_rows

OURS = re.compile(r" \(n = \d+")  # what stands behind every number that was made of runs


@dataclass(frozen=True)
class RenderedTable:
    """A table's title, the `table` element, and the notes below it, each as HTML."""

    title: str
    table: Markup
    notes: list[Markup]


def read_table(stem: Path, anchors: dict[tuple[str, str], str]) -> RenderedTable:
    """The table in `<stem>.html`.

    Args:
        anchors: for each (model, paper's size) of its rows, as <stem>.csv has them, the id of the place on the page
            that says of which runs the row was made; empty where the table was not made of runs.

    Raises:
        UserError: a file is missing or not as expected, or a row's runs are not known.
    """
    path = stem.with_name(f"{stem.name}.html")
    try:
        text = path.read_text(encoding="utf-8")
        table, notes, title = (_element(text, tag) for tag in ("table", "ul", "h1"))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run snakemake again.") from None
    except (ValueError, ElementTree.ParseError) as error:
        raise UserError(f"{path} is not a rendered table ({error}): remove it and run snakemake again.") from None
    if anchors:
        _link_rows(path, table, [anchors.get(key, "") for key in _rows_of(stem.with_name(f"{stem.name}.csv"))])
    return RenderedTable("".join(title.itertext()), _html(table), [_inner(note) for note in notes])


def _element(text: str, tag: str) -> ElementTree.Element:
    start, end = text.index(f"<{tag}"), text.rindex(f"</{tag}>")
    return ElementTree.fromstring(text[start:end] + f"</{tag}>")


def _rows_of(path: Path) -> list[tuple[str, str]]:
    """(model, paper's size) of the readable rows, in their order: the CSV has a row for each task and metric of one."""
    return list(dict.fromkeys((row["model"], row.get("paper_size", "")) for row in read_rows(path)))


def _link_rows(path: Path, table: ElementTree.Element, anchors: list[str]) -> None:
    """Make a link of the first cell of each row, and of each cell that was made of runs."""
    rows = table.findall("tbody/tr")
    if len(rows) != len(anchors) or not all(anchors):
        raise UserError(
            f"{path}: {len(rows)} rows, and the runs of {sum(map(bool, anchors))} of {len(anchors)} are known: "
            "the table and the runs are not of the same configuration; run snakemake again."
        )
    for row, anchor in zip(rows, anchors, strict=True):
        for place, cell in enumerate(row):
            if place == 0 or OURS.search("".join(cell.itertext())):
                link = ElementTree.Element("a", {"href": f"#{anchor}"})
                link.text, cell.text = cell.text, None
                link.extend(list(cell))
                cell[:] = [link]


def _html(element: ElementTree.Element) -> Markup:
    return Markup(ElementTree.tostring(element, encoding="unicode", method="html"))


def _inner(element: ElementTree.Element) -> Markup:
    """What stands in an element, without its own tag."""
    return Markup(re.sub(r"^<[^>]*>|</[^>]*>\s*$", "", _html(element)))
