"""What momentum adds to the scale of the input: controls that differ in momentum alone, and the table."""

import math

import numpy as np
import pytest
import torch
from drawn import artifact_at
from made import evaluations_of, evidence_of

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.artifacts.kinds.contrast_table import HEADINGS
from hidden_dynamics.claims.statistics import Sample, paired, welch
from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.models.recurrent.lstm import LSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV
from hidden_dynamics.training.building import imported

TABLE = "momentumrnn_controls"
SCALES = ["demo", "evening", "pilot", "paper"]
SEEDS = list(range(5))
CONTROLS = {  # task, size, and the control's model of it: that of the filter
    ("mnist", 128, "scaled_lstm"): "momentum_lstm",
    ("pmnist", 128, "pmnist_gain_lstm"): "momentum_lstm",
    ("pmnist", 256, "sr_scaled_lstm"): "sr_lstm",
    ("copying_1k", 190, "scaled_lstm"): "momentum_lstm",
    ("copying_2k", 190, "sr_scaled_lstm"): "sr_lstm",
    ("timit_recall", 158, "scaled_lstm"): "momentum_lstm",
    ("pmnist_dtriv", 512, "scaled_dtriv"): "momentum_dtriv",
    ("timit_dtriv", 322, "scaled_dtriv"): "momentum_dtriv",
}


@pytest.mark.parametrize("scale", SCALES)
def test_a_control_has_the_s_of_its_filter_and_differs_in_momentum_alone(configured, scale):
    artifact = artifact_named(configured(scale=scale), TABLE)
    contrasts = list(artifact.contrasts())
    assert len(contrasts) == 26
    for _, contrast in contrasts:
        pair = contrast["control"], contrast["filter"]
        one, other = (resolve(artifact.configuration, *cell, 0).spec for cell in pair)
        control, filtered = one["hyperparameters"], other["hyperparameters"]
        of_gain = pair[0].model.endswith("gain_lstm")
        s = pytest.approx(filtered["s"] / (1 - filtered["mu"])) if of_gain else filtered["s"]
        assert control.get("s", 1.0) == s, contrast
        assert control.get("mu", 0.0) == 0.0 and control.get("restart", 1) == 1, contrast
        assert filtered.get("mu", 0.0) > 0 or filtered["restart"] > 1, contrast
        names = {*control, *filtered} - {"s", "mu", "restart", "phase", "cell"}
        assert all(control.get(name) == filtered.get(name) for name in names), contrast
        assert all(one[part] == other[part] for part in ("training", "data", "task_settings"))


@pytest.mark.parametrize(("task", "size", "control"), CONTROLS)
def test_a_control_is_the_plain_core_on_a_scaled_input_bit_for_bit(configured, task, size, control):
    """The input's bias is scaled, too: it is the weight of an input that is always 1."""
    run = resolve(configured(scale="demo"), task, control, size, 0)
    options, s = dict(run.spec["hyperparameters"]), run.spec["hyperparameters"]["s"]
    n = options.pop("hidden_size")
    torch.manual_seed(0)
    core = imported(run.classes["core"])(3, n, **options).double()
    x = torch.randn(40, 2, 3, dtype=torch.float64)
    if isinstance(core, LSTM):
        plain, x_plain = LSTM(4, n).double(), torch.cat([x, torch.ones(40, 2, 1, dtype=torch.float64)], dim=-1)
        weights = {
            "weight_ih_l0": torch.cat([core.weight_ih_l0, core.bias_ih_l0.unsqueeze(1)], dim=1),
            "bias_hh_l0": core.bias_hh_l0,
        }
        plain.load_state_dict(weights | {"weight_hh_l0": core.weight_hh_l0, "bias_ih_l0": torch.zeros(4 * n)})
    else:
        plain, x_plain = DTRIV(3, n, K=options["K"]).double(), x
        plain.load_state_dict(core.state_dict())
    outputs = [model(inputs)[0] for model, inputs in ((core, x), (plain, s * x_plain))]
    assert torch.equal(*outputs)
    for output in outputs:
        output.square().sum().backward()
    recurrent = "weight_hh_l0" if isinstance(core, LSTM) else "bias_l0"
    assert torch.equal(*(getattr(model, recurrent).grad for model in (core, plain)))


