"""published/claims.yaml: its form, that everything it names exists, and that it says what the published tables say."""

import functools
import json
import os
import re
from pathlib import Path

import pytest

from hidden_dynamics.claims import entries
from hidden_dynamics.papers.claims import artifacts_with_claims, claims_about, load_claims, several
from hidden_dynamics.claims.expansion import Cell, check, claims_of, higher_is_better
from hidden_dynamics.configuration import load, read_yaml
from hidden_dynamics.errors import UserError
from hidden_dynamics.papers.published import load_published
from hidden_dynamics.configuration.runs import cells_of, resolve

ENTRIES = load_claims()["claims"]
MODELS = read_yaml(entries.ROOT / "config" / "models.yaml")
SCALES = ("demo", "pilot", "paper")
NOT_CLAIMED = {  # artifacts about which the papers say nothing that runs could contradict, and why
    *(f"momentumrnn_table{number}" for number in range(6, 11)),  # settings
    "momentumrnn_figure8",  # an example of a task
    "acenode_nfe",  # not in the paper
    "acenode_figure4",  # a picture; its numbers are Table 5's
}


@pytest.fixture(scope="module")
def claims(configured):
    """All claims at the paper's scale, by artifact."""
    configuration = configured(scale="paper")
    return {artifact: claims_of(configuration, artifact) for artifact in artifacts_with_claims(configuration)}


@pytest.fixture(scope="module")
def configured():
    settings = read_yaml(entries.ROOT / "config.yaml")
    return functools.cache(lambda **changes: load(settings | changes))


def test_every_artifact_has_claims_or_none_for_a_reason(configured):
    configuration = configured(scale="paper")
    assert set(artifacts_with_claims(configuration)) | NOT_CLAIMED == set(configuration.artifacts)
    assert not set(artifacts_with_claims(configuration)) & NOT_CLAIMED


@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_is_of_what_the_artifact_shows(configured, scale):
    configuration = configured(scale=scale)
    for artifact in artifacts_with_claims(configuration):
        made = claims_of(configuration, artifact)
        check(made)
        kind = configuration.artifacts[artifact]["kind"]
        shown = set() if kind == "cost_table" else {Cell(*cell) for cell in cells_of(configuration, artifact)}
        for claim in made:
            named = {*filter(None, (claim.subject, claim.reference)), *claim.ranked}
            assert named, claim.id
            for cell in named:
                assert resolve(configuration, cell.task, cell.model, cell.size, 0).variant
            assert kind == "cost_table" or named <= shown, claim.id
            assert all(cell.task == claim.task for cell in named)


def test_every_published_direction_is_that_of_the_published_table(claims):
    """What a sentence calls better has the better number, unless the entry says that the paper contradicts itself."""
    compared = 0
    for claim in (claim for made in claims.values() for claim in made):
        if claim.kind == "better" and None not in claim.printed:
            subject, reference = (number.value for number in claim.printed)
            ahead = subject > reference if higher_is_better(claim.metric) else subject < reference
            assert ahead != claim.against_table, claim.id
            compared += 1
        if claim.kind == "steadier":
            assert claim.printed[0].std < claim.printed[1].std, claim.id
    assert compared > 150


def test_the_paper_contradicts_itself_in_two_places_only():
    assert [entry["id"] for entry in ENTRIES if "against_table" in entry] == [
        "small-speech-all-outperform",
        "all-outperform",
    ]


def test_a_pair_is_claimed_once(claims):
    for made in claims.values():
        pairs = [
            (claim.task, claim.metric, frozenset((claim.subject, claim.reference)))
            for claim in made
            if claim.kind == "better" and not claim.against_table
        ]
        assert len(pairs) == len(set(pairs))


def test_every_own_number_of_a_table_is_claimed_and_no_quoted_one(claims):
    values = [claim for claim in claims["momentumrnn_table1"] if claim.kind == "value"]
    assert {claim.subject.model for claim in values} == {"momentum_lstm", "adam_lstm", "rmsprop_lstm", "sr_lstm"}
    assert sorted(claim.printed[0].value for claim in values if claim.task == "mnist") == [
        99.01,
        99.04,
        99.08,
        99.09,
        99.15,
    ]
    pairs = [claim for claim in claims["momentumrnn_table1"] if claim.reference and claim.reference.model == "lstm"]
    assert all(claim.printed[1].quoted for claim in pairs if claim.kind == "better")


def test_every_row_of_a_table_stands_against_its_baseline(claims, configured):
    """Tables of results: all pairs with a printed difference, in both readings where there are two."""
    configuration = configured(scale="paper")
    for artifact, made in claims.items():
        entry = configuration.artifacts[artifact]
        published = load_published(entry["published"]) if "published" in entry else {}
        if entry["kind"] != "results_table" or published.get("across_sizes"):
            continue
        pairs = {frozenset((c.subject, c.reference)) for c in made if c.kind == "better"}
        for row in entry["rows"]:
            for task in entry["tasks"]:
                pair = (Cell(task, row["model"], row["size"]), Cell(task, published["baseline"], row["size"]))
                assert row["model"] == published["baseline"] or frozenset(pair) in pairs, (artifact, pair)


