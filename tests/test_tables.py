"""Tables as files: that every form can be read."""

import re

import pytest
from markup import Reader

from hidden_dynamics.artifacts.tables import Table, markdown, number, signed, write_table

STRANGE = "we<i>rd_&|%\\"


@pytest.fixture
def table() -> Table:
    """Two rows, in groups of columns, with all that a form might trip over."""
    rows = [
        {
            "Model": "LSTM",
            ("MNIST | 2", "ours"): "91.50 ± 2.12 (n = 2)",
            ("MNIST | 2", "rank"): "1",
            ("[P]", "ours"): "–",
            ("[Q]", "ours"): "–",
        },
        {"Model": STRANGE, ("MNIST | 2", "ours"): "≈3", ("[P]", "ours"): "4*"},
    ]
    records = [{"model": "lstm", "mean": 91.5, "n": 2}, {"model": STRANGE, "mean": 1 / 3, "n": None}]
    return Table.of("A title <b>", ["A note & more.", "* starred"], rows, records)


def test_csv_keeps_every_number(table, tmp_path):
    write_table(table, [tmp_path / "t.csv"])
    assert (tmp_path / "t.csv").read_text() == f"model,mean,n\nlstm,91.5,2\n{STRANGE},{1 / 3!r},\n"


def test_html_is_one_closed_page_that_loads_nothing(table, tmp_path):
    write_table(table, [tmp_path / "t.html"])
    text = (tmp_path / "t.html").read_text(encoding="utf-8")
    page = Reader(text)
    assert page.asked_for() == page.links() == []
    assert page.rows == [
        ["", "MNIST | 2", "[P]", "[Q]"],
        ["Model", "ours", "rank", "ours", "ours"],
        *table.frame.to_numpy().tolist(),
    ]
    assert "A title &lt;b&gt;" in text


def test_markdown_has_as_many_cells_in_every_row_and_no_group_that_says_nothing(table):
    assert "Q" not in markdown(table)
    for part in markdown(table).split("**")[2::2]:
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert len(lines) in (3, 4) and len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_numbers_as_text():
    assert [number(1.005, 1), number(None, 2), number(1.5e21, 2)] == ["1.0", "–", "1.50e+21"]
    texts = [signed(value, 2) for value in (1.25, -1.0, -0.001, float("nan"))]
    assert texts == ["+1.25", "−1.00", "0.00", "–"]
