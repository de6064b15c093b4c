"""What is shipped loads, what is wrong is named with its file and key, and layers merge in their order."""

import json
import re

import pytest
from conftest import MISSING, refused
from raw import TOY

from hidden_dynamics import configuration as configurations
from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import loading, merge, parse_settings
from hidden_dynamics.configuration.checks import check_runs
from hidden_dynamics.configuration.runs import all_runs
from hidden_dynamics.errors import UserError

FILES = ["config.yaml", *(f"config/{name}.yaml" for name in loading.PARTS)]
SETTINGS, DATASETS, METRICS, MODELS, TASKS, VARIANTS, SCALES, ARTIFACTS = FILES
MNIST_TRAINING, TABLE16, OF_LSTM = "overrides.tasks.mnist.training", "momentumrnn_table16", "mnist.models.lstm.variants"
BY_SIZE = "mnist.models.lstm.by_size"


def mnist(entry):
    return {"tasks": {"mnist": entry}}


# file, key, its value; then the key that the error names, and what was expected or the closest known name
BAD = [
    (SETTINGS, "scale", 3, "scale", "valid string"),
    (SETTINGS, "overrides", mnist({"sizes": {128: "$(touch x)"}}), "overrides.tasks.mnist.sizes.128", "match pattern"),
    (SETTINGS, "seeds", [0, 0], "seeds", "two are the same"),
    (SETTINGS, "device", "cpus", "device", "'auto', 'cpu' or 'cuda'. Did you mean 'cpu'"),
    (SETTINGS, "device", "gpu", "device", "device=cuda"),
    (SETTINGS, "device", {"default": "cuda", "physionet": "gpu"}, "device.physionet", "'auto', 'cpu' or 'cuda'"),
    (SETTINGS, "device", {"physionet_relased": "cpu"}, "device.physionet_relased", "Did you mean 'physionet_released'"),
    (SETTINGS, "seeds", 3, "seeds", "seeds='[0, 1, 2]'"),
    (SETTINGS, "variants", "released", "variants", "variants='{default: released}'"),
    (SETTINGS, "data.directry", "x", "data", "Did you mean 'directory'"),
    (SETTINGS, "data.copies", {"timit": "/of mine", "tmit": "/copy"}, "data.copies", "Did you mean 'timit'"),
    (SETTINGS, "leave_out", "svhn", "leave_out", "leave_out='[svhn]'"),
    (SETTINGS, "only", ["physionet_relased"], "only", "Did you mean 'physionet_released'"),
    (SETTINGS, "only", ["momentum_lstm"], "only", "is a model: name it with its task"),
    (SETTINGS, "only", ["mnist/lstm/182"], "only: mnist/lstm", "Did you mean '128'"),
    (SETTINGS, "only", ["mnist//128"], "only", "empty part"),
    (SETTINGS, "only", ["mnist/"], "only", "empty part"),
    (TASKS, BY_SIZE, {129: {}}, BY_SIZE, "129 is none of"),
    (TASKS, BY_SIZE, {"128": {}}, BY_SIZE, "'128' is none of"),
    (SETTINGS, "variants", {"default": "relased"}, "variants.default", "'released'"),
    (SETTINGS, "variants", {"forget_fill": "released"}, "variants.forget_fill", "Known: published, once"),
    (SETTINGS, "overrides", {"task": {}}, "overrides", "Did you mean 'tasks'"),
    (SETTINGS, "overrides", mnist(5), "overrides.tasks.mnist", "dictionary"),
    (SETTINGS, "overrides", mnist({"training": {"epochs": "many"}}), MNIST_TRAINING + ".epochs", "valid integer"),
    (SETTINGS, "overrides", mnist({"training": {"epoch": 2}}), MNIST_TRAINING, "Did you mean 'epochs'"),
    (
        SETTINGS,
        "overrides.artifacts",
        {TABLE16: {"target": "high"}},
        f"overrides.artifacts.{TABLE16}.target",
        "valid integer or: Input should be a valid number",
    ),
    (TASKS, "mnist.dataset", "mnis", "mnist.dataset", "Did you mean 'mnist'"),
    (TASKS, "adding.training.optimisers.main.name", "Adm", "adding.training.optimisers.main.name", "Adam"),
    (TASKS, "adding.training.report.metric", "test_los", "adding.training.report.metric", "Did you mean 'test_loss'"),
    (TASKS, "ptb.training.averaging.metric", "test_accuracy", "ptb.training.averaging.metric", "less is better"),
    (TASKS, "mnist.class", "Pixels", "mnist.class", "match pattern"),
    (TASKS, "mnist_ablation.models.momentum_lstm.sizes", [4], "mnist_ablation.models.momentum_lstm", "a grid makes"),
    (TASKS, OF_LSTM, {"forget_fil": "released"}, OF_LSTM, "Did you mean 'forget_fill'"),
    (MODELS, "lstm.core", None, "lstm", "a core, or a network of its own"),
    (MODELS, "lstm.tasks", {"mnist": {}}, "lstm.tasks.mnist", "configures it already"),
    (MODELS, "nag_lstm.tasks", {"mnist": {"size": [128]}}, "nag_lstm.tasks.mnist", "Did you mean 'sizes'"),
    (MODELS, "scaled_lstm.tasks.mnist", {"sizes": [256], "hyperparameters": {"s": 1.0}}, "scaled_lstm", "sizes alone"),
    (MODELS, "scaled_lstm.control_of", "momentum_dtriv", "scaled_lstm.control_of", "unknown model 'momentum_dtriv'"),
    (SCALES, "demo.tasks.mnist.dataset", "digts", "demo.tasks.mnist.dataset", "Did you mean 'digits'"),
    (SCALES, "demo.together", ["models"], "demo.together.0", "'model' or 'seed'"),
    (SCALES, "demo.tasks.mnist.sizes", {128: 32, 256: 32}, "demo.tasks.mnist.sizes", "128 and 256"),
    (SCALES, "demo.artifacts", {TABLE16: {"traget": 0.25}}, f"demo.artifacts.{TABLE16}", "Did you mean 'target'"),
    (DATASETS, "digits.stand_in_for", "mnst", "digits.stand_in_for", "Did you mean 'mnist'"),
    (METRICS, "test_loss.better", "less", "test_loss.better", "'higher' or 'lower'"),
    (VARIANTS, "sr_cell.models", ["sr_lst"], "sr_cell.models", "Did you mean 'sr_lstm'"),
    (VARIANTS, "mine", {"about": "", "published": {"text": ""}}, "mine", "another value"),
    (VARIANTS, "series_folds.published.blocks", False, "series_folds.published", "blocks: true"),
    (ARTIFACTS, "momentumrnn_table1.tasks", ["mnst"], "momentumrnn_table1", "Did you mean 'mnist'"),
    (ARTIFACTS, "momentumrnn_table1.rows.0.tasks", ["mnst"], "momentumrnn_table1.rows", "Did you mean 'mnist'"),
    (ARTIFACTS, "acenode_solver.models", ["nope"], "acenode_solver", "unknown model 'nope'"),
    (ARTIFACTS, "acenode_solver.tasks", ["nope"], "acenode_solver", "unknown task 'nope'"),
    (ARTIFACTS, "acenode_silhouettes1.task", "nope", "acenode_silhouettes1", "unknown task 'nope'"),
    (ARTIFACTS, "momentumrnn_table1.kind", "table", "momentumrnn_table1.kind", "results_table"),
    (ARTIFACTS, "acenode_table7.metrics", ["test_auc", "test_acu"], "acenode_table7", "Did you mean 'test_auc'"),
    (ARTIFACTS, "plot", {"kind": "curves"}, "plot", "match pattern"),
    (ARTIFACTS, "momentumrnn_figure5.panels.0.against", "epoch", "momentumrnn_figure5.panels.0", "minibatch"),
    (ARTIFACTS, "acenode_table5.features.layer", "last", "acenode_table5.features.layer", "pooled"),
]


