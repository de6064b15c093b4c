"""Runs: how a specification is resolved, which readings it takes, and which runs an artifact needs."""

import json

import pytest
from conftest import refused

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.configuration import merge
from hidden_dynamics.configuration.runs import GRADIENTS, all_runs, find, outputs_of, resolve, seeds_are_blocks
from hidden_dynamics.configuration.schema import FOR_ALL

TASKS, MODELS, READINGS = "config/tasks.yaml", "config/models.yaml", "config/readings.yaml"
PAPER_ROWS = [
    # task, model, size, hyperparameters (Tables 6 to 10)
    ("mnist", "rmsprop_lstm", 128, {"s": 0.6, "beta": 0.99}),
    ("mnist", "rmsprop_lstm", 256, {"s": 0.6, "beta": 0.9}),
    ("mnist", "adam_lstm", 256, {"mu": 0.6, "s": 0.6, "beta": 0.1}),
    ("mnist", "sr_lstm", 128, {"s": 1.0, "restart": 2}),
    ("pmnist", "sr_lstm", 128, {"s": 0.01, "restart": 6}),
    ("pmnist", "sr_lstm", 256, {"s": 0.9, "restart": 40}),
    ("pmnist", "momentum_lstm", 256, {"mu": 0.6, "s": 1.0}),
    ("copying_1k", "momentum_lstm", 190, {"mu": 0.6, "s": 0.9}),
    ("copying_2k", "momentum_lstm", 190, {"mu": 0.9, "s": 2.0}),
    ("adding", "adam_lstm", 128, {"mu": 0.6, "s": 2.0, "beta": 0.999}),
    ("timit", "momentum_lstm", 84, {"mu": 0.3, "s": 0.1, "forget_bias": -4.0}),
    ("timit_recall", "adam_lstm", 158, {"mu": 0.3, "s": 0.1, "beta": 0.999, "forget_bias": -4.0}),
    ("pmnist_dtriv", "momentum_dtriv", 170, {"mu": 0.6, "s": 0.9, "K": 1}),
    ("pmnist_dtriv", "momentum_dtriv", 512, {"mu": 0.3, "s": 0.3, "K": "∞"}),
    ("pmnist_dtriv", "sr_dtriv", 512, {"s": 0.3, "restart": 2, "K": "∞"}),
    ("timit_dtriv", "dtriv", 322, {"K": "∞", "initialisation": "henaff"}),
]
RELEASED = {
    # reading: a run that it concerns, and what it sets there
    "sr_cell": ("mnist", "sr_lstm", {"hyperparameters": {"cell": "look_ahead"}}),
    "restart_phase": ("adding", "sr_lstm", {"hyperparameters": {"phase": 0}}),
    "adam_epsilon": ("mnist", "rmsprop_lstm", {"hyperparameters": {"eps": 1e-16}}),
    "permutation": ("pmnist", "lstm", {"task_settings": {"permutation": "by_seed"}}),
    "orthogonal_speech_clipping": ("timit_dtriv", "dtriv", {"training": {"clip_norm": 1.0}}),
    "gradient_momentum": ("pmnist_gradients", "momentum_dtriv", {"hyperparameters": {"mu": 0.999, "s": 0.6}}),
    "language_initialisation": ("ptb", "lstm", {"hyperparameters": {"initialisation": "orthogonal"}}),
    "restart_in_segments": ("ptb", "sr_lstm", {"hyperparameters": {"carry_filter": False}}),
    "attention_training": (
        *("mnist_images", "ace_ode_net"),
        {"hyperparameters": {"penalty": {"of": "logits"}}, "training": {"alternating": False}},
    ),
    "reported_epoch": (
        *("svhn_images", "resnet"),
        {
            "task_settings": {"select_on": "test"},
            "training": {"report": {"metric": "test_accuracy", "rule": "max"}},
        },
    ),
    "stem_padding": ("svhn_images", "rknet", {"hyperparameters": {"padding": 0}}),
    "main_layers": ("svhn_images", "ace_ode_net", {"hyperparameters": {"f_layers": 2}}),
    "evaluation_crop": ("cifar10_images", "ode_net", {"task_settings": {"evaluate_on": "image"}}),
    "mnist_attention_script": ("mnist_images", "ace_ode_net", {"training": {"rates": {"until": 150}}}),
    "svhn_attention_script": ("svhn_images", "ace_ode_net_large", {"training": {"rates": {"scale": 2, "until": 92}}}),
    "svhn_baseline_script": ("svhn_images", "augmented_ode_net", {"training": {"rates": {"scale": 2, "until": 91}}}),
    "cifar10_attention_script": (
        *("cifar10_images", "ace_ode_net"),
        {
            "hyperparameters": {"solver": {"adjoint": False}},
            "training": {"rates": {"until": 150}, "optimisers": {"main": {"weight_decay": 1e-5}}},
        },
    ),
    "cifar10_baseline_script": ("cifar10_images", "resnet", {"training": {"rates": {"scale": 10, "until": 101}}}),
    "cifar10_baseline_solver": (
        *("cifar10_images", "ode_net"),
        {"hyperparameters": {"solver": {"rtol": 1e-3, "atol": 1e-3, "adjoint": False}}},
    ),
    "series_folds": ("ushcn", "gru_d", {"task_settings": {"fold": 0}}),
    "series_ids": ("ushcn", "gru_d", {"task_settings": {"series": "by_id"}}),
    "series_flow": ("ushcn", "gru_ode_bayes", {"hyperparameters": {"solver": "still"}}),
    "series_rates": (
        "ushcn",
        "ace_gru_ode_bayes",
        {"training": {"rates": {"drops": [22], "factor": 0.3333333333333333}}},
    ),
    "series_attention": (
        *("ushcn", "ace_gru_ode_bayes"),
        {
            "hyperparameters": {
                "attention": "released",
                "penalty": {"weight": 0.1, "norm": 2, "of": "correlation"},
            },
            "training": {"alternating": False},
        },
    ),
    "physionet_placeholders": ("physionet", "rnn_delta", {"task_settings": {"placeholders": "values"}}),
    "physionet_normalisation": (
        *("physionet_interpolation", "rnn_vae"),
        {"task_settings": {"normalisation": "maximum"}},
    ),
    "zero_times": ("physionet_extrapolation", "latent_ode", {"task_settings": {"zero_times": "dropped"}}),
    "series_epoch": (
        *("human_activity", "mtan"),
        {"task_settings": {"validation": 0}, "training": {"report": {"metric": "train_loss", "rule": "last"}}},
    ),
    "sample_scores": ("physionet", "latent_ode", {"task_settings": {"scores": "pooled"}}),
    "series_batches": ("human_activity", "ode_rnn", {"training": {"fixed_batches": True}}),
    "latent_rates": ("physionet", "rnn_gru_d", {"training": {"rates": {"decay": 0.999, "floor": 0.1}}}),
    "latent_epochs": ("physionet", "rnn_gru_d", {"training": {"rates": {"until": 20}}}),
    "extrapolation_split": ("physionet_extrapolation", "rnn_vae", {"task_settings": {"split_at": "index"}}),
    "extrapolation_start": ("physionet_extrapolation", "latent_ode", {"hyperparameters": {"start": "first_asked"}}),
    "latent_samples": ("human_activity", "latent_ode", {"hyperparameters": {"samples": 2}}),
    "latent_tolerance": (
        *("physionet", "latent_ode_rnn"),
        {"hyperparameters": {"solver": {"rtol": 1e-3, "atol": 1e-4}}},
    ),
    "latent_layers": (
        *("physionet", "ace_latent_ode"),
        {"hyperparameters": {"generative_layers": 3, "recognition_layers": 3}},
    ),
    "rnn_encoded_layers": ("physionet", "latent_ode_rnn", {"hyperparameters": {"generative_layers": 3}}),
    "ode_rnn_layers": ("physionet", "ode_rnn", {"hyperparameters": {"layers": 3}}),
    "latent_label": ("physionet", "latent_ode", {"hyperparameters": {"label_from": "start"}}),
    "latent_mixing": ("human_activity", "ace_latent_ode", {"hyperparameters": {"mixing": "raw"}}),
    "latent_rate": ("physionet", "ace_latent_ode", {"hyperparameters": {"rate": "random"}}),
    "latent_tied": ("physionet", "ace_latent_ode", {"hyperparameters": {"tied": True}}),
    "latent_training": (
        *("physionet_extrapolation", "ace_latent_ode"),
        {"hyperparameters": {"penalty": {"weight": 0, "norm": 2}}, "training": {"alternating": False}},
    ),
    "poisson_unobserved": ("physionet", "latent_ode_poisson", {"hyperparameters": {"unobserved": "zero"}}),
    "ode_rnn_steps": ("human_activity", "ode_rnn", {"hyperparameters": {"steps": "backwards"}}),
    "rnn_vae_order": ("physionet_interpolation", "rnn_vae", {"hyperparameters": {"order": "patients"}}),
    "rnn_gap": ("physionet", "rnn_impute", {"hyperparameters": {"gap": "to_next"}}),
    "impute_mean": ("physionet", "rnn_gru_d", {"hyperparameters": {"mean": "union"}}),
    "decay_gaps": ("physionet", "rnn_decay", {"hyperparameters": {"carried": "released"}}),
    "activity_split": ("human_activity", "rnn_delta", {"task_settings": {"windows": "at_random"}}),
    "activity_resampling": ("human_activity", "rnn_delta", {"task_settings": {"resampled": True}}),
    "activity_labels": ("human_activity", "rnn_delta", {"task_settings": {"bin_labels": "lowest", "classes": 11}}),
    "activity_classifier": ("human_activity", "ode_rnn", {"hyperparameters": {"classifier": "mlp"}}),
}
LAMBDA = {"weight": 0.01, "norm": 2, "of": "parameters"}
OTHERS = {
    # (reading, its value): as above
    ("series_grid", "finer"): ("ushcn", "gru_ode_bayes", {"hyperparameters": {"delta": 0.1, "prep": 20}}),
    ("series_grid", "original"): ("ushcn", "gru_ode_bayes", {"hyperparameters": {"delta": 0.1, "prep": 10}}),
    ("series_attention", "fc"): (
        *("ushcn", "ace_gru_ode_bayes"),
        {"hyperparameters": {"attention": "fc", "penalty": LAMBDA}, "training": {"alternating": True}},
    ),
    ("series_attention", "fixed"): (
        *("ushcn", "ace_gru_ode_bayes"),
        {
            "hyperparameters": {"attention": "fixed", "penalty": LAMBDA | {"weight": 0}},
            "training": {"alternating": False},
        },
    ),
    ("series_attention_at_jumps", "renewed"): (
        "ushcn",
        "ace_gru_ode_bayes",
        {"hyperparameters": {"at_jump": "renewed"}},
    ),
    ("series_attention_gradient", "through"): ("ushcn", "ace_gru_ode_bayes", {"hyperparameters": {"detached": False}}),
    ("activity_units", "text"): (
        *("human_activity", "latent_ode"),
        {"hyperparameters": {"units": 50, "recognition_layers": 2}},
    ),
    ("forget_fill", "once"): ("mnist", "lstm", {"hyperparameters": {"forget_fill": "once"}}),
    ("pixel_values", "binary"): ("mnist", "lstm", {"task_settings": {"pixels": "binary"}}),
    ("copying_readout", "exprnn"): ("copying_2k", "lstm", {"hyperparameters": {"readout": "kaiming"}}),
    ("adding_script", "indrnn"): (
        *("adding", "sr_lstm"),
        {"training": {"rates": {"drops": [200, 400, 600, 800, 1000], "factor": 0.1}, "clip_norm": 10}},
    ),
    ("adding_epochs", "iterations"): (
        "adding",
        "lstm",
        {"training": {"iterations_per_epoch": 1, "rates": {"drops": []}}},
    ),
    ("attention_training", "q_with_attention"): (
        *("svhn_images", "ace_ode_net"),
        {"hyperparameters": {"q_trained_with": "attention"}},
    ),
    ("text_layers", "text"): ("cifar10_images", "ace_ode_net", {"hyperparameters": {"f_layers": 1, "q_layers": 2}}),
}
CHOICES = {(reading, "released"): sets for reading, sets in RELEASED.items()} | OTHERS
PLACES = {
    "hyperparameters": "hyperparameters",
    "settings": "task_settings",
    "training": "training",
}  # in a specification
FIXED = {"speech_target"}  # by the tasks themselves: there is a task for either
OF_THEIR_OWN = {  # whose readings are their own, whatever is taken elsewhere
    *("physionet_raw_attention", "physionet_random_rate", "physionet_tied", "physionet_joint"),
    *("physionet_start_label", "physionet_fixed_batches", "physionet_model_bugs", "physionet_released"),
}
SPEECH = {"timit": 84, "timit_dtriv": 224}
CELLS = [(task, model) for task, model, *_ in RELEASED.values()]