def test_costs_are_claimed_as_printed(claims):
    by_id = {claim.id: claim for made in claims.values() for claim in made}
    adam = by_id["table15:pmnist:training_memory:adam_lstm-256:lstm-256"]
    assert adam.statement == "AdamLSTM’s training memory on PMNIST is more than LSTM’s, N = 256."
    momentum = by_id["table15:pmnist:evaluation_memory:momentum_lstm-256:lstm-256"]
    assert "about the same as" in momentum.statement
    assert (
        "0.72 times" in by_id["table16:value:pmnist:time_to_accuracy:momentum_lstm-256:lstm-256"].statement
    )  # 551/767


def test_grids_are_ranked_where_they_are_run(configured, claims):
    (mnist, speech, language) = claims["momentumrnn_figure7"]
    assert len(mnist.ranked) == len(speech.ranked) == len(language.ranked) == 25
    assert mnist.ranked[Cell("mnist_ablation", "momentum_lstm", "mu0.6-s0.6")] == 99.08
    demo = claims_of(configured(scale="demo"), "momentumrnn_figure7")
    assert [len(claim.ranked) for claim in demo] == [9, 9, 9]


def test_a_table_of_four_rows_has_no_ranking(claims):
    assert not [claim for claim in claims["momentumrnn_table5"] if claim.kind == "ranking"]


def test_a_model_of_the_user_s_own_takes_one_entry(configured, monkeypatch):
    entry = {"id": "mine", "artifact": "momentumrnn_table11", "source": "mine", "says": "mine", "kind": "better"}
    entry |= {"subject": "nag_lstm", "reference": ["lstm", "momentum_lstm"], "sizes": [128], "tasks": ["pmnist"]}
    monkeypatch.setattr(entries, "load_claims", lambda: {"claims": [entry]})
    names = [claim.id for claim in claims_of(configured(scale="paper"), "momentumrnn_table11")]
    assert names == [
        "mine:pmnist:test_accuracy:nag_lstm-128:lstm-128",
        "mine:pmnist:test_accuracy:nag_lstm-128:momentum_lstm-128",
    ]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"kind": "best"}, "claims.0.kind"),
        ({"kind": "value"}, "claims.0.*stands for the whole table"),
        ({"id": "Not An Id"}, "claims.0.id"),
        ({"subjects": "lstm"}, "did you mean 'subject'"),
        ({"sizes": []}, "claims.0.sizes"),
    ],
)
def test_a_malformed_entry_is_refused(tmp_path, change, message):
    content = json.loads(json.dumps(load_claims()))
    content["claims"][0] |= change
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=f"(?i){message}"):
        load_claims(path)


def test_two_entries_of_one_name_are_refused(tmp_path):
    content = json.loads(json.dumps(load_claims()))
    content["claims"].append(content["claims"][0])
    path = tmp_path / "claims.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match="pixels-momentum-better stands twice"):
        load_claims(path)


def test_an_artifact_that_is_not_configured_is_refused(configured, monkeypatch):
    content = {"claims": [{**ENTRIES[0], "artifact": "momentumrnn_table99"}]}
    monkeypatch.setattr(entries, "load_claims", lambda: content)
    with pytest.raises(UserError, match="unknown artifact 'momentumrnn_table99'"):
        artifacts_with_claims(configured(scale="demo"))


def test_what_is_stated_of_an_artifact_is_what_is_judged_again():
    definitions, about = entries.stated("momentumrnn_figure2")
    assert about == claims_about("momentumrnn_figure2") and definitions == load_claims()["definitions"]


def paper_text(paper: str) -> str:
    directory = os.environ.get("HIDDEN_DYNAMICS_PAPERS")
    if not directory:
        pytest.skip("HIDDEN_DYNAMICS_PAPERS names no directory with the papers' text")
    return text_in(paper, directory)


@functools.cache
def text_in(paper: str, directory: str) -> str:
    names = ("ace-node.txt",) if paper == "acenode" else ("momentumrnn.txt", "momentumrnn-appendix.txt")
    text = "\n".join((Path(directory) / name).read_text(encoding="utf-8") for name in names)
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])
def test_the_paper_has_the_place_the_models_and_the_numbers(entry):
    text = paper_text(entry["artifact"].split("_")[0])
    for kind, number in re.findall(r"(Table|Figure) (\d+)", entry["source"]):
        assert f"{kind} {number}" in text
    for section in re.findall(r"(?:Sections? |and )(\d\.\d)", entry["source"]):
        assert re.search(rf"(^|[^\d.]){re.escape(section)} ", text), section
    for model in [*several(entry.get("subject", [])), *several(entry.get("reference", []))]:
        assert MODELS[model]["label"].lower() in text.lower(), model
    for number in re.findall(r"\d+\.\d+M?", entry["says"]):
        assert number in text, number
