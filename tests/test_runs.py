"""Runs: how a specification is resolved, which variants it takes, and which runs an artifact needs."""

import json

import pytest
from conftest import refused

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.configuration import load, merge
from hidden_dynamics.configuration.runs import GRADIENTS, all_runs, find, outputs_of, resolve, seeds_are_blocks
from hidden_dynamics.configuration.schema import FOR_ALL

TASKS, MODELS, VARIANTS = "config/tasks.yaml", "config/models.yaml", "config/variants.yaml"
IN_A_SPECIFICATION = {"settings": "task_settings"} | {name: name for name in ("hyperparameters", "training", "data")}
FIXED = {"speech_target"}  # by the tasks themselves: there is a task for either
OF_THEIR_OWN = {  # whose variants are their own, whatever is taken elsewhere
    *("physionet_raw_attention", "physionet_random_rate", "physionet_tied", "physionet_joint"),
    *("physionet_start_label", "physionet_fixed_batches", "physionet_model_bugs", "physionet_released"),
    "physionet_splits",
}
SPEECH = {"timit": 84, "timit_dtriv": 224}
VALUES = [
    (name, value)
    for name, variant in load().variants.items()
    for value in variant.values
    if value != "published" and name not in FIXED
]


def spec_of(configuration, task, model, seed=0):
    return resolve(configuration, task, model, configuration.tasks[task].models[model].run_sizes[0], seed).spec


def test_hyperparameters_come_from_the_model_then_the_task_then_the_size_then_the_variant(project):
    project.set(MODELS, "nag_lstm.hyperparameters", {"a": "model", "b": "model", "c": "model", "d": "model"})
    project.set(TASKS, "mnist.hyperparameters", {"a": "all models"})
    joined = {
        "sizes": [8, 9],
        "hyperparameters": {"b": "task", "c": "task", "d": "task"},
        "by_size": {8: {"hyperparameters": {"c": "size", "d": "size"}}},
    }
    project.set(MODELS, "nag_lstm.tasks", {"mnist": joined})
    for_nag = {"about": "", "models": ["nag_lstm"], "released": {"text": ""}}
    project.set(VARIANTS, "mine", for_nag | {"published": {"text": "", "hyperparameters": {"d": "variant"}}})
    configuration = project.load(scale="paper")
    of_size = [resolve(configuration, "mnist", "nag_lstm", size, 0).spec["hyperparameters"] for size in (8, 9)]
    expected = {"a": "model", "b": "task", "c": "size", "d": "variant", "forget_fill": "both"}
    assert of_size[0] == expected | {"hidden_size": 8}
    assert of_size[1] == expected | {"hidden_size": 9, "c": "task"}


def test_training_comes_from_the_task_then_the_model_then_the_size(project):
    project.set(TASKS, "adding.models.lstm.training", {"epochs": 5, "batch_size": 6})
    project.set(TASKS, "adding.models.lstm.by_size", {128: {"training": {"batch_size": 7}}})
    configuration = project.load(scale="paper")
    training = spec_of(configuration, "adding", "lstm")["training"]
    assert (training["epochs"], training["batch_size"], training["iterations_per_epoch"]) == (5, 7, 100)
    assert spec_of(configuration, "adding", "sr_lstm")["training"] == configuration.tasks["adding"].training.given()


@pytest.mark.parametrize(("scale", "count"), [("demo", 446), ("evening", 1115), ("pilot", 547), ("paper", 1405)])
def test_every_run_has_a_directory_and_a_name_of_its_own(configured, scale, count):
    runs = all_runs(configured(scale=scale))
    assert len(runs) == count
    assert len({run.directory for run in runs}) == len({run.id for run in runs}) == count


def test_every_run_is_found_by_its_directory(configured):
    configuration = configured(scale="demo")
    for run in all_runs(configuration):
        assert find(configuration, run.task, run.sized_model, run.seed) == run
    assert find(configuration, "mnist", "lstm-n32", 99).seed == 99


