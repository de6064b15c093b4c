"""The publication of a scale, on made-up results: what it says, that each number can be traced, its description."""

import csv
import io
import json
import os
import re
import shlex
import socket
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import publish_evidence
import pytest
import yaml
from conftest import ROOT, refused
from hidden_dynamics.claims.comparisons import Claimed
from hidden_dynamics.claims.evidence import Evidence
from judged import SPREAD, claimed
from made import costs_of, make_run, row_of, summary_of, write_inputs
from markup import tables
from one_process import OneProcess
from PIL import Image
from repository import Workflow, copy_repository

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.verdict import COLUMNS, SECOND_VERDICTS, VERDICTS, plain
from hidden_dynamics.configuration.runs import all_runs, code_of
from hidden_dynamics.papers.claims import COMPARED, OF_ONE, load_claims
from hidden_dynamics.publication import publishing
from hidden_dynamics.publication.changed_settings import changed_settings
from hidden_dynamics.publication.command import command_of
from hidden_dynamics.publication.levels import levels
from hidden_dynamics.publication.publishing import publication, publish
from hidden_dynamics.publication.readme import readme
from hidden_dynamics.publication.results_read import by_job, read_results
from hidden_dynamics.publication.run_rows import run_id
from hidden_dynamics.publication.sentences import BRIEF, SENTENCES, pointing
from hidden_dynamics.publication.source_state import SourceState, source_state
from hidden_dynamics.publication.working_time import working_time
from hidden_dynamics.results import summary
from hidden_dynamics.results.rows import read_rows, write_rows

TABLE, HYPERPARAMETERS, COSTS, IMAGE = (f"momentumrnn_{name}" for name in ("table11", "table7", "table14", "figure8"))
ATTENTION = "acenode_table7"
CONFIGURED = (IMAGE, TABLE, ATTENTION, COSTS, HYPERPARAMETERS)
PAGES = ("README.md", "findings.md", "decided.md", "undecided.md")
SEEDS = [0, 1, 2, 3, 4]
LEVELS = {"momentum_lstm": 0.9, "adam_lstm": 0.1, "ace_latent_ode": 0.8}  # of the others, 0.5
COMMIT = SourceState("0123456789abcdef0123456789abcdef01234567", changed=False)


def about(run):
    """What a run reports: around the level of its model."""
    value = round(LEVELS.get(run.model, 0.5) + SPREAD[run.seed] / 10, 6)
    names = ("train_loss", "test_loss", "test_accuracy", "test_auc", "test_average_precision", "test_calibration_error")
    report = run.spec["training"]["report"]["metric"]
    return {"evaluations": [{"iteration": 10, "epoch": 1.0, report: value, **dict.fromkeys(names, value)}]}


@pytest.fixture(scope="module")
def configuration(configured):
    """Some artifacts of the demo, whose claims are judged for their direction."""
    whole = configured(scale="demo", seeds=SEEDS, overrides={})
    layers = {name: [("here", whole.artifacts[name])] for name in CONFIGURED}
    return replace(whole, artifact_layers=layers, scale=whole.scale.model_copy(update={"directions": True}))


@pytest.fixture(scope="module")
def root(configuration, tmp_path_factory):
    """Finished results, judged."""
    root = tmp_path_factory.mktemp("published")
    artifacts = load_artifacts(configuration)
    make_results(root, configuration, {run.id: run for one in artifacts.values() for run in one.runs}.values())
    judged = []
    for name in (TABLE, ATTENTION, COSTS):
        artifact = artifacts[name]
        rows = summary_of(artifact, about) if artifact.summarised else ()
        costs = costs_of(artifact) if artifact.measured else ()
        if costs:
            write_inputs(root, artifact, costs=costs)
        kinds = ("faster", "overfitting")  # of the runs' courses, which are all alike
        own = [claim for claim in claimed(artifact).here if claim.kind not in kinds]
        judged += verdicts(artifact, Claimed(own, []), Evidence(rows, costs, root))
    write_rows(root / configuration.paths.all_verdicts("csv"), COLUMNS, judged)
    return root


def make_results(root, configuration, runs):
    """The runs, their summary, and everything that is rendered."""
    paths = configuration.paths
    for run in runs:
        make_run(root, configuration, run, **about(run))
    write_rows(root / paths.summary("all"), summary.COLUMNS, [row_of(configuration, run, **about(run)) for run in runs])
    for artifact in load_artifacts(configuration).values():
        for path in map(root.joinpath, artifact.files()):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".png":
                Image.new("RGB", (2000, 500), "navy").save(path)
            else:
                path.write_text(f"### {artifact.settings.title}\n", encoding="utf-8")
    (root / paths.logs).mkdir()
    (root / paths.logs / "render.tsv").write_text("s\th:m:s\n1.5\t0:00:01\n")