REQUIRED = [
    *((SETTINGS, "scale"), (TASKS, "mnist.training"), (MODELS, "lstm.label"), (SCALES, "demo.threads")),
    *((DATASETS, "digits.licence"), (METRICS, "test_loss.better"), (VARIANTS, "sr_cell.published")),
    (ARTIFACTS, "momentumrnn_table1.rows"),
]
BAD += [(file, key, MISSING, key, "Field required") for file, key in REQUIRED]


def with_file(**changes):
    return {"files": {"x": {"size": 1, "sha256": "0" * 64, "urls": ["http://x"]} | changes}}


TOYS = [  # what differs in an entry of a dataset
    ({"title": None}, "title", "valid string"),
    ({"stand_in_for": "mnst"}, "stand_in_for", "Did you mean 'mnist'?"),
    ({"stand_in_for": ["toy", "toy"]}, "stand_in_for", "two are the same"),
    ({"files": {"../data.bin": {}}}, "files.../data.bin", "match pattern"),
    ({"files": {"x": {"size": 1}, "y": {}}}, "files.x.sha256", "Field required (missing: sha256, urls)"),
    (with_file(sha256="0" * 63), "files.x.sha256", "match pattern"),
    (with_file(urls=["/x"]), "files.x.urls.0", "match pattern"),
    (with_file(archive="zip", members="*", count=1), "files.x.archive", "'tar'"),
    (with_file(archive="tar", members="*"), "files.x", "archive, members and count together"),
    (with_file(archive="tar", members="*", count=1, size=None), "files.x", "the size of an archive's members"),
]
BAD += [(DATASETS, "toy", TOY | changes, f"toy.{key}", expected) for changes, key, expected in TOYS]
NAMES = [f"{file}-{key}-{value}"[:60] for file, key, value, *_ in BAD]


