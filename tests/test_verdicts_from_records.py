"""Every headline verdict of `paper` and `evening`, recomputed from its records with SciPy and none of the project's
statistics. Each rule of docs/claims.md stands here a second time, so that one that is changed in the package fails."""

import io
import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from scipy import stats
from statsmodels.stats.multitest import multipletests

from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.needed import evidence_of_claims
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.publication.command import settings_of
from hidden_dynamics.publication.restoring import MEASURED, Publication
from hidden_dynamics.results.archives import write

TASKS, METRICS, VARIANTS = (
    yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8"))
    for name in ("tasks", "metrics", "variants")
)
CLAIMS = {
    (path.parent.name, entry["id"]): {"at": "reported"} | entry
    for path in ROOT.glob("published/*/claims.yaml")
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["claims"]
}


@pytest.fixture(scope="module", params=["paper", "evening"])
def given(request, configured, tmp_path_factory):
    """The verdicts on a publication's runs, and the files of its records by task, model, paper's size and seed."""
    root, publication = tmp_path_factory.mktemp(request.param), Publication(ROOT / "docs/evidence" / request.param)
    configuration, records = configured(**settings_of(publication.configuration)), {}
    for name, files in publication.runs():
        write(root / configuration.results / "runs" / name, files)
        record = json.loads(files["run.json"])
        spec = record["spec"]
        records.setdefault((spec["task"], spec["model"], record["paper_size"]), {})[spec["seed"]] = record, files
    for path in (path for folder in MEASURED for path in publication.under(folder)):
        write(root / configuration.results, {path: publication.read(path)})
    found = verdicts(evidence_of_claims(configuration, root))
    features = [pd.read_csv(path) for path in (root / configuration.results).glob("features/*.csv")]
    return SimpleNamespace(verdicts={(one.paper, one.id): one for one in found}, records=records, features=features)


def sides_of(entry, given):
    """{(subject, reference): their numbers by seed}; of the references the best is taken."""
    sizes = entry["size"] if isinstance(entry["size"], list) else [entry["size"]] * 2
    cases = [
        [(entry["task"], model, size) for model in ([named] if isinstance(named, str) else named)]
        for named, size in zip((entry["subject"], entry["reference"]), sizes, strict=True)
    ]
    if entry["kind"] == "faster":
        return {(cases[0][0], cases[1][0]): faster(cases[0][0], cases[1][0], given)}
    sign = 1 if METRICS[entry["metric"]]["better"] == "higher" else -1
    reference = max(cases[1], key=lambda case: sign * numbers(entry, case, given).mean())
    return {
        (subject, reference): [numbers(entry, case, given) for case in (subject, reference)] for subject in cases[0]
    }


def numbers(entry, case, given):
    factor = {"percent": 100, "10⁻³": 1000}.get(METRICS[entry["metric"]]["unit"], 1)
    if entry["metric"] == "silhouette":
        (rows,) = given.features
        return rows[(rows.model == case[1]) & (rows.paper_size == case[2])].set_index("seed").silhouette
    found = {}
    for seed, (record, files) in given.records[case].items():
        epochs, at = record["spec"]["training"]["epochs"], entry["at"]
        if entry.get("by_epoch", math.inf) <= epochs < TASKS[entry["task"]]["training"]["epochs"]:
            at = "last"
        if record["status"] != "finished":
            continue
        if at == "reported":
            found[seed] = record["reported"]["metrics"][entry["metric"]]
        elif at == "last":
            found[seed] = pd.read_csv(io.BytesIO(files["metrics.csv"]))[entry["metric"]].iloc[-1]
        else:
            losses = np.load(io.BytesIO(files["train_loss.npy"]))
            found[seed] = losses[: at["iteration"]][-100:].mean()
    return factor * pd.Series(found)


