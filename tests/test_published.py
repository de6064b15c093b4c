"""The published numbers: their structure, some of them by hand and, where the papers' text is at hand, all of them."""

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import refused

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration.runs import Cell, resolve
from hidden_dynamics.papers.published import (
    PUBLISHED,
    Grid,
    GridRow,
    HyperparametersRow,
    ResultsRow,
    load_published,
    load_tasks,
)
from hidden_dynamics.training.building import imported

RESULTS = ("1", "2", "3", "4", "5", "11", "12", "13")
HYPERPARAMETERS = ("6", "7", "8", "9", "10")
FILES = sorted(str(path.relative_to(PUBLISHED)) for path in PUBLISHED.glob("*/*.yaml"))
PREFIXES = {"": "", "momentum": "momentum_", "adam": "adam_", "rmsprop": "rmsprop_", "sr": "sr_"}
MODELS = {f"{prefix}{core}": f"{name}{core}" for core in ("lstm", "dtriv") for prefix, name in PREFIXES.items()}
COLUMNS = {
    "Size": "size",
    "DTRIV Opt. Step (K)": "K",
    "Momentum μ": "mu",
    "Step Size s": "s",
    "β": "beta",
    "Scheduled Restart (F)": "restart",
    "Optimizer": "optimiser",
    "Learning Rate": "learning_rate",
    "Orthogonal Optimizer": "orthogonal_optimiser",
    "Orthogonal Learning Rate": "orthogonal_learning_rate",
    "Batch Size": "batch_size",
    "#Epochs": "epochs",
}


def table(number: str) -> Any:
    return load_published(f"momentumrnn/table{number}.yaml")


def values(content: Any, model: str, size: int | None, task: str) -> dict[str, tuple]:
    """{metric: (mean, std)} of the paper's own numbers."""
    return {metric: (value.mean, value.std) for metric, value in content.row(model, size).values[task].items()}


def quoted(content: Any, model: str, size: int | None, task: str) -> dict[str, list[tuple]]:
    """{metric: [(value, keys)]} of the numbers that the paper quotes."""
    literature = content.row(model, size).literature[task]
    return {metric: [(item.value, item.keys) for item in items] for metric, items in literature.items()}


def settings(number: str, model: str, size: int | None, task: str) -> Any:
    return table(number).row(model, size, task).settings


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_as_its_kind_has_it(name):
    assert load_published(name).source.paper


def test_files_are_those_that_artifacts_name(configured):
    artifacts = load_artifacts(configured()).values()
    assert {artifact.settings.published for artifact in artifacts if artifact.settings.published} <= set(FILES)


def test_every_metric_is_configured(configured):
    """Its unit, direction and decimals are in config/metrics.yaml."""
    metrics = configured().metrics
    for artifact in load_artifacts(configured()).values():
        assert set(artifact.metrics()) <= set(metrics)
        assert all(artifact.number(*place) is None or place[1] in metrics for place in artifact.printed())


@pytest.mark.parametrize("number", RESULTS)
def test_a_result_is_there_for_every_task_and_metric(number):
    content = table(number)
    for row in content.rows:
        assert bool(row.literature_only) == (not row.values) and (row.values or row.literature)
        assert bool(row.literature) == (row.model == content.baseline)
        for given in filter(None, (row.values, row.literature)):
            assert set(given) == set(content.tasks)
            test_only = row.only_in or (number == "3" and given is row.literature)
            metrics = [metric for metric in content.metrics if not test_only or metric == "test_perplexity"]
            assert all(list(numbers) == metrics for numbers in given.values())
        assert (row.parameters is None) == (row.only_in is not None)


@pytest.mark.parametrize("number", RESULTS)
def test_every_reference_is_named_and_used(number):
    content = table(number)
    quoted = [item for row in content.rows for _, items in numbers_of(row).values() for item in items]
    assert {key for _, keys in quoted for key in keys} == set(content.references)


def test_tables_agree_where_they_overlap():
    for one, other in (("1", "11"), ("2", "12"), ("4", "13")):
        rows = {row_key(row): row for row in table(one).rows}
        shared = [(row, rows[row_key(row)]) for row in table(other).rows if row_key(row) in rows]
        assert len(shared) >= 2
        assert all(left == right for left, right in shared)


def row_key(row: ResultsRow) -> tuple:
    return row.model, row.size


def test_results_by_hand():
    assert values(table("1"), "sr_lstm", 256, "pmnist")["test_accuracy"] == (93.82, 1.85)
    assert quoted(table("1"), "lstm", 256, "mnist")["test_accuracy"][1] == (98.50, [62])
    assert values(table("11"), "rmsprop_lstm", 128, "mnist")["test_accuracy"] == (99.09, 0.05)
    assert table("1").row("sr_lstm", 128) is None
    assert values(table("2"), "lstm", 158, "timit")["test_loss"] == (9.37, 0.14)
    assert quoted(table("2"), "lstm", 158, "timit")["validation_loss"] == [(13.66, [22, 34])]
    assert values(table("5"), "momentum_dtriv", 322, "timit_dtriv") == {
        "validation_loss": (1.21, 0.05),
        "test_loss": (1.17, 0.05),
    }
    assert values(table("12"), "sr_lstm", 120, "timit")["validation_loss"] == (8.15, 0.26)
    assert quoted(table("4"), "dtriv", 360, "pmnist_dtriv")["test_accuracy"][0][0] == 96.50
    assert values(table("13"), "sr_dtriv", 512, "pmnist_dtriv")["test_accuracy"][0] == 97.02


