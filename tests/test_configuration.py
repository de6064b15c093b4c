"""What is shipped loads, what is wrong is named with its file and key, and layers merge in their order."""

import json

import pytest

from hidden_dynamics import configuration as configurations
from hidden_dynamics.configuration import merge, parse_settings, with_number_keys, with_text_keys
from hidden_dynamics.errors import UserError
from hidden_dynamics.configuration.runs import all_runs

SETTINGS, TASKS, MODELS = "config.yaml", "config/tasks.yaml", "config/models.yaml"
SCALES, DATASETS, READINGS, ARTIFACTS = (
    f"config/{name}.yaml" for name in ("scales", "datasets", "readings", "artifacts")
)
NOTHING = object()
MY_LSTM = {"label": "Mine", "colour": "magenta", "network": "a.Network", "core": "a.Core"}

# file, key, its value, and what the message must say: the place, what was expected or known, the closest known name
BAD = [
    (SETTINGS, "scale", "dmo", ["config.yaml: scale", "'dmo'", "Did you mean 'demo'", "demo, pilot, paper"]),
    (SETTINGS, "scale", 3, ["config.yaml: scale", "string", "name of a scale"]),
    (SETTINGS, "seeds", [], ["config.yaml: seeds", "non-empty", "list of different whole numbers"]),
    (SETTINGS, "seeds", [0, 0], ["config.yaml: seeds", "non-unique", "list of different whole numbers"]),
    (SETTINGS, "seeds", [0, -1], ["config.yaml: seeds.1", "-1", "a whole number, 0 or more"]),
    (SETTINGS, "seeds", [1.0], ["config.yaml: seeds.0", "1.0", "a whole number, 0 or more"]),
    (SETTINGS, "seeds", [True], ["config.yaml: seeds.0", "True", "a whole number, 0 or more"]),
    (SETTINGS, "seeds", 3, ["config.yaml: seeds", "null, or a list of different whole numbers"]),
    (SETTINGS, "device", "gpu", ["config.yaml: device", "'gpu'", "auto, cpu or cuda"]),
    (SETTINGS, "precision", "fp16", ["config.yaml: precision", "'fp16'", "fp32 or tf32"]),
    (SETTINGS, "runs_per_gpu", 0, ["config.yaml: runs_per_gpu", "a whole number, 1 or more"]),
    (SETTINGS, "results", "", ["config.yaml: results", "a directory's path"]),
    (SETTINGS, "data.directory", 5, ["config.yaml: data.directory", "string", "a directory's path"]),
    (SETTINGS, "data.directry", "x", ["config.yaml: data", "'directry'", "Did you mean 'directory'"]),
    (SETTINGS, "sede", [1], ["config.yaml", "unknown key 'sede'", "Did you mean 'seeds'"]),
    (SETTINGS, "readings", {"sr_cel": "released"}, ["config.yaml: readings", "'sr_cel'", "Did you mean 'sr_cell'"]),
    (SETTINGS, "readings", {"default": "relased"}, ["config.yaml: readings.default", "'published'", "'released'"]),
    (SETTINGS, "overrides", {"task": {}}, ["config.yaml: overrides", "'task'", "Did you mean 'tasks'"]),
    (SETTINGS, "overrides", None, ["config.yaml: overrides", "object"]),
    (SETTINGS, "overrides", {"tasks": {"mnst": {}}}, ["overrides.tasks", "task 'mnst'", "Did you mean 'mnist'"]),
    (SETTINGS, "overrides", {"tasks": {"mnist": 5}}, ["config.yaml: overrides.tasks.mnist", "a mapping"]),
    (SETTINGS, "overrides", {"tasks": {"mnist": None}}, ["config.yaml: overrides.tasks.mnist", "a mapping"]),
    (
        SETTINGS,
        "overrides",
        {"tasks": {"mnist": {"training": {"epochs": "many"}}}},
        ["config.yaml: overrides.tasks", "mnist.training.epochs", "'many'", "a whole number, 1 or more"],
    ),
    (
        SETTINGS,
        "overrides",
        {"tasks": {"mnist": {"training": {"epoch": 2}}}},
        ["config.yaml: overrides.tasks", "mnist.training", "'epoch'", "Did you mean 'epochs'"],
    ),
    (
        SETTINGS,
        "overrides",
        {"tasks": {"mnist": {"dataset": "mnits"}}},
        ["config.yaml: overrides.tasks", "mnist.dataset", "'mnits'", "Did you mean 'mnist'"],
    ),
    (TASKS, "mnist.dataset", "mnis", [f"{TASKS}: mnist.dataset", "'mnis'", "Did you mean 'mnist'"]),
    (TASKS, "mnist.models.lstmm", {"sizes": [1]}, [f"{TASKS}: mnist.models", "'lstmm'", "Did you mean 'lstm'"]),
    (TASKS, "mnist.modls", {}, [f"{TASKS}: mnist", "'modls'", "Did you mean 'models'"]),
    (TASKS, "adding.training.epochs", 0, [f"{TASKS}: adding.training.epochs", "a whole number, 1 or more"]),
    (TASKS, "adding.training.epochs", 2.0, [f"{TASKS}: adding.training.epochs", "a whole number, 1 or more"]),
    (TASKS, "adding.training.optimisers.main.name", "Adm", [f"{TASKS}: adding.training.optimisers.main.name", "Adam"]),
    (TASKS, "adding.training.optimisers.main.lr", -1, [f"{TASKS}: adding.training.optimisers.main.lr", "above 0"]),
    (TASKS, "adding.training.report.rule", "best", [f"{TASKS}: adding.training.report.rule", "max, min or last"]),
    (TASKS, "mnist.class", "Pixels", [f"{TASKS}: mnist.class", "a dotted Python name"]),
    (TASKS, "mnist.readings", {"permutatio": "released"}, [f"{TASKS}: mnist.readings", "Did you mean 'permutation'"]),
    (
        TASKS,
        "mnist.models.lstm.readings",
        {"forget_fil": "released"},
        [f"{TASKS}: mnist.models.lstm.readings", "Did you mean 'forget_fill'"],
    ),
    (TASKS, "Parity", {}, [TASKS, "'Parity'", "names in lower case"]),
    (MODELS, "lstm.colr", "red", [f"{MODELS}: lstm", "'colr'", "Did you mean 'colour'"]),
    (MODELS, "lstm.core", "LSTM", [f"{MODELS}: lstm.core", "a dotted Python name"]),
    (MODELS, "MyLSTM", MY_LSTM, [MODELS, "'MyLSTM'", "names in lower case"]),
    (MODELS, "lstm.tasks", {"mnist": {}}, [f"{MODELS}: lstm.tasks.mnist", "configures it already"]),
    (MODELS, "nag_lstm.tasks", {"mnst": {}}, [f"{MODELS}: nag_lstm.tasks", "'mnst'", "Did you mean 'mnist'"]),
    (MODELS, "nag_lstm.tasks", {"mnist": None}, [f"{MODELS}: nag_lstm.tasks.mnist", "object"]),
    (
        MODELS,
        "nag_lstm.tasks",
        {"mnist": {"size": [128]}},
        [f"{MODELS}: nag_lstm.tasks.mnist", "'size'", "Did you mean 'sizes'"],
    ),
    (SCALES, "demo.tasks.mnst", {}, [f"{SCALES}: demo.tasks", "'mnst'", "Did you mean 'mnist'"]),
    (SCALES, "demo.tasks.mnist.dataset", "digts", [f"{SCALES}: demo.tasks", "'digts'", "Did you mean 'digits'"]),
    (SCALES, "demo.seeds", [1, 1], [f"{SCALES}: demo.seeds", "list of different whole numbers"]),
    (SCALES, "demo.togther", [], [f"{SCALES}: demo", "'togther'", "Did you mean 'together'"]),
    (SCALES, "demo.together", ["models"], [f"{SCALES}: demo.together.0", "model or seed"]),
    (SCALES, "demo.tasks.mnist.sizes", {128: 32, 256: 32}, [SCALES, "mnist.sizes", "128 and 256", "both become 32"]),
    (DATASETS, "digits.modul", "a.b", [f"{DATASETS}: digits", "'modul'", "Did you mean 'module'"]),
    (DATASETS, "digits.stand_in_for", "mnst", [f"{DATASETS}: digits.stand_in_for", "Did you mean 'mnist'"]),
    (DATASETS, "digits.stand_in_for", ["mnist", "svnh"], [f"{DATASETS}: digits.stand_in_for", "Did you mean 'svhn'"]),
    (DATASETS, "digits.stand_in_for", [], [f"{DATASETS}: digits.stand_in_for", "or null"]),
    (
        DATASETS,
        "mnist.files.train-images-idx3-ubyte.sha256",
        "abc",
        [f"{DATASETS}: mnist.files.train-images-idx3-ubyte.sha256", "64 hexadecimal digits"],
    ),
    (READINGS, "sr_cell.models", ["sr_lst"], [f"{READINGS}: sr_cell.models", "Did you mean 'sr_lstm'"]),
    (READINGS, "sr_cell.tasks", ["mnst"], [f"{READINGS}: sr_cell.tasks", "Did you mean 'mnist'"]),
    (READINGS, "sr_cell.relased", {}, [f"{READINGS}: sr_cell", "'relased'", "Did you mean 'released'"]),
    (ARTIFACTS, "momentumrnn_table1.tasks", ["mnst"], [f"{ARTIFACTS}: momentumrnn_table1", "Did you mean 'mnist'"]),
    (
        ARTIFACTS,
        "momentumrnn_table1.rows",
        [{"model": "lstmm"}],
        [f"{ARTIFACTS}: momentumrnn_table1", "'lstmm'", "Did you mean 'lstm'"],
    ),
    (ARTIFACTS, "momentumrnn_table1.titl", "x", [f"{ARTIFACTS}: momentumrnn_table1", "Did you mean 'title'"]),
    (ARTIFACTS, "momentumrnn_table1.kind", "table", [f"{ARTIFACTS}: momentumrnn_table1.kind", "results_table"]),
    (ARTIFACTS, "momentumrnn_figure8.task", "copying", [f"{ARTIFACTS}: momentumrnn_figure8", "Did you mean 'copying"]),
    (ARTIFACTS, "plot", {"kind": "curves"}, [ARTIFACTS, "'plot'", "momentumrnn_table1"]),
]


