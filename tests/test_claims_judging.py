"""Verdicts on made-up runs: outcomes, gate, bars, family, evaluations, sensitivity, columns."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import refused
from judged import SPREAD, claim, judged, judged_of, seeds, under, written
from made import change_record, floor, gradients_of

from hidden_dynamics.claims.items import bootstrap_error, right
from hidden_dynamics.claims.verdict import Outcome, Verdict, read_verdicts, write_verdicts
from hidden_dynamics.claims.words import sentence_of
from hidden_dynamics.papers.claims import Iteration, Paper, PaperClaims
from hidden_dynamics.results.evidence import Evidence, with_measured
from hidden_dynamics.results.measured import Features
from hidden_dynamics.results.run_files import ITEMS
from hidden_dynamics.tasks.items import of_classes


@pytest.fixture
def paper(configured, tmp_path):
    return under(tmp_path, configured(scale="paper", seeds=[*range(5)]))


@pytest.fixture
def evening(configured, tmp_path):
    """Of small data, with a direction."""
    return under(tmp_path, configured(scale="evening", seeds=[*range(5)]))


@pytest.fixture
def short(configured, tmp_path):
    """Two of the paper's 150 epochs."""
    changes = {"tasks": {"mnist": {"training": {"epochs": 2}}}}
    return under(tmp_path, configured(scale="paper", seeds=[*range(5)], overrides=changes))


def two(configuration, subject, reference, **about):
    """Runs of MomentumLSTM and LSTM with these means; a keyword of one of them alone is given as a pair."""
    sides = [
        {name: value[side] if isinstance(value, tuple) else value for name, value in about.items()} for side in (0, 1)
    ]
    means = zip(("momentum_lstm", "lstm"), (subject, reference), sides, strict=True)
    return [run for model, mean, own in means for run in seeds(configuration, model, mean, **own)]


# ----------------------------------------------------------------------------------------------------------- Outcomes


@pytest.mark.parametrize(
    "means, about, changes, outcome",
    [
        ((99.0, 98.0), {}, {}, Outcome.REPRODUCED),
        ((98.0, 99.0), {}, {}, Outcome.CONTRADICTED),
        ((98.02, 98.0), {}, {}, Outcome.INCONCLUSIVE),
        ((99.0, 98.0), {}, {"dagger": False}, Outcome.AGREES),  # without a place in the family it is no verdict
        ((98.0, 99.0), {}, {"dagger": False}, Outcome.DISAGREES),
        ((98.02, 98.0), {}, {"dagger": False}, Outcome.OPEN),
        ((11.35, 10.0), {}, {}, Outcome.UNLEARNED),  # the better one is as good as the majority class
        ((99.0, 11.35), {}, {}, Outcome.REPRODUCED),  # the one behind need not have learned
        ((99.0, 98.0), {}, {"against_table": True}, Outcome.BARRED),
        ((98.02, 98.0), {}, {"against_table": True}, Outcome.INCONCLUSIVE),
        ((99.0, 98.0), {"diverged": ((4,), ())}, {}, Outcome.INCONCLUSIVE),  # no run of the winner may have failed
        ((99.0, 98.0), {"diverged": ((), (4,))}, {}, Outcome.BARRED),  # nor is the loser one that does not finish
        ((99.0, 98.0), {"spread": ((0.1, -0.1), (0.1, -0.1))}, {}, Outcome.INCONCLUSIVE),  # two seeds
        ((99.0, 98.0), {"spread": [0.0] * 5}, {}, Outcome.INCONCLUSIVE),  # no spread
    ],
)
def test_an_outcome_at_the_paper_s_own_settings(paper, means, about, changes, outcome):
    (verdict,) = judged(paper, two(paper, *means, **about), claim(**changes))
    assert verdict.outcome is outcome and not verdict.deviations
    assert verdict.outcome.of_the_paper is (outcome.name in ("REPRODUCED", "CONTRADICTED", "INCONCLUSIVE"))