def spec_of(configuration, task, model, seed=0):
    return resolve(configuration, task, model, configuration.tasks[task].models[model].run_sizes[0], seed).spec


def test_hyperparameters_come_from_the_model_then_the_task_then_the_size_then_the_reading(project):
    project.set(MODELS, "nag_lstm.hyperparameters", {"a": "model", "b": "model", "c": "model", "d": "model"})
    joined = {
        "sizes": [8, 9],
        "hyperparameters": {"b": "task", "c": "task", "d": "task"},
        "by_size": {8: {"hyperparameters": {"c": "size", "d": "size"}}},
    }
    project.set(MODELS, "nag_lstm.tasks", {"mnist": joined})
    for_nag = {"about": "", "models": ["nag_lstm"], "released": {"text": ""}}
    project.set(READINGS, "mine", for_nag | {"published": {"text": "", "hyperparameters": {"d": "reading"}}})
    configuration = project.load(scale="paper")
    of_size = [resolve(configuration, "mnist", "nag_lstm", size, 0).spec["hyperparameters"] for size in (8, 9)]
    expected = {"a": "model", "b": "task", "c": "size", "d": "reading", "forget_fill": "both"}
    assert of_size[0] == expected | {"hidden_size": 8}
    assert of_size[1] == expected | {"hidden_size": 9, "c": "task"}


