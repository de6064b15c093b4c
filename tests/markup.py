"""HTML and Markdown as tests read them: HTML's elements in order, the text under each id, cells of tables and links."""

import re
from html.parser import HTMLParser

WITHOUT_END = ("meta", "link", "input", "img", "br", "wbr")


def tables(text: str) -> list[list[list[str]]]:
    """Of each table in Markdown, the cells of its rows: the heading's, the rule's, then the others'."""
    blocks = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in block.splitlines()] for block in blocks]


class Reader(HTMLParser):
    """What a page holds.

    Attributes:
        tags: (name, attributes) of each element, in order.
        texts: all text within the element with an id, by it.
        rows: the texts of the cells of each row of a table.
    """

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, []
        self.rows = []
        self.feed(text)
        assert self.open == []  # every element is closed, in order

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in WITHOUT_END:
            self.open.append((tag, attributes.get("id")))
        if "id" in attributes:
            assert attributes["id"] not in self.texts, f"id {attributes['id']} stands twice"
            self.texts[attributes["id"]] = ""
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, text):
        for _, identifier in self.open:
            if identifier:
                self.texts[identifier] += text
        if {"td", "th"} & {tag for tag, _ in self.open}:
            self.rows[-1][-1] += text.strip("\n")

    def links(self) -> list[str]:
        return [attributes["href"] for tag, attributes in self.tags if tag == "a"]

    def asked_for(self) -> list[str]:
        """The addresses that the page loads or names, but for those that one may follow."""
        names = ("src", "srcset", "data", "poster", "action", "xlink:href")
        return [
            value
            for tag, attributes in self.tags
            for name, value in attributes.items()
            if name in names or (name == "href" and tag != "a")
        ]