@pytest.mark.parametrize("scale", ["demo", "pilot", "paper"])
def test_what_is_shipped_loads_at_every_scale(configured, scale):
    configuration = configured(scale=scale)
    assert configuration.scale_name == scale
    assert configuration.results == f"results/{scale}"
    assert configuration.seeds == configuration.scale["seeds"]
    assert len(all_runs(configuration)) >= 70


@pytest.mark.parametrize(
    ("file", "key", "value", "said"), BAD, ids=[f"{file}-{key}-{value}"[:60] for file, key, value, _ in BAD]
)
def test_a_mistake_is_named_with_its_file_its_key_and_what_was_expected(project, file, key, value, said):
    project.set(file, key, value)
    with pytest.raises(UserError) as error:
        configurations.load(None, project.directory)
    for part in said:
        assert part in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("file", [SETTINGS, TASKS, MODELS, SCALES, DATASETS, READINGS, ARTIFACTS])
def test_malformed_yaml_is_named_with_file_and_line(project, file):
    project.write(file, "a: 1\nb: [1\nc: 2")
    with pytest.raises(UserError, match=f"{file} is not valid YAML.*line 3"):
        configurations.load(None, project.directory)


@pytest.mark.parametrize("file", [SETTINGS, TASKS, MODELS, SCALES, DATASETS, READINGS, ARTIFACTS])
@pytest.mark.parametrize("content", ["", "- a list", "text"])
def test_a_file_that_is_no_mapping_is_named(project, file, content):
    project.write(file, content)
    with pytest.raises(UserError, match=f"{file}: .*not of type 'object'"):
        configurations.load(None, project.directory)