def test_training_comes_from_the_task_then_the_model_then_the_size(project):
    project.set(TASKS, "adding.models.lstm.training", {"epochs": 5, "batch_size": 6})
    project.set(TASKS, "adding.models.lstm.by_size", {128: {"training": {"batch_size": 7}}})
    configuration = project.load(scale="paper")
    training = spec_of(configuration, "adding", "lstm")["training"]
    assert (training["epochs"], training["batch_size"], training["iterations_per_epoch"]) == (5, 7, 100)
    assert spec_of(configuration, "adding", "sr_lstm")["training"] == configuration.tasks["adding"].training.given()


def test_a_scale_maps_sizes_but_hyperparameters_follow_the_papers_size(configured):
    run = resolve(configured(scale="demo"), "mnist", "rmsprop_lstm", 128, 1)
    assert run.paper_size == 128
    assert run.spec["hyperparameters"]["hidden_size"] == 32
    assert run.spec["hyperparameters"]["beta"] == 0.99
    assert run.variant == "rmsprop_lstm-n32"
    assert run.id == "mnist/rmsprop_lstm-n32/seed1"
    assert run.directory == "results/demo/runs/mnist/rmsprop_lstm-n32/seed1"


@pytest.mark.parametrize(("task", "model", "size", "published"), PAPER_ROWS)
def test_the_paper_scale_holds_the_published_hyperparameters(configured, task, model, size, published):
    run = resolve(configured(scale="paper"), task, model, size, 0)
    given = {key: run.spec["hyperparameters"][key] for key in published}
    assert given == published
    assert run.spec["hyperparameters"]["hidden_size"] == size