def test_perplexities_by_hand():
    assert values(table("3"), "lstm", 1150, "ptb") == {
        "validation_perplexity": (61.96, 0.83),
        "test_perplexity": (59.71, 0.99),
    }
    assert quoted(table("3"), "lstm", 1150, "ptb") == {"test_perplexity": [(58.80, [37])]}
    assert values(table("3"), "sr_lstm", 1150, "ptb")["test_perplexity"] == (58.83, 0.62)
    assert values(table("3"), "adam_lstm", 1150, "ptb") == {"test_perplexity": (61.11, 0.31)}
    assert table("3").row("adam_lstm", 1150).only_in == "Section 3.5"
    assert table("3").chosen_by == "validation_loss"


@pytest.mark.parametrize("better, value", [("higher", 98.70), ("lower", 97.30)])
def test_the_best_of_what_is_quoted_is_the_published_number(better, value):
    number = table("1").number("mnist", "lstm", 128, "test_accuracy", better)
    assert (number.value, number.std, number.quoted) == (value, None, True)


def test_an_artifact_s_number_takes_the_direction_of_its_metric(configured):
    table1 = load_artifacts(configured())["momentumrnn_table1"]
    assert table1.number(Cell("mnist", "lstm", 128), "test_accuracy").value == 98.70
    own = table1.number(Cell("mnist", "momentum_lstm", 128), "test_accuracy")
    assert (own.value, own.std, own.quoted) == (99.04, 0.04, False)


def test_the_note_on_speech_says_the_range_of_the_tables():
    rows = [row for number in ("2", "5", "12") for row in table(number).rows]
    means = [own[0] for row in rows for own, _ in numbers_of(row).values() if own]
    tasks = load_tasks("momentumrnn/table2.yaml")
    assert f"lie between {min(means)} and {max(means)}" in tasks["timit"].notes[0]
    assert tasks["timit"].notes == tasks["timit_dtriv"].notes


# Figure 7


def grid(task: str) -> GridRow:
    content: Grid = load_published("momentumrnn/figure7.yaml")
    return {row.task: row for row in content.rows}[task]


def at(task: str, mu: float, s: float) -> float:
    return grid(task).places()[mu, s]


BEST = {"mnist_ablation": 99.08, "timit_ablation": 5.86, "ptb_ablation": 58.62}


@pytest.mark.parametrize("task", BEST)
def test_a_grid_has_a_number_for_each_pair(task, configured):
    content = grid(task)
    assert content.rows == {"mu": [0.9, 0.6, 0.3, 0.1, 0.0]}
    assert content.columns == {"s": [0.1, 0.3, 0.6, 0.9, 1.0]}
    assert [len(row) for row in content.values] == [5] * 5
    flat = content.places().values()
    best = max(flat) if configured().metrics[content.metric].better == "higher" else min(flat)
    assert best == BEST[task]


def test_grids_by_hand():
    assert [at("mnist_ablation", 0.0, s) for s in (0.1, 0.3, 0.6, 0.9)] == [37.39, 83.58, 83.49, 81.54]
    assert [at("timit_ablation", 0.9, s) for s in (0.1, 0.3, 0.6, 0.9, 1.0)] == [121.07, 38.92, 45.47, 51.19, 51.66]
    assert [at("ptb_ablation", mu, 0.3) for mu in (0.9, 0.6, 0.3, 0.1, 0.0)] == [585.13, 212.99, 64.60, 82.96, 89.88]
    assert [at("timit_ablation", mu, 0.1) for mu in (0.6, 0.3, 0.1, 0.0)] == [7.24, 5.87, 5.86, 6.00]


def test_grids_agree_with_the_tables():
    """Where the figure repeats a table's number, by the same settings."""
    best, _ = values(table("1"), "momentum_lstm", 256, "mnist")["test_accuracy"]
    assert at("mnist_ablation", 0.6, 0.6) == best
    assert at("mnist_ablation", 0.0, 1.0) == quoted(table("1"), "lstm", 256, "mnist")["test_accuracy"][0][0]
    momentum, lstm = (values(table("2"), model, 158, "timit") for model in ("momentum_lstm", "lstm"))
    assert at("timit_ablation", 0.3, 0.1) == momentum["test_loss"][0]
    assert at("timit_ablation", 0.0, 1.0) == lstm["validation_loss"][0] != lstm["test_loss"][0]
    momentum, lstm = (values(table("3"), model, 1150, "ptb") for model in ("momentum_lstm", "lstm"))
    assert at("ptb_ablation", 0.0, 0.6) == momentum["test_perplexity"][0]
    assert at("ptb_ablation", 0.0, 1.0) == lstm["test_perplexity"][0]


def test_grids_hold_what_is_configured_at_scale_paper(configured):
    tasks = configured(scale="paper").tasks
    for task in BEST:
        content, model = grid(task), tasks[task].models["momentum_lstm"]
        assert model.grid == {**content.rows, **content.columns}
        assert model.hyperparameters["hidden_size"] == content.size


# ACE-NODE


IMAGES = {"2": "mnist_images", "3": "svhn_images", "4": "cifar10_images"}
CHANNELS = {"mnist_images": 1, "svhn_images": 3, "cifar10_images": 3}


def ace(number: str) -> Any:
    return load_published(f"acenode/table{number}.yaml")


def test_images_by_hand():
    assert values(ace("2"), "rknet", 64, "mnist_images") == {"test_accuracy": (98.66, 0.57)}
    assert values(ace("3"), "ace_ode_net", 64, "svhn_images")["test_accuracy"] == (96.01, 0.10)
    assert values(ace("4"), "resnet", 64, "cifar10_images")["test_accuracy"] == (86.36, 0.41)
    assert ace("4").row("ace_ode_net", 64).parameters_on("cifar10_images") == "0.36M"
    large = ace("10").row("ace_ode_net_large", 128)
    assert large.parameters == {"cifar10_images": "1.27M", "svhn_images": "1.42M", "mnist_images": "1.27M"}
    assert values(ace("10"), "ace_ode_net_large", 128, "cifar10_images") == {"test_accuracy": (88.12, None)}
    number = ace("5").number("cifar10_images", "augmented_ode_net", 64, "silhouette", "higher")
    assert (number.value, number.std) == (0.5220, 0.005)


