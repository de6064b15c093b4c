"""What artifacts say of their runs: the variants taken, and whether they are of one code."""

import pytest

from hidden_dynamics.artifacts.notes import code_note, variants_note
from hidden_dynamics.configuration.runs import code_of, runs_on


def test_a_variant_that_differs_between_runs_says_so():
    taken = [{"sr_cell": "published", "permutation": "published"}, {"sr_cell": "released"}]
    assert variants_note(taken) == "Variants taken: published (permutation); published and released (sr_cell)."
    assert variants_note([{}]) == "Variants taken: none apply."


@pytest.mark.parametrize(
    ("other", "commits", "said"),
    [([], "a+", 0), ([0], "a+", 1), ([0, 2], "a+", 2), ([0, 1, 2], "a+", 0), ([0], "ab", 1), ([0], "a", 0)],
)
def test_runs_of_two_codes_are_said(configured, other, commits, said):
    runs = runs_on(configured(scale="demo"), "adding", [0])[:3]
    commits = {"a+": ["a", "a+", "a+"], "ab": ["a", "b", "b"], "a": ["a", "a", "a"]}[commits]
    rows = [
        {"directory": run.directory, "commit": commit, "code": "older" if place in other else code_of(run)}
        for place, (run, commit) in enumerate(zip(runs, commits, strict=True))
    ]
    note = code_note(runs, [*rows, rows[0], {"directory": "of a measurement"}])
    assert [run.id in note for run in runs] == [bool(said) and place in other for place in range(3)]
