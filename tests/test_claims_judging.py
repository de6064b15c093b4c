"""Verdicts from made-up runs whose truth is known, and what the pages and tables make of them."""

import csv
import json
import math
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import judge_claims
import numpy as np
import pytest
import render_claims
import render_table

from hidden_dynamics.measurements import costs as cost_files
from hidden_dynamics.claims.evidence import Evidence
from hidden_dynamics.claims.expansion import claims_of
from hidden_dynamics.claims.judge import COLUMNS, verdicts
from hidden_dynamics.pages.claims_page import first_line, html, markdown
from hidden_dynamics.configuration import ROOT, load, read_yaml
from hidden_dynamics.errors import UserError
from hidden_dynamics.artifacts.row_verdicts import Marks, read_marks
from hidden_dynamics.artifacts.tables import write_table

SETTINGS = read_yaml(ROOT / "config.yaml")
CONFIGURATIONS = {scale: load(SETTINGS | {"scale": scale}) for scale in ("demo", "paper")}
PAPER = CONFIGURATIONS["paper"]
CLAIMS = {}
SPREAD = (-0.1, 0.05, 0.0, 0.1, -0.05)


def claims(artifact: str, configuration=PAPER):
    key = artifact, configuration.scale_name
    CLAIMS[key] = CLAIMS.get(key) or claims_of(configuration, artifact)
    return CLAIMS[key]


def run(model="lstm", task="mnist", size=128, seed=0, status="finished", ran=None, **measured) -> dict[str, str]:
    label = PAPER.models[model]["label"]
    return {
        **{"scale": "paper", "task": task, "model": model, "label": label, "size": str(ran or size)},
        **{"paper_size": str(size), "seed": str(seed), "dataset_title": "MNIST", "stand_in_for": "", "status": status},
        **{"parameters": "68362", "training_seconds": "600", "directory": f"runs/{task}/{model}-n{size}/seed{seed}"},
        "measured": json.dumps(measured) if measured else "",
    }


def seeds(
    model: str, mean: float, size=128, task="mnist", metric="test_accuracy", spread=SPREAD, **changes
) -> list[dict]:
    unit = 100 if metric.endswith("accuracy") else 1
    return [
        run(model, task, size, seed, **{metric: (mean + offset) / unit}, **changes)
        for seed, offset in enumerate(spread)
    ]


def judged(artifact: str, rows=(), costs=(), root=None, configuration=PAPER) -> dict[str, dict]:
    evidence = Evidence(rows, costs, root) if root else Evidence(rows, costs)
    return {row["id"]: row for row in verdicts(configuration, claims(artifact, configuration), evidence)}


def against_lstm(rows, model="momentum_lstm", **options) -> dict:
    found = judged("momentumrnn_table11", rows, **options)
    return next(
        row
        for name, row in found.items()
        if row["kind"] == "better" and name.endswith(f"mnist:test_accuracy:{model}-128:lstm-128") and ":mnist:" in name
    )


@pytest.mark.parametrize("mean, verdict", [(99.0, "reproduced"), (97.0, "contradicted"), (98.02, "inconclusive")])
def test_a_clear_difference_decides(mean, verdict):
    row = against_lstm(seeds("lstm", 98.0) + seeds("momentum_lstm", mean))
    assert (row["verdict"], row["test"], row["n_subject"], row["n_reference"]) == (verdict, "Welch's t", 5, 5)
    assert row["estimate"] == pytest.approx(mean - 98.0) and row["low"] < row["estimate"] < row["high"]
    assert (row["effect"] > 0) == (mean > 98) and row["p"] <= row["p_adjusted"]
    assert row["runs"].split()[0] == "runs/mnist/momentum_lstm-n128/seed0" and len(row["runs"].split()) == 10
    assert row["published"] == "99.04 ± 0.04 against 98.7 (quoted)"


def test_sides_that_change_places_change_the_verdict_and_nothing_else():
    one, other = (
        against_lstm(seeds("lstm", 98.0) + seeds("momentum_lstm", 99.0)),
        against_lstm(seeds("lstm", 99.0) + seeds("momentum_lstm", 98.0)),
    )
    assert (one["verdict"], other["verdict"]) == ("reproduced", "contradicted")
    assert one["p"] == pytest.approx(other["p"]) and one["effect"] == pytest.approx(-other["effect"])