@pytest.fixture(scope="module")
def results(configuration, root):
    return read_results(configuration, COMMIT, root)


@pytest.fixture(scope="module")
def files(results, root):
    return publication(results, ROOT, root)


def rows_of(files, name):
    return list(csv.DictReader(io.StringIO(files[name].decode())))


# Content


def test_it_has_the_artifacts_that_were_rendered(files):
    tables = {f"tables/{name}.md" for name in CONFIGURED if name != IMAGE}
    texts = {*PAGES, "verdicts.csv", "runs.csv", "settings.csv", "Snakefile", "ro-crate-metadata.json"}
    assert set(files) == texts | tables | {f"figures/{IMAGE}.png", f"costs/{COSTS}.csv"}
    links = set(re.findall(r"\]\(([^)]+)\)", files["README.md"].decode()))
    assert {link for link in links if not link.startswith("..")} == set(files) - {"README.md", "Snakefile"}
    with Image.open(io.BytesIO(files[f"figures/{IMAGE}.png"])) as image:
        assert image.size == (1200, 300)


def test_a_figure_that_is_no_picture_is_named(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"GIF89a")
    with refused("PNG", file=path):
        publishing.reduced(path, 10, 2)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_first_what_makes_it(files, name, configuration):
    assert files[name].decode().startswith(f"<!-- Generated by `{command_of(configuration)}`: do not edit. -->")


@pytest.mark.parametrize(
    "settings",
    [
        {"scale": "demo"},
        {"scale": "evening", "leave_out": ["svhn", "ptb"], "device": "cpu", "seeds": [0, 7]},
        {"overrides": {"tasks": {"mnist": {"title": "It's another", "training": {"epochs": 3}}}}},
    ],
)
def test_the_command_has_the_settings_that_are_not_those_of_the_file(configured, settings):
    configuration, start = configured(**settings), ["snakemake", "--cores", "all", "evidence", "--config"]
    words = shlex.split(command_of(configuration))
    assert words[: len(start)] == start
    given = {name: yaml.safe_load(value) for name, _, value in (word.partition("=") for word in words[len(start) :])}
    assert given.keys() - {"scale"} == settings.keys() - {"scale"}
    assert configured(**given).settings == configuration.settings


def test_the_readme_says_what_was_run_and_where_it_comes_from(files, configuration):
    text = files["README.md"].decode()
    assert configuration.scale.about in text and "Seeds: 0, 1, 2, 3, 4." in text
    assert "in place of MNIST" in text and "N = 32 (paper: 128)" in text
    assert COMMIT.commit in text and "A processor" in text and "numpy 2.4.6" in text and "none is there" in text


def test_each_artifact_that_is_not_there_is_named_with_the_reason(results, root, configuration):
    lacking = replace(results, summary=[row for row in results.summary if row["task"] not in ("physionet", "mnist")])
    files = publication(lacking, ROOT, root)
    assert f"tables/{ATTENTION}.md" not in files and f"tables/{TABLE}.md" in files
    lines = files["README.md"].decode().splitlines()
    for place, task in (("- ACE-NODE, Table 7", "physionet"), ("- Table 11: [", "mnist")):
        (line,) = [line for line in lines if line.startswith(place)]
        assert f"no runs on {configuration.title_of(configuration.tasks[task].dataset)}" in line


def test_the_forecast_stands_beside_what_it_took(results, root):
    runs, took = len(results.runs), results.time.device_hours
    said = {"runs": str(runs), "finished": "0", "device_hours": "2", "least_wall_hours": "1"}
    text = readme_of(replace(results, forecast=said))
    error = f"({100 * (took / 2 - 1):+.0f} %)".replace("-", "−")
    assert f"of {runs} runs, made when 0 were finished: 2.00 core hours, taken {took:.2f} {error}" in text
    text = readme_of(replace(results, forecast=said | {"runs": "7"}))
    assert "of 7 runs" in text and "not compared" in text and "taken" not in text


def readme_of(results):
    return readme(results, {}, [], [], "the command")


def test_hours_are_of_what_the_runs_were_made_on(results):
    on_both = replace(results, records=results.records)
    on_both.runs[0]["device"] = "NVIDIA H100"
    assert "hours of cores and GPUs" in readme_of(on_both) and "core hours" in readme_of(results)


# The two kinds of verdicts