@pytest.mark.parametrize(("task", "size", "control", "model"), [(*place, model) for place, model in CONTROLS.items()])
def test_a_control_follows_its_model(configured, task, size, control, model):
    """Its s, its training and its variants; what is its own, no momentum, it keeps."""
    changes = {"hyperparameters": {"s": 0.25, "mu": 0.7, "restart": 5}, "training": {"batch_size": 3}}
    variants = {"variants": {"forget_fill": "once"}} if "lstm" in model else {}
    overrides = {"tasks": {task: {"models": {model: changes | variants}}}}
    configuration = configured(scale="evening", overrides=overrides)
    spec = resolve(configuration, task, control, size, 0).spec
    own = configuration.models[control].hyperparameters
    assert spec["hyperparameters"]["s"] == own.get("s", 0.25) and spec["hyperparameters"].items() >= own.items()
    assert spec["training"]["batch_size"] == 3
    assert spec["variants"] == resolve(configuration, task, model, size, 0).spec["variants"]


@pytest.mark.parametrize("scale", SCALES)
def test_controls_are_shown_where_they_are_named_alone(configured, scale):
    configuration = configured(scale=scale)
    for name, artifact in load_artifacts(configuration).items():
        controls = [cell for cell in artifact.cases() if configuration.models[cell.model].control_of]
        assert bool(controls) == (name in (TABLE, "momentumrnn_momentum")), name


def test_a_model_joins_the_task_that_it_names_and_none_that_shares_its_models_by_an_anchor(project):
    models = project.read("config/models.yaml")
    del models["scaled_lstm"]["tasks"]["timit_recall"]
    project.write("config/models.yaml", models)
    tasks = project.load().tasks
    assert "scaled_lstm" in tasks["timit"].models and "scaled_lstm" not in tasks["timit_recall"].models


def numbers(run):
    """Of LSTMs on the next frame: s gains about 26, momentum loses about 2; the rest is alike."""
    means = {"lstm": 60.0, "scaled_lstm": 34.0, "momentum_lstm": 36.0}
    noise = np.random.default_rng([run.seed, *run.sized_model.encode(), *run.task.encode()]).normal()
    return means.get(run.model, 40.0) + noise


def drawn(scale="evening", seeds=SEEDS, value=numbers, about=lambda run: {}, **settings):
    artifact = artifact_at(scale, TABLE, seeds=seeds, **settings)

    def made(run):
        measured = {"test_loss": value(run), "test_accuracy": value(run) / 100}
        return {"evaluations": [row | measured for row in evaluations_of(run, [0.5])]} | about(run)

    return artifact.draw(evidence_of(artifact, made))


def record(table, task="timit", model="momentum_lstm"):
    (found,) = table.data[(table.data["task"] == task) & (table.data["filter"] == model)].to_dict("records")
    return found


def texts(table):
    """The first row of speech, by its columns."""
    row = table.frame.iloc[list(table.data["task"]).index("timit")]
    return {name: text for (_, name), text in row.items()}


def values(task, model, size):
    configuration = artifact_at("evening", TABLE).configuration
    return np.array([numbers(resolve(configuration, task, model, size, seed)) for seed in SEEDS])


def test_the_differences_and_their_tests_are_welchs():
    found = record(drawn())
    plain, control, filtered = (values("timit", name, 158) for name in ("lstm", "scaled_lstm", "momentum_lstm"))
    for name, one, other in (("s", control, plain), ("momentum", filtered, control)):
        lead = welch(Sample.of(other), Sample.of(one))  # less loss is better
        numbers_here = [lead.value, *lead.interval(0.95), lead.p()]
        assert [found[f"{name}_{of}"] for of in ("difference", "low", "high", "p")] == pytest.approx(numbers_here)
    assert found["s_difference"] > 20 and found["momentum_difference"] < 0


