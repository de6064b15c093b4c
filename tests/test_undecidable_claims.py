"""tools/undecidable_claims.py: what five seeds cannot decide."""

import numpy as np
import pytest
import undecidable_claims

from hidden_dynamics.claims.verdict import CONTRADICTED, INCONCLUSIVE, REPRODUCED


@pytest.fixture(scope="module")
def judged():
    """At the printed means and deviations, by the ids of the claims."""
    return {one.claim.id: one for one in undecidable_claims.judged_at_printed_numbers(5)}


def test_every_undecided_claim_is_a_row_of_the_list(judged):
    listed = "\n".join(undecidable_claims.lines(5))
    better = [one for one in judged.values() if one.claim.kind == "better"]
    undecided = [one for one in better if one.verdict == INCONCLUSIVE]
    assert f"| `better` | {len(better)} | {len(better) - len(undecided)} | {len(undecided)} |" in listed
    assert all(f"| {one.claim.statement.rstrip('.')} |" in listed for one in undecided)
    assert (len(undecided), len(better)) == (92, 207)  # as docs/claims.md says


def test_no_printed_claim_is_contradicted_by_its_own_numbers(judged):
    """But for those that the paper's own table refutes, which are never reproduced."""
    for one in judged.values():
        assert one.verdict in ((CONTRADICTED, INCONCLUSIVE) if one.claim.against_table else (REPRODUCED, INCONCLUSIVE))


def test_the_made_up_seeds_have_the_printed_means_and_deviations(judged):
    one = judged["table-mnist:value:mnist_images:test_accuracy:ace_ode_net-64"]
    assert (one.outcome.estimate, one.outcome.n_subject) == (pytest.approx(0, abs=1e-9), 5)
    assert one.outcome.found == "99.68 ± 0.03 against 99.68 ± 0.03"


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_scores_that_do_not_correlate(seeds):
    scores = undecidable_claims.uncorrelated(seeds)
    assert scores.shape == (seeds - 1, seeds)
    assert scores @ scores.T == pytest.approx((seeds - 1) * np.eye(seeds - 1), abs=1e-9)
    assert scores.sum(axis=1) == pytest.approx(0, abs=1e-9) and list(scores[0]) == sorted(scores[0])


def test_models_that_are_compared_over_folds_do_not_correlate(judged):
    """By hand: 0.38 ± 0.03 less 0.42 ± 0.04, a deviation of 0.05, and 1/5 + 0.14 of its square."""
    one = judged["ushcn-attention-better:ushcn:test_mse:ace_gru_ode_bayes-50:gru_ode_bayes-50"]
    steps = dict(one.outcome.working)
    assert steps["standard error"] == pytest.approx(0.05 * 0.34**0.5)
    assert (one.outcome.test, one.seeds_needed) == ("corrected resampled t", "more than 1000")


def test_ten_seeds_decide_more():
    five, ten = (
        sum(one.verdict == INCONCLUSIVE for one in undecidable_claims.judged_at_printed_numbers(n)) for n in (5, 10)
    )
    assert ten < five