def test_no_line_has_verdicts_of_both_kinds(files):
    for name in PAGES:
        for line in files[name].decode().splitlines():
            assert not (any(word in line for word in SECOND_VERDICTS) and any(word in line for word in VERDICTS)), line


def test_each_matrix_counts_what_the_rows_have(files):
    text, rows = files["README.md"].decode(), rows_of(files, "verdicts.csv")
    for verdicts_, column in ((VERDICTS, "verdict"), (SECOND_VERDICTS, "here")):
        there = [row for row in rows if row[column]]
        table = text[text.index(f"| {verdicts_[0]} |") :].split("\n\n")[0]
        for paper, title in (("momentumrnn", "MomentumRNN"), ("acenode", "ACE-NODE")):
            counts = Counter(row[column] for row in there if row["paper"] == paper)
            (line,) = re.findall(rf"\*\*{title}, all\*\* (.*)", table)
            numbers = [*(counts[verdict] for verdict in verdicts_), sum(counts.values())]
            assert re.findall(r"\*\*([^*]+)\*\*", line) == [str(number or "–") for number in numbers]


def test_without_verdicts_the_page_says_so_and_each_empty_group_does(results, root):
    none = replace(results, claims=[claim | {"here": ""} for claim in results.claims])
    text = publication(none, ROOT, root)["findings.md"].decode()
    assert f"None of the {len(results.claims)} claims" in text and "## " not in text
    some = [claim | {"here": claim["here"] if "momentum" in claim["subject"] else ""} for claim in results.claims]
    text = publication(replace(results, claims=some), ROOT, root)["findings.md"].decode()
    attention = text[text.index("## What attention did") :].split("\n\n")[1]
    of_attention = [claim for claim in results.claims if "ace_" in claim["subject"] + claim["reference"]]
    assert attention == f"None of the {len(of_attention)} claims on this has a verdict on the direction."


def test_the_papers_own_verdicts_are_read_in_their_own_words(results, root):
    own = [claim | {"here": "", "verdict": "reproduced"} for claim in results.claims]
    text = publication(replace(results, claims=own), ROOT, root)["findings.md"].decode()
    assert "# The papers’ claims" in text and "**Reproduced**" in text and "here**" not in text


# Tracing


def said(files):
    """(sentence, verdict, the row of its claim) of each that decided.md has."""
    rows = {row["number"]: row for row in rows_of(files, "verdicts.csv")}
    found = re.findall(
        r"^- (.*): \*\*(.*)\*\* \[(\d+)\]\(verdicts.csv\)\.$", files["decided.md"].decode(), re.MULTILINE
    )
    return [(sentence, verdict, rows[number]) for sentence, verdict, number in found]


def test_every_judged_claim_is_in_one_line_of_the_findings_with_its_verdict(files):
    """A line has parts for verdicts, and in each numbers of claims: "**Holds here**: test loss 6.18 lower [4]." """
    found = {}
    for line in re.findall(r"^- .*", files["findings.md"].decode(), re.MULTILINE):
        for verdict, text in re.findall(r"\*\*(\w+ here)\*\*: (.*?)\.(?= \*\*|$)", line):
            found |= dict.fromkeys(re.findall(r"\[(\d+)\]", text), (verdict.lower(), line, text))
    rows = {row["number"]: row for row in rows_of(files, "verdicts.csv") if row["here"]}
    assert {number: verdict for number, (verdict, _, _) in found.items()} == {
        number: row["here"] for number, row in rows.items()
    }
    for number, row in rows.items():
        _, line, text = found[number]
        if row["kind"] == "better":
            apart = plain(abs(float(row["estimate"])))
            assert line.startswith("- ") and " against " in line
            assert re.search(
                rf"{re.escape(apart)}(?: points)? {'higher' if float(row['estimate']) > 0 else 'lower'}", text
            )


def test_the_sentences_are_those_of_the_claims_that_are_decided(files):
    decided = [row["number"] for row in rows_of(files, "verdicts.csv") if row["here"] in SECOND_VERDICTS[:2]]
    assert sorted(row["number"] for _, _, row in said(files)) == sorted(decided)
    assert {verdict for _, verdict, _ in said(files)} == set(SECOND_VERDICTS[:2])
    assert all(verdict == row["here"] for _, verdict, row in said(files))