@pytest.mark.parametrize("file", [SETTINGS, TASKS, MODELS, SCALES, DATASETS, READINGS, ARTIFACTS])
def test_a_missing_file_is_named(project, file):
    (project.directory / file).unlink()
    with pytest.raises(UserError, match=f"{file} is missing"):
        configurations.load(None, project.directory)


def test_a_model_without_core_and_network_is_named(project):
    content = project.read(MODELS)
    del content["lstm"]["core"]
    project.write(MODELS, content)
    with pytest.raises(UserError, match="models.yaml: lstm: .*an entry with a core, or a network of its own"):
        project.load()


def test_averaging_is_triggered_by_what_is_better_where_it_is_less(project):
    project.set(TASKS, "ptb.training.averaging.metric", "test_accuracy")
    with pytest.raises(UserError, match="a metric of which less is better, such as validation_loss"):
        project.load()


@pytest.mark.parametrize(
    ("file", "entry", "key"),
    [
        (SETTINGS, None, "scale"),
        (TASKS, "mnist", "training"),
        (MODELS, "lstm", "label"),
        (SCALES, "demo", "threads"),
        (DATASETS, "digits", "licence"),
        (READINGS, "sr_cell", "released"),
        (ARTIFACTS, "momentumrnn_table1", "rows"),
    ],
)
def test_a_missing_key_is_named_with_its_entry(project, file, entry, key):
    content = project.read(file)
    del (content[entry] if entry else content)[key]
    project.write(file, content)
    with pytest.raises(UserError, match=f"{file}: {entry or r'.top level.'}: '{key}' is a required property"):
        configurations.load(None, project.directory)


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


