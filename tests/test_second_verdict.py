"""The second verdict: on a claim's direction under a scale's own conditions, and never beside one on the paper's."""

import difflib
import re
from collections.abc import Callable
from dataclasses import replace

import judge_claims
import numpy as np
import pytest
from approved import approved
from conftest import examples, refused
from hidden_dynamics.claims.directions import HAS_A_DIRECTION
from hidden_dynamics.claims.of_others import verdicts_of_others
from hidden_dynamics.pages.claims_markdown import markdown
from hypothesis import given
from hypothesis import strategies as st
from judged import (
    BLOCKS,
    SPREAD,
    TIMES_TABLE,
    around,
    claim_of,
    cost,
    evaluation,
    judged,
    judged_of,
    seeds,
    times_table,
)
from made import as_text, make_run, write_inputs

from hidden_dynamics.artifacts import Artifact, artifact_named
from hidden_dynamics.artifacts.meaning import meaning_of, meaning_of_all
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import write_table
from hidden_dynamics.claims.claim import BY_CLOCKS
from hidden_dynamics.claims.judge import TESTS
from hidden_dynamics.claims.verdict import (
    COLUMNS,
    CONTRADICTED,
    FAILS_HERE,
    HOLDS_HERE,
    INCONCLUSIVE,
    NOT_RUN,
    REPRODUCED,
    SECOND_VERDICTS,
    UNDECIDED_HERE,
    VERDICTS,
)
from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.paths import TABLE_FORMS
from hidden_dynamics.papers.claims import ClaimEntry
from hidden_dynamics.results.rows import write_rows

TABLE = "momentumrnn_table11"
IN_OTHER_WORDS = {REPRODUCED: HOLDS_HERE, CONTRADICTED: FAILS_HERE, INCONCLUSIVE: UNDECIDED_HERE}
MODELS = ("lstm", "momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm")
OF_THE_TEST = (
    *("test", "estimate", "low", "high", "level", "p", "p_adjusted", "family", "tests", "paired_low", "paired_high"),
    *("detectable", "effect", "n_subject", "n_reference", "found"),
)
BETTER = "table11:better:mnist:test_accuracy:adam_lstm-128:lstm-128"
SHORT = {"overrides": {"tasks": dict.fromkeys(("mnist", "pmnist"), {"training": {"epochs": 2}}), "artifacts": {}}}


def with_directions(configuration: Configuration) -> Configuration:
    return replace(configuration, scale=configuration.scale.model_copy(update={"directions": True}))


@pytest.fixture(scope="module")
def table(configured) -> Callable[..., Artifact]:
    """A table at a scale, which judges directions unless it is told not to."""

    def at(scale: str = "paper", name: str = TABLE, directions: bool = True) -> Artifact:
        configuration = configured(scale=scale)
        return artifact_named(with_directions(configuration) if directions else configuration, name)

    return at