def test_every_number_of_a_sentence_is_one_of_its_claim_or_of_its_models(files):
    runs = rows_of(files, "runs.csv")
    for sentence, _, row in said(files):
        numbers = {
            plain(abs(float(row[column])), digits)
            for column in COLUMNS
            for digits in ((2, 3, 4) if column in ("low", "high") else (2, 3))
            if is_number(row[column])
        }
        words = [row[column] for column in ("subject", "reference", "found", "here_reason", "statement", "test")]
        words += [run[column] for run in runs for column in ("task_title", "dataset_title", "size", "label")]
        allowed = numbers | {number for word in words for number in NUMBER.findall(word)} | {"0.0001"}
        assert set(NUMBER.findall(sentence)) <= allowed, sentence


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def is_number(text):
    return re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", text) is not None


def test_words_of_direction_follow_from_the_sign(files):
    seen = set()
    for sentence, verdict, row in said(files):
        if row["kind"] == "better":
            higher = float(row["estimate"]) > 0
            assert (" higher than " in sentence, " lower than " in sentence) == (higher, not higher)
            assert verdict == SECOND_VERDICTS[not higher]  # of an accuracy, and of an AUC
            seen.add(higher)
    assert seen == {True, False}


def test_counts_of_a_question_are_those_of_its_claims(files):
    text, rows = files["findings.md"].decode(), rows_of(files, "verdicts.csv")
    part = text[text.index("## Where Adam-type") :]
    own = [row for row in rows if re.search("adam|rmsprop", row["subject"] + row["reference"])]
    counts = Counter(row["here"] for row in own)
    numbers = [
        len(own),
        sum(counts[verdict] for verdict in SECOND_VERDICTS),
        *(counts[verdict] for verdict in SECOND_VERDICTS),
    ]
    assert re.findall(r"\d+", part.split("\n\n")[1])[:5] == list(map(str, numbers))


def test_the_table_on_top_of_the_findings_counts_every_claim_once(files):
    def counts(cell):
        return [0, 0, 0] if cell == "–" else [int(count) for count in cell.split(" / ")]

    (_, _, *places, (_, *everywhere)), *_ = tables(files["findings.md"].decode())
    for question, total in enumerate(everywhere, start=1):
        assert counts(total) == [sum(own) for own in zip(*(counts(row[question]) for row in places), strict=True)]
    found = Counter(row["here"] for row in rows_of(files, "verdicts.csv"))
    assert [sum(own) for own in zip(*map(counts, everywhere), strict=True)] == [found[own] for own in SECOND_VERDICTS]


def test_what_is_undecided_stands_with_what_it_would_take(files):
    undecided = {row["number"]: row for row in rows_of(files, "verdicts.csv") if row["here"] == "undecided here"}
    lines = dict(re.findall(r"^\| \[(\d+)\]\(verdicts.csv\) \| (.*) \|$", files["undecided.md"].decode(), re.MULTILINE))
    assert lines.keys() == undecided.keys() and undecided
    for number, line in lines.items():
        if undecided[number]["detectable"] and undecided[number]["kind"] == "better":
            assert plain(float(undecided[number]["detectable"])) in line


def test_undecided_claims_are_counted_by_the_seeds_that_would_decide_them(results, root):
    of_two = next(claim for claim in results.claims if claim["kind"] == "better") | {"here": "undecided here"}
    claims = [of_two | {"seeds_for_found": seeds} for seeds in ("9", "12", "125", "more than 1000", "")]
    text = publication(replace(results, claims=claims), ROOT, root)["findings.md"].decode()
    assert "5 of 5 claims are undecided here" in text
    assert re.search(r"\| claims \| (.*) \|\n", text).group(1) == "1 | 1 | 0 | 0 | 2 | 1"
    nearest = re.findall(r"; ([^;]+) seeds \[", text)
    assert nearest == ["9", "12", "125", "more than 1000"]


def test_of_a_spread_it_is_said_that_few_seeds_find_no_ratio(results, root):
    spread = {"kind": "steadier", "detectable": "", "effect": "0.4", "effect_name": "ratio", "here": "undecided here"}
    of_two = next(claim for claim in results.claims if claim["kind"] == "better" and "accuracy" in claim["metric"])
    claims = [of_two | spread | {"estimate": "-1.5", "low": "-4", "high": "1", "n_reference": "5"}]
    text = publication(replace(results, claims=claims), ROOT, root)["undecided.md"].decode()
    assert "× 0.4; mean absolute deviations −1.5 [−4, 1] points apart | no ratio, with n = 5 |" in text