def test_what_is_clear_alone_is_not_among_many():
    """Five tests of a family: p = 0.03 alone is no verdict, and the reason says so."""
    others = [row for name in ("adam", "rmsprop", "sr") for row in seeds(f"{name}_lstm", 98.0)]
    row = against_lstm(seeds("lstm", 98.0) + seeds("momentum_lstm", 98.15) + others)
    assert row["verdict"] == "inconclusive" and row["p"] < 0.05 < row["p_adjusted"]
    assert "alone, but not among the" in row["reason"] and row["family"].startswith("momentumrnn_table11, better: ")


def test_two_clear_seeds_can_decide_alone():
    pair = (-0.001, 0.001)
    row = against_lstm(seeds("lstm", 98.0, spread=pair) + seeds("momentum_lstm", 99.0, spread=pair))
    assert (row["verdict"], row["n_subject"]) == ("reproduced", 2)


@pytest.mark.parametrize(
    "model, mean, verdict", [("momentum_lstm", 99.0, "inconclusive"), ("lstm", 99.0, "reproduced")]
)
def test_a_model_that_diverged_is_not_better(model, mean, verdict):
    """A failed run bars the verdict in its own model's favour, not one against it."""
    rows = seeds("lstm", 98.0) + seeds("momentum_lstm", mean)
    rows = [row | {"status": "diverged"} if row["model"] == model and row["seed"] == "1" else row for row in rows]
    row = against_lstm(rows)
    assert row["verdict"] == verdict
    if verdict == "inconclusive":
        assert "1 of 5 runs of MomentumLSTM diverged" in row["reason"]


def test_a_baseline_that_diverged_cannot_contradict():
    rows = seeds("lstm", 99.0) + seeds("momentum_lstm", 98.0)
    row = against_lstm([r | {"status": "diverged"} if (r["model"], r["seed"]) == ("lstm", "1") else r for r in rows])
    assert row["verdict"] == "inconclusive" and "1 of 5 runs of LSTM diverged" in row["reason"]


def test_one_seed_or_none_is_inconclusive_and_says_why():
    one = against_lstm(seeds("lstm", 98.0, spread=(0.0,)) + seeds("momentum_lstm", 99.0, spread=(0.0,)))
    assert one["verdict"] == "inconclusive" and "n = 1 for MomentumLSTM, n = 1 for LSTM" in one["reason"]
    failed = [row | {"status": "diverged"} for row in seeds("momentum_lstm", 99.0)]
    none = against_lstm(seeds("lstm", 98.0) + failed)
    assert "n = 0 for MomentumLSTM" in none["reason"] and "5 of 5 runs of MomentumLSTM diverged" in none["reason"]


def test_seeds_without_spread_are_inconclusive():
    row = against_lstm(seeds("lstm", 98.0, spread=(0, 0)) + seeds("momentum_lstm", 99.0, spread=(0, 0)))
    assert row["verdict"] == "inconclusive" and "no spread" in row["reason"] and row["p"] == ""


def test_what_was_not_run_is_said():
    row = against_lstm(seeds("lstm", 98.0))
    assert row["verdict"] == "not run at this scale" and row["reason"] == "no runs of MomentumLSTM of size 128 on mnist"


@pytest.mark.parametrize("mean, verdict", [(99.04, "reproduced"), (98.5, "contradicted"), (98.96, "inconclusive")])
def test_a_value_is_held_to_the_printed_one(mean, verdict):
    """The margin is a tenth of the errors that 99.04 % leaves."""
    spread = [offset / 3 for offset in SPREAD]
    found = judged("momentumrnn_table11", seeds("momentum_lstm", mean, spread=spread))
    row = found["table11:value:mnist:test_accuracy:momentum_lstm-128"]
    assert row["verdict"] == verdict and row["test"] == "equivalence within 0.096"
    assert row["estimate"] == pytest.approx(mean - 99.04)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"stand_in_for": "mnist", "dataset_title": "Digits"}, "Digits in place of MNIST"),
        ({"size": "32"}, "N = 32, not 128"),
    ],
)
def test_a_value_is_not_judged_on_other_data_or_sizes(change, reason):
    rows = [row | change for row in seeds("momentum_lstm", 99.04)]
    row = judged("momentumrnn_table11", rows)["table11:value:mnist:test_accuracy:momentum_lstm-128"]
    assert row["verdict"] == "not run at this scale" and row["reason"] == reason
    assert row["stand_in"] == str("stand_in_for" in change).lower()


