"""published/claims.yaml: its form, that everything it names exists, and that it says what the published tables say."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from approved import approved
from conftest import ROOT, refused

from hidden_dynamics.artifacts import artifact_named, load_claimed
from hidden_dynamics.claims import expand
from hidden_dynamics.claims.expand import all_claims, smallest_p
from hidden_dynamics.claims.kinds import TESTS
from hidden_dynamics.configuration import read_yaml
from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.papers import claims as entries
from hidden_dynamics.papers.claims import FILE, KINDS, ClaimEntry, Margin, artifacts_with_claims, load_claims

SCALES = ("demo", "evening", "pilot", "paper")
NOT_CLAIMED = {  # artifacts about which the papers say nothing that runs could contradict, and why
    *(f"momentumrnn_table{number}" for number in range(6, 11)),  # settings
    "momentumrnn_figure8",  # an example of a task
    *("momentumrnn_controls", "momentumrnn_course", "momentumrnn_logs"),  # not in the paper
    *("momentumrnn_momentum", "momentumrnn_adam", "acenode_attention"),  # verdicts of others
    *("acenode_hyperparameters", "acenode_latent"),  # settings
    *("acenode_released", "acenode_solver"),  # not in the paper
    "acenode_figure4",  # a picture; its numbers are Table 5's
    "acenode_figure5",  # "smaller errors during almost the entire testing time" is read off row numbers
}


@pytest.fixture(scope="module")
def artifacts(configured):
    """At the paper's scale, those that claims rest on."""
    configuration = configured(scale="paper")
    return {name: artifact_named(configuration, name) for name in artifacts_with_claims(configuration)}


@pytest.fixture(scope="module")
def claims(artifacts):
    """All claims at the paper's scale, by the artifact that they are judged with."""
    return all_claims(artifacts)


def claims_of(artifact) -> list:
    """The claims on an artifact, as if there were no other one."""
    return all_claims({artifact.name: artifact})[artifact.name]


def changed(tmp_path: Path, change) -> Path:
    """The path of a copy of the file, after `change` of its content."""
    content = json.loads(json.dumps(read_yaml(FILE)))
    change(content)
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def stating(monkeypatch, **entry) -> None:
    """Let the file have one entry alone."""
    about = {"id": "mine", "source": "mine", "says": "mine"} | entry
    content = entries.Claims(definitions=load_claims().definitions, claims=[ClaimEntry(**about)])
    for module in (entries, expand):
        monkeypatch.setattr(module, "load_claims", lambda: content)


# What is claimed


def test_claims_of_the_plan_name_its_rows_and_the_commit_that_has_it_word_for_word(claims):
    plan, commit = (ROOT / "docs/evidence/PLAN.md").read_text(encoding="utf-8"), load_claims().definitions.plan.commit
    named = Counter(claim.plan for made in claims.values() for claim in made if claim.plan)
    expected = {"A1": 1, "A2": 1, "A3": 2, "A8": 1, "M3": 1, "M9": 1, "M11": 1}
    assert named == {f"{row}, {commit}": count for row, count in expected.items()}
    assert expected.keys() <= {*re.findall(r"^\| ([AM]\d+\w?)(?: †)? \|", plan, re.MULTILINE)}
    shown = subprocess.run(["git", "show", f"{commit}:docs/evidence/PLAN.md"], cwd=ROOT, capture_output=True)
    if shown.returncode:
        pytest.skip("no history of Git is here")
    assert plan.startswith(shown.stdout.decode().removesuffix("(none)\n"))


def test_every_artifact_has_claims_or_none_for_a_reason(configured):
    configuration = configured(scale="paper")
    assert set(artifacts_with_claims(configuration)) | NOT_CLAIMED == set(configuration.artifacts)
    assert not set(artifacts_with_claims(configuration)) & NOT_CLAIMED


@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_is_of_what_the_artifact_shows(configured, scale):
    configuration = configured(scale=scale)
    for name in artifacts_with_claims(configuration):
        artifact = artifact_named(configuration, name)
        shown = set(artifact.cases())
        for claim in claims_of(artifact) if shown else ():
            assert (claim.cells or claim.kind in ("listed", "identity")) and set(claim.cells) <= shown, claim.id
            assert all(resolve(configuration, *cell, 0).sized_model for cell in claim.cells)
            assert claim.than or {cell.task for cell in claim.cells} <= {claim.task}