def test_a_number_says_what_it_is_no_mean_of_five_runs_of():
    """Table 3's SRLSTM was run with four seeds; 88.12 is the best of five (Table 10's notes)."""
    restarted = table("3").number("ptb", "sr_lstm", 1150, "test_perplexity", "lower")
    assert (restarted.std, restarted.runs, restarted.maximum) == (0.62, 4, False)
    best = ace("10").number("cifar10_images", "ace_ode_net_large", 128, "test_accuracy", "higher")
    assert (best.value, best.runs, best.maximum) == (88.12, None, True)
    usual = ace("10").number("svhn_images", "ace_ode_net_large", 128, "test_accuracy", "higher")
    assert (usual.runs, usual.maximum) == (None, False)


def test_forecasts_by_hand():
    """What De Brouwer et al., surely or very probably, printed first is marked; what the authors ran is not."""
    assert values(ace("6"), "ace_gru_ode_bayes", 50, "ushcn") == {"test_mse": (0.38, 0.03), "test_negll": (0.94, 0.05)}
    copied, own = (ace("6").number("ushcn", model, 50, "test_negll", "lower") for model in ("gru_d", "gru_ode_bayes"))
    assert (copied.value, copied.std, copied.quoted) == (0.99, 0.07, True)
    assert (own.value, own.std, own.quoted) == (0.98, 0.06, False)
    for metric in ("test_mse", "test_negll"):
        marked = {row.model for row in own_rows("6") if row.values["ushcn"][metric].quoted}
        assert marked == {"neural_ode_vae", "neural_ode_vae_mask", "sequential_vae", "gru_simple", "gru_d", "t_lstm"}
    assert values(ace("6"), "fc_ace_gru_ode_bayes", 50, "ushcn") == {"test_mse": (0.55, None)}
    assert ace("6").row("fixed_ace_gru_ode_bayes", 50).values == {}  # "nonsensical values"


def own_rows(number: str) -> list[ResultsRow]:
    """Those that the table itself has."""
    return [row for row in ace(number).rows if row.only_in is None]


def test_intensive_care_and_activity_by_hand():
    """What Rubanova et al. printed first is marked; the two rows of the authors' own are not."""
    assert values(ace("7"), "ace_latent_ode", 20, "physionet") == {"test_auc": (0.853, 0.003)}
    assert values(ace("8"), "ace_latent_ode", 20, "physionet_interpolation")["test_interpolation_mse"] == (2.560, 0.08)
    assert values(ace("9"), "rnn_vae", 15, "human_activity") == {"test_time_point_accuracy": (0.343, 0.040)}
    for size in (15, 20):  # by task, and not in the published rows
        assert values(ace("11"), "fc_ace_latent_ode", size, "human_activity")["test_time_point_accuracy"][0] == 0.569
    for number in ("7", "8", "9"):
        marked = [[value.quoted for of in row.values.values() for value in of.values()] for row in ace(number).rows]
        assert all(all(row) for row in marked[:-2]) and not any(any(row) for row in marked[-2:])
        assert [row.model for row in ace(number).rows[-2:]] == ["augmented_latent_ode", "ace_latent_ode"]


def test_a_task_has_the_columns_that_are_its_own():
    assert ace("8").metrics_on("physionet_extrapolation") == ["test_extrapolation_mse"]
    assert ace("7").metrics_on("physionet") == ["test_auc", "test_average_precision", "test_calibration_error"]
    for number in ("8", "11"):
        content = ace(number)
        assert [metric for task in content.tasks for metric in content.metrics_on(task)] == list(content.metrics)
        assert all(set(of) <= set(content.metrics_on(task)) for row in content.rows for task, of in row.values.items())


def test_the_attention_of_table_11_has_the_numbers_of_the_others():
    row = ace("11").row("ace_latent_ode", None)
    for number, task, metric in (
        ("7", "physionet", "test_auc"),
        ("8", "physionet_extrapolation", "test_extrapolation_mse"),
        ("9", "human_activity", "test_time_point_accuracy"),
    ):
        other = next(one for one in ace(number).rows if one.model == "ace_latent_ode")
        assert row.values[task][metric].mean == other.values[task][metric].mean


def test_forecasts_are_configured_at_scale_paper_as_the_text_and_the_scripts_say(configured):
    paper = configured(scale="paper")
    for row in load_published("acenode/section42.yaml").rows:
        spec = resolve(paper, row.task, row.model, row.size, 0).spec
        training, hyperparameters, said = spec["training"], spec["hyperparameters"], row.settings
        (optimiser,) = training["optimisers"].values()
        assert [training["epochs"], training["batch_size"]] == [said.epochs, said.batch_size]
        assert [optimiser["lr"], optimiser["weight_decay"]] == [said.learning_rate, said.weight_decay]
        assert [hyperparameters["dropout"], hyperparameters.get("augmented")] == [said.dropout, said.augmented]
        assert hyperparameters.get("penalty", {"weight": None})["weight"] == said.penalty
        assert hyperparameters.get("attention") == said.attention
        scripts = row.released.given()
        shared = [name for name in scripts if name not in ("penalty", "rates", "delta")]  # readings of their own
        assert {name: hyperparameters[name] for name in shared} == {name: scripts[name] for name in shared}


