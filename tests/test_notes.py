"""What artifacts say of their runs: the variants taken."""

from hidden_dynamics.artifacts.notes import variants_note


def test_a_variant_that_differs_between_runs_says_so():
    taken = [{"sr_cell": "published", "permutation": "published"}, {"sr_cell": "released"}]
    assert variants_note(taken) == "Variants taken: published (permutation); published and released (sr_cell)."
    assert variants_note([{}]) == "Variants taken: none apply."