def accuracies(table: Artifact, means: dict[str, float], departing: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """Runs on MNIST about these means; those of departing models are of another size."""
    rows = [(model, row) for model, mean in means.items() for row in seeds(table, model, mean)]
    return [row | ({"size": "32"} if model in departing else {}) for model, row in rows]


# The rule


@pytest.mark.parametrize("lead", [1.0, -1.0, 0.02, 0.15])
def test_the_same_numbers_give_the_same_test_in_other_words(table, lead):
    """Estimate, p, adjustment, power and reason are those of the paper's scale; a value has no second verdict."""
    means = dict(zip(MODELS, (98.0, 98.0 + lead, 98.0, 98.1, 98.3), strict=True))
    papers, here = table(directions=False), table()
    theirs = judged(papers, accuracies(papers, means))
    ours = judged(here, accuracies(here, means, MODELS))
    compared = {name: row for name, row in theirs.items() if row["verdict"] != NOT_RUN}
    assert {row["kind"] for row in compared.values()} == {"better", "ranking", "value"}
    for name, row in compared.items():
        found = ours[name]
        assert {column: found[column] for column in OF_THE_TEST} == {column: row[column] for column in OF_THE_TEST}
        assert (found["verdict"], found["reason"]) == (NOT_RUN, "N = 32, not 128")
        if row["kind"] == "value":
            assert (found["here"], found["here_reason"], found["seeds_needed"]) == ("", "", "")
        else:
            assert (found["here"], found["here_reason"]) == (IN_OTHER_WORDS[row["verdict"]], row["reason"])
            assert found["seeds_needed"] == row["seeds_needed"]


HIGH, LOW = (99, 0.1), (98, 0.1)
KINDS = {  # of each kind: printed numbers, sides for it and against it
    "better": ((), (HIGH, LOW), (LOW, HIGH)),
    "not_better": ((), (LOW, HIGH), (HIGH, LOW)),
    "similar": ((), ((90, 0.1), (90, 0.1)), (LOW, (90, 0.1))),
    "steadier": ((), ((98, 0.1), (98, 1)), ((98, 1), (98, 0.1))),
    "gain": ((), (HIGH, LOW, LOW, LOW), (LOW, LOW, HIGH, LOW)),
    "overfitting": ((), ((0.1, 0.01), (0.5, 0.01)), ((0.5, 0.01), (0.1, 0.01))),
    "faster": ((), ((50, 1), (90, 1)), ((90, 1), (50, 1))),
    "gradients": ((), ((0.9, 0.01), (0.01, 0.001)), ((0.01, 0.001), (0.9, 0.01))),
    "reaches": ((), ((0.9, 0.01),), ((0.01, 0.001),)),
    "value": ((90,), ((90, 0.1),), (LOW,)),
    BY_CLOCKS: ((5, 9), ((0.5, 0.01), (0.9, 0.01)), ((0.9, 0.01), (0.5, 0.01))),
    "smaller": ((), ((1, 0), (1, 0)), ((1, 0), (1, 0))),
}


@pytest.mark.parametrize("readings", [{}, {"readings": BLOCKS}], ids=["seeds", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_direction_or_none(configured, kind, readings):
    """And a run that failed bars the same verdict."""
    papers = times_table(configured, **readings)
    here = times_table(configured, **readings, **SHORT)
    here = replace(here, configuration=with_directions(here.configuration))
    printed, *directions = KINDS[kind]
    claim = claim_of(kind, printed)
    for sides, failing in ((sides, failing) for sides in directions for failing in (False, True)):
        numbers = [around(*side) for side in sides]
        numbers[0][0] = None if failing else numbers[0][0]
        theirs, ours = (judged_of(at, claim, *numbers) for at in (papers, here))
        assert (ours.verdict, theirs.here) == (NOT_RUN, "")
        second = (IN_OTHER_WORDS[theirs.verdict], theirs.reason) if HAS_A_DIRECTION[claim.kind] else ("", "")
        assert (ours.here, ours.here_reason) == second
        assert (ours.outcome.p, ours.family.p_adjusted) == (theirs.outcome.p, theirs.family.p_adjusted)


def test_every_kind_is_known_to_have_a_direction_or_none():
    assert set(HAS_A_DIRECTION) == set(TESTS) == {claim_of(kind).kind for kind in KINDS} | {"ranking"}
    assert {kind for kind, has in HAS_A_DIRECTION.items() if not has} == {"value", "reaches", "smaller"}


@examples(10)
@given(st.data())
def test_no_claim_has_both_verdicts_and_families_stay_whole(table, data):
    """Whichever models' runs depart: their tests stay in the family of the others, and adjust them."""
    means = {model: data.draw(st.sampled_from([97.9, 98.0, 98.1, 99.0]), label=model) for model in MODELS[:4]}
    departing = data.draw(st.sets(st.sampled_from(MODELS)), label="departing")
    at = table(directions=data.draw(st.booleans(), label="directions"))
    found, whole = (judged(at, accuracies(at, means, tuple(names))) for names in (departing, ()))
    for name, row in found.items():
        has_both = row["verdict"] != NOT_RUN and row["here"]
        departs = {row["subject"].partition("-")[0], row["reference"].partition("-")[0]} & departing
        assert not has_both and row["verdict"] in VERDICTS and row["here"] in ("", *SECOND_VERDICTS)
        if row["kind"] == "better" and "sr_lstm" not in name and "pmnist" not in name:
            assert bool(row["here"]) == (at.configuration.scale.directions and bool(departs))
            assert (row["verdict"] == NOT_RUN) == bool(departs)
        assert not row["here"] or (row["departures"] and row["p"] != "" and row["kind"] != "value")
        assert bool(row["here_reason"]) <= bool(row["here"])
        assert [row[column] for column in ("p", "p_adjusted", "tests")] == [
            whole[name][column] for column in ("p", "p_adjusted", "tests")
        ]


def test_what_was_not_run_and_what_is_as_in_the_paper_has_none(table):
    at = table()
    alone = judged(at, accuracies(at, {"lstm": 98.0}, MODELS))[BETTER]
    assert (alone["verdict"], alone["here"], alone["here_reason"]) == (NOT_RUN, "", "")
    row = judged(at, accuracies(at, dict.fromkeys(("lstm", "adam_lstm"), 98.0)))[BETTER]
    assert (row["verdict"], row["here"]) == (INCONCLUSIVE, "")


def test_a_cost_has_a_direction_and_a_printed_ratio_has_none(table):
    at = table(name="momentumrnn_table14")
    costs = [cost(at, model, "training_time", *[ratio] * 3) for model, ratio in (("momentum_lstm", 1.2), ("lstm", 1))]
    found = judged(at, costs=[row | {"size": "32"} for row in costs])
    name = "pmnist:training_time:momentum_lstm-256:lstm-256"
    assert [found[f"table14:{kind}{name}"]["here"] for kind in ("", "value:")] == [HOLDS_HERE, ""]
    assert found[f"table14:{name}"]["verdict"] == NOT_RUN


def test_times_to_another_target_are_no_answer_to_the_papers_claim(configured):
    target = {"overrides": {"tasks": {}, "artifacts": {TIMES_TABLE: {"target": 0.5}}}}
    table = times_table(configured, **target)
    table = replace(table, configuration=with_directions(table.configuration))
    printed, sooner, _ = KINDS[BY_CLOCKS]
    found = judged_of(table, claim_of(BY_CLOCKS, printed), *(around(*side) for side in sooner))
    said = "a target of 50 %, not 92.29 %"
    assert (found.verdict, found.reason, found.here, found.departures) == (NOT_RUN, said, HOLDS_HERE, said)


def test_of_the_shipped_scales_the_evening_alone_gives_any(configured):
    scales = ("demo", "evening", "pilot", "paper")
    assert [scale for scale in scales if configured(scale=scale).scale.directions] == ["evening"]


def test_a_scale_asks_for_it_by_a_key(project):
    project.set("config/scales.yaml", "demo.directions", True)
    assert project.load(scale="demo").scale.directions
    project.set("config/scales.yaml", "demo.directions", "yes, please")
    with refused("true or false", file="config/scales.yaml", key="demo.directions"):
        project.load(scale="demo")


def test_a_scale_that_comes_to_judge_directions_has_its_artifacts_made_again(table):
    one, other = (table("demo", directions=directions) for directions in (True, False))
    assert meaning_of(one) != meaning_of(other)
    assert meaning_of_all(one.configuration, []) != meaning_of_all(other.configuration, [])


# What others decide

ALL = {"id": "both", "artifact": TABLE, "source": "here", "says": "both", "kind": "all", "of": ["first", "second"]}


def parts(*found: tuple[str, str]) -> list[dict[str, str]]:
    """Rows of the verdicts, first and second, on two comparisons of the first part, and one of the second."""
    of = ("first", "first", "second")
    departs = [{"verdict": verdict, "here": here, "departures": "N = 32" if here else ""} for verdict, here in found]
    return [dict.fromkeys(COLUMNS, "") | {"entries": name} | row for name, row in zip(of, departs, strict=True)]


HOLDS, FAILS, OPEN, ABSENT, PAPERS = (
    *((NOT_RUN, here) for here in (*SECOND_VERDICTS, "")),
    (REPRODUCED, ""),
)


@pytest.mark.parametrize(
    ("found", "here", "reason"),
    [
        ((HOLDS, HOLDS, HOLDS), HOLDS_HERE, ""),
        ((HOLDS, OPEN, HOLDS), UNDECIDED_HERE, "in first"),
        ((HOLDS, OPEN, FAILS), FAILS_HERE, "in second"),
        ((HOLDS, ABSENT, OPEN), "", ""),
        ((HOLDS, HOLDS, PAPERS), "", ""),  # a part that the paper's runs decide is no part of these conditions
        ((PAPERS, PAPERS, FAILS), FAILS_HERE, "in second"),
        ((PAPERS, PAPERS, PAPERS), "", ""),
        (((CONTRADICTED, ""), PAPERS, FAILS), "", ""),  # the paper's claim is decided
    ],
)
def test_what_others_decide_follows_their_second_verdicts(found, here, reason):
    (row,) = verdicts_of_others([ClaimEntry(**ALL)], parts(*found))
    assert (row["here"], row["here_reason"]) == (here, reason) and tuple(row) == COLUMNS
    assert row["verdict"] == NOT_RUN or not row["here"]
    (row,) = verdicts_of_others([ClaimEntry(**ALL, sufficient=True)], parts(*found))
    assert row["here"] == (UNDECIDED_HERE if here == FAILS_HERE else here)
    (row,) = verdicts_of_others([ClaimEntry(**ALL, lacking="the third")], parts(*found))
    assert row["here"] == (UNDECIDED_HERE if here == HOLDS_HERE else here)


def test_two_readings_with_other_directions_leave_it_open():
    rows = [row | {"reading": reading} for row, reading in zip(parts(FAILS, HOLDS, HOLDS), ("a", "b", ""), strict=True)]
    (row,) = verdicts_of_others([ClaimEntry(**ALL)], rows)
    assert row["here"] == UNDECIDED_HERE


# What is shown

DEMO_MEANS = {"lstm": 60.0, "momentum_lstm": 63.0, "adam_lstm": 60.02, "rmsprop_lstm": 57.0, "sr_lstm": 60.3}


@pytest.fixture(scope="module")
def demo_rows(table) -> list[dict[str, str]]:
    """The verdicts on made-up runs of the demo scale, as text, where it judges directions."""
    at = table("demo")
    return [as_text(row) for row in judged(at, runs(at)).values()]


def runs(at: Artifact) -> list[dict[str, str]]:
    return [
        row
        for task in ("mnist", "pmnist")
        for model, mean in DEMO_MEANS.items()
        for row in seeds(at, model, mean, task=task)
    ]


def test_the_list_has_the_second_verdicts_beside_all_that_it_had(table, demo_rows):
    """Nothing of it is changed but the first line, which goes on; what is added is as approved."""
    without = [row | {"here": "", "here_reason": ""} for row in demo_rows]
    before, after = (markdown("demo", {TABLE: table("demo")}, rows).splitlines() for rows in (without, demo_rows))
    assert after[0].startswith(f"{before[0]} Second verdicts, which are none on the papers’ claims, ")
    added = [line[2:] for line in difflib.ndiff(before[1:], after[1:]) if line[:2] in ("+ ", "- ")]
    assert len(added) == len(after) - len(before)
    assert not any(word in line for line in before for word in SECOND_VERDICTS)
    assert not re.search(f"{REPRODUCED}|{CONTRADICTED}|{INCONCLUSIVE}", "\n".join(added), re.IGNORECASE)
    approved("claims_second.md", "\n".join([after[0], "", *added]))


def test_a_table_marks_its_rows_in_a_column_of_their_own(tmp_path, table, demo_rows):
    """In all four forms; what another table has is named there."""
    at = table("demo")
    elsewhere = {"judged_with": "momentumrnn_table1", "here": "", "here_reason": ""}
    rows = [row | (elsewhere if ":sr_lstm" in row["id"] else {}) for row in demo_rows]
    write_inputs(tmp_path, at, summary=runs(at))
    drawn = at.draw(Sources(at, tmp_path, tuple(rows)))
    group = next(group for group, _ in drawn.frame.columns if "task MNIST" in group)
    marks = dict(zip(drawn.frame["", "Model"], drawn.frame[group, "here"], strict=True))
    assert marks == {
        "LSTM": "–",
        "MomentumLSTM": HOLDS_HERE,
        "AdamLSTM": UNDECIDED_HERE,
        "RMSPropLSTM": FAILS_HERE,
        "SRLSTM": "here: judged with Table 1",
    }
    assert "verdict" not in {name for _, name in drawn.frame.columns}
    assert sum(NOT_RUN in note and note.startswith("Here: ") for note in drawn.notes) == 1
    files = [tmp_path / f"table.{form}" for form in TABLE_FORMS]
    write_table(drawn, files)
    assert all(HOLDS_HERE in file.read_text(encoding="utf-8") for file in files)
    plain = table("demo", directions=False).draw(Sources(at, tmp_path, tuple(rows)))
    assert "here" not in plain.data and "here" not in {name for _, name in plain.frame.columns}


def test_an_explanation_has_it_last_and_by_its_name(tmp_path, table, ended, monkeypatch):
    at = table("demo")
    for run in at.runs:
        evaluations = evaluation(run, test_accuracy=(DEMO_MEANS[run.model] + SPREAD[run.seed]) / 100)
        make_run(tmp_path, at.configuration, run, evaluations, losses=np.linspace(2, 1, 50) + run.seed / 100)
    write_inputs(tmp_path, at, summary=[row for row in runs(at) if int(row["seed"]) in at.configuration.seeds])
    for directions in (True, False):
        configuration = table("demo", directions=directions).configuration
        monkeypatch.setattr(judge_claims, "load", lambda given, configuration=configuration: configuration)
        told = ended(judge_claims.main, "--explain", BETTER, "--root", tmp_path).out
        before, _, second = told.partition("Second verdict: ")
        assert before.endswith("says nothing of the paper.\n") and NOT_RUN in before
        assert bool(second) == directions
        if directions:
            said, verdict, conditions = second.splitlines()
            assert "none on the paper’s claim" in said and verdict.strip().startswith(SECOND_VERDICTS)
            assert conditions.startswith("  here: Digits 8x8")


def test_an_explanation_of_what_others_decide_lists_their_second_verdicts(tmp_path, table, ended, monkeypatch):
    at = table("demo")
    rows = [row | {"id": f"part {n}"} for n, row in enumerate(parts(HOLDS, OPEN, FAILS))]
    entry = ClaimEntry(**ALL | {"id": "no-model-wins"})
    write_rows(
        tmp_path / at.configuration.paths.all_verdicts("csv"), COLUMNS, [*rows, *verdicts_of_others([entry], rows)]
    )
    monkeypatch.setattr(judge_claims, "load", lambda given: at.configuration)
    told = ended(judge_claims.main, "--explain", "no-model-wins", "--root", tmp_path).out
    before, _, second = told.partition("Second verdict: ")
    assert not any(word in before for word in SECOND_VERDICTS) and before.endswith(
        f"Verdict\n  {NOT_RUN}: in first, second\n"
    )
    assert second.splitlines()[1:] == [
        *("  first", f"    {HOLDS_HERE}  part 0", f"    {UNDECIDED_HERE}  part 1"),
        *("  second", f"    {FAILS_HERE}  part 2", f"  {FAILS_HERE}: in second", "  here: N = 32"),
    ]
