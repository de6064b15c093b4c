"""The published numbers: their structure, some of them by hand and, where the papers' text is at hand, all of them."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from hidden_dynamics.training.building import imported
from hidden_dynamics.configuration import load
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import PUBLISHED, load_published, load_tasks, row_of
from hidden_dynamics.configuration.runs import resolve

RESULTS = ("1", "2", "3", "4", "5", "11", "12", "13")
HYPERPARAMETERS = ("6", "7", "8", "9", "10")
FILES = sorted(str(path.relative_to(PUBLISHED)) for path in PUBLISHED.glob("*/*.yaml"))
MODELS = {
    f"{prefix}{core}".lower(): f"{name}{core.lower()}"
    for core in ("LSTM", "DTRIV")
    for prefix, name in (
        ("", ""),
        ("Momentum", "momentum_"),
        ("Adam", "adam_"),
        ("RMSProp", "rmsprop_"),
        ("SR", "sr_"),
    )
}
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


def table(number: str) -> dict:
    return load_published(f"momentumrnn/table{number}.yaml")


def settings(number: str, model: str, size: int | None, task: str) -> dict:
    return row_of(table(number), model, size, task)["settings"]


@pytest.mark.parametrize("name", FILES)
def test_every_file_follows_the_schema(name):
    assert load_published(name)["source"]["paper"]


def test_files_are_those_that_artifacts_name():
    named = {entry["published"] for entry in load().artifacts.values() if "published" in entry}
    assert named <= set(FILES)


@pytest.mark.parametrize("number", RESULTS)
def test_a_result_is_there_for_every_task_and_metric(number):
    content = table(number)
    for row in content["rows"]:
        only = row.get("literature_only", False)
        assert only == (row["values"] == {}) and (not only or "literature" in row)
        assert ("literature" in row) == (row["model"] == content["baseline"])
        for given in filter(None, (row["values"], row.get("literature"))):
            assert set(given) == set(content["tasks"])
            test_only = "only_in" in row or (number == "3" and given is row.get("literature"))
            metrics = [metric for metric in content["metrics"] if not test_only or metric == "test_perplexity"]
            assert all(list(numbers) == metrics for numbers in given.values())
        assert ("parameters" in row) == ("only_in" not in row)


@pytest.mark.parametrize("number", RESULTS)
def test_every_reference_is_named_and_used(number):
    content = table(number)
    quoted = [
        item
        for row in content["rows"]
        for by_metric in row.get("literature", {}).values()
        for items in by_metric.values()
        for item in items
    ]
    assert {key for item in quoted for key in item["keys"]} == set(content["references"])


def test_tables_agree_where_they_overlap():
    for one, other in (("1", "11"), ("2", "12"), ("4", "13")):
        rows = {(row["model"], row["size"]): row for row in table(one)["rows"]}
        shared = [(row, rows[row["model"], row["size"]]) for row in table(other)["rows"] if row_key(row) in rows]
        assert len(shared) >= 2
        assert all(left == right for left, right in shared)


def row_key(row: dict) -> tuple:
    return row["model"], row["size"]


def test_results_by_hand():
    assert row_of(table("1"), "sr_lstm", 256)["values"]["pmnist"]["test_accuracy"] == {"mean": 93.82, "std": 1.85}
    assert row_of(table("1"), "lstm", 256)["literature"]["mnist"]["test_accuracy"][1] == {"value": 98.50, "keys": [62]}
    assert row_of(table("11"), "rmsprop_lstm", 128)["values"]["mnist"]["test_accuracy"] == {"mean": 99.09, "std": 0.05}
    assert row_of(table("1"), "sr_lstm", 128) is None
    lstm = row_of(table("2"), "lstm", 158)
    assert lstm["values"]["timit"]["test_loss"] == {"mean": 9.37, "std": 0.14}
    assert lstm["literature"]["timit"]["validation_loss"] == [{"value": 13.66, "keys": [22, 34]}]
    assert row_of(table("5"), "momentum_dtriv", 322)["values"]["timit_dtriv"] == {
        "validation_loss": {"mean": 1.21, "std": 0.05},
        "test_loss": {"mean": 1.17, "std": 0.05},
    }
    assert row_of(table("12"), "sr_lstm", 120)["values"]["timit"]["validation_loss"] == {"mean": 8.15, "std": 0.26}
    assert row_of(table("4"), "dtriv", 360)["literature"]["pmnist_dtriv"]["test_accuracy"][0]["value"] == 96.50
    assert row_of(table("13"), "sr_dtriv", 512)["values"]["pmnist_dtriv"]["test_accuracy"]["mean"] == 97.02


def test_perplexities_by_hand():
    lstm = row_of(table("3"), "lstm", 1150)
    assert lstm["values"]["ptb"] == {
        "validation_perplexity": {"mean": 61.96, "std": 0.83},
        "test_perplexity": {"mean": 59.71, "std": 0.99},
    }
    assert lstm["literature"]["ptb"] == {"test_perplexity": [{"value": 58.80, "keys": [37]}]}
    assert row_of(table("3"), "sr_lstm", 1150)["values"]["ptb"]["test_perplexity"] == {"mean": 58.83, "std": 0.62}
    adam = row_of(table("3"), "adam_lstm", 1150)
    assert adam["values"] == {"ptb": {"test_perplexity": {"mean": 61.11, "std": 0.31}}}
    assert adam["only_in"] == "Section 3.5"
    assert table("3")["chosen_by"] == "validation_loss"


def test_the_note_on_speech_says_the_range_of_the_tables():
    values = [
        value["mean"]
        for number in ("2", "5", "12")
        for row in table(number)["rows"]
        for by_metric in row["values"].values()
        for value in by_metric.values()
    ]
    tasks = load_tasks("momentumrnn/table2.yaml")
    assert f"lie between {min(values)} and {max(values)}" in tasks["timit"]["notes"][0]
    assert tasks["timit"]["notes"] == tasks["timit_dtriv"]["notes"]


# Figure 7


def grid(task: str) -> dict:
    return {row["task"]: row for row in load_published("momentumrnn/figure7.yaml")["rows"]}[task]


def at(task: str, mu: float, s: float) -> float:
    content = grid(task)
    return content["values"][content["rows"]["mu"].index(mu)][content["columns"]["s"].index(s)]


@pytest.mark.parametrize("task", ["mnist_ablation", "timit_ablation", "ptb_ablation"])
def test_a_grid_has_a_number_for_each_pair(task):
    content = grid(task)
    assert content["rows"] == {"mu": [0.9, 0.6, 0.3, 0.1, 0.0]}
    assert content["columns"] == {"s": [0.1, 0.3, 0.6, 0.9, 1.0]}
    assert [len(row) for row in content["values"]] == [5] * 5
    flat = [value for row in content["values"] for value in row]
    best = max(flat) if content["better"] == "higher" else min(flat)
    assert best == {"mnist_ablation": 99.08, "timit_ablation": 5.86, "ptb_ablation": 58.62}[task]


def test_grids_by_hand():
    assert [at("mnist_ablation", 0.0, s) for s in (0.1, 0.3, 0.6, 0.9)] == [37.39, 83.58, 83.49, 81.54]
    assert [at("timit_ablation", 0.9, s) for s in (0.1, 0.3, 0.6, 0.9, 1.0)] == [121.07, 38.92, 45.47, 51.19, 51.66]
    assert [at("ptb_ablation", mu, 0.3) for mu in (0.9, 0.6, 0.3, 0.1, 0.0)] == [585.13, 212.99, 64.60, 82.96, 89.88]
    assert [at("timit_ablation", mu, 0.1) for mu in (0.6, 0.3, 0.1, 0.0)] == [7.24, 5.87, 5.86, 6.00]


def test_grids_agree_with_the_tables():
    """Where the figure repeats a table's number, by the same settings."""
    best = row_of(table("1"), "momentum_lstm", 256)["values"]["mnist"]["test_accuracy"]["mean"]
    assert at("mnist_ablation", 0.6, 0.6) == best
    quoted = row_of(table("1"), "lstm", 256)["literature"]["mnist"]["test_accuracy"]
    assert at("mnist_ablation", 0.0, 1.0) == quoted[0]["value"]
    momentum, lstm = (row_of(table("2"), model, 158)["values"]["timit"] for model in ("momentum_lstm", "lstm"))
    assert at("timit_ablation", 0.3, 0.1) == momentum["test_loss"]["mean"]
    assert at("timit_ablation", 0.0, 1.0) == lstm["validation_loss"]["mean"] != lstm["test_loss"]["mean"]
    momentum, lstm = (row_of(table("3"), model, 1150)["values"]["ptb"] for model in ("momentum_lstm", "lstm"))
    assert at("ptb_ablation", 0.0, 0.6) == momentum["test_perplexity"]["mean"]
    assert at("ptb_ablation", 0.0, 1.0) == lstm["test_perplexity"]["mean"]


