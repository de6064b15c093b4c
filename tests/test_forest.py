"""Forest plots: what they show is what `compare` gives, in the metric's own unit, ordered; and what they leave out."""

import pytest
from conftest import refused
from drawn import artifact_at, panels_of, with_gid
from made import EVERY, evidence_of

from hidden_dynamics.artifacts.sheet import save
from hidden_dynamics.claims.comparison import compare
from hidden_dynamics.configuration.runs import Case

NAME = "momentumrnn_momentum"
BOTH = {"momentum_lstm": ["lstm"], "sr_lstm": ["lstm"]}
ROWS = [
    {"task": "mnist", "metric": "test_accuracy", "size": 128, "models": BOTH},
    {"task": "pmnist", "metric": "test_accuracy", "size": 128, "models": {"momentum_lstm": ["lstm"]}},
    {"task": "timit", "metric": "test_loss", "size": 120, "measure": "MSE", "models": BOTH},
]
MEANS = {  # by task and model
    "mnist": {"lstm": 0.5, "momentum_lstm": 0.6, "sr_lstm": 0.8},
    "pmnist": {"lstm": 0.5, "momentum_lstm": 0.3},
    "timit": {"lstm": 50.0, "momentum_lstm": 40.0, "sr_lstm": 45.0},
}


def measured(value):
    """An evaluation."""
    names = ("test_accuracy", "test_loss", "validation_loss", "test_perplexity")
    return [{"iteration": EVERY, "epoch": 1.0, **dict.fromkeys(names, value)}]


def drawn(seeds=3, about=None):
    """The figure and its evidence; `about` are keywords of a run by (task, model)."""
    overrides = {"artifacts": {NAME: {"rows": ROWS}}}
    artifact = artifact_at("demo", NAME, seeds=list(range(seeds)), overrides=overrides)

    def said(run):
        value = MEANS[run.task][run.model] * (1 + 0.01 * run.seed)
        return {"evaluations": measured(value)} | (about or {}).get((run.task, run.model), {})

    evidence = evidence_of(artifact, said)
    return artifact.draw(evidence), evidence


def test_a_panel_has_the_leads_of_a_measure_with_their_intervals_the_largest_of_each_task_first():
    figure, evidence = drawn()
    accuracy, loss = panels_of(figure)
    assert [label.get_text().split(" (")[0] for label in accuracy.get_yticklabels()] == [
        *("MNIST", "SRLSTM over LSTM", "MomentumLSTM over LSTM"),
        *("PMNIST", "MomentumLSTM over LSTM"),
    ]
    assert accuracy.get_xlabel() == "lead in test accuracy (points)" and loss.get_xlabel() == "lead in MSE"
    assert list(figure.data["lead"].round(6)) == [30.3, 10.1, -20.2, 10.1, 5.05]
    for row, y, ax in zip(figure.data.itertuples(), (1, 2, 4, 1, 2), [accuracy] * 3 + [loss] * 2, strict=True):
        one, other = (Case(row.task, model, row.size) for model in (row.model, row.other))
        comparison, name = compare(evidence, one, other, row.metric), f"{row.model} {row.other}"
        assert all(getattr(row, of) == getattr(comparison, of) for of in ("low", "high", "p"))
        assert row.lead == comparison.difference
        assert (row.lead, y) in [tuple(point.get_xydata()[0]) for point in with_gid(ax, f"lead {name}")]
        assert (row.low, row.high) in [tuple(line.get_xdata()) for line in with_gid(ax, f"interval {name}")]


def test_a_lead_without_learning_is_grey_and_two_seeds_have_no_interval():
    naive = {("timit", model): {"naive": {"test_loss": {"last value": 42.0}}} for model in MEANS["timit"]}
    figure, _ = drawn(about=naive)
    looks = [[point.get_color() for point in with_gid(ax, "lead")] for ax in panels_of(figure)]
    assert looks == [["#0072B2"] * 3, ["#0072B2", "0.65"]] and list(figure.data["unlearned"]) == [False] * 4 + [True]
    assert figure.findobj(lambda artist: hasattr(artist, "legend_handles"))
    figure, _ = drawn(seeds=2)
    assert figure.data["low"].isna().all() and figure.data["lead"].notna().all()


def test_a_model_with_momentum_that_ran_without_is_not_compared_nor_one_without_a_value():
    figure, evidence = drawn(about={("mnist", "sr_lstm"): {"diverged_at": 3}})
    assert list(figure.data["model"]) == ["momentum_lstm", "momentum_lstm", "momentum_lstm", "sr_lstm"]
    rows = [{"task": "ptb", "metric": "test_perplexity", "size": 1150, "models": BOTH}]  # the paper's mu is 0
    artifact = artifact_at("demo", NAME, overrides={"artifacts": {NAME: {"rows": rows}}})
    figure = artifact.draw(evidence_of(artifact, lambda run: {"evaluations": measured(90.0)}))
    assert list(figure.data["model"]) == ["sr_lstm"]


def test_with_nothing_to_compare_no_picture_is_drawn(tmp_path):
    lost = {(task, model): {"diverged_at": 3} for task, models in MEANS.items() for model in models}
    figure, _ = drawn(about=lost)
    save(figure, tmp_path / NAME)
    assert figure.instead and figure.instead in (tmp_path / f"{NAME}.md").read_text()
    assert not (tmp_path / f"{NAME}.png").read_bytes() and not figure.axes


@pytest.mark.parametrize("name", [NAME, "momentumrnn_adam", "acenode_attention"])
@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_a_forest_asks_for_the_runs_of_all_that_it_compares(scale, name):
    forest = artifact_at(scale, name)
    pairs = list(forest.pairs())
    assert 1 < len(pairs) <= 31 and {run.case for run in forest.runs} == set(forest.cases()) == set(forest.shown())
    assert all({one, other} <= set(forest.shown()) for one, other, _ in pairs)


@pytest.mark.parametrize(("change", "word"), [({"models": {}}, "models"), ({"metric": "speed"}, "speed")])
def test_wrong_rows_are_refused(change, word):
    with refused(word):
        artifact_at("demo", NAME, overrides={"artifacts": {NAME: {"rows": [ROWS[0] | change]}}})