@pytest.mark.parametrize(
    "means, outcome", [((99.0, 98.0), Outcome.AGREES), ((98.0, 99.0), Outcome.DISAGREES), ((98.02, 98.0), Outcome.OPEN)]
)
def test_small_data_have_a_direction_alone_where_the_scale_asks_for_it(evening, configured, tmp_path, means, outcome):
    (verdict,) = judged(evening, two(evening, *means))
    assert verdict.outcome is outcome and verdict.deviations
    demo = under(tmp_path, configured(scale="demo", seeds=[*range(5)]))
    (verdict,) = judged(demo, two(demo, *means))
    assert (verdict.outcome, verdict.reason) == (Outcome.NOT_RUN, verdict.deviations)
    assert verdict.difference == pytest.approx(means[0] - means[1]) and verdict.robust is None  # a number, no verdict
    asking = replace(demo, scale=demo.scale.model_copy(update={"directions": True}))
    assert judged(asking, two(demo, *means))[0].outcome is outcome


def test_why_a_claim_was_not_run(paper, configured):
    only = configured(scale="paper", only=["pmnist"], seeds=[*range(5)])
    (left_out,) = judged(only, [])
    (lacking,) = judged(paper, seeds(paper, "lstm", 98.0))
    for verdict, named in ((left_out, "MNIST"), (lacking, "MomentumLSTM")):
        assert verdict.outcome is Outcome.NOT_RUN and named in verdict.reason
        assert (verdict.difference, verdict.ran, verdict.sentence) == (None, "", "")


def test_the_better_of_the_references_counts_and_the_weaker_of_the_subjects(paper):
    models = {"momentum_lstm": 98.5, "adam_lstm": 99.5, "lstm": 98.0, "rmsprop_lstm": 97.0}
    runs = [run for model, mean in models.items() for run in seeds(paper, model, mean)]
    many = claim(subject=["adam_lstm", "momentum_lstm"], reference=["rmsprop_lstm", "lstm"])
    (verdict,) = judged(paper, runs, many)
    assert (verdict.subject, verdict.reference, verdict.tests) == ("MomentumLSTM", "LSTM", 2)
    assert verdict.difference == pytest.approx(0.5)


# ----------------------------------------------------------------------------------------------------- Other questions


def test_parameters_are_counted_whatever_the_training(short):
    fewer = claim(kind="count", dagger=False, metric=None)
    for parameters, outcome in (((10, 20), Outcome.REPRODUCED), ((20, 20), Outcome.CONTRADICTED)):
        (verdict,) = judged(short, two(short, 98.0, 99.0, parameters=parameters), fewer)
        assert (verdict.outcome, verdict.subject_mean, verdict.p, verdict.analyses) == (outcome, parameters[0], None, 0)


def test_the_gradients_of_untrained_cells_are_not_those_of_eq_13(paper):
    equation = claim("M11", kind="identity", measurement="momentumrnn_jacobian", task=None, dagger=False, metric=None)
    rows = gradients_of()
    equal = [row.model_copy(update={"claimed_error": 0.0}) for row in rows]
    for gradients, outcome in ((rows, Outcome.CONTRADICTED), (equal, Outcome.REPRODUCED), ([], Outcome.NOT_RUN)):
        assert judged(paper, [], equation, gradients=gradients)[0].outcome is outcome


def test_silhouettes_are_those_of_the_measured_features_and_need_no_learning(paper):
    about = {"task": "cifar10_images", "size": 64}
    values = {"ace_ode_net": 0.9, "ode_net": 0.2}
    unlearned = {"metric": "test_accuracy", "naive": {"test_accuracy": {"majority class": 0.95}}}
    runs = [run for model in values for run in seeds(paper, model, 0.9, **unlearned, **about)]
    same = {"task": "cifar10_images", "paper_size": 64, "status": "measured", "settings": {}}
    features = [
        Features(model=run.model, seed=run.seed, silhouette=values[run.model] + 0.01 * run.seed, **same) for run in runs
    ]
    about |= {"subject": "ace_ode_net", "reference": "ode_net", "metric": "silhouette"}
    asked = claim(measurement="acenode_table5", **about)
    (verdict,) = judged(paper, [with_measured(run, features=features) for run in runs], asked)
    assert verdict.outcome is Outcome.REPRODUCED and verdict.difference == pytest.approx(0.7)


