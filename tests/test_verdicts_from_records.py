"""Every verdict recomputed from a publication's files, with SciPy and pandas and none of the project's statistics.

Read are the records of runs, the measured costs and the configuration; of verdicts.csv, which runs a claim is of and
which numbers are printed; of published/claims.yaml, margins and entries. Each rule of docs/statistics.md stands here a
second time, so that one that is changed in the package fails; but for values on other test sets.
"""

import io
import json
import math
import tarfile
from collections import Counter
from functools import reduce
from itertools import combinations
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from published_here import results_of
from scipy import stats

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration.runs import Case
from hidden_dynamics.papers.claims import FILE

ARTIFACTS = (
    *(f"momentumrnn_{name}" for name in ("table1", "table11", "table2", "table12", "figure2", "figure4", "table14")),
    *("momentumrnn_table16", "acenode_table2", "acenode_table6"),
)
COSTS = {"momentum_lstm": 1.2, "adam_lstm": 1.67, "rmsprop_lstm": 1.02, "sr_lstm": 1.3}
NAIVE = {  # by dataset and metric, the better of two predictions without learning
    "mnist": {"test_accuracy": 0.1135},
    "adding": {"train_loss": 0.2, "test_loss": 0.2},
    "timit": {"validation_loss": 20.0, "test_loss": 20.0},
    "ushcn": {"test_mse": 1.2, "test_negll": 2.5},
}
CLAIMS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
ENTRIES, RULES = {entry["id"]: entry for entry in CLAIMS["claims"]}, CLAIMS["definitions"]
ALPHA = round(1 - RULES["level"], 12)


def made_up(configuration):
    """About each run: around the printed numbers or away from them, close together or not; some learn little."""
    artifacts = [artifact_named(configuration, name) for name in ARTIFACTS if "figure2" not in name]

    def level(run, metric):
        cell = Case(run.task, run.model, run.paper_size)
        numbers = (artifact.number(cell, metric) for artifact in artifacts if cell in artifact.cases())
        printed = next((number.value / configuration.metrics[metric].factor for number in numbers if number), None)
        return printed or {"test_accuracy": 0.97, "train_loss": 0.16}.get(metric, 9.0)

    def about(run):
        own = np.random.default_rng([*run.task.encode(), *run.sized_model.encode()])
        noise = np.random.default_rng([*run.id.encode()])
        width, shift, idle = own.choice([0.01, 0.06]), own.choice([0, 0, -0.4, 0.3]), own.random() < 0.25
        measured, naive = {run.spec["training"]["report"]["metric"]: 0.5, "train_loss": 0.1, "test_loss": 0.1}, {}
        for metric, best in NAIVE[run.spec["dataset"]].items():
            best *= 1 + 0.02 * noise.standard_normal()  # each seed is held to the naive baseline on its own test set
            mean = best if idle else level(run, metric)
            errors = 1 - mean if metric == "test_accuracy" and not idle else 0.2 * mean
            lead = own.uniform(0, 2) * width * (1 if metric == "test_accuracy" else -1)
            measured[metric] = float(mean + errors * ((lead if idle else shift) + width * noise.standard_normal()))
            naive[metric] = {"best": best, "other": best * {"test_accuracy": 0.9}.get(metric, 1.1)}
            if run.spec["dataset"] == "timit":
                naive[metric] |= {"ridge on three frames": 0.2 * best}  # a classical one takes no verdict away
        fall = np.exp(-np.arange(150) * own.choice([0.02, 0.03]) * (1 + 0.1 * noise.standard_normal()))
        return {
            "evaluations": [{"iteration": 10, "epoch": 1.0} | measured],
            "naive": naive,
            "losses": 0.1 + 2 * fall + 0.05 * noise.random(150),
            "gradients": np.exp(np.linspace(-4 * own.random(), 0, 12) + 0.1 * noise.random((3, 12))),
            "parameters": 1400 if run.model == "resnet" else 1000,
            "diverged_at": 5 if run.seed == 3 and (run.model == "sr_lstm" or "mnist/lstm-n128" in run.id) else None,
        }

    return about