def test_grids_hold_what_is_configured_at_scale_paper(configured):
    tasks = configured(scale="paper").tasks
    for task in ("mnist_ablation", "timit_ablation", "ptb_ablation"):
        content, settings = grid(task), tasks[task]["models"]["momentum_lstm"]
        assert settings["grid"] == {**content["rows"], **content["columns"]}
        assert settings["hyperparameters"]["hidden_size"] == content["size"]


# ACE-NODE


IMAGES = {"2": "mnist_images", "3": "svhn_images", "4": "cifar10_images"}
CHANNELS = {"mnist_images": 1, "svhn_images": 3, "cifar10_images": 3}


def ace(number: str) -> dict:
    return load_published(f"acenode/table{number}.yaml")


def test_images_by_hand():
    assert row_of(ace("2"), "rknet", 64)["values"] == {"mnist_images": {"test_accuracy": {"mean": 98.66, "std": 0.57}}}
    assert row_of(ace("3"), "ace_ode_net", 64)["values"]["svhn_images"]["test_accuracy"] == {"mean": 96.01, "std": 0.10}
    assert row_of(ace("4"), "resnet", 64)["values"]["cifar10_images"]["test_accuracy"] == {"mean": 86.36, "std": 0.41}
    assert row_of(ace("4"), "ace_ode_net", 64)["parameters"] == "0.36M"
    large = row_of(ace("10"), "ace_ode_net_large", 128)
    assert large["parameters"] == {"cifar10_images": "1.27M", "svhn_images": "1.42M", "mnist_images": "1.27M"}
    assert large["values"]["cifar10_images"] == {"test_accuracy": {"mean": 88.12}}
    assert row_of(ace("5"), "augmented_ode_net", None) == {"model": "augmented_ode_net", "mean": 0.5220, "std": 0.005}