def with_losses(configuration, losses):
    """Runs by model, with a train loss of each seed, (iterations,)."""
    return [run for model, own in losses.items() for run in written(configuration, model, [[0.9]] * 5, losses=own)]


def halving(configuration, *halves):
    """Runs whose train loss halves in so many iterations, a little later in each seed."""
    curves = [[np.exp2(-np.arange(400) / (half + seed)) for seed in range(5)] for half in halves]
    return with_losses(configuration, dict(zip(("momentum_lstm", "lstm"), curves, strict=True)))


def test_faster_is_fewer_iterations_to_a_loss_that_all_reach(paper):
    (verdict,) = judged(paper, halving(paper, 20, 40), claim(kind="faster", metric=None))
    assert verdict.outcome is Outcome.REPRODUCED and 0.4 < verdict.difference < 0.6
    assert verdict.low < verdict.difference < verdict.high < 1


def test_the_first_part_of_the_schedule_answers_for_its_course_and_for_claims_of_such_a_part(short):
    runs = halving(short, 20, 40)
    course, part = claim(kind="faster", metric=None), claim(kind="faster", metric=None, by_epoch=2)
    later, final = claim(kind="faster", metric=None, by_epoch=3), claim()
    outcomes = [judged(short, runs, asked)[0].outcome for asked in (course, part, later, final)]
    assert outcomes == [Outcome.AGREES, Outcome.REPRODUCED, Outcome.AGREES, Outcome.NOT_RUN]
    (verdict,) = judged(short, runs, part)  # which is not the whole claim
    assert verdict.sentence.startswith("By epoch 2: MomentumLSTM ") and " is faster than LSTM " in verdict.sentence
    assert Outcome.REPRODUCED.sentence not in verdict.sentence


# --------------------------------------------------------------------------------------------------------- Evaluations


COURSES = {  # of which the best and the last are not in one order
    "momentum_lstm": [[0.90 + 0.001 * seed, 0.99 + 0.001 * seed, 0.92 - 0.001 * seed] for seed in range(5)],
    "lstm": [[0.91 + 0.001 * seed, 0.95 - 0.001 * seed, 0.94 + 0.001 * seed] for seed in range(5)],
}


@pytest.fixture
def courses(paper):
    return [run for model, own in COURSES.items() for run in written(paper, model, own)]


@pytest.mark.parametrize("at, difference", [("reported", 4.4), ("last", -2.4)])
def test_the_evaluation_that_counts(paper, courses, at, difference):
    (verdict,) = judged(paper, courses, claim(at=at))
    assert verdict.difference == pytest.approx(difference)


def test_the_loss_at_an_iteration_is_the_mean_of_the_last_before_it(paper):
    levels = {"momentum_lstm": 1.0, "lstm": 2.0}
    losses = {
        model: [[9.0] * 50 + [level + seed / 10] * 150 + [7.0] * 50 for seed in range(5)]
        for model, level in levels.items()
    }
    asked = claim(metric="train_loss", at=Iteration(iteration=200))
    (verdict,) = judged(paper, with_losses(paper, losses), asked)
    assert (verdict.subject_mean, verdict.difference) == (pytest.approx(1.2), pytest.approx(-1.0))
    assert verdict.outcome is Outcome.REPRODUCED  # held to the naive baseline by the accuracy that they report
    runs = with_losses(paper, losses)
    runs[0] = replace(runs[0], status="diverged", iterations=5)
    (verdict,) = judged(paper, runs, asked)  # of the loss in the others, which have 10
    assert (verdict.part, verdict.outcome) == ("by iteration 10", Outcome.INCONCLUSIVE)
    assert "not told apart" not in verdict.sentence and "allow" not in verdict.sentence and verdict.p < 0.01