def test_a_model_has_its_own_network_or_the_tasks_or_the_usual_one(project):
    own = {"label": "Mine", "colour": "magenta", "network": "my.Network", "tasks": {"ptb": {}, "mnist": {}}}
    project.set("config/models.yaml", "mine", own)
    configuration = project.load()
    runs = [
        resolve(configuration, task, model, size, 0)
        for task, size in (("ptb", 1150), ("mnist", 128))
        for model, size in (("mine", None), ("lstm", size))
    ]
    networks = {(run.task, run.model): (run.spec["network"], run.classes["network"]) for run in runs}
    assert networks == {
        ("ptb", "mine"): ("Network", "my.Network"),
        ("mnist", "mine"): ("Network", "my.Network"),
        ("ptb", "lstm"): ("LanguageModel", "hidden_dynamics.models.language_model.LanguageModel"),
        ("mnist", "lstm"): ("RecurrentNetwork", "hidden_dynamics.models.recurrent_network.RecurrentNetwork"),
    }


def test_a_wrong_name_lists_the_right_ones(configured):
    configuration = configured(scale="demo")
    with refused("'lstm-n128'.*Known: lstm-n32, lstm-n48, momentum_lstm-n32"):
        find(configuration, "mnist", "lstm-n128", 0)
    with refused("Did you mean 'mnist'"):
        find(configuration, "mnits", "lstm-n32", 0)
    with refused("task mnist, model lstm: no size 12. Configured: 128, 256"):
        resolve(configuration, "mnist", "lstm", 12, 0)
    with refused("Did you mean 'momentumrnn_table1'"):
        artifact_named(configuration, "momentumrnn_tabel1")


def test_an_artifact_that_shows_what_is_not_configured_is_named(configured):
    configuration = configured(overrides={"tasks": {"mnist": {"models": {"lstm": {"sizes": [128]}}}}})
    with refused("model lstm: no size 256", file="config/artifacts.yaml", key="momentumrnn_table1"):
        artifact_named(configuration, "momentumrnn_table1").runs  # noqa: B018
    assert len(artifact_named(configuration, "momentumrnn_table11").runs) == 20


@pytest.fixture(scope="module")
def published(configured):
    """The paper scale with every variant as published."""
    return configured(scale="paper", variants={"default": "published"})


@pytest.fixture(scope="module")
def published_runs(published):
    return all_runs(published)


def test_published_is_the_default_variant(configured, published_runs):
    assert all_runs(configured(variants={}, scale="paper")) == published_runs


@pytest.mark.parametrize(("variant", "value"), VALUES)
def test_a_variant_taken_by_name_sets_exactly_what_it_lists(configured, published, published_runs, variant, value):
    """config/variants.yaml says what; here it is where it applies, there alone, and instead of what is published."""
    entry, concerned = published.variants[variant], 0
    sets, listed = (
        {name: effect[key] for key, name in IN_A_SPECIFICATION.items() if key in effect}
        for effect in (entry.values[value].given(), entry.published.given())
    )
    after = configured(scale="paper", variants={"default": "published", variant: value})
    for old, new in zip(published_runs, all_runs(after), strict=True):
        model = published.models[new.model].control_of or new.model
        if new.task not in OF_THEIR_OWN and entry.concerns(new.task, model):
            concerned += 1
            assert old.spec["variants"].get(variant, "published") == "published"
            assert (variant in old.spec["variants"]) != entry.later
            assert merge(old.spec, listed) == old.spec
            assert new.spec == merge(old.spec, sets, {"variants": {variant: value}}) != old.spec
        else:
            assert new.spec == old.spec
            assert new.task in OF_THEIR_OWN or variant not in new.spec["variants"]
    assert concerned > 0


def test_released_for_all_leaves_a_variant_without_such_a_value_as_published(configured):
    published, released = (spec_of(configured(variants={"default": all_}), "mnist", "lstm") for all_ in FOR_ALL)
    assert published == released
    assert released["variants"]["forget_fill"] == "published"