def test_the_latent_ode_family_is_configured_at_scale_paper_as_the_text_and_the_scripts_say(configured):
    paper, released = configured(scale="paper"), configured(scale="paper", readings={"default": "released"})
    rows = load_published("acenode/section43.yaml").rows
    again = [row.model_copy(update={"task": task}) for row in rows for task in SAME_SETTINGS.get(row.task, ())]
    for row in (*rows, *(row for row in again if row.model in paper.tasks[row.task].models)):
        spec, said = resolve(paper, row.task, row.model, row.size, 0).spec, row.settings
        training, hyperparameters = spec["training"], spec["hyperparameters"]
        assert [training["epochs"], training["batch_size"]] == [said.epochs, said.batch_size]
        assert training["optimisers"]["main"]["lr"] == said.learning_rate
        assert hyperparameters.get("solver", {}).items() >= said.solver.items()
        assert hyperparameters.get("penalty", {"weight": None})["weight"] == said.penalty
        named = {
            name: getattr(said, name) for name in ("recognition_size", "units", "attention") if getattr(said, name)
        }
        assert {name: hyperparameters[name] for name in named} == named
        scripts = row.released.given()
        spec = resolve(released, row.task, row.model, row.size, 0).spec
        assert spec["training"]["rates"].items() >= scripts.pop("rates").items()
        assert spec["training"]["rates"].get("until") == scripts.pop("epochs", None)
        if "penalty" in scripts:
            assert spec["hyperparameters"]["penalty"]["weight"] == scripts.pop("penalty")
        assert spec["hyperparameters"].get("solver", {}).items() >= scripts.pop("solver", {}).items()
        assert {name: spec["hyperparameters"][name] for name in scripts} == scripts


SAME_SETTINGS = {"physionet": ("physionet_interpolation", "physionet_extrapolation")}  # "the same" (Section 4.4)


def test_images_of_table_10_agree_with_the_others():
    small = ace("10").row("ace_ode_net", 64)
    for number, task in IMAGES.items():
        row = ace(number).row("ace_ode_net", 64)
        assert row.parameters == small.parameters_on(task)
        assert row.values[task]["test_accuracy"].mean == small.values[task]["test_accuracy"].mean


@pytest.mark.parametrize("number", ["2", "3", "4", "10"])
def test_networks_of_images_have_the_published_parameters(configured, number):
    """At the paper's sizes, to the printed two decimals of a million."""
    content, paper = ace(number), configured(scale="paper")
    for row in content.rows:
        for task in content.tasks:
            run = resolve(paper, task, row.model, row.size, 0)
            images = SimpleNamespace(channels=CHANNELS[task], classes=10)
            network = imported(run.classes["network"])(images, **run.spec["hyperparameters"])
            count = sum(parameter.numel() for parameter in network.parameters())
            cut_off = count == 1_275_018  # the paper prints 1.27M, as the table's notes say
            printed = "1.27M" if cut_off else f"{count / 1e6:.2f}M"
            assert row.parameters_on(task) == printed, (task, row.model)
    assert any("1,275,018" in note for note in content.notes) == (number == "10")


def test_images_are_configured_at_scale_paper_as_the_text_says(configured):
    paper = configured(scale="paper")
    for task, about in load_tasks("acenode/table2.yaml").items():
        settings = about.settings
        if settings.map_size is None:
            continue  # no images
        assert paper.tasks[task].dataset == about.dataset
        for model, entry in paper.tasks[task].models.items():
            (size,) = entry.sizes
            spec = resolve(paper, task, model, size, 0).spec
            training, hyperparameters = spec["training"], spec["hyperparameters"]
            assert size in about.sizes
            assert [training["epochs"], training["batch_size"]] == [settings.epochs, settings.batch_size]
            assert training["optimisers"]["main"]["lr"] == settings.learning_rate
            solver = hyperparameters.get("solver", {})
            assert {solver[name] for name in ("rtol", "atol") if name in solver} <= {settings.tolerance}
            assert hyperparameters.get("penalty", {"weight": settings.penalty})["weight"] == settings.penalty
            side = spec["task_settings"]["crop"] - 2 + 2 * hyperparameters["padding"]
            assert side // 2 // 2 == settings.map_size  # of the stem's two convolutions with stride 2


def test_hyperparameters_by_hand():
    assert settings("9", "rmsprop_lstm", 128, "mnist").beta == 0.99
    assert settings("9", "rmsprop_lstm", 256, "mnist").beta == 0.9
    assert settings("10", "sr_lstm", 128, "pmnist").restart == 6
    assert settings("7", "momentum_lstm", 190, "copying_2k").s == 2.0
    assert settings("6", "dtriv", 360, "pmnist_dtriv").orthogonal_learning_rate == 5e-5
    assert settings("6", "lstm", 1150, "ptb").learning_rate == 30
    tasks = load_tasks("momentumrnn/table6.yaml")
    assert tasks["mnist"].settings.given() == {"clip_norm": 1, "alpha": 0.9}
    assert tasks["timit"].settings.given() == {"clip_norm": None, "forget_bias": -4}
    assert tasks["ptb"].settings.given() == {"embedding_size": 400, "layers": 3} and tasks["ptb"].sizes == [1150]


TASKS = {
    "Copying": {"copying_1k", "copying_2k"},
    "Copying (sequence length 1K)": {"copying_1k"},
    "Copying (sequence length 2K)": {"copying_2k"},
}


@pytest.mark.parametrize("number", HYPERPARAMETERS)
def test_a_row_is_filed_under_the_task_it_is_printed_for(number):
    rows: list[HyperparametersRow] = table(number).rows
    for row in rows:
        suffix = "_dtriv" if row.model.endswith("dtriv") else ""
        assert row.task in TASKS.get(row.printed, {row.printed.lower() + suffix})
    assert {row.task for row in rows} >= {"copying_1k", "copying_2k", "adding", "mnist", "pmnist"}