def test_a_value_is_not_judged_after_another_training():
    shortened = load(SETTINGS | {"scale": "paper", "overrides": {"tasks": {"mnist": {"training": {"epochs": 2}}}}})
    found = verdicts(shortened, claims("momentumrnn_table11"), Evidence(seeds("momentum_lstm", 99.04)))
    row = next(row for row in found if row["id"] == "table11:value:mnist:test_accuracy:momentum_lstm-128")
    assert row["verdict"] == "not run at this scale" and row["reason"] == "changed from the paper’s: training"


def test_a_ranking_is_held_to_the_printed_one():
    means = {"lstm": 97.0, "sr_lstm": 97.5, "adam_lstm": 98.0, "momentum_lstm": 98.5, "rmsprop_lstm": 99.0}
    rows = [row for model, mean in means.items() for row in seeds(model, mean)]
    row = judged("momentumrnn_table11", rows)["table11:ranking:mnist:test_accuracy"]
    assert (row["verdict"], row["estimate"], row["n_subject"]) == ("reproduced", 1.0, 5)
    assert row["p"] == pytest.approx(2 / math.factorial(5))


def curves(root, model: str, lasts: list[float], rate: float, task="mnist", size=256) -> list[dict]:
    """Runs whose train loss falls exponentially to `lasts`; a smaller rate is slower."""
    rows = []
    for seed, last in enumerate(lasts):
        row = run(model, task, size, seed, test_accuracy=0.9)
        (root / row["directory"]).mkdir(parents=True)
        loss = last + 2 * np.exp(-np.arange(2000) * rate * (1 + 0.02 * seed))
        np.save(root / row["directory"] / "train_loss.npy", loss.astype(np.float32))
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "seeds_a_model, test", [(5, "bootstrap-t over seeds, of logarithms"), (3, "Welch's t of logarithms")]
)
def test_the_faster_model_reaches_the_level_both_reach_first(tmp_path, seeds_a_model, test):
    rows = curves(tmp_path, "momentum_lstm", [0.1] * seeds_a_model, 0.02)
    rows += curves(tmp_path, "lstm", [0.1] * seeds_a_model, 0.005)
    found = judged("momentumrnn_table1", rows, root=tmp_path)
    row = found["pixels-momentum-faster:mnist:train_loss:momentum_lstm-256:lstm-256"]
    assert (row["verdict"], row["test"]) == ("reproduced", test)
    assert row["estimate"] == pytest.approx(0.25, rel=0.05) and row["low"] < row["effect"] < row["high"] < 1
    assert row["found"].endswith("iterations to a loss of 0.1001")


def test_the_level_is_the_same_whichever_model_is_the_subject(tmp_path):
    from hidden_dynamics.claims.expansion import Cell

    rows = curves(tmp_path, "momentum_lstm", [0.1, 0.3], 0.02) + curves(tmp_path, "lstm", [0.2, 0.2], 0.01)
    evidence, cells = Evidence(rows, root=tmp_path), [Cell("mnist", name, 256) for name in ("momentum_lstm", "lstm")]
    one, other, level = evidence.iterations(*cells, 0.02)
    assert (other.values, one.values, level) == (
        *(side.values for side in evidence.iterations(*cells[::-1], 0.02)[:2]),
        evidence.iterations(*cells[::-1], 0.02)[2],
    )
    assert level == pytest.approx(0.3, abs=1e-3) and one.values[0] < one.values[1] <= 2000