def test_every_published_direction_is_that_of_the_published_table(configured, claims):
    """What a sentence calls better has the better number, unless the entry says that the paper contradicts itself."""
    metrics, compared = configured(scale="paper").metrics, 0
    for claim in (claim for made in claims.values() for claim in made):
        if claim.kind == "better" and None not in claim.printed:
            subject, reference = (number.value for number in claim.printed)
            ahead = (subject - reference) * metrics[claim.metric].sign > 0
            assert ahead != claim.against_table, claim.id
            compared += 1
        if claim.kind == "not_better":
            assert claim.printed[0].value < claim.printed[1].value, claim.id
    assert compared > 150


def test_a_comparison_is_judged_once_and_names_all_that_say_it(claims, artifacts):
    made = [claim for found in claims.values() for claim in found]
    assert len(made) == len({claim.same for claim in made}) > 450
    pairs = [claim.test for claim in made if claim.kind == "better" and not claim.against_table]
    assert len(pairs) == len(set(pairs))
    there = {claim.same: claim for claim in claims["momentumrnn_table4"]}
    again = [claim.same for claim in claims_of(artifacts["momentumrnn_table13"]) if claim.same in there]
    assert len(again) == 9 and not there.keys() & {claim.same for claim in claims["momentumrnn_table13"]}
    first = there[again[0]]
    assert first.entries == ("table4", "orthogonal-permuted-better", "table13") and "Table 13, caption" in first.also


def test_a_ranking_can_be_decided_in_its_family(claims):
    """Full agreement would have a small p among all rankings of its family."""
    for made in claims.values():
        ranked = [claim for claim in made if claim.kind == "ranking"]
        for claim in ranked:
            tests = {other.test for other in ranked if other.family == claim.family}
            assert smallest_p(claim.ranked) * len(tests) < 0.05


def test_claims_are_those_approved(claims):
    """Each by its id, with its statement and the numbers printed: (quoted) are those that the paper quotes."""
    said = []
    for claim in (claim for made in claims.values() for claim in made):
        numbers = [f"{number.value:g}{' (quoted)' * number.quoted}" for number in claim.printed if number]
        said.append(" | ".join([claim.id, claim.statement, *numbers]))
    approved("claims_paper.txt", "\n".join(said))


def test_what_is_said_to_have_run_is_what_is_configured(configured, claims):
    """At a scale of other data, sizes and epochs; at the paper's the statement is the paper's."""
    assert all(claim.ran == claim.statement for made in claims.values() for claim in made)
    configuration, named = configured(scale="evening"), 0
    for claim in (claim for made in all_claims(load_claimed(configuration)).values() for claim in made if claim.task):
        task, cell = configuration.tasks[claim.task], claim.subject
        ours, _, theirs = claim.ran.partition(" (the paper: ")
        assert "TIMIT" not in ours
        if cell and isinstance(cell.size, int) and claim.kind not in ("value", "gain") and theirs:
            ran = resolve(configuration, *cell, 0).spec
            assert f"N = {ran['hyperparameters']['hidden_size']}" in ours and f"{cell.size}" in claim.ran
            epochs = ran["training"]["epochs"]
            assert claim.kind == "ratio" or f", {epochs} epoch" in ours or f", after {epochs} of" in ours
            named += 1
        assert configuration.data_title(claim.task) in ours or not configuration.replaced(claim.task), task
    assert named > 300


def test_a_model_of_the_user_s_own_takes_one_entry(artifacts, monkeypatch):
    about = {"kind": "better", "subject": "nag_lstm", "reference": ["lstm", "momentum_lstm"], "sizes": [128]}
    stating(monkeypatch, artifact="momentumrnn_table11", tasks=["pmnist"], **about)
    assert [claim.id for claim in claims_of(artifacts["momentumrnn_table11"])] == [
        "mine:pmnist:test_accuracy:nag_lstm-128:lstm-128",
        "mine:pmnist:test_accuracy:nag_lstm-128:momentum_lstm-128",
    ]


def test_every_kind_has_a_test_and_an_entry_may_be_of_an_order_alone(artifacts, monkeypatch):
    assert KINDS.keys() - {"ordering", "listed"} == TESTS.keys()
    stating(monkeypatch, artifact="momentumrnn_table11", kind="ranking")
    assert [claim.id for claim in claims_of(artifacts["momentumrnn_table11"])] == [
        f"mine:{task}:test_accuracy" for task in ("mnist", "pmnist")
    ]