@pytest.fixture(scope="module")
def given(configured, tmp_path_factory):
    """What a publication gives; at the paper's scale, where printed values are claims, too."""
    about = {"scale": "paper", "seeds": [*range(5)], "variants": {"default": "published", "permutation": "released"}}
    others = {task.dataset for task in configured(**about).tasks.values()} - NAIVE.keys()
    configuration = configured(**about, leave_out=sorted(others))
    root = tmp_path_factory.mktemp("published")
    published = results_of(configuration, root, ARTIFACTS, made_up(configuration), COSTS).directory
    files, records, losses = {}, {}, {}
    for path in published.glob("records/*.tar.xz"):
        with tarfile.open(path) as archive:
            task = path.name.removesuffix(".tar.xz")
            files |= {f"{task}/{member.name}": archive.extractfile(member).read() for member in archive}
    for name, content in files.items():
        run, _, file = name.rpartition("/")
        if file == "run.json":
            records[run] = json.loads(content)
        if file == "train_loss.npy":
            losses[run] = np.load(io.BytesIO(content))
    config = {name: yaml.safe_load(files[f"configuration/config/{name}.yaml"]) for name in ("metrics", "variants")}
    verdicts = pd.read_csv(published / "verdicts.csv", keep_default_na=False).set_index("id", drop=False)
    costs = pd.read_csv(published / "costs/momentumrnn_table14.csv")
    return SimpleNamespace(verdicts=verdicts, records=records, losses=losses, costs=costs, **config)


# -------------------------------------------------------------------------------------------------------- The numbers


class Runs(NamedTuple):
    """One model's numbers by seed, how many runs have none, whether it learned, whether its seeds are blocks."""

    model: str
    values: pd.Series
    failed: int
    learned: bool
    blocks: bool
    overlap: float  # n_test / n_train, where seeds are parts of the same data


class Found(NamedTuple):
    """Whether a test supports a claim; whose learning that takes; whose failed runs bar it, and whose its opposite."""

    supports: bool
    p: float
    estimate: float
    ahead: tuple = ()
    bars: tuple = ((), ())


def sign_of(metric, given):
    return 1 if given.metrics[metric]["better"] == "higher" else -1


def samples_of(row, given, number=None):
    """The runs of each model of a claim, in its order, by the claim's metric or another number of a run."""
    factor = {"percent": 100, "10⁻³": 1000}.get(given.metrics[row.metric]["unit"], 1)
    models, found = {}, []
    for name in row.runs.split():
        models.setdefault(name.rpartition("/")[0], []).append(name)
    for model, names in models.items():
        finished = [name for name in names if given.records[name]["status"] == "finished"]
        own = [given.records[name] for name in finished]
        numbers = map(number, finished) if number else (factor * r["reported"]["metrics"][row.metric] for r in own)
        values = pd.Series(list(numbers), [record["spec"]["seed"] for record in own])
        effects = [given.variants[name][value] for name, value in own[0]["spec"]["variants"].items()]
        overlap = max((effect.get("resampled", 0.0) for effect in effects), default=0.0)
        blocks = any(effect.get("blocks") for effect in effects)
        found.append(Runs(model, values, len(names) - len(own), learned(own, row, overlap, given), blocks, overlap))
    return found


def learned(records, row, overlap, given):
    """Better than the best naive baseline, by a one-sided t test of each seed's lead over its own."""
    naive = [record["naive"] | {name: {"": score} for name, score in RULES["naive"].items()} for record in records]
    tests = sorted(name for name in records[0]["naive"] if name.startswith("test_"))
    metric = row.metric if row.metric in naive[0] else tests[0]
    sign = sign_of(metric, given)
    best = [max(sign * score for name, score in own[metric].items() if name[:5] != "ridge") for own in naive]
    leads = np.array([sign * record["reported"]["metrics"][metric] for record in records]) - best
    error = leads.std(ddof=1) * math.sqrt(1 / len(leads) + overlap)
    return stats.t.sf(leads.mean() / error, len(leads) - 1) < ALPHA