@pytest.mark.parametrize(
    "decays, verdict, reason",
    [
        ((0.999, 0.9), "reproduced", "one run each"),
        ((0.9, 0.999), "contradicted", "one run each"),
        ((0.9999, 0.99), "inconclusive", "DTRIV’s gradients do not vanish here"),
    ],
)
def test_gradients_that_reach_the_first_steps(tmp_path, decays, verdict, reason):
    rows = []
    for model, decay in zip(("momentum_dtriv", "dtriv"), decays, strict=True):
        row = run(model, "pmnist_gradients", 170, 0, test_accuracy=0.9)
        (tmp_path / row["directory"]).mkdir(parents=True)
        noise = np.random.default_rng(len(model)).lognormal(0, 0.1, (100, 64))
        norms = decay ** np.arange(63, -1, -1) * noise
        np.savez(tmp_path / row["directory"] / "hidden_gradients.npz", iterations=np.arange(100), norms=norms)
        rows.append(row)
    (row,) = judged("momentumrnn_figure2", rows, root=tmp_path).values()
    assert (row["verdict"], row["test"], row["n_subject"]) == (verdict, "bootstrap over blocks of iterations", 1)
    assert row["estimate"] == pytest.approx((decays[0] / decays[1]) ** 48, rel=0.1)
    assert reason in row["reason"]


def test_a_damaged_recording_is_named(tmp_path):
    rows = [run(model, "pmnist_gradients", 170, 0, test_accuracy=0.9) for model in ("momentum_dtriv", "dtriv")]
    (tmp_path / rows[0]["directory"]).mkdir(parents=True)
    (tmp_path / rows[0]["directory"] / "hidden_gradients.npz").write_bytes(b"no archive")
    with pytest.raises(UserError, match="hidden_gradients.npz is missing or not readable"):
        judged("momentumrnn_figure2", rows, root=tmp_path)


def test_overfitting_is_the_rise_of_the_test_loss(tmp_path):
    rows = []
    for model, rise in (("momentum_dtriv", 0.01), ("dtriv", 0.3)):
        for seed, offset in enumerate(SPREAD):
            row = run(model, "pmnist_dtriv", 512, seed, test_accuracy=0.9)
            (tmp_path / row["directory"]).mkdir(parents=True)
            losses = [1.0, 0.5, 0.5 + rise + offset / 50]
            text = "epoch,test_loss\n" + "".join(f"{epoch},{loss}\n" for epoch, loss in enumerate(losses, 1))
            (tmp_path / row["directory"] / "metrics.csv").write_text(text)
            np.save(tmp_path / row["directory"] / "train_loss.npy", np.linspace(2, 1, 100) + seed / 100)
            rows.append(row)
    found = judged("momentumrnn_figure6", rows, root=tmp_path)
    row = found["orthogonal-overfitting:pmnist_dtriv:test_loss:momentum_dtriv-512:dtriv-512"]
    assert row["verdict"] == "reproduced" and row["estimate"] == pytest.approx(-0.29, abs=0.005)


def cost(model: str, quantity: str, ratio: float, low="", high="", **changes) -> dict[str, str]:
    row = dict.fromkeys(cost_files.COLUMNS, "") | {
        "task": "pmnist",
        "model": model,
        "label": PAPER.models[model]["label"],
    }
    row |= {
        "size": "256",
        "paper_size": "256",
        "quantity": quantity,
        "value": "1",
        "ratio": str(ratio),
        "scale": "paper",
    }
    row |= {"ratio_low": str(low), "ratio_high": str(high), "rounds": "20" if low else "1", "dataset_title": "MNIST"}
    return row | changes