def test_the_scale_refines_the_task_and_the_overrides_refine_both(project):
    project.set(SCALES, "demo.tasks.adding", {"training": {"epochs": 7, "optimisers": {"main": {"lr": 0.5}}}})
    task = project.load(overrides={"tasks": {"adding": {"training": {"epochs": 3}}}}).tasks["adding"]
    assert task["training"]["epochs"] == 3
    assert task["training"]["optimisers"]["main"] == {"name": "Adam", "lr": 0.5}
    shipped = project.read(TASKS)["adding"]
    assert task["training"]["batch_size"] == shipped["training"]["batch_size"]
    assert task["title"] == shipped["title"]


@pytest.mark.parametrize(
    ("scale", "dataset", "task", "replaced"),
    [
        ("demo", None, "mnist", "mnist"),
        ("demo", None, "mnist_images", "mnist"),
        ("demo", None, "svhn_images", "svhn"),
        ("demo", None, "cifar10_images", "cifar10"),
        ("demo", None, "timit_recall", "timit"),
        ("demo", None, "adding", None),
        ("demo", "svhn", "svhn_images", None),
        ("demo", "mnist", "svhn_images", "svhn"),
        ("paper", None, "svhn_images", None),
        ("paper", "cifar10", "svhn_images", "svhn"),
    ],
)
def test_what_a_dataset_stands_in_for_is_what_its_task_names(configured, scale, dataset, task, replaced):
    overrides = {"tasks": {task: {"dataset": dataset}}} if dataset else {}
    assert configured(scale=scale, overrides=overrides).replaced(task) == replaced


def test_a_stand_in_that_a_task_itself_names_is_one_all_the_same(project):
    assert project.load(scale="paper").replaced("cifar10_images") is None
    project.set(TASKS, "cifar10_images.dataset", "digits")
    assert project.load(scale="paper").replaced("cifar10_images") == "mnist"


def test_settings_of_another_dataset_are_dropped_with_it(configured):
    same = configured(overrides={"tasks": {"adding": {"dataset": "adding", "data": {"length": 9}}}})
    assert same.tasks["adding"]["data"] == {"length": 9, "test_size": 256, "seed": 0}
    other = configured(overrides={"tasks": {"adding": {"dataset": "digits"}}})
    assert "data" not in other.tasks["adding"]


def test_seeds_of_the_settings_win_over_those_of_the_scale(configured):
    assert configured(scale="paper").seeds == [0, 1, 2, 3, 4]
    assert configured(scale="paper", seeds=[7, 3]).seeds == [7, 3]


def test_settings_survive_json_with_their_number_keys():
    settings = {
        "overrides": {"tasks": {"mnist": {"sizes": {128: 4}, "models": {"lstm": {"sizes": [128]}}}}},
        "seeds": [1],
    }
    through = json.loads(json.dumps(settings))
    assert through != settings
    assert with_number_keys(through) == settings
    assert with_text_keys(settings) == through