def test_an_order_of_patients_is_taken_by_name_alone_for_a_whole_task_and_of_real_patients(configured):
    default = spec_of(configured(scale="paper", variants={"default": "released"}), "physionet", "ode_rnn")
    assert "patient_order" not in default["variants"] and "order" not in default["data"]
    of_one = {"tasks": {"physionet": {"models": {"ode_rnn": {"variants": {"patient_order": "released"}}}}}}
    with refused(file="config.yaml", key="overrides.tasks.physionet.models.ode_rnn.variants.patient_order"):
        configured(scale="paper", overrides=of_one)
    with refused(file="config.yaml", key="variants.patient_order"):
        configured(scale="demo", variants={"patient_order": "released"})


def test_seeds_are_blocks_where_the_data_differ_from_seed_to_seed(configured):
    same = {"permutation": "published", "activity_resampling": "published"}
    fixed = configured(variants={"default": "released"} | same)  # USHCN's first split, too
    cells = [(task, model) for task, entry in fixed.tasks.items() for model in entry.models]
    assert {task for task, model in cells if seeds_are_blocks(fixed, task, model)} == {"physionet_splits"}
    by_seed = configured(variants={"permutation": "released"})
    blocked = {task for task, model in cells if seeds_are_blocks(by_seed, task, model)}
    assert blocked == {"pmnist", "pmnist_dtriv", "pmnist_gradients", "ushcn", "physionet_splits"}
    assert resolve(by_seed, "pmnist", "lstm", 128, 0).spec["task_settings"] == {"permutation": "by_seed"}


@pytest.mark.parametrize("default", ["published", "released"])
def test_speech_is_there_in_both_variants_whatever_is_taken_elsewhere(configured, default):
    configuration = configured(variants={"default": default})
    for task in ("timit", "timit_dtriv"):
        for name, variant, target in ((task, "published", "next"), (f"{task}_recall", "released", "previous")):
            spec = resolve(configuration, name, next(iter(configuration.tasks[name].models)), SPEECH[task], 0).spec
            assert (spec["variants"]["speech_target"], spec["task_settings"]["target"]) == (variant, target)


@pytest.mark.parametrize("default", ["published", "released"])
def test_each_difference_of_the_released_code_is_run_alone_and_all_together_whatever_is_taken_elsewhere(
    configured, default: str
):
    configuration = configured(variants={"default": default}, scale="paper")
    ones = [(task, model) for task in OF_THEIR_OWN for model in configuration.tasks[task].models]
    taken = {one: spec_of(configuration, *one)["variants"] for one in ones}
    for (task, model), values in taken.items():
        differing = [name for name, value in values.items() if value != "published"]
        known = [name for name in values if configuration.variants[name].released is not None]
        assert len(differing) == (len(known) if task == "physionet_released" else 1), (task, model, differing)
    assert {variant for _, values in taken.items() for variant in values} >= {
        *("latent_mixing", "latent_rate", "latent_tied", "latent_training", "latent_label", "series_batches"),
        *("rnn_gap", "impute_mean", "decay_gaps", "rnn_vae_order", "ode_rnn_steps", "poisson_unobserved"),
    }


def test_the_most_particular_choice_of_a_variant_wins(project):
    """config.yaml's default, its choice by name, the task's, the model's on the task; by name goes before default."""

    def taken(model="sr_lstm", variant="restart_phase", **settings):
        return spec_of(project.load(**settings), "mnist", model)["variants"][variant]

    assert taken(variants={"default": "released"}) == "released"
    assert taken(variants={"default": "released", "restart_phase": "published"}) == "published"
    project.set(TASKS, "mnist.variants", {"default": "released"})
    assert taken(variants={"default": "published", "restart_phase": "published"}) == "released"
    project.set(TASKS, "mnist.variants", {"default": "released", "restart_phase": "published"})
    assert taken() == "published"
    assert taken(variant="sr_cell") == "released"
    project.set(TASKS, "mnist.models.sr_lstm.variants", {"default": "released"})
    assert taken() == "released"
    assert taken("lstm", "forget_fill") == "published"
    project.set(TASKS, "mnist.models.lstm.variants", {"forget_fill": "once"})
    assert taken("lstm", "forget_fill", variants={"default": "released", "forget_fill": "published"}) == "once"
    project.set(TASKS, "mnist.models.sr_lstm.variants", {"default": "released", "restart_phase": "published"})
    assert taken() == "published"