@pytest.mark.parametrize(("file", "key", "value", "place", "expected"), BAD, ids=NAMES)
def test_a_mistake_is_named_with_its_file_its_key_and_what_was_expected(project, file, key, value, place, expected):
    project.set(file, key, value)
    with pytest.raises(UserError, match=re.escape(expected)) as error:
        load_artifacts(configurations.load(None, project.directory))
    assert (error.value.file, error.value.key) == (file, place)
    assert str(error.value).startswith(f"{file}: {place or '(top level)'}: ") and "\n" not in str(error.value)


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_no_mapping_or_is_missing_is_named(project, file):
    for content in ("", "- a list", "text"):
        project.write(file, content)
        with refused("dictionary", file=file, key=""):
            configurations.load(None, project.directory)
    project.write(file, "a: 1\nb: [1\nc: 2")
    with refused("line 3", file=project.directory / file):
        configurations.load(None, project.directory)
    (project.directory / file).unlink()
    with refused("missing", file=project.directory / file):
        configurations.load(None, project.directory)


def test_a_mistake_of_the_artifacts_file_is_not_laid_to_the_scale_that_changes_the_artifact(project):
    project.set(SCALES, "demo.artifacts.momentumrnn_table16", {"target": 0.25})
    project.set(ARTIFACTS, "momentumrnn_table16.traget", 1)
    with refused(file=ARTIFACTS, key="momentumrnn_table16"):
        load_artifacts(project.load())


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cuda", {"physionet": "cuda", "ptb": "cuda"}),
        ({"default": "cuda", "physionet": "cpu"}, {"physionet": "cpu", "ptb": "cuda", "physionet_released": "cuda"}),
        ({"physionet": "cpu"}, {"physionet": "cpu", "ptb": "auto"}),
        ({"physionet2012": "cpu"}, {"physionet": "cpu", "physionet_released": "cpu", "ptb": "auto"}),
        ({"physionet2012": "cpu", "physionet": "cuda"}, {"physionet": "cuda", "physionet_released": "cpu"}),
        ({"mnist": "cpu"}, {"mnist": "cpu", "pmnist": "auto"}),
        ({}, {"ptb": "auto"}),
    ],
)
def test_a_task_has_the_device_of_its_name_its_dataset_or_the_default(configured, device, expected):
    configuration = configured(scale="paper", device=device)
    assert {task: configuration.device_of(task) for task in expected} == expected