def test_text_from_the_command_line_gives_the_same_runs_as_typed_settings(configured):
    """Snakemake reads what stands inside brackets and braces as text."""
    typed = configured(
        seeds=[3, 1],
        data={"directory": "elsewhere", "mirror": None},
        readings={"default": "released"},
        overrides={
            "tasks": {
                "mnist": {
                    "title": "MNIST: small",
                    "sizes": {128: 4, 256: 6},
                    "training": {"epochs": 2, "clip_norm": None, "optimisers": {"main": {"lr": 0.5, "centered": True}}},
                }
            }
        },
    )
    text = configured(
        seeds=["3", "1"],
        data={"directory": "elsewhere", "mirror": "null"},
        readings={"default": "released"},
        overrides={
            "tasks": {
                "mnist": {
                    "title": "MNIST: small",
                    "sizes": {"128": "4", "256": "6"},
                    "training": {
                        "epochs": "2",
                        "clip_norm": "null",
                        "optimisers": {"main": {"lr": "0.5", "centered": "true"}},
                    },
                }
            }
        },
    )
    assert all_runs(text) == all_runs(typed)
    assert text.settings == typed.settings


@pytest.mark.parametrize("title", ["MNIST: small", "[unclosed", "none", "2020-01-01", "1 000"])
def test_text_that_only_looks_like_yaml_stays_text(configured, title):
    assert configured(overrides={"tasks": {"mnist": {"title": title}}}).tasks["mnist"]["title"] == title


def test_the_argument_goes_before_the_environment_and_that_before_the_file(project, monkeypatch):
    monkeypatch.setattr(configurations, "ROOT", project.directory)
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
    with pytest.raises(UserError, match=f"--config.*{said}"):
        parse_settings(text)


def test_a_grid_makes_the_sizes_and_cannot_stand_beside_them(project):
    models = project.load().tasks["mnist_ablation"]["models"]["momentum_lstm"]
    assert models["sizes"] == list(models["by_size"]) and len(models["sizes"]) == 9
    project.set(TASKS, "mnist_ablation.models.momentum_lstm.sizes", [4])
    with pytest.raises(UserError, match="mnist_ablation.models.momentum_lstm: a grid makes the sizes"):
        project.load()


def test_a_scale_refines_artifacts(project):
    project.set(SCALES, "demo.artifacts", {"momentumrnn_table16": {"target": 0.25}})
    assert project.load().artifacts["momentumrnn_table16"]["target"] == 0.25
    assert project.load(scale="paper").artifacts["momentumrnn_table16"]["target"] == 0.9229
    project.set(SCALES, "demo.artifacts", {"momentumrnn_table61": {"target": 0.25}})
    with pytest.raises(UserError, match="demo.artifacts: unknown artifact 'momentumrnn_table61'. Did you mean"):
        project.load()
    project.set(SCALES, "demo.artifacts", {"momentumrnn_table16": {"traget": 0.25}})
    with pytest.raises(UserError, match="demo.artifacts: momentumrnn_table16: unknown key 'traget'.*'target'"):
        project.load()


def test_a_copy_of_data_that_is_not_configured_is_refused(configured):
    data = {"directory": "data", "mirror": None}
    assert configured(data=data | {"copies": {"timit": "/copy"}}).settings["data"]["copies"] == {"timit": "/copy"}
    with pytest.raises(UserError, match="data.copies: unknown dataset 'tmit'. Did you mean 'timit'"):
        configured(data=data | {"copies": {"tmit": "/copy"}})


def test_overrides_refine_artifacts_after_the_scale(configured):
    changes = {"artifacts": {"momentumrnn_table16": {"target": 0.75}}}
    assert configured(overrides=changes).artifacts["momentumrnn_table16"]["target"] == 0.75
    with pytest.raises(UserError, match="overrides.artifacts: unknown artifact 'momentumrnn_table61'"):
        configured(overrides={"artifacts": {"momentumrnn_table61": {}}})


def test_a_key_that_stands_twice_is_refused_and_merging_is_not(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("a: &a {b: 1}\nc: {<<: *a, b: 2}\nd: {<<: *a}\n")
    assert configurations.read_yaml(file) == {"a": {"b": 1}, "c": {"b": 2}, "d": {"b": 1}}
    file.write_text("a: 1\nb: 2\na: 3\n")
    with pytest.raises(UserError, match="x.yaml is not valid YAML: the key 'a' stands twice.*line 3"):
        configurations.read_yaml(file)