@pytest.mark.parametrize(
    "low, high, direction, value",
    [
        (1.15, 1.25, "reproduced", "reproduced"),
        (1.30, 1.60, "reproduced", "contradicted"),
        (1.00, 1.04, "contradicted", "contradicted"),
        (0.80, 0.90, "contradicted", "contradicted"),
        (1.02, 1.30, "inconclusive", "inconclusive"),
    ],
)
def test_costs_lie_on_the_printed_side_with_all_rounds(low, high, direction, value):
    """Printed: 7.43 / 6.18 = 1.20 times the LSTM's."""
    rows = [cost("momentum_lstm", "training_time", (low + high) / 2, low, high), cost("lstm", "training_time", 1, 1, 1)]
    found = judged("momentumrnn_table14", costs=rows)
    name = "pmnist:training_time:momentum_lstm-256:lstm-256"
    assert found[f"table14:{name}"]["verdict"] == direction
    assert found[f"table14:value:{name}"]["verdict"] == value
    assert found["table14:pmnist:training_time:adam_lstm-256:lstm-256"]["verdict"] == "not run at this scale"


@pytest.mark.parametrize(
    "device, verdict, reason",
    [
        ("NVIDIA H200", "reproduced", ""),
        ("cpu", "inconclusive", "resident memory, measured once: its error is not known"),
    ],
)
def test_costs_on_stand_in_data_have_a_side_and_no_value(device, verdict, reason):
    """Memory is measured once: a GPU's allocator counts it, a CPU's resident memory has an error."""
    stand_in = {"stand_in_for": "mnist", "dataset_title": "Digits", "device": device}
    rows = [cost(model, "training_memory", ratio, **stand_in) for model, ratio in (("adam_lstm", 1.5), ("lstm", 1))]
    found = judged("momentumrnn_table15", costs=rows)
    row = found["table15:pmnist:training_memory:adam_lstm-256:lstm-256"]
    assert (row["verdict"], row["reason"], row["stand_in"]) == (verdict, reason, "true")
    value = found["table15:value:pmnist:training_memory:adam_lstm-256:lstm-256"]
    assert (value["verdict"], value["reason"]) == ("not run at this scale", "Digits in place of MNIST")


def timed(root, model: str, minutes: list[float | None]) -> list[dict]:
    rows = []
    for seed, time in enumerate(minutes):
        row = run(model, "pmnist", 256, seed, test_accuracy=0.9)
        (root / row["directory"]).mkdir(parents=True)
        reached = 0.93 if time else 0.5
        (root / row["directory"] / "metrics.csv").write_text(f"iteration,epoch,test_accuracy\n1,1,0.1\n2,2,{reached}\n")
        (root / row["directory"] / "clock.csv").write_text(f"iteration,training_seconds\n1,1\n2,{60 * (time or 10)}\n")
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "ours, lstm, verdict",
    [
        ([5.0, 5.1, 4.9], [9.0, 9.2, 8.8], "reproduced"),
        ([9.0, 9.2, 8.8], [5.0, 5.1, 4.9], "contradicted"),
        ([5.0, 5.1, 4.9], [9.0, 9.2, None], "reproduced"),  # one that misses it took longer still
        ([5.0, 5.1, None], [9.0, 9.2, 8.8], "inconclusive"),
        ([None] * 3, [None] * 3, "inconclusive"),
    ],
)
def test_times_to_an_accuracy(tmp_path, ours, lstm, verdict):
    rows = timed(tmp_path, "momentum_lstm", ours) + timed(tmp_path, "lstm", lstm)
    row = judged("momentumrnn_table16", rows, root=tmp_path)[
        "table16:pmnist:time_to_accuracy:momentum_lstm-256:lstm-256"
    ]
    assert row["verdict"] == verdict


@pytest.mark.parametrize("mean, verdict", [(0.162, "reproduced"), (0.3, "contradicted")])
def test_similar_losses(tmp_path, mean, verdict):
    tiny = [offset / 100 for offset in SPREAD]
    rows = seeds("lstm", 0.162, 128, "adding", "train_loss", tiny) + seeds(
        "momentum_lstm", mean, 128, "adding", "train_loss", tiny
    )
    for row in rows:
        (tmp_path / row["directory"]).mkdir(parents=True)
        np.save(tmp_path / row["directory"] / "train_loss.npy", np.linspace(1, 0.1, 50))
    found = judged("momentumrnn_figure4", rows, root=tmp_path)
    name = "adding:train_loss:momentum_lstm-128"
    assert found[f"adding-momentum-similar:{name}:lstm-128"]["verdict"] == verdict
    assert found[f"figure4-losses:{name}"]["verdict"] == verdict


