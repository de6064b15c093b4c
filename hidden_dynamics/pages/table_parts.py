"""A table as the page shows it: its numbers unbroken, and group by group where a screen is too narrow for all."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas
from markupsafe import Markup

from hidden_dynamics.artifacts.tables import Link, Table, html_table

COLUMNS = 10  # as many as a screen of 1280 pixels takes
WITHIN = re.compile(r"(?<=[±×=]) | (?=[±=])|(?<=\(paper:) | (?=\[)|(?<=,) (?=\d)")  # spaces within a number


@dataclass(frozen=True)
class TablePart:
    """A `table` element; the heading is the group of its columns, where it does not have all."""

    heading: str
    html: Markup


def parts_of(table: Table, link: Link) -> list[TablePart]:
    """The table or, where it has more columns than a screen takes, one for each group with the columns of no group.

    Args:
        link: as for `html_table`.
    """
    whole = replace(table, frame=table.frame.map(unbroken))
    return [TablePart(heading, html_table(part, link)) for heading, part in _split(whole)]


def _split(table: Table) -> Iterator[tuple[str, Table]]:
    columns = list(table.frame.columns)
    groups = [group for group in dict.fromkeys(group for group, _ in columns) if group]
    if len(columns) <= COLUMNS or not groups:
        yield "", table
        return
    for group in groups:
        kept = [column for column in columns if column[0] in ("", group)]
        frame = table.frame[kept].set_axis(
            pandas.MultiIndex.from_tuples([("", name) for _, name in kept]), axis="columns"
        )
        ours = {("", name): task for (own, name), task in table.ours.items() if own in ("", group)}
        yield group, replace(table, frame=frame, ours=ours)


def unbroken(text: str) -> str:
    """With a number, its sign, spread or count on one line."""
    return WITHIN.sub("\u00a0", text)