def test_beside_the_loss_at_an_iteration_stands_the_mean_of_the_last_evaluations_until_it(paper):
    """Losses say that the subject is better, the five evaluations until 60 the opposite; any other would turn it."""
    runs = []
    for model, level, mean, other in (("momentum_lstm", 1.0, 3.0, -300.0), ("lstm", 2.0, 2.0, -150.0)):
        losses, means = ([own + seed / 10 for seed in range(5)] for own in (level, mean))
        courses = [[other, *[own] * 5, other] for own in means]
        runs += written(paper, model, courses, "train_loss", losses=[[own] * 70 for own in losses])
    (verdict,) = judged(paper, runs, claim(metric="train_loss", at=Iteration(iteration=60)))
    assert (verdict.outcome, verdict.analyses) == (Outcome.REPRODUCED, 7)
    assert verdict.differing == "contradicted (the mean of the last evaluations)"


def test_where_training_ends_before_its_schedule_the_last_evaluation_counts(short):
    runs = [run for model, own in COURSES.items() for run in written(short, model, own)]
    (verdict,) = judged(short, runs, claim(by_epoch=2))
    assert verdict.difference == pytest.approx(-2.4) and verdict.outcome is Outcome.CONTRADICTED
    assert verdict.part == "by epoch 2"


@pytest.mark.parametrize("lead, where", [(0.34, "inside"), (1.0, "outside")])
def test_the_printed_difference_is_inside_the_interval_or_outside(paper, lead, where):
    (verdict,) = judged(paper, two(paper, 98.0 + lead, 98.0), claim(published="table1", printed=None))
    assert verdict.printed_difference == 0.34 and verdict.part == ""  # 99.04 against 98.70
    assert f"+0.34, is {where} the interval" in verdict.sentence


# ------------------------------------------------------------------------------------------------ Family, sensitivity


def test_holm_is_over_the_tests_that_were_begun(paper):
    """p = 0.02 alone; among two that were begun 0.04, among three 0.06.

    One that was not begun is not in the family, one without enough seeds is.
    """
    weak = two(paper, 98.0, 98.0) + seeds(paper, "adam_lstm", 98.145)
    weak += seeds(paper, "sr_lstm", 98.0, spread=[0.1, -0.1])
    main, other, few = (claim(f"M{n}", subject=f"{model}_lstm") for n, model in enumerate(("adam", "momentum", "sr")))
    outside = [claim("M4", task="pmnist"), claim("M5", subject="momentum_lstm", dagger=False)]
    for claims, tests, outcome in (
        ([main], 1, Outcome.REPRODUCED),
        ([main, other, *outside], 2, Outcome.REPRODUCED),
        ([main, other, few], 3, Outcome.INCONCLUSIVE),
    ):
        verdict = judged(paper, weak, *claims)[0]
        assert 0.017 < verdict.p < 0.022
        assert (verdict.tests, verdict.p_adjusted) == (tests, pytest.approx(tests * verdict.p))
        assert verdict.outcome is outcome


def test_a_test_whose_runs_are_under_way_elsewhere_is_in_the_family(paper, evening):
    """At the paper's settings, each of its subjects; where only a direction is asked for, the family is of what ran."""
    begun = claim("M4", task="pmnist", subject=["momentum_lstm", "adam_lstm"], begun=True)
    for configuration, tests in ((paper, 3), (evening, 1)):
        verdict, absent = judged(configuration, two(configuration, 99.0, 98.0), claim(), begun)
        assert (verdict.tests, verdict.p_adjusted) == (tests, pytest.approx(tests * verdict.p))
        assert (absent.outcome, absent.tests, absent.p_adjusted) == (Outcome.NOT_RUN, 0, None)


def test_a_test_that_has_begun_and_does_not_answer_yet_is_in_the_family(short):
    cut, whole = claim(begun=True), claim("M2", by_epoch=2, at="last")
    first, second = judged(short, two(short, 99.0, 98.0), cut, whole)
    assert (first.outcome, second.tests, second.p_adjusted) == (Outcome.NOT_RUN, 2, pytest.approx(2 * second.p))