def test_merging_goes_key_by_key_replaces_lists_and_modifies_nothing():
    base = {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}}
    first, second = {"a": {"c": [3]}, "d": None}, {"a": {"b": {"deep": 1}}, "f": 0}
    inputs = json.dumps([base, first, second])
    merged = merge(base, first, second)
    assert merged == {"a": {"b": {"deep": 1}, "c": [3]}, "d": None, "f": 0}
    merged["a"]["c"].append(4)
    merged["a"]["b"]["deep"] = 2
    assert json.dumps([base, first, second]) == inputs
    assert merge({"a": 1}) == {"a": 1}


def test_the_scale_refines_tasks_and_artifacts_and_the_overrides_refine_both(project):
    project.set(SCALES, "demo.tasks.adding", {"training": {"epochs": 7, "optimisers": {"main": {"lr": 0.5}}}})
    task = project.load(overrides={"tasks": {"adding": {"training": {"epochs": 3}}}}).tasks["adding"]
    assert task.training.epochs == 3
    assert task.training.optimisers["main"].given() == {"name": "Adam", "lr": 0.5}
    shipped = project.read(TASKS)["adding"]
    assert task.training.batch_size == shipped["training"]["batch_size"]
    assert task.title == shipped["title"]

    def target(**settings):
        return load_artifacts(project.load(**settings))[TABLE16].settings.target

    project.set(SCALES, f"demo.artifacts.{TABLE16}", {"target": 0.25})
    assert (target(), target(scale="paper")) == (0.25, 0.9229)
    assert target(overrides={"artifacts": {TABLE16: {"target": 0.75}}}) == 0.75


@pytest.mark.parametrize(
    ("scale", "dataset", "task", "replaced"),
    [
        *(("demo", None, f"{name}_images", name) for name in ("mnist", "svhn", "cifar10")),
        *(("demo", None, "mnist", "mnist"), ("demo", None, "timit_recall", "timit"), ("demo", None, "adding", None)),
        ("demo", "svhn", "svhn_images", None),
        ("demo", "mnist", "svhn_images", "svhn"),
        ("paper", None, "svhn_images", None),
        ("paper", "cifar10", "svhn_images", "svhn"),
        ("paper", "digits", "cifar10_images", "cifar10"),
    ],
)
def test_what_a_dataset_stands_in_for_is_what_its_task_names(configured, scale, dataset, task, replaced):
    overrides = {"tasks": {task: {"dataset": dataset}}} if dataset else {}
    assert configured(scale=scale, overrides=overrides).replaced(task) == replaced


def test_settings_of_another_dataset_are_dropped_with_it(configured):
    same = configured(overrides={"tasks": {"adding": {"dataset": "adding", "data": {"length": 9}}}})
    assert same.tasks["adding"].data == {"length": 9, "test_size": 128, "seed": 0}
    other = configured(overrides={"tasks": {"adding": {"dataset": "digits"}}})
    assert other.tasks["adding"].data == {}


def test_text_from_the_command_line_gives_the_same_runs_as_typed_settings(configured):
    """Snakemake reads what stands inside brackets and braces as text."""
    data, variants = {"directory": "elsewhere", "mirror": None}, {"default": "released"}
    main = {"lr": 0.5, "centered": True}
    training = {"epochs": 2, "clip_norm": None, "optimisers": {"main": main}}
    task = {"title": "MNIST: small", "sizes": {128: 4, 256: 6}, "training": training}
    typed = configured(seeds=[3, 1], data=data, variants=variants, overrides=mnist(task))
    main = {"lr": "0.5", "centered": "true"}
    training = {"epochs": "2", "clip_norm": "null", "optimisers": {"main": main}}
    task = {"title": "MNIST: small", "sizes": {"128": "4", "256": "6"}, "training": training}
    data["mirror"] = "null"
    text = configured(seeds=["3", "1"], data=data, variants=variants, overrides=mnist(task))
    assert all_runs(text) == all_runs(typed)
    assert text.settings == typed.settings