def test_how_far_the_models_came(results):
    def run(label, status="finished", point="16", **measured):
        about = {"task": "adding", "label": label, "size": "8", "paper_size": point, "status": status}
        about["measured"] = json.dumps(measured)
        return about | {"metric": next(iter(measured), ""), "baseline_loss": "0.2"}

    losses = [run("LSTM", test_loss=0.199), run("LSTM", test_loss=0.197), run("MomentumLSTM", test_loss=0.01)]
    found = levels(replace_runs(results, [*losses, run("AdamLSTM", "diverged")]), "adding")
    assert found == [
        "Test loss, means of models: 0.01 (MomentumLSTM, N = 8) to 0.198 (LSTM, N = 8).",
        "The best answer that ignores the input has a test loss of 0.2; 1 of 3 runs have learned nothing: they end "
        "less than 1 % below it.",
    ]
    accurate = run("LSTM", validation_accuracy=0.4, test_accuracy=0.5, test_loss=0.1)
    (_, ends) = found = levels(replace_runs(results, [accurate]), "adding")
    assert found[0] == "Test accuracy, mean of LSTM, N = 8: 50 %."
    assert ends.endswith("; all 1 runs end more than 1 % below it.")
    grid = [run("LSTM", point=point, test_loss=loss) for point, loss in (("mu0.0-s1.0", 2.0), ("mu0.9-s0.1", 1.0))]
    (ranged, _) = levels(replace_runs(results, grid), "adding")
    assert ranged.endswith(": 1 (LSTM, N = 8, mu0.9-s0.1) to 2 (LSTM, N = 8, mu0.0-s1.0).")
    assert levels(replace_runs(results, []), "adding") == []


def replace_runs(results, runs):
    return SimpleNamespace(configuration=results.configuration, runs=runs)


def test_a_claim_that_its_own_table_refutes_is_marked_and_counts_for_no_way(results, root):
    of_two = [claim for claim in results.claims if claim["kind"] == "better"]
    refuted = [claim | {"against_table": "true"} for claim in of_two]
    marked = publication(replace(results, claims=refuted), ROOT, root)
    for name in ("findings.md", "decided.md"):
        assert "the paper’s own table says otherwise" in marked[name].decode()
    assert pointing(refuted, results.configuration) == (0, 0)
    opposite = {"subject": of_two[0]["reference"], "reference": of_two[0]["subject"]}
    opposite["estimate"] = str(-float(of_two[0]["estimate"]))
    assert pointing([of_two[0], of_two[0] | opposite], results.configuration)[1] == 1


def test_a_claim_on_others_stands_under_their_question_and_says_what_they_say(results, root):
    entry = next(entry for entry in load_claims().of_others if entry.id == "attention-best-everywhere")
    part = next(claim for claim in load_claims().claims if claim.id == entry.of[0])
    of_two = next(claim for claim in results.claims if "ace_" in claim["subject"]) | {"entries": part.id}
    about = {"kind": "all", "statement": entry.says, "found": f"{part.id}: not run at this scale", "here": "fails here"}
    whole = dict.fromkeys(of_two, "") | about | {"number": "99", "here_reason": f"in {part.id}", "entries": entry.id}
    files = publication(replace(results, claims=[of_two, whole]), ROOT, root)
    text = files["findings.md"].decode()
    line = next(line for line in text.splitlines() if "[99]" in line)
    assert f"“{part.says.rstrip('.')}”" in line and part.id not in line
    assert text.index("## What attention did") < text.index(line) < text.index("## The other comparisons")


def test_every_run_that_a_verdict_names_is_in_the_runs(files, results):
    runs = rows_of(files, "runs.csv")
    names = {name for row in rows_of(files, "verdicts.csv") for name in row["runs"].split()}
    assert names and names <= {run["run"] for run in runs} == {
        f"{r['task']}/{r['variant']}/seed{r['seed']}" for r in results.summary
    }
    assert all(
        run["code"] and run["data_digest"] and run["versions"] and float(run["training_seconds"]) for run in runs
    )
    assert {run["commit"] for run in runs} == {""}  # of made-up code


def test_every_setting_that_differs_stands_beside_the_papers(files, configured):
    found = {(row["task"], row["setting"]): (row["here"], row["paper"]) for row in rows_of(files, "settings.csv")}
    assert {task for task, _ in found} == {row["task"] for row in rows_of(files, "runs.csv")}
    papers = configured(scale="paper", overrides={})
    assert found["mnist", "training.epochs"] == ("3", str(papers.tasks["mnist"].training.epochs))
    assert found["mnist", "dataset"] == ("digits", "mnist")
    evening = changed_settings(configured(scale="evening", overrides={}), ["mnist_ablation", "cifar10_images"])
    found = {(row["task"], row["setting"]): (row["here"], row["paper"]) for row in evening}
    assert found["mnist_ablation", "models.momentum_lstm.grid.mu"] == ("[0.9, 0.6, 0.0]", "[0.9, 0.6, 0.3, 0.1, 0.0]")
    assert found["cifar10_images", "models.ode_net.hyperparameters.solver.adjoint"] == ("false", "true")
    assert found["cifar10_images", "data.side"] == ("16", "")
    assert not any("by_size" in setting or "title" in setting for _, setting in found)