def test_both_readings_are_judged_and_labelled():
    rows = []
    for task, ahead in (("timit", -1.0), ("timit_recall", 1.0)):
        for model, mean in (("lstm", 11.8), ("momentum_lstm", 11.8 + ahead)):
            rows += seeds(model, mean, 120, task, "validation_loss")
    rows = [
        row | {"measured": json.dumps(json.loads(row["measured"]) | {"test_loss": 1.0 + int(row["seed"])})}
        for row in rows
    ]
    found = judged("momentumrnn_table12", rows)
    pair = "validation_loss:momentum_lstm-120:lstm-120"
    next_frame, previous = (found[f"small-speech-best:{task}:{pair}"] for task in ("timit", "timit_recall"))
    assert (next_frame["verdict"], previous["verdict"]) == ("reproduced", "contradicted")
    assert "next frame" in next_frame["statement"] and "previous frame" in previous["statement"]


def demo_rows() -> list[dict]:
    rows = seeds("lstm", 60.0, spread=(-1, 1)) + seeds("momentum_lstm", 61.0, spread=(-1, 2))
    return [row | {"scale": "demo", "size": "32", "stand_in_for": "mnist", "dataset_title": "Digits"} for row in rows]


def as_read(found) -> list[dict[str, str]]:
    return [{key: str(value) for key, value in row.items()} for row in found.values()]


def test_the_first_line_says_what_data_it_is():
    demo = as_read(judged("momentumrnn_table11", demo_rows(), configuration=CONFIGURATIONS["demo"]))
    text = markdown(CONFIGURATIONS["demo"], demo)
    assert text.splitlines()[0].startswith("Stand-in data cannot speak for the papers. At the demo scale")
    assert "Digits in place of MNIST" in text.splitlines()[0]
    paper = as_read(judged("momentumrnn_table11", seeds("lstm", 98.0) + seeds("momentum_lstm", 99.0)))
    assert first_line(PAPER, paper) == "Verdicts at the paper scale. Data: MNIST: as in the papers."


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows, self.links, self.first = 0, [], None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.rows += "data-verdict" in given
        self.links += [given[key] for key in ("src", "href") if key in given]


def test_the_pages_have_every_claim_and_load_nothing():
    rows = as_read(judged("momentumrnn_table11", demo_rows(), configuration=CONFIGURATIONS["demo"]))
    page = Page()
    text = html(CONFIGURATIONS["demo"], rows)
    page.feed(text)
    assert (page.rows, page.links) == (len(rows), [])
    body = text.split("<body>")[1].strip()
    assert body.startswith('<p class="first">Stand-in data cannot speak for the papers.')
    judged_here = [row for row in rows if row["verdict"] != "not run at this scale"]
    assert sum(row["statement"] in markdown(CONFIGURATIONS["demo"], rows) for row in judged_here) == len(judged_here)
    assert "Not run at this scale: " in markdown(CONFIGURATIONS["demo"], rows)


def write(path, columns, rows):
    with path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_scripts_from_a_summary_to_the_page(tmp_path, monkeypatch, capsys):
    summary = write(tmp_path / "summary.csv", judge_claims.SUMMARY, demo_rows())
    output = tmp_path / "claims" / "momentumrnn_table11.csv"
    given = ["--artifact", "momentumrnn_table11", "--summary", str(summary), "--output", str(output)]
    monkeypatch.delenv("HIDDEN_DYNAMICS_CONFIG", raising=False)
    monkeypatch.setattr(sys, "argv", ["judge_claims.py", *given])
    judge_claims.main()
    assert "inconclusive: " in capsys.readouterr().out
    monkeypatch.setattr(
        sys, "argv", ["render_claims.py", "--claims", str(output), "--output", str(tmp_path / "claims")]
    )
    render_claims.main()
    rows = list(csv.DictReader((tmp_path / "claims.csv").open()))
    assert tuple(rows[0]) == COLUMNS and {row["artifact"] for row in rows} == {"momentumrnn_table11"}
    assert (tmp_path / "claims.md").read_text().startswith("Stand-in data cannot speak for the papers.")
    assert (tmp_path / "claims.html").exists()
    row = next(row for row in rows if row["id"].endswith(":mnist:test_accuracy:momentum_lstm-128:lstm-128"))
    assert (row["subject"], row["reference"], row["verdict"]) == ("momentum_lstm-n32", "lstm-n32", "inconclusive")


