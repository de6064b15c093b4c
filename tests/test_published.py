"""The published numbers: their structure, some of them by hand and, where the papers' text is at hand, all of them."""

import os
import re
from pathlib import Path

import pytest

from hidden_dynamics.configuration import load
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering.published import PUBLISHED, load_published, load_tasks, row_of

RESULTS = ("1", "11")
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
def test_a_result_is_own_or_literature(number):
    content = table(number)
    for row in content["rows"]:
        given = row["literature"] if row.get("literature_only") else row["values"]
        assert set(given) == set(content["tasks"])
        assert ("literature" in row) == bool(row.get("literature_only")) == (row["model"] == content["baseline"])


def test_tables_1_and_11_agree_where_they_overlap():
    for model in ("lstm", "momentum_lstm"):
        assert row_of(table("1"), model, 128) == row_of(table("11"), model, 128)


def test_results_by_hand():
    assert row_of(table("1"), "sr_lstm", 256)["values"]["pmnist"] == {"mean": 93.82, "std": 1.85}
    assert row_of(table("1"), "lstm", 256)["literature"]["mnist"][1]["value"] == 98.50
    assert row_of(table("11"), "rmsprop_lstm", 128)["values"]["mnist"] == {"mean": 99.09, "std": 0.05}
    assert row_of(table("1"), "sr_lstm", 128) is None


def test_hyperparameters_by_hand():
    assert settings("9", "rmsprop_lstm", 128, "mnist")["beta"] == 0.99
    assert settings("9", "rmsprop_lstm", 256, "mnist")["beta"] == 0.9
    assert settings("10", "sr_lstm", 128, "pmnist")["restart"] == 6
    assert settings("7", "momentum_lstm", 190, "copying_2k")["s"] == 2.0
    assert settings("6", "dtriv", 360, "pmnist_dtriv")["orthogonal_learning_rate"] == 5e-5
    assert settings("6", "lstm", 1150, "ptb")["learning_rate"] == 30
    assert load_tasks("momentumrnn/table6.yaml")["mnist"]["settings"] == {"clip_norm": 1, "alpha": 0.9}


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
    name = "momentumrnn.txt" if number == "1" else "momentumrnn-appendix.txt"
    text = (papers / name).read_text(encoding="utf-8")
    lines = iter(text[text.index(f"\nTable {number}: ") + 1 :].splitlines()[1:])
    rows = []
    for line in lines:
        if line.startswith("Table ") or re.match(r"[A-Z] [A-Z]|\d ", line) or len(line) > 300:
            break
        if line.strip() and not line.startswith("|--"):
            rows.append([cell.strip() for cell in re.split(r"\t|\|", line.strip("| \n"))])
    return rows


@pytest.mark.parametrize("number", RESULTS)
def test_every_result_is_as_printed(papers, number):
    content = table(number)
    header, *printed = printed_lines(papers, number)
    assert header == ["MODEL", "N", "# PARAMS", "MNIST", "PMNIST"]
    assert len(printed) == len(content["rows"])
    for (model, size, parameters, *cells), row in zip(printed, content["rows"], strict=True):
        assert (MODELS[model.lower()], int(size)) == (row["model"], row["size"])
        assert re.sub(r"\$|\\approx|\s", "", parameters) == row["parameters"].removeprefix("≈")
        for task, cell in zip(content["tasks"], cells, strict=True):
            if row.get("literature_only"):
                found = [(float(v), int(k)) for v, k in re.findall(r"([\d.]+)\s*\[(\d+)\]", cell)]
                assert found == [(item["value"], item["key"]) for item in row["literature"][task]]
            else:
                mean, std = map(float, cell.split(r"\pm"))
                assert row["values"][task] == {"mean": mean, "std": std}


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