def test_images_of_table_10_agree_with_the_others():
    small = row_of(ace("10"), "ace_ode_net", 64)
    for number, task in IMAGES.items():
        row = row_of(ace(number), "ace_ode_net", 64)
        assert row["parameters"] == small["parameters"][task]
        assert row["values"][task]["test_accuracy"]["mean"] == small["values"][task]["test_accuracy"]["mean"]


@pytest.mark.parametrize("number", ["2", "3", "4", "10"])
def test_networks_of_images_have_the_published_parameters(configured, number):
    """At the paper's sizes, to the printed two decimals of a million."""
    content, paper = ace(number), configured(scale="paper")
    for row in content["rows"]:
        for task in content["tasks"]:
            spec = resolve(paper, task, row["model"], row["size"], 0).spec
            images = SimpleNamespace(channels=CHANNELS[task], classes=10)
            network = imported(spec["network"])(images, **spec["hyperparameters"])
            count = sum(parameter.numel() for parameter in network.parameters())
            printed = row["parameters"][task] if number == "10" else row["parameters"]
            cut_off = count == 1_275_018  # the paper prints 1.27M, as the table's notes say
            assert printed == ("1.27M" if cut_off else f"{count / 1e6:.2f}M"), (task, row["model"])
    assert any("1,275,018" in note for note in content["notes"]) == (number == "10")


def test_images_are_configured_at_scale_paper_as_the_text_says(configured):
    paper = configured(scale="paper")
    for task, about in load_tasks("acenode/table2.yaml").items():
        settings = about["settings"]
        assert paper.tasks[task]["dataset"] == about["dataset"]
        for model, entry in paper.tasks[task]["models"].items():
            (size,) = entry["sizes"]
            spec = resolve(paper, task, model, size, 0).spec
            training, hyperparameters = spec["training"], spec["hyperparameters"]
            assert size in about["sizes"]
            assert [training["epochs"], training["batch_size"]] == [settings["epochs"], settings["batch_size"]]
            assert training["optimisers"]["main"]["lr"] == settings["learning_rate"]
            solver = hyperparameters.get("solver", {})
            assert {solver[name] for name in ("rtol", "atol") if name in solver} <= {settings["tolerance"]}
            assert hyperparameters.get("penalty", {"weight": settings["penalty"]})["weight"] == settings["penalty"]
            side = spec["task_settings"]["crop"] - 2 + 2 * hyperparameters["padding"]
            assert side // 2 // 2 == settings["map_size"]  # of the stem's two convolutions with stride 2


