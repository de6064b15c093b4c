"""The docstrings of hidden_dynamics.nn as reference pages: sections that mkdocstrings knows, true names."""

import inspect
import re

import pytest

import hidden_dynamics.nn as hd

SECTIONS = {"Args", "Attributes", "Returns", "Raises"}


def documented(public):
    """(what its docstring is of, the docstring) of a name and of its own public methods."""
    methods = vars(public).values() if inspect.isclass(public) else ()
    functions = [one for one in methods if inspect.isfunction(one) and not one.__name__.startswith("_")]
    return [(one, inspect.cleandoc(one.__doc__)) for one in (public, *functions) if one.__doc__]


@pytest.mark.parametrize("name", hd.__all__)
def test_sections_of_a_docstring_are_googles_and_its_arguments_are_those_of_the_signature(name):
    assert inspect.getdoc(getattr(hd, name))
    for one, text in documented(getattr(hd, name)):
        # What is indented belongs to a section whose title has a line to itself, or is a formula after an empty line.
        titles = re.findall(r"^(\S.*)\n {4}", text, re.MULTILINE)
        assert set(titles) <= {f"{section}:" for section in SECTIONS}, one
        (arguments,) = re.findall(r"^Args:\n((?: {4}.*\n?)+)", text, re.MULTILINE) or [""]
        entries = re.findall(r"^ {4}(\w[\w, ]*):", arguments, re.MULTILINE)
        names = {name for entry in entries for name in entry.split(", ")}
        assert bool(names) == ("Args:" in titles) and names <= set(inspect.signature(one).parameters), one