def test_papers_are_families_of_their_own_and_keep_their_claims_on_the_same_runs(paper):
    runs = two(paper, 99.0, 98.0)
    theirs = PaperClaims(paper=Paper(title="Third", year=2024), claims=[claim(says="ours is better")])
    ours = theirs.model_copy(update={"claims": [claim(), claim("M2", reference="momentum_lstm", subject="lstm")]})
    verdicts = judged_of(Evidence(paper, runs), {"momentumrnn": ours, "third2024": theirs})
    assert [(one.paper, one.id, one.tests) for one in verdicts] == [
        ("momentumrnn", "M1", 2), ("momentumrnn", "M2", 2), ("third2024", "M1", 1)
    ]  # fmt: skip
    assert verdicts[2].says == "ours is better"


def test_robust_is_the_share_of_other_analyses_that_agree(paper, courses):
    """Another test, another adjustment, the last evaluation (which alone disagrees), each of five seeds left out; of
    three evaluations no last five have a mean."""
    (verdict,) = judged(paper, courses)
    assert (verdict.analyses, verdict.robust) == (8, pytest.approx(7 / 8))
    assert verdict.differing == "contradicted (the last epoch)"
    (verdict,) = judged(paper, courses, claim(dagger=False))
    assert verdict.analyses == 7  # nothing is adjusted


@pytest.mark.parametrize("later", [(), (None,) * 5], ids=["the only one", "tested at the reported one alone"])
def test_an_evaluation_that_is_the_reported_one_is_no_other_analysis(paper, later):
    """What was tested once has no last epoch. Left are five seeds and the adjustment: all pairs differ alike."""
    about = {"task": "physionet", "metric": "test_auc", "subject": "ace_latent_ode", "reference": "latent_ode"}
    means = {"ace_latent_ode": 0.85, "latent_ode": 0.82}
    runs = [
        run
        for model, mean in means.items()
        for run in written(paper, model, [[mean + x / 50, *later] for x in SPREAD], "test_auc", "physionet", 20)
    ]
    (verdict,) = judged(paper, runs, claim(**about, size=20))
    assert (verdict.difference, verdict.analyses) == (pytest.approx(0.03), 6)


def test_a_seed_that_alone_decides_makes_a_verdict_less_robust(paper):
    own = {"momentum_lstm": (0.98, 0.981, 0.982, 0.983, 0.962), "lstm": (0.97, 0.971, 0.972, 0.973, 0.974)}
    runs = [run for model, ends in own.items() for run in written(paper, model, [[end] for end in ends])]
    (verdict,) = judged(paper, runs)
    assert verdict.outcome is Outcome.INCONCLUSIVE and 0 < verdict.robust < 1
    assert "reproduced (without seed 4)" in verdict.differing


def test_an_analysis_without_a_test_is_none(paper):
    """Of three seeds none can be left out."""
    (verdict,) = judged(paper, two(paper, 99.0, 98.0, spread=[-0.1, 0.0, 0.1]))
    assert (verdict.analyses, verdict.robust) == (1, 1.0)  # the other adjustment


def test_a_seed_that_is_a_block_is_compared_with_itself(configured, tmp_path):
    """Seeds of one permutation each differ by far more than the models do."""
    variants = {"default": "published", "permutation": "released"}
    blocks = under(tmp_path, configured(scale="paper", variants=variants))
    runs = [
        run
        for model, lead in (("momentum_lstm", 0.5), ("lstm", 0.0))
        for run in seeds(blocks, model, 90.0 + lead, [-5.0, -2.0, 0.1 * lead, 2.0, 5.0 + 0.2 * lead], task="pmnist")
    ]
    (verdict,) = judged(blocks, runs, claim(task="pmnist"))
    assert (verdict.test, verdict.outcome) == ("paired t", Outcome.REPRODUCED)
    assert verdict.differing == "inconclusive (the other of the paired and the unpaired test)"


# ------------------------------------------------------------------------------------------------------------ Columns


@pytest.mark.parametrize("control, left, ahead", [(98.2, 0.8, True), (98.9, 0.1, False), (99.8, -0.8, False)])
def test_a_verdict_says_what_the_control_leaves_and_where_the_subject_is_not_ahead_of_it(paper, control, left, ahead):
    runs = two(paper, 99.0, 98.0) + seeds(paper, "scaled_lstm", control)
    (verdict,) = judged(paper, runs, claim(control="scaled_lstm"))
    assert (verdict.difference, verdict.control_difference) == (pytest.approx(1.0), pytest.approx(left))
    assert verdict.control_low < left < verdict.control_high
    assert verdict.outcome is Outcome.REPRODUCED and ("its control, Scaled LSTM (" not in verdict.sentence) is ahead
    (verdict,) = judged(paper, two(paper, 99.0, 98.0), claim(control="scaled_lstm"))
    assert (verdict.control_label, verdict.control_difference) == ("", None)  # it was not run