def test_hyperparameters_by_hand():
    assert settings("9", "rmsprop_lstm", 128, "mnist")["beta"] == 0.99
    assert settings("9", "rmsprop_lstm", 256, "mnist")["beta"] == 0.9
    assert settings("10", "sr_lstm", 128, "pmnist")["restart"] == 6
    assert settings("7", "momentum_lstm", 190, "copying_2k")["s"] == 2.0
    assert settings("6", "dtriv", 360, "pmnist_dtriv")["orthogonal_learning_rate"] == 5e-5
    assert settings("6", "lstm", 1150, "ptb")["learning_rate"] == 30
    tasks = load_tasks("momentumrnn/table6.yaml")
    assert tasks["mnist"]["settings"] == {"clip_norm": 1, "alpha": 0.9}
    assert tasks["timit"]["settings"] == {"clip_norm": None, "forget_bias": -4}
    assert tasks["ptb"]["settings"] == {"embedding_size": 400, "layers": 3} and tasks["ptb"]["sizes"] == [1150]


TASKS = {
    "Copying": {"copying_1k", "copying_2k"},
    "Copying (sequence length 1K)": {"copying_1k"},
    "Copying (sequence length 2K)": {"copying_2k"},
}


@pytest.mark.parametrize("number", HYPERPARAMETERS)
def test_a_row_is_filed_under_the_task_it_is_printed_for(number):
    for row in table(number)["rows"]:
        suffix = "_dtriv" if row["model"].endswith("dtriv") else ""
        assert row["task"] in TASKS.get(row["printed"], {row["printed"].lower() + suffix})
    assert {row["task"] for row in table(number)["rows"]} >= {"copying_1k", "copying_2k", "adding", "mnist", "pmnist"}


def test_an_unknown_key_is_refused_by_name(tmp_path):
    (tmp_path / "broken.yaml").write_text("kind: losses\nsource: {paper: P, section: '1'}\nrows: []\nmetrc: loss\n")
    with pytest.raises(UserError, match="broken.yaml"):
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
PRINTED_COLUMNS = {
    "1": PIXELS,
    "2": SPEECH,
    "5": ORTHOGONAL_SPEECH,
    "11": PIXELS,
    "12": SPEECH,
    "13": ORTHOGONAL_PIXELS,
}


@pytest.mark.parametrize("number", PRINTED_COLUMNS)
def test_every_result_is_as_printed(papers, number):
    content = table(number)
    header, *printed = printed_lines(papers, number)
    columns = PRINTED_COLUMNS[number]
    assert header == ["MODEL", "N", "# PARAMS", *columns]
    assert {place for row in content["rows"] for place in numbers_of(row)} == set(columns.values())
    assert len(printed) == len(content["rows"])
    for (model, size, parameters, *cells), row in zip(printed, content["rows"], strict=True):
        assert (MODELS[model.lower()], int(size)) == row_key(row)
        assert parameters_of(parameters) == row["parameters"]
        assert dict(zip(columns.values(), map(printed_numbers, cells), strict=True)) == numbers_of(row)


def test_table_4_is_as_printed(papers):
    header, *printed = printed_lines(papers, "4")
    assert header == ["N", "# PARAMS", "PMNIST (DTRIV)", "PMNIST (MOMENTUMDTRIV)"]
    found = {
        (model, int(size)): (parameters_of(parameters), {ORTHOGONAL_PIXELS["PMNIST"]: printed_numbers(cell)})
        for size, parameters, *cells in printed
        for model, cell in zip(("dtriv", "momentum_dtriv"), cells, strict=True)
    }
    assert found == {row_key(row): (row["parameters"], numbers_of(row)) for row in table("4")["rows"]}


def test_table_3_and_the_text_beside_it_are_as_printed(papers):
    header, *printed = printed_lines(papers, "3")
    assert header == ["MODEL", "# PARAMS", "VAL. PPL", "TEST PPL"]
    places = [("ptb", "validation_perplexity"), ("ptb", "test_perplexity")]
    rows = table("3")["rows"]
    own = [row for row in rows if "only_in" not in row]
    assert [MODELS[model.lower()] for model, *_ in printed] == [row["model"] for row in own]
    for (_, parameters, *cells), row in zip(printed, own, strict=True):
        assert parameters_of(parameters) == row["parameters"]
        found = zip(places, map(printed_numbers, cells), strict=True)
        assert {place: numbers_of(row).get(place, (None, [])) for place in places} == dict(found)
    text = (papers / "momentumrnn.txt").read_text(encoding="utf-8")
    begin, end = text.index("\n3.5 "), text.index("\n4 Additional")
    pair = r"test PPL for (\w+) and (\w+) are ([\d.]+ ± [\d.]+) , and ([\d.]+ ± [\d.]+)"
    *models, one, other = re.search(pair, text[begin:end]).groups()
    said = [row for row in rows if row.get("only_in") == "Section 3.5"]
    assert [MODELS[model.lower()] for model in models] == [row["model"] for row in said]
    assert [numbers_of(row) for row in said] == [{places[1]: printed_numbers(cell)} for cell in (one, other)]


