"""The published numbers: that they are those transcribed, what is quoted, and the configuration beside them."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from approved import approved
from conftest import refused
from test_image_networks import PARAMETERS

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration.runs import Case, resolve
from hidden_dynamics.papers import published
from hidden_dynamics.papers.published import PUBLISHED, GridRow, Published, load_published, load_tasks

FILES = sorted(str(path.relative_to(PUBLISHED)) for path in PUBLISHED.glob("*/*.*"))


def test_the_transcription_is_the_one_that_was_compared_with_the_papers_text():
    """Every number was, both ways, by program; who corrects one compares it with the paper and approves the digest."""
    digests = [f"{hashlib.sha256((PUBLISHED / name).read_bytes()).hexdigest()}  {name}" for name in FILES]
    approved("published.sha256", "\n".join(digests))


@pytest.mark.parametrize(
    ("content", "lacking"),
    [
        ("", "NoneType"),
        ("{}", "kind"),
        ("{kind: results, source: {}, rows: []}", "baseline"),
        ("{kind: results, source: {}, rows: [{model: lstm}]}", "values"),
        ("{kind: costs, rows: [{model: lstm, values: {time: 1}}]}", "task"),
    ],
)
def test_a_file_that_lacks_what_its_kind_has_is_refused(content, lacking, tmp_path, monkeypatch):
    monkeypatch.setattr(published, "PUBLISHED", tmp_path)
    (tmp_path / "mine.yaml").write_text(content)
    with refused(lacking, file="published/mine.yaml"):
        load_published.__wrapped__("mine.yaml")


def table(number: str, paper: str = "momentumrnn") -> Published:
    return load_published(f"{paper}/table{number}.yaml")


def quoted(content: Published, *place: Any) -> list[tuple[float, tuple[int, ...]]]:
    """Values and references of the numbers that the paper quotes."""
    return [(each.value, each.references) for each in content.all_of(*place) if each.references]


def test_files_are_those_that_artifacts_name_and_every_metric_is_configured(configured):
    """Its unit, direction and decimals are in config/metrics.yaml."""
    metrics = configured().metrics
    for artifact in load_artifacts(configured()).values():
        assert artifact.settings.published in (None, *FILES)
        assert all(number.metric in metrics for number in artifact.published.numbers)


def test_what_is_quoted_is_marked():
    """From the literature with references; or silently, surely or very probably, as in ACE-NODE's tables of series."""
    assert quoted(table("1"), "mnist", "lstm", 256, "test_accuracy")[1] == (98.50, (62,))
    assert quoted(table("2"), "timit", "lstm", 158, "validation_loss") == [(13.66, (22, 34))]
    assert quoted(table("4"), "pmnist_dtriv", "dtriv", 360, "test_accuracy")[0][0] == 96.50
    assert quoted(table("3"), "ptb", "lstm", 1150, "test_perplexity") == [(58.80, (37,))]
    copied = {"neural_ode_vae", "neural_ode_vae_mask", "sequential_vae", "gru_simple", "gru_d", "t_lstm"}
    numbers = table("6", "acenode").numbers
    assert {each.model for each in numbers if each.copied_from == "De Brouwer et al. 2019"} == copied
    for number in ("7", "8", "9"):
        assert {each.model for each in table(number, "acenode").numbers if not each.quoted} == {
            "augmented_latent_ode",
            "ace_latent_ode",
        }


def test_an_artifact_s_number_is_the_papers_own_or_the_best_that_it_quotes(configured):
    table1 = load_artifacts(configured())["momentumrnn_table1"]
    assert table1.number(Case("mnist", "lstm", 128), "test_accuracy").value == 98.70
    metrics = table1.configuration.metrics
    lower = {"test_accuracy": metrics["test_accuracy"].model_copy(update={"better": "lower"})}
    changed = replace(table1.configuration, metrics=metrics | lower)
    assert table("1").number(changed, Case("mnist", "lstm", 128), "test_accuracy").value == 97.30
    number = table1.number(Case("mnist", "momentum_lstm", 128), "test_accuracy")
    assert (number.value, number.std, number.quoted) == (99.04, 0.04, False)
    assert table1.number(Case("mnist", "sr_lstm", 128), "test_accuracy") is None


BEST = {"mnist_ablation": 99.08, "timit_ablation": 5.86, "ptb_ablation": 58.62}


def grid(task: str) -> GridRow:
    (row,) = [row for row in load_published("momentumrnn/figure7.yaml").rows if row["task"] == task]
    return GridRow(**row)