@pytest.mark.parametrize(("text", "value"), [("1e-3", 1e-3), ("2E3", 2e3), ("1.e+2", 100.0), (".5e-1", 0.05)])
def test_a_number_with_an_exponent_and_no_point_is_one_everywhere(project, text, value):
    """YAML 1.1 has it as text."""
    tasks = (project.directory / TASKS).read_text(encoding="utf-8")
    project.write(TASKS, tasks.replace("lr: 0.001,", f"lr: {text},", 1))
    free = {"hyperparameters": {"mu": text}, "training": {"clip_norm": "1e2"}}  # as Snakemake hands it over
    given = {"overrides": mnist(free)}
    task = project.load(**given).tasks["mnist"]
    assert (task.hyperparameters["mu"], task.training.clip_norm) == (value, 100.0)
    assert project.load().papers_tasks["mnist"].training.optimisers["main"].lr == value
    assert parse_settings(json.dumps(given))["overrides"]["tasks"]["mnist"]["hyperparameters"] == {"mu": value}


@pytest.mark.parametrize("title", ["MNIST: small", "[unclosed", "none", "2020-01-01", "2020-13-45", "0x_", "1 000"])
def test_text_that_only_looks_like_yaml_stays_text(configured, title):
    assert configured(overrides={"tasks": {"mnist": {"title": title}}}).tasks["mnist"].title == title


def test_the_argument_goes_before_the_environment_and_that_before_the_file(project, monkeypatch):
    monkeypatch.setattr(loading, "ROOT", project.directory)
    monkeypatch.delenv("HIDDEN_DYNAMICS_CONFIG", raising=False)
    project.set(SETTINGS, "results", "of the file")
    assert parse_settings(None) == project.read(SETTINGS)
    monkeypatch.setenv("HIDDEN_DYNAMICS_CONFIG", '{"results": "of the environment", "device": "cpu"}')
    assert parse_settings(None) == project.read(SETTINGS) | {"results": "of the environment", "device": "cpu"}
    assert parse_settings('{"results": "given"}') == project.read(SETTINGS) | {"results": "given"}
    given = parse_settings('{"overrides": {"tasks": {"mnist": {"sizes": {"128": 4}}}}}')
    assert given["overrides"]["tasks"]["mnist"]["sizes"] == {128: 4}


@pytest.mark.parametrize(
    ("text", "said"), [("{scale: demo}", "not valid JSON"), ("[1]", "must be a JSON object"), ("3", "found 3")]
)
def test_an_argument_that_is_no_json_object_is_refused(text, said):
    with refused(f"--config.*{said}"):
        parse_settings(text)


def test_a_text_is_no_truth_value_where_a_file_has_it(project):
    project.set(MODELS, "neural_ode_vae.hyperparameters", {"mask": "false"})
    with refused(file=MODELS, key="neural_ode_vae.hyperparameters.mask"):
        check_runs(project.load(only=["ushcn"]))


def test_a_key_that_stands_twice_is_refused_and_merging_is_not(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("a: &a {b: 1}\nc: {<<: *a, b: 2}\nd: {<<: *a}\n")
    assert configurations.read_yaml(file) == {"a": {"b": 1}, "c": {"b": 2}, "d": {"b": 1}}
    file.write_text("a: &a {x: 1}\ntop: {deep: {b: &b {<<: *a, x: 2}}}\nc: {<<: *b}\n")  # b is merged before it is made
    assert configurations.read_yaml(file) == {"a": {"x": 1}, "top": {"deep": {"b": {"x": 2}}}, "c": {"x": 2}}
    file.write_text("a: 2020-13-45")
    with refused(file=file):
        configurations.read_yaml(file)
    file.write_text("a: 1\nb: 2\na: 3\n")
    with refused("'a' stands twice.*line 3"):
        configurations.read_yaml(file)