LOSSES = "{kind: losses, source: {paper: P, section: '1'}, caption: C, notes: [], metric: test_loss, rows: [%s]}"
SETTINGS = "{printed: A, task: t, model: m, settings: {optimiser: SGD, learning_rate: %s, batch_size: 1, epochs: %s}}"
HYPER = "{kind: hyperparameters, source: {paper: P, section: '1'}, caption: C, notes: [], rows: [%s]}"
RESULT = (
    "{kind: results, source: {paper: P, section: '1'}, caption: C, notes: [], metrics: {x: {}}, baseline: m, "
    "tasks: [t], rows: [{model: m, only_in: A, values: {t: {x: %s}}}%s]}"
)
GRID = "{kind: grid, source: {paper: P, section: '1'}, caption: C, notes: [], rows: [%s]}"
GRID_ROW = (
    "{task: t, model: m, size: 1, metric: x, title: X, rows: {mu: [%s]}, columns: {s: [1]}, values: %s, notes: []}"
)


@pytest.mark.parametrize(
    "content, key",
    [
        (LOSSES % "{task: t, model: m, value: much}", "rows.0.value"),
        (LOSSES % "{task: t, model: m, value: 1, valeu: 2}", "rows.0"),
        (LOSSES % "", "rows"),
        (LOSSES.replace("losses", "loses") % "", "kind"),
        (HYPER % SETTINGS % (0, 1), "rows.0.settings.learning_rate"),
        (HYPER % SETTINGS % (1, 1.5), "rows.0.settings.epochs"),
        (HYPER % SETTINGS % (1, "1, K: -1"), "rows.0.settings.K"),
        (RESULT % ("{mean: 1, runs: 4}", ""), "rows.0.values.t.x"),
        (RESULT % ("{mean: 1}", ", {model: n, values: {}}, {model: o, parameters: 1K, values: {}}"), ""),
        (RESULT % ("{mean: 1, maximum: false}", ""), "rows.0.values.t.x.maximum"),
        (GRID % GRID_ROW % ("1, 2", "[[1]]"), "rows.0"),
        (GRID % GRID_ROW % ("1, 1", "[[1], [1]]"), "rows.0.rows.mu"),
        ("[]", ""),
    ],
)
def test_a_mistake_is_named(tmp_path, content, key):
    (tmp_path / "broken.yaml").write_text(content)
    with refused(file="published/broken.yaml", key=key):
        load_published("broken.yaml", tmp_path)


# With the papers at hand: every number, both ways.


@pytest.fixture(scope="module")
def papers() -> Path:
    directory = Path(os.environ.get("HIDDEN_DYNAMICS_PAPERS", "papers-not-given"))
    if not (directory / "momentumrnn-appendix.txt").is_file():
        pytest.skip("HIDDEN_DYNAMICS_PAPERS does not name a directory with the text of the papers")
    return directory


def printed_lines(papers: Path, number: str) -> list[list[str]]:
    """The lines below a table's caption, split into cells, up to the next caption or running text."""
    name = "momentumrnn.txt" if int(number) <= 5 else "momentumrnn-appendix.txt"
    text = (papers / name).read_text(encoding="utf-8")
    lines = iter(text[text.index(f"\nTable {number}: ") + 1 :].splitlines()[1:])
    rows = []
    for line in lines:
        if line.startswith(("Table ", "Figure ")) or re.match(r"[A-Z] [A-Z]|\d[\d.]* ", line) or len(line) > 300:
            break
        if line.strip() and not line.startswith("|--"):
            rows.append([cell.strip() for cell in re.split(r"\t|\|", line.strip("| \n"))])
    return rows


PIXELS = {"MNIST": ("mnist", "test_accuracy"), "PMNIST": ("pmnist", "test_accuracy")}
SPEECH = {"VAL. MSE": ("timit", "validation_loss"), "TEST MSE": ("timit", "test_loss")}
ORTHOGONAL_SPEECH = {name: ("timit_dtriv", metric) for name, (_, metric) in SPEECH.items()}
ORTHOGONAL_PIXELS = {"PMNIST": ("pmnist_dtriv", "test_accuracy")}
PRINTED_COLUMNS = {"1": PIXELS, "2": SPEECH, "5": ORTHOGONAL_SPEECH}
PRINTED_COLUMNS |= {"11": PIXELS, "12": SPEECH, "13": ORTHOGONAL_PIXELS}


@pytest.mark.parametrize("number", PRINTED_COLUMNS)
def test_every_result_is_as_printed(papers, number):
    content = table(number)
    header, *printed = printed_lines(papers, number)
    columns = PRINTED_COLUMNS[number]
    assert header == ["MODEL", "N", "# PARAMS", *columns]
    assert {place for row in content.rows for place in numbers_of(row)} == set(columns.values())
    assert len(printed) == len(content.rows)
    for (model, size, parameters, *cells), row in zip(printed, content.rows, strict=True):
        assert (MODELS[model.lower()], int(size)) == row_key(row)
        assert parameters_of(parameters) == row.parameters
        assert dict(zip(columns.values(), map(printed_numbers, cells), strict=True)) == numbers_of(row)


def test_table_4_is_as_printed(papers):
    header, *printed = printed_lines(papers, "4")
    assert header == ["N", "# PARAMS", "PMNIST (DTRIV)", "PMNIST (MOMENTUMDTRIV)"]
    found = {
        (model, int(size)): (parameters_of(parameters), {ORTHOGONAL_PIXELS["PMNIST"]: printed_numbers(cell)})
        for size, parameters, *cells in printed
        for model, cell in zip(("dtriv", "momentum_dtriv"), cells, strict=True)
    }
    assert found == {row_key(row): (row.parameters, numbers_of(row)) for row in table("4").rows}