def test_a_run_of_the_code_that_is_there_has_its_commit(results):
    run = next(run for artifact in results.artifacts.values() for run in artifact.runs)
    records = results.records | {run.id: results.records[run.id] | {"code": code_of(run)}}
    made = replace(results, records=records).runs
    assert {row["commit"] for row in made if row["run"] == run.id} == {COMMIT.commit}
    assert {row["commit"] for row in made if row["run"] != run.id} == {""}
    changed = replace(results, records=records, source=replace(COMMIT, changed=True)).runs
    assert {row["commit"] for row in changed} == {""}  # the code that is there is no commit's


def test_measured_costs_are_there_without_a_place_on_a_machine(files, root, configuration):
    rows = rows_of(files, f"costs/{COSTS}.csv")
    assert rows == read_rows(root / configuration.paths.costs(COSTS))
    estimates = {row["estimate"] for row in rows_of(files, "verdicts.csv") if row["kind"] == "ratio"} - {""}
    assert estimates and estimates <= {str(float(row["ratio"])) for row in rows if row["ratio"]}


def test_the_mean_of_a_sentence_is_that_of_its_runs(files):
    runs = {run["run"]: run for run in rows_of(files, "runs.csv")}
    row = next(row for _, _, row in said(files) if row["kind"] == "better" and row["metric"] == "test_accuracy")
    own = [runs[name] for name in row["runs"].split()]
    values = [100 * json.loads(run["measured"])["test_accuracy"] for run in own if f"/{row['subject']}/" in run["run"]]
    assert row["found"].startswith(f"{plain(sum(values) / len(values), 4)} ±")


# Its place


def test_it_is_the_same_from_the_same_results(files, configuration, root):
    assert publication(read_results(configuration, COMMIT, root), ROOT, root) == files


def test_nothing_in_it_tells_of_this_machine(files, root):
    text = "".join(content.decode() for path, content in files.items() if not path.endswith(".png"))
    for own in (str(root), str(ROOT), str(Path.home()), socket.gethostname()):
        assert own not in text


def test_the_script_puts_it_in_the_place_of_the_one_before(ended, files, root, configuration, monkeypatch):
    monkeypatch.setattr(publish_evidence, "load", lambda settings: configuration)
    for _ in range(2):
        assert ended(publish_evidence.main, "--root", root).code == 0
    there = {
        str(path.relative_to(root / "docs/evidence")) for path in (root / "docs/evidence").rglob("*") if path.is_file()
    }
    assert there == set(files)
    assert [path.name for path in (root / "docs").iterdir()] == ["evidence"]


def test_what_is_published_no_more_is_gone(files, tmp_path):
    publish(files, tmp_path / "evidence")
    fewer = {path: content for path, content in files.items() if not path.startswith("figures/")}
    publish(fewer, tmp_path / "evidence")
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == sorted(
        {path.split("/")[0] for path in fewer}
    )


@pytest.mark.parametrize("published", [False, True])
def test_a_directory_with_something_else_is_left_alone(files, tmp_path, published):
    if published:
        publish(files, tmp_path / "evidence")
    mine = tmp_path / "evidence/tables/mine.txt"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with refused("mine.txt", file=mine, key="evidence"):
        publish(files, tmp_path / "evidence")
    assert sorted(tmp_path.rglob("*")) == before and mine.read_text() == "mine"


def test_a_run_that_is_missing_is_named(results, root, configuration):
    directory = root / results.summary[0]["directory"]
    (directory / "run.json").rename(directory / "elsewhere")
    with refused("missing", file=directory / "run.json"):
        read_results(configuration, COMMIT, root)
    (directory / "elsewhere").rename(directory / "run.json")


def test_the_publication_of_another_scale_is_left_alone(files, tmp_path):
    of_another = files["ro-crate-metadata.json"].replace(b'"value": "demo"', b'"value": "evening"')
    publish(files | {"ro-crate-metadata.json": of_another}, tmp_path / "evidence")
    with refused("evening", file=tmp_path / "evidence", key="evidence"):
        publish(files | {"README.md": b"new"}, tmp_path / "evidence")
    assert (tmp_path / "evidence/README.md").read_bytes() == files["README.md"]