def faster(subject, reference, given):
    """log of the iterations to the lowest level that all reach, of losses under a triangle of 2 % of a run."""

    def smooth(losses):
        width = max(1, round(0.02 * losses.size))
        triangle = np.convolve(np.ones((width + 1) // 2), np.ones(width // 2 + 1))
        part = slice((width - 1) // 2, (width - 1) // 2 + losses.size)
        return np.convolve(losses, triangle)[part] / np.convolve(np.ones(losses.size), triangle)[part]

    curves = [
        {seed: smooth(np.load(io.BytesIO(files["train_loss.npy"]))) for seed, (_, files) in given.records[case].items()}
        for case in (subject, reference)
    ]
    level = max(curve.min() for side in curves for curve in side.values())
    return [pd.Series({seed: math.log(1 + (c <= level).argmax()) for seed, c in side.items()}) for side in curves]


def design_of(case, given):
    """(whether seeds are blocks, n_test / n_train), by the variants of a run."""
    record = next(iter(given.records[case].values()))[0]
    taken = record["spec"]["variants"].items()
    effects = [(VARIANTS[name] | VARIANTS[name].get("others", {}))[value] for name, value in taken]
    return any(one.get("blocks") for one in effects), max((one.get("resampled", 0) for one in effects), default=0)


def t_of(values, design):
    """(difference, error, degrees of freedom): seed by seed where seeds are blocks, else Welch's."""
    blocks, overlap = design
    if blocks:
        pairs = (values[0] - values[1]).dropna()
        return pairs.mean(), pairs.std() * math.sqrt(1 / len(pairs) + overlap), len(pairs) - 1
    (n, m), variances = map(len, values), [own.var() / len(own) for own in values]
    degrees = sum(variances) ** 2 / sum(v**2 / (k - 1) for v, k in zip(variances, (n, m), strict=True))
    whole = math.floor(degrees + 1e-9) if n == m else min(n, m) - 1
    return values[0].mean() - values[1].mean(), math.sqrt(sum(variances)), whole


def learned(case, entry, values, design, given):
    """Better than the best naive baseline, by a one-sided t test of each seed's lead over its own."""
    records = {seed: record for seed, (record, _) in given.records[case].items() if seed in values.index}
    first, metric = next(iter(records.values())), entry.get("metric", "train_loss")
    own = metric in first["naive"] and entry["kind"] == "better"
    held = metric if metric in first["naive"] else next((n for n in first["naive"] if n.startswith("test_")), None)
    if held is None or metric == "silhouette":
        return True
    factor, sign = {"percent": 100, "10⁻³": 1000}.get(METRICS[held]["unit"], 1), METRICS[held]["better"] == "higher"
    sign, leads = 1 if sign else -1, []
    for seed, record in records.items():
        best = max(sign * score for name, score in record["naive"][held].items() if not name.startswith("ridge"))
        score = values[seed] if own else factor * record["reported"]["metrics"][held]
        leads.append(sign * score - factor * best)
    error = np.std(leads, ddof=1) * math.sqrt(1 / len(leads) + design[1])
    return stats.t.sf(np.mean(leads) / error, len(leads) - 1) < 0.05


def test_every_verdict_follows_from_the_records(given):
    tested = {key: one for key, one in given.verdicts.items() if one.kind in ("better", "faster") and one.p is not None}
    found, families = {}, {}
    for key, verdict in tested.items():
        entry, results = CLAIMS[key], []
        for cases, values in sides_of(entry, given).items():
            t = t_of(values, design_of(cases[0], given))
            p = 2 * stats.t.sf(abs(t[0]) / t[1], t[2])
            more = entry["kind"] == "better" and METRICS[entry["metric"]]["better"] == "higher"
            supports = (t[0] > 0) == more
            results.append((p / 2 if supports else 1 - p / 2, p, supports, t, cases, values))
            if entry.get("dagger") and verdict.outcome is not Outcome.NOT_RUN:
                families.setdefault(key[0], []).append((key, p))
        found[key] = max(results, key=lambda result: result[0])
    for key, entry in CLAIMS.items():  # a test whose runs have begun counts, once for each subject
        if entry.get("begun") and given.verdicts[key].outcome is Outcome.NOT_RUN:
            subjects = entry["subject"] if isinstance(entry["subject"], list) else [entry["subject"]]
            families.setdefault(key[0], []).extend((key, 1.0) for _ in subjects)
    adjusted = {}
    for family in families.values():
        for (key, p), q in zip(family, multipletests([p for _, p in family], method="holm")[1], strict=True):
            adjusted[key, p] = q
    for key, (_, p, supports, t, cases, values) in found.items():
        verdict, entry, q = tested[key], CLAIMS[key], adjusted.get((key, p), p)
        half, shown = stats.t.ppf(0.975, t[2]) * t[1], np.exp if entry["kind"] == "faster" else np.asarray
        numbers_here = [*shown([t[0], t[0] - half, t[0] + half]), p, q]
        ours = verdict.p if verdict.p_adjusted is None else verdict.p_adjusted
        assert [verdict.difference, verdict.low, verdict.high, verdict.p, ours] == pytest.approx(numbers_here, rel=1e-6)
        ahead = 0 if supports else 1
        idle = not learned(cases[ahead], entry, values[ahead], design_of(cases[ahead], given), given)
        decided = q < 0.05 and len(values[ahead]) == len(given.records[cases[ahead]])
        official = not verdict.deviations and entry.get("dagger")
        names = ("REPRODUCED", "CONTRADICTED", "INCONCLUSIVE") if official else ("AGREES", "DISAGREES", "OPEN")
        expected = "UNLEARNED" if idle else names[ahead] if decided else names[2]
        barred = entry.get("against_table") or len(values[1 - ahead]) < len(given.records[cases[1 - ahead]])
        if verdict.outcome is not Outcome.NOT_RUN:
            assert verdict.outcome.name == ("BARRED" if barred and decided and not idle else expected), key
    assert found