def test_table_3_and_the_text_beside_it_are_as_printed(papers):
    header, *printed = printed_lines(papers, "3")
    assert header == ["MODEL", "# PARAMS", "VAL. PPL", "TEST PPL"]
    places = [("ptb", "validation_perplexity"), ("ptb", "test_perplexity")]
    rows = table("3").rows
    own = [row for row in rows if row.only_in is None]
    assert [MODELS[model.lower()] for model, *_ in printed] == [row.model for row in own]
    for (_, parameters, *cells), row in zip(printed, own, strict=True):
        assert parameters_of(parameters) == row.parameters
        found = zip(places, map(printed_numbers, cells), strict=True)
        assert {place: numbers_of(row).get(place, (None, [])) for place in places} == dict(found)
    text = (papers / "momentumrnn.txt").read_text(encoding="utf-8")
    begin, end = text.index("\n3.5 "), text.index("\n4 Additional")
    pair = r"test PPL for (\w+) and (\w+) are ([\d.]+ ± [\d.]+) , and ([\d.]+ ± [\d.]+)"
    *models, one, other = re.search(pair, text[begin:end]).groups()
    said = [row for row in rows if row.only_in == "Section 3.5"]
    assert [MODELS[model.lower()] for model in models] == [row.model for row in said]
    assert [numbers_of(row) for row in said] == [{places[1]: printed_numbers(cell)} for cell in (one, other)]


def parameters_of(cell: str) -> str:
    return "≈" + re.sub(r"\$|\\approx|\s", "", cell)


def printed_numbers(cell: str) -> tuple:
    """((mean, std) or None, what is quoted: [(value, keys), ...]) of "14.87 ± 0.15 (15.42 [22, 34])"."""
    own = re.match(r"([\d.]+) (?:±|\\pm) ([\d.]+)", cell)
    quoted = re.findall(r"([\d.]+)\s*\[([\d, ]+)\]", cell)
    numbers = [(float(value), [int(key) for key in keys.split(",")]) for value, keys in quoted]
    return tuple(map(float, own.groups())) if own else None, numbers


def numbers_of(row: ResultsRow) -> dict:
    """{(task, metric): what `printed_numbers` gives} of a row of ours."""
    own = {(task, metric): v for task, values in row.values.items() for metric, v in values.items()}
    quoted = {(task, metric): v for task, items in row.literature.items() for metric, v in items.items()}
    return {
        place: (
            (own[place].mean, own[place].std) if place in own else None,
            [(item.value, item.keys) for item in quoted.get(place, [])],
        )
        for place in own.keys() | quoted.keys()
    }


@pytest.mark.parametrize("number", RESULTS)
def test_every_reference_is_the_paper_s(papers, number):
    text = (papers / "momentumrnn.txt").read_text(encoding="utf-8")
    for key, name in table(number).references.items():
        entry = re.search(rf"^- \[{key}\] (.*)$", text, re.MULTILINE).group(1)
        assert all(word in entry for word in re.split(r", | and | (?=\d)", name)), name


@pytest.mark.parametrize("number", HYPERPARAMETERS)
def test_every_hyperparameter_is_as_printed(papers, number):
    printed = printed_hyperparameters(printed_lines(papers, number))
    ours = {}
    for row in table(number).rows:
        key, given = (row.model, row.printed, row.size), row.settings.given()
        assert ours.setdefault(key, given) == given
    assert ours.keys() == printed.keys()
    for key, expected in printed.items():
        assert ours[key] == expected, key


def printed_hyperparameters(lines: list[list[str]]) -> dict[tuple, dict]:
    """{(model, printed label, size): settings}; a cell that is merged over rows counts for each of them."""
    rows, model, header = [], None, []
    for cells in lines:
        if len(cells) == 1:
            model = MODELS[cells[0].lower()]
        elif cells[0] == "Dataset":
            header = [COLUMNS[cell] for cell in cells[1:]]
        else:
            rows.append((model, cells[0], dict(zip(header, cells[1:], strict=True))))
    found = {}
    for model, label, cells in rows:
        sizes = sorted({int(n) for cell in cells.values() for n in re.findall(r"size \$N = (\d+)\$", cell)})
        merged = {name: cell or only_one(rows, model, label, name) for name, cell in cells.items()}
        for size in sizes or [merged.pop("size", None)]:
            values = {name: value_of(cell, size) for name, cell in merged.items()}
            found[model, label, int(size) if size else None] = values
    return found


def only_one(rows: list, model: str, label: str, name: str) -> str:
    (value,) = {cells[name] for m, l, cells in rows if (m, l) == (model, label) and cells[name]}  # noqa: E741
    return value


def value_of(cell: str, size: int | None) -> float | str:
    """The number in a cell, or the text; of "40 (size $N = 256$) 6 (size $N = 128$)" the one for `size`."""
    by_size = dict((int(n), value) for value, n in re.findall(r"([\d.]+) \(size \$N = (\d+)\$\)", cell))
    text = by_size.get(size, cell).removesuffix(" (initial learning rate)")
    return float(text) if re.fullmatch(r"[\d.]+", text) else text


def test_final_losses_are_as_printed(papers):
    text = (papers / "momentumrnn.txt").read_text(encoding="utf-8")
    better, baseline = re.search(r"than the baseline LSTM \(([\d.]+) vs\. ([\d.]+)\)", text).groups()
    both = re.search(r"both models achieve similar training loss of ([\d.]+\d)", text).group(1)
    rows = {(row.task, row.model): row.value for row in load_published("momentumrnn/figure4.yaml").rows}
    assert rows == {
        ("copying_2k", "lstm"): float(baseline),
        ("copying_2k", "momentum_lstm"): float(better),
        ("adding", "lstm"): float(both),
        ("adding", "momentum_lstm"): float(both),
    }