def printed(row):
    """The (value, ±) of subject and reference."""
    texts = [text.split(" (")[0].split(" ± ") for text in row.published.split(" against ")]
    return [(float(value), float(std[0]) if std else None) for value, *std in texts]


def margin_of(row):
    """Of the last of the printed numbers."""
    number, rule = printed(row)[-1][0], RULES["margins"][row.metric]
    return rule["errors"] * (rule.get("of", 100) - number) if "errors" in rule else rule["relative"] * abs(number)


# ---------------------------------------------------------------------------------------------------------- The rules


def t_of(samples, signs=(1, -1)):
    """(mean, error, degrees of freedom) of a sum of means: seed by seed where seeds are blocks, else Welch's."""
    if all(runs.blocks for runs in samples):
        sums = sum(sign * runs.values for sign, runs in zip(signs, samples, strict=True)).dropna()
        return sums.mean(), sums.std() * math.sqrt(1 / len(sums) + samples[0].overlap), len(sums) - 1
    return welch([(sign * mean, *rest) for sign, (mean, *rest) in zip(signs, map(mean_of, samples), strict=True)])


def mean_of(runs):
    """(mean, its variance, number of values)."""
    return runs.values.mean(), runs.values.var() * (1 / len(runs.values) + runs.overlap), len(runs.values)


def welch(means):
    """The same of a sum of means; degrees of freedom are whole, and where samples differ in size, the smallest's."""
    mean, variance, n = np.array(means).T
    degrees = variance.sum() ** 2 / (variance**2 / (n - 1)).sum()
    return mean.sum(), math.sqrt(variance.sum()), math.floor(degrees + 1e-9) if len({*n}) == 1 else n.min() - 1


def two_sided(t, null=0.0):
    return 2 * stats.t.sf(abs(t[0] - null) / t[1], t[2])


def within(t, margin):
    """(whether inside, p): the larger of two one-sided p inside, twice the smaller outside."""
    outside = (abs(t[0]) - margin) / t[1]
    return (True, stats.t.cdf(outside, t[2])) if outside < 0 else (False, 2 * stats.t.sf(outside, t[2]))


def difference(samples, sign):
    """Of two models; `sign` says whether more is better."""
    t = t_of(samples)
    leader = samples[0] if t[0] * sign > 0 else samples[1]
    return Found(t[0] * sign > 0, two_sided(t), t[0], (leader,), (samples[:1], samples[1:]))


def better(row, given):
    samples, sign = samples_of(row, given), sign_of(row.metric, given)
    if row.reference:
        return difference(samples, sign)
    lead = samples[0].values - RULES["naive"][row.metric]
    return Found(lead.mean() * sign > 0, stats.ttest_1samp(lead, 0).pvalue, lead.mean(), (), (samples, ()))


def not_better(row, given):
    samples, sign = samples_of(row, given), sign_of(row.metric, given)
    t, null, found = t_of(samples), sign * margin_of(row), difference(samples, sign)
    supports = (t[0] - null) * sign < 0
    ahead = (*found.ahead, samples[1]) if supports else samples[:1]
    return Found(supports, two_sided(t, null), t[0], ahead, found.bars[::-1])


def similar(row, given):
    samples = samples_of(row, given)
    found, (inside, p) = difference(samples, sign_of(row.metric, given)), within(t_of(samples), margin_of(row))
    return Found(inside, p, found.estimate, samples if inside else found.ahead, (samples, found.ahead))


def gain(row, given):
    samples, sign = samples_of(row, given), sign_of(row.metric, given)
    t = t_of(samples, (1, -1, -1, 1))
    ahead = [max(pair, key=lambda runs: sign * runs.values.mean()) for pair in (samples[:2], samples[2:])]
    return Found(t[0] * sign > 0, two_sided(t), t[0], ahead, (samples[::3], samples[1:3]))