def parameters_of(cell: str) -> str:
    return "≈" + re.sub(r"\$|\\approx|\s", "", cell)


def printed_numbers(cell: str) -> tuple:
    """((mean, std) or None, what is quoted: [(value, keys), ...]) of "14.87 ± 0.15 (15.42 [22, 34])"."""
    own = re.match(r"([\d.]+) (?:±|\\pm) ([\d.]+)", cell)
    quoted = re.findall(r"([\d.]+)\s*\[([\d, ]+)\]", cell)
    numbers = [(float(value), [int(key) for key in keys.split(",")]) for value, keys in quoted]
    return tuple(map(float, own.groups())) if own else None, numbers


def numbers_of(row: dict) -> dict:
    """{(task, metric): what `printed_numbers` gives} of a row of ours."""
    own = {(task, metric): v for task, values in row["values"].items() for metric, v in values.items()}
    quoted = {(task, metric): v for task, items in row.get("literature", {}).items() for metric, v in items.items()}
    return {
        place: (
            (own[place]["mean"], own[place]["std"]) if place in own else None,
            [(item["value"], item["keys"]) for item in quoted.get(place, [])],
        )
        for place in own.keys() | quoted.keys()
    }


@pytest.mark.parametrize("number", RESULTS)
def test_every_reference_is_the_paper_s(papers, number):
    text = (papers / "momentumrnn.txt").read_text(encoding="utf-8")
    for key, name in table(number)["references"].items():
        entry = re.search(rf"^- \[{key}\] (.*)$", text, re.MULTILINE).group(1)
        assert all(word in entry for word in re.split(r", | and | (?=\d)", name)), name


@pytest.mark.parametrize("number", HYPERPARAMETERS)
def test_every_hyperparameter_is_as_printed(papers, number):
    printed = printed_hyperparameters(printed_lines(papers, number))
    ours = {}
    for row in table(number)["rows"]:
        key = (row["model"], row["printed"], row.get("size"))
        assert ours.setdefault(key, row["settings"]) == row["settings"]
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
    rows = {(row["task"], row["model"]): row["value"] for row in load_published("momentumrnn/figure4.yaml")["rows"]}
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
    rows = [(row["model"], row["parameters"], row["values"][IMAGES[number]]) for row in ace(number)["rows"]]
    assert found == [(model, text, tuple(values["test_accuracy"].values())) for model, text, values in rows]


def test_table_10_of_images_is_as_printed(papers):
    (_, *names), *printed = image_lines(papers, "10")
    tasks = [IMAGE_SETS[name] for name in names]
    assert tasks == ace("10")["tasks"] and len(printed) == len(ace("10")["rows"])
    for (name, *cells), row in zip(printed, ace("10")["rows"], strict=True):
        pairs = [re.fullmatch(r"([\d.]+) ?\((.*)\)", cell).groups() for cell in cells]
        assert row["model"] == IMAGE_MODELS[name]
        assert row["parameters"] == dict(zip(tasks, (parameters for _, parameters in pairs), strict=True))
        means = {task: {"test_accuracy": {"mean": float(mean)}} for task, (mean, _) in zip(tasks, pairs, strict=True)}
        assert row["values"] == means


def test_silhouettes_are_as_printed(papers):
    (*_, name), *printed = image_lines(papers, "5")
    assert IMAGE_SETS[name] == ace("5")["task"]
    found = [(IMAGE_MODELS[model], *printed_numbers(cell)[0]) for model, cell in printed]
    assert found == [(row["model"], row["mean"], row["std"]) for row in ace("5")["rows"]]


def test_the_best_settings_of_images_are_as_printed(papers):
    text = (papers / "ace-node.txt").read_text(encoding="utf-8")
    epochs, batch = re.search(r"train for (\d+) epochs with a batch size (\d+) with a learning rate of", text).groups()
    for name, task in IMAGE_SETS.items():
        line = re.search(rf"\) For {name}, +(.*)", text).group(1)
        # "1.0e 3" has lost its minus sign in the text
        given = [float(re.sub(r"e-?\s?", "e-", number)) for number in re.findall(r"= ?([\d.]+e[-\s]\s?\d+)", line)]
        settings = load_tasks("acenode/table2.yaml")[task]["settings"]
        names = ("penalty", "learning_rate", "tolerance", "tolerance")
        assert given == [settings[name] for name in names]
        assert [int(epochs), int(batch)] == [settings["epochs"], settings["batch_size"]]