@pytest.mark.parametrize("kind, difference, null", [("faster", 0.8, 1), ("better", -0.2, 0)])
def test_a_subject_that_is_ahead_of_the_control_takes_fewer_iterations_or_has_less_loss(kind, difference, null):
    found = Verdict(paper="a", id="M3", says="", place="", kind=kind, outcome=Outcome.REPRODUCED, difference=difference)
    ends = {(-0.3, -0.1): True, (-0.3, 0.1): False, (0.1, 0.2): False}
    for (low, high), ahead in ends.items():
        control = {"control_label": "same s", "control_low": null + low, "control_high": null + high}
        said = found.model_copy(update=control)
        assert ("same s" not in sentence_of(said)) is ahead
        for silent in ({"reference": "same s"}, {"outcome": Outcome.INCONCLUSIVE}, {"control_low": None}):
            assert "its control" not in sentence_of(said.model_copy(update=silent))


def test_the_classical_baseline_is_shown_and_takes_nothing_away(paper):
    runs = [with_measured(run, [floor("mnist", "test_accuracy", 0.985)]) for run in two(paper, 99.0, 98.0)]
    (verdict,) = judged(paper, runs)
    assert verdict.outcome is Outcome.REPRODUCED
    less = "MomentumLSTM minus it +0.50 (+0.40 to +0.60) points"
    assert verdict.classical == f"logistic regression 98.5; {less}; LSTM behind in the mean"
    assert verdict.naive == "majority class 11.35"


@pytest.mark.parametrize(
    "score, diverged, said",
    [
        (0.97, ((), ()), "both models ahead in the mean"),
        (0.995, ((), ()), "both models behind in the mean"),
        (0.995, ((), range(5)), "MomentumLSTM behind in the mean"),
        (0.97, ((), range(5)), "points"),  # of LSTM there is nothing to say
    ],
)
def test_who_is_behind_the_classical_baseline(paper, score, diverged, said):
    runs = two(paper, 99.0, 98.0, diverged=diverged)
    (verdict,) = judged(paper, [with_measured(run, [floor("mnist", "test_accuracy", score)]) for run in runs])
    assert verdict.classical.endswith(said)


@pytest.mark.parametrize("spread, said", [(SPREAD, "minus it +0.50 (+0.40 to +0.60)"), ((0.1, -0.1), "")])
def test_a_loss_less_that_of_a_baseline_is_above_0_where_it_is_worse(paper, spread, said):
    """Of two seeds it has no interval, and is left out."""
    runs = [run for model in ("momentum_lstm", "lstm") for run in seeds(paper, model, 2.5, spread, "test_loss")]
    runs = [with_measured(run, [floor("mnist", "test_loss", 2.0)]) for run in runs]
    (verdict,) = judged(paper, runs, claim(metric="test_loss"))
    assert verdict.classical.startswith("logistic regression 2;") and said in verdict.classical
    assert ("minus it" in verdict.classical) is bool(said)


def test_the_printed_difference_is_that_of_the_two_that_were_compared(paper):
    """In print RMSPropLSTM is the better reference, in ours LSTM."""
    runs = two(paper, 99.0, 98.0, size=256) + seeds(paper, "rmsprop_lstm", 97.0, size=256)
    several = claim(reference=["lstm", "rmsprop_lstm"], size=256, published="table1", printed=None)
    (verdict,) = judged(paper, runs, several)
    assert verdict.reference == "LSTM" and verdict.printed == "99.08 ± 0.05 against 99.15 ± 0.06"
    assert verdict.printed_difference == pytest.approx(99.08 - 98.9)


