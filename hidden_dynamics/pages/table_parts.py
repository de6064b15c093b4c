"""A table as the page shows it: with its numbers unbroken, and no wider than a screen where its groups allow it."""

import re
from dataclasses import replace

from markupsafe import Markup

from hidden_dynamics.artifacts.tables import Link, Table, html_table

COLUMNS = 10  # as many as a screen of 1280 pixels takes
TOGETHER = re.compile(r"(?<=[±×=]) | (?=[±=])|(?<=\(paper:) | (?=\[)|(?<=,) (?=\d)")  # spaces within a number


def shown(table: Table, link: Link) -> list[Markup]:
    """The `table` elements: one, or one for each group of columns."""
    whole = replace(table, frame=table.frame.map(unbroken))
    return [html_table(part, link) for part in parts_of(whole)]


def parts_of(table: Table) -> list[Table]:
    """The table or, where it has more columns than a screen takes, one for each group with the columns of no group."""
    groups = [group for group in dict.fromkeys(group for group, _ in table.frame.columns) if group]
    if len(table.frame.columns) <= COLUMNS or len(groups) < 2:
        return [table]
    masks = ([column[0] in ("", group) for column in table.frame.columns] for group in groups)
    return [replace(table, frame=table.frame.loc[:, mask]) for mask in masks]


def unbroken(text: str) -> str:
    """With a number, its sign, spread or count on one line."""
    return TOGETHER.sub("\u00a0", text)
