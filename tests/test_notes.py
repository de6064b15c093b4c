"""What artifacts say of their runs: the variants taken, and whether they are of one code."""

import pytest
from made import run_record

from hidden_dynamics.artifacts.notes import NAMED, code_note, variants_note
from hidden_dynamics.configuration.runs import code_of, runs_on


def test_variants_of_which_not_the_published_value_alone_was_taken_are_named_if_they_are_few():
    taken = [{"sr_cell": "published", "permutation": "published"}, {"sr_cell": "released"}]
    assert "sr_cell" in variants_note(taken) and "permutation" not in variants_note(taken)
    many = variants_note([{f"variant_{number}": "released" for number in range(NAMED + 1)}])
    assert f"{NAMED + 1} of them" in many and "variant_0" not in many


@pytest.mark.parametrize(
    ("other", "commits", "said"),
    [([], "a+", 0), ([0], "a+", 1), ([0, 2], "a+", 2), ([0, 1, 2], "a+", 0), ([0], "ab", 1), ([0], "a", 0)],
)
def test_runs_of_two_codes_are_said(configured, other, commits, said):
    configuration = configured(scale="demo")
    runs = runs_on(configuration, "adding", [0])[:3]
    commits = {"a+": ["a", "a+", "a+"], "ab": ["a", "b", "b"], "a": ["a", "a", "a"]}[commits]
    records = [
        run_record(configuration, run, commit=commit, code="older" if place in other else code_of(run))
        for place, (run, commit) in enumerate(zip(runs, commits, strict=True))
    ]
    note = code_note([*records, records[0]])
    assert [run.id in note for run in runs] == [bool(said) and place in other for place in range(3)]