def test_the_paper_scale_holds_the_published_training(configured):
    pixels = spec_of(configured(scale="paper"), "pmnist", "lstm")["training"]
    assert (pixels["batch_size"], pixels["epochs"], pixels["clip_norm"]) == (128, 150, 1.0)
    assert pixels["optimisers"]["main"] == {"name": "RMSprop", "lr": 0.001, "alpha": 0.9, "eps": 1e-8}
    assert spec_of(configured(scale="paper"), "adding", "lstm")["training"]["optimisers"]["main"]["name"] == "Adam"


def test_orthogonal_networks_are_trained_as_table_6_says_size_by_size(configured):
    rates = {170: (0.0007, 0.0002), 360: (0.0007, 0.00005), 512: (0.0003, 0.00007)}
    for size, expected in rates.items():
        optimisers = resolve(configured(scale="paper"), "pmnist_dtriv", "dtriv", size, 0).spec["training"]["optimisers"]
        assert (optimisers["main"]["lr"], optimisers["orthogonal"]["lr"]) == expected


@pytest.mark.parametrize(("scale", "count"), [("demo", 436), ("evening", 1090), ("pilot", 532), ("paper", 1330)])
def test_every_run_has_a_directory_and_a_name_of_its_own(configured, scale, count):
    runs = all_runs(configured(scale=scale))
    assert len(runs) == count
    assert len({run.directory for run in runs}) == len({run.id for run in runs}) == count