def test_what_is_printed_and_what_ran(evening):
    (verdict,) = judged(evening, two(evening, 99.0, 98.0), claim(published="table1", printed=None))
    assert verdict.printed == "99.04 ± 0.04 against 98.7 (quoted)"
    assert (verdict.printed_difference, verdict.unit, verdict.decimals) == (pytest.approx(0.34), "points", 2)
    assert verdict.ran == "MNIST averaged to 14 × 14, N = 32, 2 epochs [N = 128, 150 epochs]"


def test_runs_that_are_older_than_the_plan_are_shown_where_they_are_the_paper_s(paper, evening):
    """They are asked the same, and no part of the verdict."""
    asked = claim(task="pmnist", earlier=[{"task": "mnist", "says": "before", "size": 128}])
    (verdict,) = judged(paper, two(paper, 99.0, 98.0), asked)
    assert verdict.earlier.startswith("before") and verdict.outcome is Outcome.NOT_RUN and verdict.runs == ""
    assert judged(evening, two(evening, 99.0, 98.0), asked)[0].earlier == ""


def test_the_authors_logs_are_compared_at_their_last_epoch(paper):
    (verdict,) = judged(paper, [], claim(task="pmnist", logs=256))
    assert verdict.logs_difference == pytest.approx(-0.06193) and verdict.logs_low < verdict.logs_high
    best = claim(task="pmnist", subject="rmsprop_lstm", reference=["lstm", "adam_lstm", "sr_lstm"], logs=256)
    (verdict,) = judged(paper, [], best)
    assert verdict.logs_difference == pytest.approx(-0.05247)  # from AdamLSTM, the best of the paper's settings
    assert judged(paper, [], claim(task="mnist", subject="sr_lstm", logs=128))[0].logs == ""


def test_verdicts_are_read_as_they_were_written(tmp_path, paper):
    every = judged(paper, two(paper, 99.0, 98.0), claim(), claim("M2", task="pmnist"), claim("M3", against_table=True))
    write_verdicts(tmp_path / "claims.csv", every)
    assert read_verdicts(tmp_path / "claims.csv") == every
    text = (tmp_path / "claims.csv").read_text(encoding="utf-8").replace(",reproduced,", ",proved,")
    (tmp_path / "claims.csv").write_text(text, encoding="utf-8")
    with refused(file=tmp_path / "claims.csv", key="outcome"):
        read_verdicts(tmp_path / "claims.csv")


# -------------------------------------------------------------------------------------------------------------- Items


def with_items(paper, wrong, **extra):
    """Runs on a test set of images, with the wrong answers of each model and seed: (5, images), true or false.

    `extra` are further arrays, by "<iteration>.<name>".
    """
    runs = []
    for model, own in wrong.items():
        ends = [[1 - float(seed.mean())] for seed in own]
        for run, seed in zip(written(paper, model, ends), own, strict=True):
            arrays = {"10.class": seed.astype(np.uint8), "10.loss": np.where(seed, 3.0, 0.1).astype(np.float16)}
            np.savez(run.files.directory / ITEMS, **arrays | extra)
            change_record(run.files, ITEMS)
            runs.append(run)
    return runs


def test_without_variance_of_items_the_interval_is_that_of_seeds():
    """Closed form: every item of a seed has its mean, so the error is √(s²/n + s²/n)."""
    random = np.random.default_rng(1)
    sides = [(np.repeat(random.normal(size=(n, 1)), 50, axis=1), np.ones((n, 50))) for n in (5, 8)]
    expected = math.sqrt(sum(values[:, 0].var(ddof=1) / len(values) for values, _ in sides))
    assert bootstrap_error(sides, paired=False) == pytest.approx(expected, rel=0.05)


def test_without_variance_of_seeds_it_is_that_of_the_paired_items():
    random = np.random.default_rng(2)
    items = [random.normal(size=400) for _ in range(2)]
    sides = [(np.tile(own, (5, 1)), np.ones((5, 400))) for own in items]
    expected = np.std(items[0] - items[1]) / math.sqrt(400)
    for paired in (False, True):
        assert bootstrap_error(sides, paired) == pytest.approx(expected, rel=0.05)


