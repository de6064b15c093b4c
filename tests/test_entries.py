"""Tables cut in bulk: entries as Python splits them, and whatever is damaged is refused by line or read."""

import warnings

import numpy as np
import pytest
from conftest import refused
from hypothesis import given
from hypothesis import strategies as st

from hidden_dynamics.data import entries, intensive_care_stays, stay_records, tag_reports, tagged_movements
from hidden_dynamics.errors import UserError

COLUMNS = ("name", "number")


def cut(text: str) -> entries.Table:
    return entries.cut(text.encode(), COLUMNS, lambda line: ("table.csv", line + 1))


words = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"], exclude_characters=","), max_size=12)


@given(st.lists(st.tuples(words, st.floats(width=32, allow_nan=False, allow_infinity=False)), max_size=20))
def test_entries_are_those_of_a_split(lines: list):
    table = cut("".join(f"{name},{number!r}\n" for name, number in lines))
    assert table.texts("name").tolist() == [name.encode() for name, _ in lines]
    assert table.numbers("number").tolist() == [number for _, number in lines]
    names = sorted({name for name, _ in lines} | {"another"}, reverse=True)
    assert [names[code] for code in table.codes("name", names, "a name")] == [name for name, _ in lines]


@pytest.mark.parametrize("number", ["", "x", "nan", "-inf", "1e39", "1_0", "0x1", " 1", "1 ", "1\u0660"])
def test_what_is_no_number_is_refused_alone_and_beside_others(number: str):
    for other in ("1", "two"):
        with refused("number", "table.csv", "line 2, column number"):
            cut(f"a,1\nb,{number}\nc,{other}\n").numbers("number")


def test_the_first_of_several_wrong_lines_is_named():
    with refused("3 in 'c,1,2'", "table.csv", "line 3"):
        cut("a,1\nb,2\nc,1,2\nd\n")
    with refused("'e'", "table.csv", "line 1,001, column name"):
        cut("a,1\n" * 1000 + "e,1\nf,1\n").codes("name", ["a", "b"], "a or b")
    with refused("characters", "table.csv", "line 2, column name"):
        cut(f"a,1\n{'b' * 41},1\n").texts("name")


RECORDS, OUTCOMES = intensive_care_stays.texts(intensive_care_stays.DEFAULTS | {"stays": 2})
REPORTS = tagged_movements.text(tagged_movements.DEFAULTS | {"sequences": 2, "reports": 20})


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A text of which a few bytes are others, are gone, or are new."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(whole)))
        new = draw(st.lists(st.sampled_from(list(b"01-.,\n:eA\0\xff")), max_size=4))
        whole = whole[:start] + bytes(new) + whole[start + draw(st.integers(0, 20)) :]
    return whole


@given(damaged(RECORDS[0][1]), damaged(OUTCOMES), damaged(REPORTS))
def test_a_damaged_text_is_read_or_refused_by_name_and_nothing_else(record: bytes, outcomes: bytes, reports: bytes):
    whole = RECORDS[1:]
    for parse in (
        lambda: stay_records.parse([(RECORDS[0][0], record), *whole], "set.tar", OUTCOMES, "outcomes.txt"),
        lambda: stay_records.parse(RECORDS, "set.tar", outcomes, "outcomes.txt"),
        lambda: tag_reports.parse(reports, "tags.txt"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                arrays = parse()
            except UserError as error:
                assert error.file.startswith(("set.tar: ", "outcomes.txt", "tags.txt"))
            else:
                assert all(np.isfinite(array).all() for array in arrays.values())