def test_a_figure_with_two_panels_of_one_task_needs_each_run_once(configured):
    runs = artifact_named(configured(), "momentumrnn_figure9").runs
    assert len(runs) == len({run.id for run in runs}) == 30
    assert {(run.task, run.paper_size) for run in runs} == {("mnist", 128), ("timit", 120), ("timit_recall", 120)}


def test_a_grid_makes_a_run_of_every_combination(configured):
    grid = {"mu": [0.5, 0.0], "s": [1.0, 0.25, 2]}
    changes = {"mnist_ablation": {"models": {"momentum_lstm": {"grid": grid}}}}
    configuration = configured(overrides={"tasks": changes}, seeds=[4])
    cells = artifact_named(configuration, "momentumrnn_figure7").cases()
    of_mnist = [cell for cell in cells if cell[0] == "mnist_ablation"]
    assert [size for *_, size in of_mnist] == [f"mu{mu}-s{s}" for mu in (0.5, 0.0) for s in (1.0, 0.25, 2)]
    run = resolve(configuration, *of_mnist[1], 4)
    assert run.id == "mnist_ablation/momentum_lstm-mu0.5-s0.25/seed4"
    assert run.spec["hyperparameters"] == {"hidden_size": 32, "mu": 0.5, "s": 0.25, "forget_fill": "both"}
    assert find(configuration, "mnist_ablation", run.sized_model, 4) == run


def test_an_ablation_without_a_grid_is_refused(project):
    project.set(TASKS, "mnist_ablation.models.momentum_lstm", {"sizes": [8]})
    with refused("needs a grid", file="config/artifacts.yaml", key="momentumrnn_figure7"):
        artifact_named(project.load(scale="paper"), "momentumrnn_figure7")


def test_only_a_task_that_records_gradients_has_a_file_of_them(configured):
    configuration = configured()
    recording = [task for task in configuration.tasks if GRADIENTS in outputs_of(configuration, task)]
    assert recording == ["pmnist_gradients"]


def test_a_model_of_ones_own_appears_wherever_its_tasks_and_sizes_are_shown(project):
    project.set(MODELS, "nag_lstm.tasks", {"mnist": {"sizes": [128], "hyperparameters": {"s": 0.5}}})
    configuration = project.load()
    mine = ("mnist", "nag_lstm", 128)
    showing = {name: artifact for name, artifact in load_artifacts(configuration).items() if mine in artifact.cases()}
    assert list(showing) == ["momentumrnn_table1", "momentumrnn_table11", "momentumrnn_figure9"]
    for artifact in showing.values():
        assert artifact.cases()[-1] == mine
        assert {run.seed for run in artifact.runs if run.model == "nag_lstm"} == {0, 1}
    assert resolve(configuration, *mine, 0).spec["hyperparameters"]["s"] == 0.5


def test_a_specification_is_json_and_says_nothing_of_where_it_runs(configured):
    here = configured(results="here", device="cpu", runs_per_gpu=1)
    there = configured(
        results="there",
        device={"default": "cuda", "adding": "cpu"},
        runs_per_gpu=4,
        data={"directory": "d", "mirror": "m"},
    )
    for one, other in zip(all_runs(here), all_runs(there), strict=True):
        assert json.loads(json.dumps(one.spec)) == one.spec == other.spec
        assert one.directory == other.directory.replace("there", "here")


def test_prepared_data_is_named_by_its_settings_in_any_order(configured):
    configuration = configured(data={"directory": "elsewhere", "mirror": None})
    name = configuration.paths.prepared("adding", {"length": 5, "seed": 0})
    assert name == configuration.paths.prepared("adding", {"seed": 0, "length": 5})
    assert name == "elsewhere/prepared/adding-length5-seed0.npz"
    assert configuration.paths.prepared("digits", {}) == "elsewhere/prepared/digits.npz"
    assert configuration.paths.prepared("physionet2012", {"sets": ["a", "b"]}).endswith("/physionet2012-setsa+b.npz")
