"""published/<paper>/claims.yaml: its form, that all it names exists, that it says what tables and plan say."""

import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, refused
from judged import claim, under, written
from made import gradients_of, write_measured

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.claims.judge import verdicts
from hidden_dynamics.claims.needed import evidence_of_claims, files_of, tasks_of_claims
from hidden_dynamics.claims.verdict import Outcome
from hidden_dynamics.configuration import read_yaml
from hidden_dynamics.papers import claims as papers
from hidden_dynamics.papers.claims import check, load_claims
from hidden_dynamics.papers.published import PUBLISHED, load_published
from hidden_dynamics.results.rows import write_rows

ENTRIES = [(paper, entry) for paper, content in load_claims().items() for entry in content.claims]
PLAN = (ROOT / "docs/evidence/PLAN.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("scale", ["demo", "evening", "pilot", "paper"])
def test_all_that_claims_name_is_configured_and_all_their_cases_have_runs(configured, scale):
    configuration = configured(scale=scale)
    check(configuration)
    assert {case.task for _, entry in ENTRIES for case in entry.cases} == {*tasks_of_claims(configuration)}


@pytest.mark.parametrize("paper, entry", ENTRIES, ids=[entry.id for _, entry in ENTRIES])
def test_the_printed_direction_is_the_claim_s_unless_the_paper_s_table_denies_it(configured, paper, entry):
    if entry.published is None:
        return
    configuration, metric = configured(scale="paper"), entry.shown_metric
    table, sign = load_published(f"{paper}/{entry.published}.yaml"), configuration.metrics[metric].sign

    def printed(case):
        number = table.number(configuration, case, metric)
        assert number is not None, case
        return number.value

    pairs = itertools.product(map(printed, entry.subjects), map(printed, entry.references))
    assert all(sign * (subject - reference) > 0 for subject, reference in pairs) != entry.against_table


def test_numbers_of_parameters_are_those_of_the_table():
    (entry,) = (entry for _, entry in ENTRIES if entry.kind == "count")
    rows = [load_published("acenode/table2.yaml").row(case.model, 64) for case in (*entry.subjects, *entry.references)]
    assert entry.printed == " against ".join(row["parameters"] for row in rows if row)


def test_the_family_is_that_of_the_plan_which_is_older_than_its_runs():
    rows = {row[0]: bool(row[1]) for row in re.findall(r"^\| ([AM]\d+\w?)( †)? \|", PLAN, re.MULTILINE)}
    planned = {entry.id: entry.dagger for _, entry in ENTRIES if entry.plan == "yes"}
    assert planned == rows
    shown = subprocess.run(["git", "show", f"{papers.PLAN}:docs/evidence/PLAN.md"], cwd=ROOT, capture_output=True)
    if shown.returncode:
        pytest.skip("no history of Git is here")
    assert PLAN.startswith(shown.stdout.decode().removesuffix("(none)\n"))


def test_what_is_asked_for_is_what_is_read(configured, tmp_path):
    """Losses of minibatches where a claim is of a training's course; nothing of what is left out."""
    only = ["mnist/lstm/128", "pmnist/lstm/128", "pmnist/momentum_lstm/128"]
    configuration = under(tmp_path, configured(scale="paper", seeds=[0, 1, 2], only=only))
    for task, model, _ in (name.split("/") for name in only):
        written(configuration, model, [[0.9], [0.91], [0.92]], task=task)
    files = {Path(file) for file in files_of(configuration)}
    losses = {file.parents[2].name for file in files if file.name == "train_loss.npy"}
    assert losses == {"pmnist"} and not any("features" in file.parts for file in files)
    for file in {path for path in tmp_path.rglob("*") if path.is_file()} - files:
        file.unlink()
    for file in files - {*tmp_path.rglob("*")}:
        if file.parent.name == "jacobian":
            write_measured(file, gradients_of())
        else:
            write_rows(file, ["task"], [])
    found = verdicts(evidence_of_claims(configuration, Path()))
    assert {verdict.id for verdict in found if verdict.outcome is not Outcome.NOT_RUN} == {"M1", "M3", "M11"}


def published(directory: Path, name: str, *changes: dict) -> Path:
    """A directory of papers with one of this name, and its claims: each as M2 of MomentumRNN's but for some changes."""
    content = read_yaml(PUBLISHED / "momentumrnn/claims.yaml")
    content["claims"] = [content["claims"][1] | change for change in changes]
    path = directory / name / "claims.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return directory


def test_a_user_may_run_some_sizes_and_tasks_of_what_is_claimed_and_shown(configured):
    sizes, shown = {"mnist": {"models": {"lstm": {"sizes": [256]}}}}, {"acenode_table11": {"tasks": ["physionet"]}}
    configuration = configured(scale="paper", overrides={"tasks": sizes, "artifacts": shown})
    check(configuration)
    assert load_artifacts(configuration)["acenode_table11"].tasks() == ["physionet"]


def test_a_paper_is_a_directory_with_claims_and_its_name_may_have_digits(tmp_path):
    published(tmp_path, "later2019", {"id": "L1"}, {"id": "L2", "kind": "count"})
    published(tmp_path, "third2024net", {})
    (tmp_path / "without").mkdir()
    found = load_claims(tmp_path)
    assert {name: [entry.id for entry in content.claims] for name, content in found.items()} == {
        "later2019": ["L1", "L2"], "third2024net": ["M2"]
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes, key",
    [
        ([{"subjekt": "lstm"}], "claims.0"),
        ([{"kind": "value"}], "claims.0.kind"),
        ([{"id": "first one"}], "claims.0.id"),
        ([{"plan": "maybe"}], "claims.0.plan"),
        ([{"begun": True, "dagger": False}], "claims.0"),
        ([{"kind": "identity"}], "claims.0"),  # without a measurement
        ([{"task": None}], "claims.0"),
        ([{"printed": "a picture"}], "claims.0"),  # beside a table
        ([{"published": None}], "claims.0"),
        ([{"at": {"iteration": 10}}], "claims.0"),  # of an accuracy
        ([{"kind": "faster", "reference": ["lstm", "sr_lstm"]}], "claims.0"),
        ([{}, {}], "M2"),  # an id stands once in a paper
        ([{"id": f"M{number}"} for number in range(13)], "claims"),  # twelve are the most
    ],
)
def test_what_is_no_claim_is_refused_by_file_and_key(tmp_path, changes, key):
    with refused(file="published/third/claims.yaml", key=key):
        load_claims(published(tmp_path, "third", *changes))


@pytest.mark.parametrize(
    "change",
    [
        {"task": "no_task"},
        {"subject": "no_model"},
        {"control": "no_model"},
        {"subject": "resnet"},  # of no task of pixels
        {"size": 129},
        {"metric": "no_metric"},
        {"measurement": "momentumrnn_table99"},
    ],
)
def test_a_name_that_is_not_configured_is_refused_with_its_claim(configured, monkeypatch, change):
    paper = load_claims()["momentumrnn"].model_copy(update={"claims": [claim("M9", **change)]})
    monkeypatch.setattr(papers, "load_claims", lambda: {"third": paper})
    with refused(file="published/third/claims.yaml", key="M9"):
        check(configured(scale="demo"))