# ACE-NODE's text


IMAGE_MODELS = {
    "ResNet": "resnet",
    "RKNet": "rknet",
    "ODE-Net": "ode_net",
    "Augmented-ODE-Net": "augmented_ode_net",
    "ACE-ODE-Net": "ace_ode_net",
    "ACE-ODE-Net (Small)": "ace_ode_net",
    "ACE-ODE-Net (Large)": "ace_ode_net_large",
}
IMAGE_SETS = {"MNIST": "mnist_images", "SVHN": "svhn_images", "CIFAR10": "cifar10_images"}


def image_lines(papers: Path, number: str) -> list[list[str]]:
    """The lines of one of ACE-NODE's tables, split into cells, without marks of mathematics and bold type."""
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    below = re.split(rf"Table {number}: .*\n", text, maxsplit=1)[1].lstrip()
    plain = re.sub(r"\$|</?b>", "", below.partition("\n\n")[0]).replace(r"\pm", "±")
    return [line.split("\t") for line in plain.splitlines()]


@pytest.mark.parametrize("number", IMAGES)
def test_every_result_on_images_is_as_printed(papers, number):
    header, *printed = image_lines(papers, number)
    assert header == ["Method", "Accuracy", "#Params"]
    found = [(IMAGE_MODELS[name], parameters, printed_numbers(cell)[0]) for name, cell, parameters in printed]
    rows = [(row.model, row.parameters, row.values[IMAGES[number]]["test_accuracy"]) for row in ace(number).rows]
    assert found == [(model, text, (value.mean, value.std)) for model, text, value in rows]


def test_table_10_of_images_is_as_printed(papers):
    (_, *names), *printed = image_lines(papers, "10")
    tasks = [IMAGE_SETS[name] for name in names]
    assert tasks == ace("10").tasks and len(printed) == len(ace("10").rows)
    for (name, *cells), row in zip(printed, ace("10").rows, strict=True):
        pairs = [re.fullmatch(r"([\d.]+) ?\((.*)\)", cell).groups() for cell in cells]
        assert row.model == IMAGE_MODELS[name]
        assert row.parameters == dict(zip(tasks, (parameters for _, parameters in pairs), strict=True))
        means = {task: (float(mean), None) for task, (mean, _) in zip(tasks, pairs, strict=True)}
        assert {task: (v["test_accuracy"].mean, v["test_accuracy"].std) for task, v in row.values.items()} == means


def test_silhouettes_are_as_printed(papers):
    (*_, name), *printed = image_lines(papers, "5")
    assert IMAGE_SETS[name] == ace("5").task
    found = [(IMAGE_MODELS[model], *printed_numbers(cell)[0]) for model, cell in printed]
    assert found == [(row.model, row.mean, row.std) for row in ace("5").rows]


def test_the_best_settings_of_images_are_as_printed(papers):
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    epochs, batch = re.search(r"train for (\d+) epochs with a batch size (\d+) with a learning rate of", text).groups()
    for name, task in IMAGE_SETS.items():
        line = re.search(rf"\) For {name}, +(.*)", text).group(1)
        # "1.0e 3" has lost its minus sign in the text
        given = [float(re.sub(r"e-?\s?", "e-", number)) for number in re.findall(r"= ?([\d.]+e[-\s]\s?\d+)", line)]
        settings = load_tasks("acenode/table2.yaml")[task].settings
        assert given == [settings.penalty, settings.learning_rate, settings.tolerance, settings.tolerance]
        assert [int(epochs), int(batch)] == [settings.epochs, settings.batch_size]


SERIES_MODELS = {
    "Neural-ODE-VAE": "neural_ode_vae",
    "Neural-ODE-VAE-Mask": "neural_ode_vae_mask",
    "Sequential VAE": "sequential_vae",
    "GRU-Simple": "gru_simple",
    "GRU-D": "gru_d",
    "T-LSTM": "t_lstm",
    "GRU-ODE-Bayes": "gru_ode_bayes",
    "Augmented-GRU-ODE-Bayes": "augmented_gru_ode_bayes",
    "ACE-GRU-ODE-Bayes": "ace_gru_ode_bayes",
}


def test_table_6_of_forecasts_is_as_printed(papers):
    header, *printed = image_lines(papers, "6")
    assert header == ["Method", *(ace("6").heading(metric) for metric in ace("6").metrics)]
    found = [(SERIES_MODELS[name], *map(mean_and_deviation, cells)) for name, *cells in printed]
    ours = [(row.model, *values(ace("6"), row.model, row.size, "ushcn").values()) for row in own_rows("6")]
    assert found == ours