def test_shares_of_items_are_ratios_of_sums():
    weights = np.array([[1.0, 3.0, 2.0] * 50] * 4)
    same = (0.5 * weights, weights)
    assert bootstrap_error([same, (0.25 * weights, weights)], paired=False) == pytest.approx(0, abs=1e-12)


def test_the_interval_over_items_is_wider_than_that_over_seeds(paper):
    random = np.random.default_rng(3)
    wrong = {model: random.random((5, 400)) > level for model, level in (("momentum_lstm", 0.93), ("lstm", 0.9))}
    (verdict,) = judged(paper, with_items(paper, wrong))
    assert verdict.items_low < verdict.low < verdict.high < verdict.items_high
    assert (verdict.items_low + verdict.items_high) / 2 == pytest.approx(verdict.difference)


def test_without_items_or_where_they_do_not_give_what_was_measured_there_is_none(paper, courses):
    assert judged(paper, courses)[0].items_low is None
    wrong = {model: np.random.default_rng(4).random((5, 400)) > 0.9 for model in ("momentum_lstm", "lstm")}
    coarse = with_items(paper, wrong, **{"10.loss": np.full(400, 0.1, np.float16)})
    assert judged(paper, coarse)[0].items_low is None


@pytest.mark.parametrize(
    "kept, enough",
    [(("10.class", "10.loss", "20.class"), True), (("10.class", "10.loss"), False), (("10.class", "20.class"), False)],
    ids=["the last one's losses do not fit", "a run that was trained longer", "of 26,032 images"],
)
def test_the_evaluation_that_counts_needs_its_classes_and_the_losses_of_any(short, kept, enough):
    random, runs = np.random.default_rng(5), []
    for model, level in (("momentum_lstm", 0.93), ("lstm", 0.9)):
        wrong = random.random((5, 400)) > level
        for run, own in zip(written(short, model, [[0.99, 1 - seed.mean()] for seed in wrong]), wrong, strict=True):
            classes = np.zeros(400) if "20.class" in kept else own.astype(float)  # which fit, were they of the last one
            arrays = {"10.class": classes, "10.loss": np.full(400, 0.1), "20.class": own.astype(np.uint8)}
            np.savez(run.files.directory / ITEMS, **{name: arrays[name] for name in kept})
            change_record(run.files, ITEMS)
            runs.append(run)
    (verdict,) = judged(short, runs, claim(by_epoch=2))
    assert verdict.part == "by epoch 2" and (verdict.items_low is not None) is enough


def test_the_true_class_is_that_of_the_run_that_is_surest():
    kept = [
        {"class": np.array([1, 2, 5]), "loss": np.array([0.1, 2.0, 2.2])},
        {"class": np.array([3, 4, 6]), "loss": np.array([3.0, 0.2, 2.1])},
    ]
    classes = np.stack([items["class"] for items in kept])
    for measured, last in ((0.5, 1), (1 / 3, 0)):  # as often as they are right: in the last item one of both, or none
        assert right(classes, kept, measured).tolist() == [[1, 0, 0], [0, 1, last]]
    assert not right(classes, kept, 0.0).any()
    blown = {"class": np.array([0, 0, 0]), "loss": np.full(3, np.nan)}  # of a last step that spoiled the weights
    assert right(classes, [blown, *kept], 0.5).tolist() == [[1, 0, 0], [0, 1, 1]]


def test_of_items_whose_losses_tell_most_nearly_all_are_known():
    """Ten classifiers that share most of their noise, and so get the same images wrong."""
    random = np.random.default_rng(6)
    labels = random.integers(0, 10, 5000)
    common = 3 * np.eye(10)[labels] + random.normal(size=(5000, 10))
    logits = 2.75 * (common + 0.3 * random.normal(size=(10, 5000, 10)))
    kept = [of_classes(torch.from_numpy(each), torch.from_numpy(labels)) for each in logits]
    classes = np.stack([items["class"] for items in kept])
    truth = classes == labels
    assert 0.8 < truth.mean() < 0.95
    found = right(classes, kept, truth.mean())
    assert np.allclose(found.mean(axis=1), truth.mean(axis=1), rtol=0.005)
    assert (found == truth).mean() > 0.985
