"""Verdicts recomputed from a publication's files alone, with SciPy and pandas, and none of the project's statistics.

Of every comparison of two models' test scores (kind `better`): the score of each run is read in its record; Welch's t,
or the paired one where a seed has data of its own; Holm over the family; the side that is ahead must beat the best
naive baseline; then the verdict.
"""

import json
import math
import tarfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from published_here import results_of
from scipy import stats

ARTIFACTS = (
    "momentumrnn_table11",
    "acenode_table2",
    "acenode_table6",
)  # the last with a split of its own for each seed
KEPT = ("digits", "ornstein_uhlenbeck")
ALPHA = 0.05


def scores(run):
    """Of models that differ, some hardly; some learn less than a naive baseline gives."""
    random = np.random.default_rng([run.seed, *run.model.encode()])
    level = np.random.default_rng([*run.task.encode(), *run.model.encode()]).uniform(0.25, 0.6)
    report = run.spec["training"]["report"]["metric"]
    names = dict.fromkeys((report, "train_loss", "test_loss", "test_accuracy", "test_mse", "test_negll"))
    measured = {name: float(level + 0.03 * random.standard_normal()) for name in names}
    naive = {name: {"best constant": 0.35, "chance": 0.1 if "accuracy" in name else 0.9} for name in names}
    return {"evaluations": [{"iteration": 10, "epoch": 1.0} | measured], "naive": naive}


@pytest.fixture(scope="module")
def published(configured, tmp_path_factory):
    """The directory of a publication of made-up runs."""
    given = {"scale": "demo", "seeds": [0, 1, 2, 3, 4], "overrides": {}}
    others = {task.dataset for task in configured(**given).tasks.values()} - {*KEPT}
    configuration = configured(**given, leave_out=sorted(others))
    configuration = replace(configuration, scale=configuration.scale.model_copy(update={"directions": True}))
    return results_of(configuration, tmp_path_factory.mktemp("published"), ARTIFACTS, scores).directory


@pytest.fixture(scope="module")
def rows(published):
    """The judged comparisons of test scores in verdicts.csv."""
    verdicts = pd.read_csv(published / "verdicts.csv", keep_default_na=False)
    tested = (verdicts.kind == "better") & verdicts.metric.str.startswith("test_") & (verdicts.p != "")
    return verdicts[tested & (verdicts.reference != "")]


@pytest.fixture(scope="module")
def records(published):
    """run.json of each run, by its id."""
    found = {}
    for path in sorted(published.glob("records/*.tar.xz")):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.endswith("/run.json"):
                    record = json.load(archive.extractfile(member))
                    found[record["run"]] = record
    return found


@pytest.fixture(scope="module")
def settings(published):
    """The YAML files of config/ with which it was made."""
    with tarfile.open(published / "records/configuration.tar.xz") as archive:
        return {member.name: yaml.safe_load(archive.extractfile(member).read()) for member in archive}


def recomputed(row, records, settings):
    """estimate, p, and of both sides whether it has learned; the estimate in the unit shown."""
    metric = settings["config/metrics.yaml"][row.metric]
    factor = {"percent": 100, "10⁻³": 1000}.get(metric["unit"], 1)
    sign = 1 if metric["better"] == "higher" else -1
    sides, learned = [], []
    for model in (row.subject, row.reference):
        own = [records[name] for name in row.runs.split() if name.split("/")[1] == model]
        assert len(own) == 5 and {record["status"] for record in own} == {"finished"}
        values = pd.Series({record["spec"]["seed"]: record["reported"]["metrics"][row.metric] for record in own})
        naive = [max(sign * score for score in record["naive"][row.metric].values()) for record in own]
        sides.append(factor * values)
        above = stats.ttest_1samp(sign * values.to_numpy() - naive, 0, alternative="greater").pvalue
        learned.append(above < ALPHA)
    estimate = (sides[0] - sides[1]).mean()
    overlaps = [overlap(record, settings) for record in own]
    if overlaps[0] is None:
        found = stats.ttest_ind(*sides, equal_var=False)
        p = 2 * stats.t.sf(abs(found.statistic), math.floor(found.df))
    else:
        paired = stats.ttest_rel(*sides).statistic / math.sqrt(1 + len(own) * overlaps[0])
        p = 2 * stats.t.sf(abs(paired), len(own) - 1)
    return pd.Series({"estimate": estimate, "p": p, "ahead": learned[int(sign * estimate < 0)], "way": sign * estimate})


def overlap(record, settings):
    """n_test / n_train, where the seeds' data are parts of the same data; None where all seeds share theirs."""
    taken = record["spec"]["readings"].items()
    effects = [settings["config/readings.yaml"][name][value] for name, value in taken]
    own = [effect.get("resampled", 0.0) for effect in effects if effect.get("blocks")]
    return max(own) if own else None


def holm(p):
    ordered = p.sort_values()
    adjusted = (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
    return adjusted.reindex(p.index)


def test_every_comparison_has_the_verdict_that_follows_from_the_records(rows, records, settings):
    found = rows.apply(recomputed, axis=1, records=records, settings=settings)
    assert len(found) > 20 and {*rows.test} == {"Welch's t", "corrected resampled t"}
    for name in ("estimate", "p"):
        assert np.allclose(found[name].astype(float), rows[name].astype(float), rtol=1e-6), name
    found["pair"] = [" ".join([row.task, *sorted([row.subject, row.reference])]) for row in rows.itertuples()]
    for family, own in found.groupby(rows.family):  # a claim and its opposite are one test
        tests = own.drop_duplicates("pair").set_index("pair").p.astype(float)
        assert set(rows.loc[own.index].tests.astype(float)) == {len(tests)}, family
        found.loc[own.index, "adjusted"] = own.pair.map(holm(tests))
    assert np.allclose(found.adjusted, rows.p_adjusted.astype(float), rtol=1e-6)
    decided = np.where(found.way > 0, "holds", "fails")
    expected = np.where((found.adjusted < ALPHA) & found.ahead, decided, "undecided")
    assert expected.tolist() == rows.verdict.tolist()
    assert {*expected} == {"holds", "fails", "undecided"} and not found.ahead.all()


def test_the_records_have_what_the_verdicts_name(rows, records):
    assert {name for runs in rows.runs for name in runs.split()} <= records.keys()