@pytest.mark.parametrize("task", BEST)
def test_a_grid_has_a_number_for_each_pair_and_is_configured_at_scale_paper(task, configured):
    content, paper = grid(task), configured(scale="paper")
    assert content.rows == {"mu": [0.9, 0.6, 0.3, 0.1, 0.0]} and content.columns == {"s": [0.1, 0.3, 0.6, 0.9, 1.0]}
    flat = content.places().values()
    assert BEST[task] == (max(flat) if paper.metrics[content.metric].better == "higher" else min(flat))
    model = paper.tasks[task].models["momentum_lstm"]
    assert model.grid == {**content.rows, **content.columns} and model.hyperparameters["hidden_size"] == content.size


SAME_SETTINGS = {"physionet": ("physionet_interpolation", "physionet_extrapolation")}  # "the same" (Section 4.4)


def test_the_latent_ode_family_is_configured_at_scale_paper_as_the_text_and_the_scripts_say(configured):
    paper, released = configured(scale="paper"), configured(scale="paper", variants={"default": "released"})
    rows = load_published("acenode/section43.yaml").rows
    again = [row | {"task": task} for row in rows for task in SAME_SETTINGS.get(row["task"], ())]
    for row in (*rows, *(row for row in again if row["model"] in paper.tasks[row["task"]].models)):
        place, said = (row["task"], row["model"], row.get("size"), 0), row["settings"]
        spec, scripts = resolve(paper, *place).spec, dict(row["released"])
        training, hyperparameters = spec["training"], spec["hyperparameters"]
        assert [training["epochs"], training["batch_size"]] == [said["epochs"], said["batch_size"]]
        assert training["optimisers"]["main"]["lr"] == said["learning_rate"]
        assert hyperparameters.get("solver", {}).items() >= said.get("solver", {}).items()
        assert hyperparameters.get("penalty", {"weight": None})["weight"] == said.get("penalty")
        named = {name: said[name] for name in ("recognition_size", "units", "attention") if name in said}
        assert {name: hyperparameters[name] for name in named} == named
        spec = resolve(released, *place).spec
        assert spec["training"]["rates"].items() >= scripts.pop("rates").items()
        assert spec["training"]["rates"].get("until") == scripts.pop("epochs", None)
        if "penalty" in scripts:
            assert spec["hyperparameters"]["penalty"]["weight"] == scripts.pop("penalty")
        assert spec["hyperparameters"].get("solver", {}).items() >= scripts.pop("solver", {}).items()
        assert {name: spec["hyperparameters"][name] for name in scripts} == scripts


@pytest.mark.parametrize("number", ["2", "3", "4", "10"])
def test_networks_of_images_have_the_published_parameters(configured, number):
    """At the paper's sizes, to the printed two decimals of a million."""
    content, paper = table(number, "acenode"), configured(scale="paper")
    for row in content.rows:
        for task in content.content["tasks"]:
            resolve(paper, task, row["model"], row["size"], 0)  # the size that it prints is the one that is counted
            counts = PARAMETERS[task, row["model"]]
            count = counts if isinstance(counts, int) else counts[0]  # published, not released
            cut_off = count == 1_275_018  # the paper prints 1.27M, as the table's notes say
            published = row["parameters"][task] if isinstance(row["parameters"], dict) else row["parameters"]
            assert published == ("1.27M" if cut_off else f"{count / 1e6:.2f}M"), (task, row["model"])
    assert any("1,275,018" in note for note in content.notes) == (number == "10")


def test_images_are_configured_at_scale_paper_as_the_text_says(configured):
    paper = configured(scale="paper")
    for task, about in load_tasks("acenode").items():
        said = about["settings"]
        if "map_size" not in said:
            continue  # no images
        assert paper.tasks[task].dataset == about["dataset"]
        for model, entry in paper.tasks[task].models.items():
            (size,) = entry.sizes
            spec = resolve(paper, task, model, size, 0).spec
            training, hyperparameters = spec["training"], spec["hyperparameters"]
            assert size in about["sizes"]
            assert [training["epochs"], training["batch_size"]] == [said["epochs"], said["batch_size"]]
            assert training["optimisers"]["main"]["lr"] == said["learning_rate"]
            solver = hyperparameters.get("solver", {})
            assert {solver[name] for name in ("rtol", "atol") if name in solver} <= {said["tolerance"]}
            assert hyperparameters.get("penalty", {"weight": said["penalty"]})["weight"] == said["penalty"]
            side = spec["task_settings"]["crop"] - 2 + 2 * hyperparameters["padding"]
            assert side // 2 // 2 == said["map_size"]  # of the stem's two convolutions with stride 2