LATENT_MODELS = {
    "RNN Δ_t": "rnn_delta",
    "RNN-Impute": "rnn_impute",
    "RNN-Decay": "rnn_decay",
    "RNN GRU-D": "rnn_gru_d",
    "RNN-VAE": "rnn_vae",
    "Latent-ODE (RNN Enc.)": "latent_ode_rnn",
    "Latent-ODE (RNN enc.)": "latent_ode_rnn",
    "ODE-RNN": "ode_rnn",
    "Latent-ODE + Poisson": "latent_ode_poisson",
    "Latent-ODE (ODE Enc.)": "latent_ode",
    "Latent-ODE (ODE enc.)": "latent_ode",
    "Augmented-Latent-ODE (ODE Enc.)": "augmented_latent_ode",
    "Augmented-Latent-ODE (ODE enc.)": "augmented_latent_ode",
    "Augmented-ODE (ODE Enc.)": "augmented_latent_ode",
    "ACE-Latent-ODE (ODE Enc.)": "ace_latent_ode",
    "ACE-Latent-ODE (ODE enc.)": "ace_latent_ode",
    "FC-ACE-ODE-Net": "fc_ace_latent_ode",
    "Fixed-ACE-ODE-Net": "fixed_ace_latent_ode",
    "ACE-ODE-Net": "ace_latent_ode",
}
LATENT_COLUMNS = {
    "7": {"AUC": ("physionet", "test_auc")},
    "8": {
        "Interp. (x10^{-3})": ("physionet_interpolation", "test_interpolation_mse"),
        "Extrap. (x10^{-3})": ("physionet_extrapolation", "test_extrapolation_mse"),
    },
    "9": {"AUC": ("human_activity", "test_time_point_accuracy")},
    "11": {
        "PhysioNet(AUC)": ("physionet", "test_auc"),
        "Human Activity(AUC)": ("human_activity", "test_time_point_accuracy"),
    },
}


@pytest.mark.parametrize("number", LATENT_COLUMNS)
def test_every_result_of_the_latent_ode_family_is_as_printed(papers, number):
    columns = LATENT_COLUMNS[number]
    header, *printed = image_lines(papers, number)
    assert header == ["Method", *columns]
    found = [
        (
            LATENT_MODELS[name.replace("\\Delta", "Δ")],
            dict(zip(columns.values(), map(printed_mean, cells), strict=True)),
        )
        for name, *cells in printed
    ]
    rows = [(row.model, {place: own for place, (own, _) in numbers_of(row).items()}) for row in ace(number).rows]
    in_the_text = {("physionet_extrapolation", "test_extrapolation_mse")} if number == "11" else set()
    assert [(model, {at: own for at, own in of.items() if at not in in_the_text}) for model, of in rows] == found


def printed_mean(cell: str) -> tuple[float, float | None]:
    mean, _, std = cell.partition("±")
    return float(mean), float(std) if std else None


def test_section_46_is_as_printed(papers):
    """The extrapolation by attention, in Table 11 of ours, and USHCN with FC layers, in its Table 6."""
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    fc, fixed = re.findall(r"from +\$2\.025\(x10\^\{-3\}\)\$ +to \$?([\d.]+)\(x10", " ".join(text.split()))
    found = [row.values["physionet_extrapolation"]["test_extrapolation_mse"].mean for row in ace("11").rows]
    assert found == [float(fc), float(fixed), 2.025]
    (mse,) = re.findall(r"MSE increases from 0\.38 to ([\d.]+\d) for USHCN", text)
    assert ace("6").row("fc_ace_gru_ode_bayes", 50).values["ushcn"]["test_mse"].mean == float(mse)


@pytest.mark.parametrize(
    ("section", "name", "task"), [("3", "PhysioNet", "physionet"), ("5", "Human-Activity", "human_activity")]
)
def test_the_settings_of_the_latent_ode_family_are_as_printed(papers, section, name, task):
    """Sections 4.3 (1) and (7), 4.5 (1) and (5), and Appendix B (5) and (6)."""
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    said = text[text.index(f"## 4.{section} ") :]
    latent, recognition, batch = re.search(
        r"used (\d+) latent dimensions.*?(\d+)\s+dimensions\s+in (?:the )?recognition.*?size of (\d+)", said, re.DOTALL
    ).groups()
    epochs = re.search(r"train for (\d+) epochs", said).group(1)
    penalty, rate, *tolerances = re.findall(
        r"= ?([\d.]+e ?[-–] ?\d)", re.search(rf"For {name}, (.*)", text).group(1).replace("e ", "e-")
    )
    rows = [row for row in load_published("acenode/section43.yaml").rows if row.task == task]
    for row in rows:
        settings = row.settings
        assert [row.size, settings.batch_size, settings.epochs] == [int(latent), int(batch), int(epochs)]
        assert settings.learning_rate == float(rate) and settings.recognition_size in (None, int(recognition))
        assert [*settings.solver.values()] in ([], [float(number) for number in tolerances])
    assert rows[-1].settings.penalty == float(penalty) and not any(row.settings.penalty for row in rows[:-1])


def mean_and_deviation(cell: str) -> tuple[float, float]:
    mean, std = cell.split("±")
    return float(mean), float(std)


def test_the_settings_of_forecasts_are_as_printed(papers):
    """Section 4.2 (6), whose grids stand in a note, and Appendix B (4)."""
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    section = text[text.index("# 4.2 USHCN") :]
    epochs, batch = re.search(r"train for (\d+) epochs with a batch size (\d+)", section).groups()
    line = re.search(r"For USHCN-DAILY, (.*)", text).group(1)
    # "1.0e 2" has lost its minus sign in the text
    best = [float(re.sub(r"e[- ]", "e-", number)) for number in re.findall(r"= ([\d.]+(?:e[- ]\d)?)", line)]
    *others, ace_node = load_published("acenode/section42.yaml").rows
    for row in (*others, ace_node):
        said = row.settings
        assert [said.epochs, said.batch_size] == [int(epochs), int(batch)]
        assert [said.learning_rate, said.dropout, said.weight_decay] == best[1:]
    assert ace_node.settings.penalty == best[0] and not any(row.settings.penalty for row in others)
    (note,) = [note for note in load_published("acenode/section42.yaml").notes if note.startswith("Section 4.2 (6)")]
    printed = re.findall(r"\\{(.*?)\\}", re.search(r"\(6\) We train.*", section).group())
    assert len(printed) == 3
    assert ", ".join(printed).split(", ") == re.findall(
        r"\d[\d.]*(?:e-\d)?", note[len("Section 4.2 (6)") :].split("“")[0]
    )