def faster(row, given):
    """log of the iterations to the lowest level that all reach, of losses under a triangle of 2 % of a run."""

    def smooth(losses):
        width = max(1, round(RULES["smoothing"] * losses.size))
        triangle = np.convolve(np.ones((width + 1) // 2), np.ones(width // 2 + 1))
        part = slice((width - 1) // 2, (width - 1) // 2 + losses.size)
        return np.convolve(losses, triangle)[part] / np.convolve(np.ones(losses.size), triangle)[part]

    finished = [name for name in row.runs.split() if given.records[name]["status"] == "finished"]
    curves = {name: smooth(given.losses[name]) for name in finished}
    level = max(curve.min() for curve in curves.values())
    found = difference(samples_of(row, given, lambda name: math.log(1 + (curves[name] <= level).argmax())), -1)
    return found._replace(estimate=math.exp(found.estimate))


def beside(row, given):
    """The rows with printed numbers on the same metric of the same task."""
    rows = given.verdicts[given.verdicts.published != ""]
    return [*rows[(rows.task == row.task) & (rows.metric == row.metric)].itertuples()]


def ranking(row, given):
    """Kendall's tau within sizes of the models that have learned; those with more failed runs are behind."""
    sides = [
        pair
        for other in beside(row, given)
        for pair in zip((other.subject, other.reference), printed(other), strict=False)
    ]
    theirs, sizes, sign = {model: value for model, (value, _) in sides}, {}, sign_of(row.metric, given)
    for runs in (runs for runs in samples_of(row, given) if runs.failed or runs.learned):
        sized_model, ours = runs.model.split("/")[1], (-runs.failed, sign * runs.values.mean())
        sizes.setdefault(sized_model.split("-")[-1], []).append((ours, sign * theirs[sized_model]))
    if 2 / math.prod(math.factorial(len(own)) for own in sizes.values()) >= ALPHA:
        return None
    pairs = [pair for own in sizes.values() for pair in combinations(own, 2)]
    score = sum((1 if one[0] > other[0] else -1) * np.sign(one[1] - other[1]) for one, other in pairs)
    chance = reduce(np.convolve, (orders([number for _, number in own]) for own in sizes.values()))
    scores = len(chance) - 1 - 2 * np.arange(len(chance))
    return Found(score > 0, chance[abs(scores) >= abs(score)].sum() / chance.sum(), score / len(pairs))


def orders(numbers):
    """How many orders of numbers have 0, 1, 2, ... inversions: [n]! over the product of [m]! of those that tie."""
    factorial = [reduce(np.polymul, [np.ones(k) for k in range(1, n + 1)], np.ones(1)) for n in range(len(numbers) + 1)]
    tied = reduce(np.polymul, [factorial[m] for m in Counter(numbers).values()])
    return np.polydiv(factorial[-1], tied)[0]


def value(row, given):
    """Ours is the printed one, whose ± is over five runs; the margin hides no gap of its table."""
    if row.reference:
        return cost(row, given, math.log(printed(row)[0][0] / printed(row)[1][0]))
    (runs,), ((number, std),) = samples_of(row, given), printed(row)
    tables = {name for name in row.entries.split() if ENTRIES[name]["kind"] == "ordering"}
    pairs = [one for one in beside(row, given) if one.kind == "better" and tables & {*one.entries.split()}]
    pairs = [printed(one) for one in pairs if row.subject in (one.subject, one.reference)]
    margin, error = margin_of(row), std * math.sqrt(1 / 5 + runs.overlap)
    margin = min(margin, *(abs(one[0] - other[0]) / 2 for one, other in pairs))
    if error * (stats.t.ppf(1 - ALPHA, 4) + stats.t.ppf((1 + RULES["power"]) / 2, 4)) > margin:
        return None  # no number of seeds could show it
    t = welch([mean_of(runs), (-number, error**2, 5)])
    above = (runs,) if t[0] * sign_of(row.metric, given) > 0 else ()
    return Found(*within(t, margin), t[0], (runs,), ((runs,), above))


def cost(row, given, centre=None):
    """The mean log ratio of processes is beyond 5 % on the printed side, or within it; or is the printed one."""
    own = given.costs[(given.costs.quantity == row.metric) & (given.costs.model + "-n256" == row.subject)]
    logs, edge = np.log(own.ratio), math.log1p(RULES["costs"])
    side = math.log(printed(row)[0][0] / printed(row)[1][0])
    if centre is None and abs(side) > edge:
        found = stats.ttest_1samp(logs, math.copysign(edge, side))
        return Found(found.statistic * side > 0, found.pvalue, math.exp(logs.mean()))
    if centre is not None:
        edge = min(math.log1p(RULES["margins"]["cost_ratio"]["relative"]), abs(centre) / 2)
    estimate = logs.mean() - (centre or 0.0)
    return Found(*within((estimate, stats.sem(logs), len(logs) - 1), edge), math.exp(estimate))


TESTS = {test.__name__: test for test in (better, not_better, similar, gain, faster, ranking, value)}
TESTS["ratio"] = cost


def recomputed(given):
    """What each test says, by the claims' ids; p adjusted by Holm over the different tests of each family, of which one
    that was not made, because its runs are left out or learned nothing, has the p 1."""
    rows = [row for row in given.verdicts.itertuples() if row.kind in TESTS and row.metric != "time_to_accuracy"]
    answers = [TESTS[row.kind](row, given) if row.verdict != "not run" else None for row in rows]
    found = pd.DataFrame({"found": answers}, [row.id for row in rows])
    undecidable = [row.kind == "value" for row in rows]  # by whatever runs, where there is no p
    found["p"] = [each.p if each else math.nan if no else 1.0 for each, no in zip(answers, undecidable, strict=True)]
    found["estimate"] = [each.estimate if each else math.nan for each in found.found]
    found["family"] = [(row.artifact, row.kind, row.metric, row.variant) for row in rows]
    mirrored = [sorted([row.subject, row.reference]) if row.kind in ("better", "faster") else [row.id] for row in rows]
    found["test"] = [(row.task, *pair) for row, pair in zip(rows, mirrored, strict=True)]
    for _, own in found.dropna(subset="p").groupby("family"):
        p = own.drop_duplicates("test").set_index("test").p.sort_values()
        adjusted = (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
        found.loc[own.index, "p_adjusted"] = own.test.map(adjusted)
        found.loc[own.index, "tests"] = len(p)
    found["verdict"] = list(map(verdict, found.found, found.p_adjusted))
    found.loc[[each is None for each in answers], ["p", "p_adjusted", "tests"]] = math.nan
    return found[[row.verdict != "not run" for row in rows]]


def verdict(found, adjusted):
    if found is None or adjusted >= ALPHA or any(runs.failed for runs in found.bars[not found.supports]):
        return "undecided"
    return ("holds" if found.supports else "fails") if all(runs.learned for runs in found.ahead) else "undecided"


# ---------------------------------------------------------------------------------------------------------- The tests


def test_every_verdict_follows_from_the_records(given):
    found = recomputed(given)
    rows = given.verdicts.loc[found.index]
    for name in ("estimate", "p", "p_adjusted", "tests"):
        assert np.allclose(found[name].astype(float), pd.to_numeric(rows[name]), rtol=1e-6, atol=0, equal_nan=True), (
            name
        )
    assert found.verdict.tolist() == rows.verdict.tolist()
    assert {*rows.kind} == {*TESTS} and {*found.verdict} == {"holds", "fails", "undecided"} and len(found) > 250


def test_an_adjusted_interval_is_without_zero_where_p_is_below_its_tests_share_of_the_level(given):
    rows = given.verdicts[(given.verdicts.kind == "better") & (given.verdicts.p != "")]
    low, high, p, tests = (pd.to_numeric(rows[name]) for name in ("low_adjusted", "high_adjusted", "p", "tests"))
    without = (low > 0) | (high < 0)
    assert without.tolist() == (p < ALPHA / tests).tolist() and 0 < without.sum() < (p < ALPHA).sum()