def test_the_script_says_what_is_wrong(tmp_path):
    summary = write(tmp_path / "summary.csv", judge_claims.SUMMARY, seeds("lstm", 98.0))
    options = SimpleNamespace(artifact="x", summary=summary, costs=None, features=None, root=tmp_path)
    with pytest.raises(UserError, match="the files are of scale paper, not of demo"):
        judge_claims.evidence_of(CONFIGURATIONS["demo"], options)
    options.summary = None
    with pytest.raises(UserError, match="give what it is made from"):
        judge_claims.evidence_of(PAPER, options)
    options.summary = write(tmp_path / "short.csv", ["task"], [{"task": "mnist"}])
    with pytest.raises(UserError, match="lacks the columns scale"):
        judge_claims.evidence_of(PAPER, options)
    with pytest.raises(UserError, match="there are no verdicts"):
        read_marks(tmp_path / "none.csv")


def test_marks_take_the_printed_direction_and_the_value():
    def verdict(kind, subject, reference, verdict, against="false", p="0.1"):
        names = ("kind", "task", "metric", "subject", "reference", "verdict", "against_table", "p_adjusted")
        return dict(zip(names, (kind, "t", "m", subject, reference, verdict, against, p), strict=True))

    marks = Marks(
        [
            verdict("better", "a-n8", "lstm-n8", "contradicted", against="true"),
            verdict("better", "lstm-n8", "a-n8", "reproduced"),
            verdict("better", "a-n8", "b-n8", "inconclusive"),
            verdict("value", "a-n8", "", "contradicted"),
            verdict("value", "b-n8", "", "not run at this scale", p=""),
        ]
    )
    assert marks.pair("t", "m", "a-n8", "lstm") == "reproduced"
    assert marks.pair("t", "m", "b-n8", "lstm") is None and marks.pair("u", "m", "a-n8", "lstm") is None
    assert (marks.value("t", "m", "a-n8"), marks.value("t", "m", "b-n8")) == ("contradicted", None)


def test_a_table_marks_its_rows_and_only_where_there_are_verdicts(tmp_path):
    """With the test's verdict beside the sign of the means, in all four forms."""
    about = {"artifact": "momentumrnn_table11", "scale": "demo", "task_title": "MNIST", "dataset": "digits"}
    about |= {"diverged_at": "", "failure": "", "metric": "test_accuracy", "rule": "max", "reported": "0.6"}
    about |= {"readings": "{}", "device": "cpu", "precision": "fp32"}
    rows = [row | about for row in demo_rows()]
    summary = write(tmp_path / "summary.csv", list(rows[0]), rows)
    found = judged("momentumrnn_table11", demo_rows(), configuration=CONFIGURATIONS["demo"])
    verdicts_file = write(tmp_path / "verdicts.csv", COLUMNS, found.values())
    files = {"artifact": "momentumrnn_table11", "summary": summary, "costs": None}
    plain = render_table.render(CONFIGURATIONS["demo"], **files)
    marked = render_table.render(CONFIGURATIONS["demo"], **files, marks=read_marks(verdicts_file))
    assert "verdict" not in plain.data and "verdict" not in plain.frame.columns.get_level_values(1)
    (group,) = {group for group, name in marked.frame.columns if name == "verdict"}  # PMNIST was not run: no column
    row = marked.frame[marked.frame[("", "Model")] == "MomentumLSTM"].iloc[0]
    assert row[(group, "verdict")] == "inconclusive" and row[(group, "against LSTM")].startswith("holds")
    assert sum("a gap that holds can be inconclusive" in note for note in marked.notes) == 1
    for path in write_table(marked.frame, tmp_path / "table", marked.title, marked.notes, marked.data):
        assert "inconclusive" in path.read_text(encoding="utf-8"), path
