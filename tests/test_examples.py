"""Properties in pytest's own run: the same examples each time."""

import importlib

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st


def drawn():
    found = []
    given(st.integers())(lambda number: found.append(number))()
    return found


@pytest.mark.skipif(not hypothesis.settings.default.derandomize, reason="a search draws others")
def test_the_examples_are_the_same_whatever_modules_are_loaded(tmp_path, monkeypatch):
    before = drawn()
    (tmp_path / "of_ones_own.py").write_text(f"NUMBERS = {list(range(10**9, 10**9 + 1000))}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_ones_own")
    assert len(set(before)) > 20 and drawn() == before