@pytest.mark.parametrize("better, more", [("higher", "higher"), ("lower", "lower")])
def test_a_statement_takes_the_direction_of_its_metric(project, monkeypatch, better, more):
    """Whatever the metric is called."""
    metrics = project.read("config/metrics.yaml")
    metrics["auc"] = {"title": "AUC", "unit": "one", "better": better, "decimals": 3}
    project.write("config/metrics.yaml", metrics)
    about = {"kind": "better", "subject": "momentum_lstm", "reference": "lstm", "sizes": [128], "metrics": ["auc"]}
    stating(monkeypatch, artifact="momentumrnn_table11", tasks=["mnist"], **about)
    (claim,) = claims_of(artifact_named(project.load(scale="paper"), "momentumrnn_table11"))
    assert claim.statement == f"MomentumLSTM has a {more} AUC than LSTM on MNIST, N = 128."


# Mistakes


def first(**changes):
    """A change of the first entry: these keys, without those that are None."""

    def change(content):
        entry = content["claims"][0] | changes
        content["claims"][0] = {key: value for key, value in entry.items() if value is not None}

    return change


def margin(**about):
    return lambda content: content["definitions"]["margins"].update(silhouette=about)


def test_a_margin_is_of_the_number_or_of_the_errors_that_it_leaves_as_it_is_shown(configured):
    """By hand: a tenth of 2.5; of the 15 that 85 % leave to 100, of the 0.15 that 0.85 leave to 1."""
    assert Margin(relative=0.1).around(-2.5) == pytest.approx(0.25)
    assert Margin(errors=0.1).around(85.0) == pytest.approx(1.5)
    assert Margin(errors=0.1, of=1).around(0.85) == pytest.approx(0.015)
    metrics = configured().metrics
    for name, margin in load_claims().definitions.margins.items():
        assert margin.errors is None or margin.of == (100 if metrics[name].unit == "percent" else 1)


@pytest.mark.parametrize(
    "change, key, word",
    [
        (first(kind="best"), "claims.0.kind", "better"),
        (first(kind="value"), "claims.0", "leave it out"),
        (first(id="Not An Id"), "claims.0.id", "match pattern"),
        (first(subjects="lstm"), "claims.0", "'subject'"),
        (first(sizes=[]), "claims.0.sizes", "sizes"),
        (first(sizes=[[1, 2, 3]]), "claims.0.sizes.0", "at most 2 items"),
        (first(against_table=False), "claims.0.against_table", "should be True"),
        *((first(**{key: None}), "claims.0", key) for key in ("subject", "sizes")),
        (first(reference=None, metrics=["test_loss"]), "pixels-momentum-better", "test_loss"),
        (first(kind="similar", reference=None), "claims.0", "reference"),
        (first(kind="gain"), "claims.0", "tasks"),
        (first(kind="gain", tasks=["mnist"]), "claims.0", "two tasks"),
        (margin(), "definitions.margins.silhouette", "either"),
        (margin(errors=0.1, relative=0.1), "definitions.margins.silhouette", "either"),
        (margin(errors=0.1, of=2), "definitions.margins.silhouette.of", "1 or 100"),
        (lambda content: content["claims"].append(content["claims"][0]), "pixels-momentum-better", "twice"),
    ],
)
def test_a_malformed_entry_is_refused(tmp_path, change, key, word):
    with refused(word, file="published/claims.yaml", key=key):
        load_claims(changed(tmp_path, change))


def test_an_artifact_that_is_not_configured_is_refused(configured, monkeypatch):
    stating(monkeypatch, artifact="momentumrnn_table99", kind="value")
    with refused("momentumrnn_table99", file="published/claims.yaml", key="mine"):
        artifacts_with_claims(configured(scale="demo"))


@pytest.mark.parametrize(
    "name, change", [("nag", {"subject": "nag"}), ("fashion", {"tasks": ["fashion"]}), ("f1", {"metrics": ["f1"]})]
)
def test_a_name_that_is_not_configured_is_refused(artifacts, monkeypatch, name, change):
    about = {"kind": "better", "subject": "lstm", "reference": "sr_lstm", "sizes": [128], "tasks": ["mnist"]} | change
    stating(monkeypatch, artifact="momentumrnn_table11", **about)
    with refused(f"'{name}'"):
        claims_of(artifacts["momentumrnn_table11"])