@pytest.mark.parametrize("what", ["write", "move"])
def test_what_stops_it_leaves_the_one_before(files, tmp_path, monkeypatch, what):
    publish(files, tmp_path / "evidence")
    move = Path.rename

    def full(source, *_):
        if what == "write" or source.name == "new":
            raise OSError(28, "No space left on device")
        return move(source, *_)

    monkeypatch.setattr(*((publishing, "atomic") if what == "write" else (Path, "rename")), full)
    with pytest.raises(OSError, match="No space"):
        publish(files | {"README.md": b"new"}, tmp_path / "evidence")
    assert (tmp_path / "evidence/README.md").read_bytes() == files["README.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


def test_one_that_is_too_large_is_refused_with_the_largest_files(results, root, files, monkeypatch):
    whole = sum(map(len, files.values()))
    monkeypatch.setattr(publishing, "LIMIT", whole - 1234)
    largest = max(files, key=lambda path: len(files[path]))
    with refused(f"1,234 more.*{re.escape(largest)}", file=largest, key="evidence"):
        publication(results, ROOT, root)


def test_the_state_of_the_code_is_that_of_git(tmp_path):
    assert source_state(tmp_path) == SourceState("", changed=False)

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def committed(path):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("new")
        git("add", path)
        git("commit", "--message", path)
        return git("rev-parse", "HEAD")

    git("init")
    commit = committed("config/scales.yaml")
    assert committed("docs/evidence/README.md") != commit
    assert source_state(tmp_path) == SourceState(commit, changed=False)  # what is published is no part of the code
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/mine.smk").write_text("not committed")
    assert source_state(tmp_path) == SourceState(commit, changed=True)


def benchmark(directory, name, end, took, computed="NA"):
    path = directory / f"{name}.tsv"
    path.write_text(f"s\th:m:s\tcpu_time\n{took}\t0\t{computed}\n")
    os.utime(path, (end, end))


def test_pauses_are_no_working_time(tmp_path):
    for name, end, took in (("a", 1000, 100), ("b", 1050, 100), ("c", 5000, 50), ("of_a_moment", 9000, "-")):
        benchmark(tmp_path, name, end, took)
    benchmark(tmp_path, "calibrate", 100, 90)
    benchmark(tmp_path, "train-not_configured-0", 100, 90)
    found = working_time(tmp_path, {}, 1)
    assert found.wall_hours == pytest.approx((150 + 50) / 3600)
    assert (found.start.timestamp(), found.end.timestamp()) == (900, 5000)
    assert found.device_hours == found.earlier_hours == 0 and found.computing is None


@pytest.mark.parametrize(
    ("device", "held", "earlier", "computing"),
    [("cpu", 2 * 3300, 2 * (3300 - 1000), 1500 / 2000), ("A GPU", 3300 / 4, 0, None)],  # a GPU is shared by four
)
def test_what_was_trained_before_its_job_ran_again_is_in_its_hours_alone(tmp_path, device, held, earlier, computing):
    """Of two runs that one job trained, and trained anew or went on with after a pause."""
    benchmark(tmp_path, "train-mnist-0", 100_000, 1000, 1500)
    run = {"device": device, "threads": 2, "seconds": {"training": 1500.0, "evaluation": 150.0}}
    found = working_time(tmp_path, {"train-mnist-0": [run, run]}, 4)
    assert found.wall_hours == pytest.approx(1000 / 3600)
    assert found.start.timestamp() == 99_000
    assert (found.device_hours, found.earlier_hours) == (pytest.approx(held / 3600), pytest.approx(earlier / 3600))
    assert found.computing == computing


def test_time_that_no_job_tells_of_is_refused(tmp_path):
    with refused("benchmark", file=tmp_path):
        working_time(tmp_path, {}, 1)


def test_runs_go_by_the_names_of_their_jobs(configured, results):
    apart = configured(scale="demo", seeds=[0, 1, 7], together=["model"])
    shared = configured(scale="demo", seeds=[0, 1, 7], together=None)
    rows = [{"task": "mnist", "variant": "lstm-n32", "seed": seed} for seed in ("0", "7")]
    records = {run_id(row): row for row in rows}
    assert by_job(apart, rows, records) == {"train-mnist-0": rows[:1], "train-mnist-7": rows[1:]}
    assert by_job(shared, rows, records) == {"train-mnist": rows[:1], "train-mnist-7": rows[1:]}


def test_every_kind_of_comparison_has_a_sentence_with_its_numbers():
    assert SENTENCES.keys() == BRIEF.keys() == {*COMPARED, *OF_ONE, "ratio"} - {"gain"}  # which is on four models
    for kind, sentence in SENTENCES.items():
        assert "{ratio}" in sentence or "{apart}" in sentence, kind
        assert "{ratio}" in BRIEF[kind][1] or "{apart}" in BRIEF[kind][1], kind


# Its description


@pytest.fixture(scope="module")
def validated(files, tmp_path_factory):
    """The issues that the profile's validator finds, by severity; RO-Crate's context is the one that rocrate brings."""
    from rocrate import vocabs
    from rocrate_validator import services
    from rocrate_validator.models import Severity
    from rocrate_validator.utils.http import HttpRequester

    directory = tmp_path_factory.mktemp("crate") / "evidence"
    publish(files, directory)
    # Of a later version, in which two terms of workflows that the profile asks for are elsewhere.
    terms = {name: f"https://bioschemas.org/{name}" for name in ("ComputationalWorkflow", "FormalParameter")}
    context = {"@context": vocabs.RO_CRATE["@context"] | terms}

    def answer(_, address, **__):
        known = address == "https://w3id.org/ro/crate/1.1/context"
        head = {"Content-Type": "application/ld+json"}
        return SimpleNamespace(status_code=200 if known else 504, headers=head, json=lambda: context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HttpRequester, "get", answer, raising=False)
        result = services.validate(
            services.ValidationSettings(
                rocrate_uri=str(directory),
                profile_identifier="workflow-run-crate",
                requirement_severity=Severity.RECOMMENDED,
                offline=True,
                cache_path=directory.parent / "cache",
            )
        )
    return [(issue.severity.name, issue.message) for issue in result.get_issues()]


def test_the_crate_is_valid_by_its_profile(validated):
    assert [message for severity, message in validated if severity == "REQUIRED"] == []


def test_of_what_the_profile_recommends_it_lacks_web_addresses_and_who_ran_it_alone(validated):
    lacking = {message for severity, message in validated if severity == "RECOMMENDED"}
    assert {message for message in lacking if not re.search("a url|a URL|absolute URI|an agent", message)} == set()


def test_the_crate_says_what_the_run_was_made_of_and_what_it_made(files, results):
    graph = {entity["@id"]: entity for entity in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    action = graph["#run"]
    assert action["instrument"]["@id"] == "Snakefile" and action["endTime"] == results.time.end.isoformat()
    assert "agent" not in action and graph["Snakefile"]["version"].endswith(f"+{COMMIT.commit}")
    assert {entity["@id"] for entity in action["result"]} == {
        "verdicts.csv",
        "runs.csv",
        "findings.md",
        "decided.md",
        "undecided.md",
        "tables/",
        "figures/",
        "costs/",
    }
    data = [graph[entity["@id"]] for entity in action["object"] if entity["@id"].startswith("#data-")]
    assert {entry["sha256"] for entry in data} == {row["data_digest"] for row in results.summary}
    assert set(files) - {"ro-crate-metadata.json"} <= set(graph)
    assert graph["Snakefile"]["programmingLanguage"]["@id"].endswith("#snakemake")


# Through Snakemake


@pytest.mark.slow
def test_the_rule_publishes_finished_results(tmp_path, configured):
    """Those of one dataset, which are made up, the others being left out: no other rule is allowed to run."""
    copy_repository(tmp_path)
    for name in ("CITATION.cff", "requirements.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    settings = {"scale": "demo", "seeds": [0], "results": "out", "overrides": {}}
    settings["leave_out"] = sorted({task.dataset for task in configured(**settings).tasks.values()} - {"adding"})
    configuration = configured(**settings)
    make_results(tmp_path, configuration, list({run.id: run for run in all_runs(configuration)}.values()))
    write_rows(tmp_path / configuration.paths.all_verdicts("csv"), COLUMNS, [])
    (tmp_path / configuration.paths.all_verdicts("md")).write_text("none\n")
    with OneProcess(Workflow(tmp_path)) as process:
        process.run("evidence", "--allowed-rules", "evidence", evidence="published-here", **settings)
    readme = (tmp_path / "published-here/README.md").read_text(encoding="utf-8")
    for name, artifact in load_artifacts(configuration).items():
        assert (f"/{name}." in readme) != artifact.is_left_out
        left_out = re.search(rf"^- {re.escape(artifact.settings.heading)}: .*left out", readme, re.MULTILINE)
        assert bool(left_out) == artifact.is_left_out
    assert (tmp_path / "published-here/ro-crate-metadata.json").is_file()