def test_every_run_is_found_by_its_directory(configured):
    configuration = configured(scale="demo")
    for run in all_runs(configuration):
        assert find(configuration, run.task, run.variant, run.seed) == run
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


def test_hyperparameters_of_a_task_are_those_of_all_its_models_unless_they_say_otherwise(project):
    project.set("config/tasks.yaml", "ptb.models.sr_lstm.hyperparameters.layers", 2)
    configuration = project.load(scale="paper")
    layers = {
        model: resolve(configuration, "ptb", model, 1150, 0).spec["hyperparameters"]["layers"]
        for model in configuration.tasks["ptb"].models
    }
    assert layers == {"lstm": 3, "momentum_lstm": 3, "adam_lstm": 3, "rmsprop_lstm": 3, "sr_lstm": 2}


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
    """The paper scale with every reading as published."""
    return configured(scale="paper", readings={"default": "published"})


@pytest.fixture(scope="module")
def published_runs(published):
    return all_runs(published)


def test_published_is_the_default_reading(configured, published_runs):
    assert all_runs(configured(readings={}, scale="paper")) == published_runs


@pytest.mark.parametrize(("reading", "value"), CHOICES)
def test_a_reading_taken_by_name_sets_exactly_what_it_lists(configured, published, published_runs, reading, value):
    task, model, sets = CHOICES[reading, value]
    taken, entry = spec_of(published, task, model), published.readings[reading]
    effect = entry.published.given()
    listed = {name: effect[key] for key, name in PLACES.items() if key in effect}
    assert taken["readings"][reading] == "published"
    assert merge(taken, listed) == taken != merge(taken, sets)
    after, concerned = configured(scale="paper", readings={"default": "published", reading: value}), 0
    for old, new in zip(published_runs, all_runs(after), strict=True):
        model = published.models[new.model].control_of or new.model
        if new.task in OF_THEIR_OWN:
            assert new.spec == old.spec
        elif model in (entry.models or [model]) and new.task in (entry.tasks or [new.task]):
            concerned += 1
            assert new.spec == merge(old.spec, sets, {"readings": {reading: value}}) != old.spec
        else:
            assert new.spec == old.spec
            assert reading not in new.spec["readings"]
    assert concerned > 0


def test_every_value_of_every_reading_is_tried_here(configured):
    values = {(name, value) for name, reading in configured().readings.items() for value in reading.values}
    assert set(CHOICES) == {(name, value) for name, value in values if value != "published" and name not in FIXED}