@pytest.mark.parametrize("only", [[], ["timit/lstm", "timit/scaled_lstm", "timit/momentum_lstm"]])
def test_p_is_adjusted_over_the_different_tests_of_a_core_on_a_task_run_or_not(only):
    """Of speech five: three of momentum, two of s, because one control serves two filters."""
    data = drawn(only=only).data.query("task == 'timit'")
    ps, adjusted = (data[[f"{name}_{end}" for name in ("s", "momentum")]].min(axis=None) for end in ("p", "p_adjusted"))
    assert adjusted == pytest.approx(5 * ps) and adjusted < 1


def test_a_contrast_by_two_metrics_has_p_of_each():
    contrast = {"task": "mnist", "size": 128, "plain": "lstm", "controls": {"momentum_lstm": "scaled_lstm"}}
    rows = [contrast | {"metric": metric} for metric in ("test_loss", "test_accuracy")]
    spread = {"test_loss": 10.0, "test_accuracy": 0.1}  # p is another

    def about(run):
        gap = {"scaled_lstm": 0.0, "momentum_lstm": 1.0}.get(run.model, 2.0)
        measured = {name: gap + width * np.sin(run.seed + len(run.model)) for name, width in spread.items()}
        return {"evaluations": [row | measured for row in evaluations_of(run, [0.5])]}

    data = drawn(about=about, overrides={"artifacts": {TABLE: {"rows": rows}}}).data
    p, adjusted = data["momentum_p"], data["momentum_p_adjusted"]
    assert p[1] < 1e-3 < p[0] and (p <= adjusted).all() and (adjusted <= 2 * p).all()


def test_seeds_with_data_of_their_own_are_compared_pair_by_pair():
    found = record(drawn(variants={"default": "released"}), "pmnist_dtriv", "momentum_dtriv")
    control, filtered = (values("pmnist_dtriv", name, 512) for name in ("scaled_dtriv", "momentum_dtriv"))
    assert found["momentum_p"] == pytest.approx(paired(filtered, control).p())


def naive_of(score):
    return lambda run: {"naive": {"test_loss": {"repeating the frame": score}}}


def test_a_difference_is_tested_only_where_the_side_ahead_has_learned():
    """Repeating the frame is worse than the control and the filter, but not than the plain core; then than none."""
    some, none = drawn(about=naive_of(45.0)), drawn(about=naive_of(20.0))
    assert not record(some)["s_unlearned"] and not math.isnan(record(some)["s_p"])
    found = record(none)
    assert found["s_unlearned"] and math.isnan(found["s_p"]) and found["s_difference"] > 20
    assert texts(none)[HEADINGS["s"]].endswith("†")
    assert found["plain_learned"] == 0


@pytest.mark.parametrize(("score", "learned"), [(33.0, False), (36.0, True)])
def test_of_two_seeds_each_has_to_have_learned(score, learned):
    """The control's losses are 34.2 and 34.9."""
    losses = {"scaled_lstm": (34.2, 34.9)}
    two = {"scale": "demo", "seeds": [0, 1], "about": naive_of(score)}
    table = drawn(value=lambda run: losses.get(run.model, (60.0, 61.0))[run.seed], **two)
    assert record(table)["s_unlearned"] != learned


@pytest.mark.parametrize(("failing", "tested"), [("scaled_lstm", False), ("lstm", True)])
def test_a_failed_run_of_the_side_that_is_ahead_bars_the_test(failing, tested):
    """The control is ahead of the plain core."""
    found = record(drawn(about=lambda run: {"diverged_at": 5 if (run.model, run.seed) == (failing, 0) else None}))
    assert math.isnan(found["s_p"]) != tested and found["s_difference"] > 20


def test_no_deviation_is_shown_over_runs_of_which_some_have_learned():
    table = drawn(value=lambda run: 1.0 + run.seed / 10 + 8.0 * (run.seed > 1), about=naive_of(2.5))
    assert texts(table)["Plain core"] == "LSTM: 2 of 5 learned, median 1.05"
    assert record(table)["plain_learned"] == 2