def test_released_for_all_leaves_a_reading_without_such_a_value_as_published(configured):
    published, released = (spec_of(configured(readings={"default": all_}), "mnist", "lstm") for all_ in FOR_ALL)
    assert published == released
    assert released["readings"]["forget_fill"] == "published"


def test_seeds_are_blocks_where_the_data_differ_from_seed_to_seed(configured):
    same = {"permutation": "published", "activity_resampling": "published"}
    fixed = configured(readings={"default": "released"} | same)  # USHCN's first split, too
    assert not any(seeds_are_blocks(fixed, task, model) for task, model in CELLS)
    by_seed = configured(readings={"permutation": "released"})
    cells = [(task, model) for task, entry in by_seed.tasks.items() for model in entry.models]
    blocked = {task for task, model in cells if seeds_are_blocks(by_seed, task, model)}
    assert blocked == {"pmnist", "pmnist_dtriv", "pmnist_gradients", "ushcn"}
    assert resolve(by_seed, "pmnist", "lstm", 128, 0).spec["task_settings"] == {"permutation": "by_seed"}


@pytest.mark.parametrize("default", ["published", "released"])
def test_speech_is_there_in_both_readings_whatever_is_taken_elsewhere(configured, default):
    configuration = configured(readings={"default": default})
    for task in ("timit", "timit_dtriv"):
        for name, reading, target in ((task, "published", "next"), (f"{task}_recall", "released", "previous")):
            spec = resolve(configuration, name, next(iter(configuration.tasks[name].models)), SPEECH[task], 0).spec
            assert (spec["readings"]["speech_target"], spec["task_settings"]["target"]) == (reading, target)


@pytest.mark.parametrize("default", ["published", "released"])
def test_each_difference_of_the_released_code_is_run_alone_and_all_together_whatever_is_taken_elsewhere(
    configured, default: str
):
    configuration = configured(readings={"default": default}, scale="paper")
    ones = [(task, model) for task in OF_THEIR_OWN for model in configuration.tasks[task].models]
    taken = {one: spec_of(configuration, *one)["readings"] for one in ones}
    for (task, model), values in taken.items():
        differing = [name for name, value in values.items() if value == "released"]
        assert len(differing) == (len(values) if task == "physionet_released" else 1), (task, model, differing)
    assert {reading for _, values in taken.items() for reading in values} >= {
        *("latent_mixing", "latent_rate", "latent_tied", "latent_training", "latent_label", "series_batches"),
        *("rnn_gap", "impute_mean", "decay_gaps", "rnn_vae_order", "ode_rnn_steps", "poisson_unobserved"),
    }


def test_released_by_default_sets_what_every_reading_lists(configured):
    configuration = configured(readings={"default": "released"})
    for task, model, released in RELEASED.values():
        taken = spec_of(configuration, task, model)
        chosen = {value for name, value in taken["readings"].items() if name in RELEASED}
        assert chosen == {"released"}
        assert merge(taken, released) == taken


def test_the_most_particular_choice_of_a_reading_wins(project):
    """config.yaml's default, its choice by name, the task's, the model's on the task; by name goes before default."""

    def taken(model="sr_lstm", reading="restart_phase", **settings):
        return spec_of(project.load(**settings), "mnist", model)["readings"][reading]

    assert taken(readings={"default": "released"}) == "released"
    assert taken(readings={"default": "released", "restart_phase": "published"}) == "published"
    project.set(TASKS, "mnist.readings", {"default": "released"})
    assert taken(readings={"default": "published", "restart_phase": "published"}) == "released"
    project.set(TASKS, "mnist.readings", {"default": "released", "restart_phase": "published"})
    assert taken() == "published"
    assert taken(reading="sr_cell") == "released"
    project.set(TASKS, "mnist.models.sr_lstm.readings", {"default": "released"})
    assert taken() == "released"
    assert taken("lstm", "forget_fill") == "published"
    project.set(TASKS, "mnist.models.lstm.readings", {"forget_fill": "once"})
    assert taken("lstm", "forget_fill", readings={"default": "released", "forget_fill": "published"}) == "once"
    project.set(TASKS, "mnist.models.sr_lstm.readings", {"default": "released", "restart_phase": "published"})
    assert taken() == "published"


def test_an_artifact_needs_its_rows_on_its_tasks_with_every_seed(configured):
    configuration = configured(scale="paper", seeds=[4, 2])
    runs = artifact_named(configuration, "momentumrnn_table11").runs
    models = ["lstm", "momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm"]
    assert [(run.model, run.task, run.paper_size, run.seed) for run in runs] == [
        (model, task, 128, seed) for model in models for task in ("mnist", "pmnist") for seed in (4, 2)
    ]


def test_a_figure_with_two_panels_of_one_task_needs_each_run_once(configured):
    runs = artifact_named(configured(), "momentumrnn_figure9").runs
    assert len(runs) == len({run.id for run in runs}) == 30
    assert {(run.task, run.paper_size) for run in runs} == {("mnist", 128), ("timit", 120), ("timit_recall", 120)}


def test_a_grid_makes_a_run_of_every_combination(configured):
    grid = {"mu": [0.5, 0.0], "s": [1.0, 0.25, 2]}
    changes = {"mnist_ablation": {"models": {"momentum_lstm": {"grid": grid}}}}
    configuration = configured(overrides={"tasks": changes}, seeds=[4])
    cells = artifact_named(configuration, "momentumrnn_figure7").cells()
    of_mnist = [cell for cell in cells if cell[0] == "mnist_ablation"]
    assert [size for *_, size in of_mnist] == [f"mu{mu}-s{s}" for mu in (0.5, 0.0) for s in (1.0, 0.25, 2)]
    run = resolve(configuration, *of_mnist[1], 4)
    assert run.id == "mnist_ablation/momentum_lstm-mu0.5-s0.25/seed4"
    assert run.spec["hyperparameters"] == {"hidden_size": 32, "mu": 0.5, "s": 0.25, "forget_fill": "both"}
    assert find(configuration, "mnist_ablation", run.variant, 4) == run


def test_an_ablation_without_a_grid_is_refused(project):
    project.set(TASKS, "mnist_ablation.models.momentum_lstm", {"sizes": [8]})
    with refused("needs a grid", file="config/artifacts.yaml", key="momentumrnn_figure7"):
        artifact_named(project.load(scale="paper"), "momentumrnn_figure7")


def test_only_a_task_that_records_gradients_has_a_file_of_them(configured):
    configuration = configured()
    recording = [task for task in configuration.tasks if GRADIENTS in outputs_of(configuration, task)]
    assert recording == ["pmnist_gradients"]


@pytest.mark.parametrize("artifact", ["momentumrnn_table6", "momentumrnn_figure8", "momentumrnn_table14"])
def test_an_artifact_made_from_the_configuration_or_a_measurement_needs_no_runs(configured, artifact):
    assert artifact_named(configured(), artifact).runs == []


def test_a_model_of_ones_own_appears_wherever_its_tasks_and_sizes_are_shown(project):
    project.set(MODELS, "nag_lstm.tasks", {"mnist": {"sizes": [128], "hyperparameters": {"s": 0.5}}})
    configuration = project.load()
    mine = ("mnist", "nag_lstm", 128)
    showing = {name: artifact for name, artifact in load_artifacts(configuration).items() if mine in artifact.cells()}
    assert list(showing) == ["momentumrnn_table1", "momentumrnn_table11", "momentumrnn_figure9"]
    for artifact in showing.values():
        assert artifact.cells()[-1] == mine
        assert {run.seed for run in artifact.runs if run.model == "nag_lstm"} == {0, 1}
    assert resolve(configuration, *mine, 0).spec["hyperparameters"]["s"] == 0.5


def test_a_specification_is_json_and_says_nothing_of_where_it_runs(configured):
    here = configured(results="here", device="cpu", runs_per_gpu=1)
    there = configured(results="there", device="cuda", runs_per_gpu=4, data={"directory": "d", "mirror": "m"})
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
