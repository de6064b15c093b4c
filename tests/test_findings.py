"""findings.md and the tables of findings, of made-up verdicts."""

import json
import re
from dataclasses import replace

import pytest
from approved import approved
from conftest import refused
from made import run_record

from hidden_dynamics.artifacts.exploratory import COLUMNS
from hidden_dynamics.claims.verdict import Outcome, Verdict, write_verdicts
from hidden_dynamics.configuration.runs import runs_on
from hidden_dynamics.pages.findings import LOGS, OURS, SMALL, exploratory_sentence, findings_of
from hidden_dynamics.publication.texts import findings_page
from hidden_dynamics.results.rows import write_rows

QUESTION = "acenode_attention"
EFFECT = {"difference": 0.0216, "low": 0.008, "high": 0.035, "decimals": 3}
RAN = {"sentence": "It is ahead by 0.022.", "ran": "PhysioNet, N = 20, 100 epochs"}
TESTED = {"dagger": True, "plan": "yes", "robust": 0.875, "analyses": 8, "differing": "open (without seed 3)"}
COMPARED = {"items_low": -0.001, "items_high": 0.04, "printed": "+0.024", "classical": "boosting 0.85"}
CONTROL = {"control_label": "same s", "control_difference": 0.001, "critic": "“No.”", "critic_address": "x"}
LOGGED = {"logs_difference": -0.02, "logs_low": -0.1, "decimals": 2}


def verdict(name, outcome, paper="acenode", **more):
    about = {"says": f"Attention | helps {name}.", "place": "Table 7", "kind": "better", "subject": "a"}
    return Verdict(id=name, paper=paper, outcome=outcome, **(about | more))


VERDICTS = [
    verdict("M1", Outcome.AGREES, "momentumrnn", deviations="N = 64, not 128", kind="faster", **EFFECT, **RAN),
    verdict("M2", Outcome.NOT_RUN, "momentumrnn", reason="no runs"),
    verdict("A1", Outcome.REPRODUCED, part="by epoch 13", **EFFECT, **RAN, **TESTED, **COMPARED, **CONTROL),
    verdict("A2", Outcome.NOT_RUN, reason="no runs", remark="Here μ = 0.", against_table=True, **LOGGED),
    verdict("A3", Outcome.NOT_RUN, reason="no runs"),
    verdict("B1", Outcome.BARRED, "a3rd", reason="Broken.", **EFFECT, **RAN),
    verdict("B2", Outcome.NOT_RUN, "a3rd", reason="after 2 of 150 epochs", **EFFECT, **RAN),  # its numbers stand there
]
BESIDE = [verdict("A2", Outcome.OPEN, deviations="small", **EFFECT), verdict("A3", Outcome.NOT_RUN)]


@pytest.fixture
def configuration(configured):
    whole = configured(scale="paper", overrides={})
    return replace(whole, artifact_layers={QUESTION: whole.artifact_layers[QUESTION]})


@pytest.fixture
def root(configuration, tmp_path):
    """Results of verdicts, comparisons, and a question that has a picture."""
    paths = configuration.paths
    write_verdicts(tmp_path / paths.verdicts, VERDICTS)
    write_verdicts(tmp_path / configuration.verdicts_beside, BESIDE)
    rows = [{"p": p, "q": q} for p, q in (("0.01", "0.04"), ("0.5", "0.5"), ("", ""))]
    write_rows(tmp_path / paths.comparisons, COLUMNS, [dict.fromkeys(COLUMNS, "") | row for row in rows])
    drawn = tmp_path / paths.drawn("figure", QUESTION, "json")
    drawn.parent.mkdir(parents=True)
    drawn.write_text(json.dumps({"title": "", "instead": "", "columns": [], "rows": [], "notes": []}))
    return tmp_path


def paper(configuration, root, name="acenode"):
    (found,) = [one for one in findings_of(configuration, root) if one.name == name]
    return found


def test_findings_of_made_up_verdicts_are_as_approved(configuration, root):
    """A table for each paper, under its title; effects with sign and intervals, a ratio's without sign."""
    runs = [run_record(configuration, run) for run in runs_on(configuration, "physionet")]
    approved("findings.md", findings_page(configuration, runs, root).partition("\n")[2])


def test_what_was_not_run_is_a_line_only_where_logs_or_small_data_say_something(configuration, root):
    found = paper(configuration, root)
    assert [line.verdict.id for line in found.lines] == ["A1", "A2"]
    assert found.not_run == {"no runs": ["A2", "A3"]}
    assert {LOGS, OURS, SMALL} <= {*found.columns}


def test_a_publication_beside_that_is_not_there_has_no_column(configuration, root):
    (root / configuration.verdicts_beside).unlink()
    assert SMALL not in paper(configuration, root).columns
    assert replace(configuration, scale=configuration.scale.model_copy(update={"beside": None})).verdicts_beside is None


def test_where_directions_are_asked_for_our_runs_are_headed_as_small_data(configuration, root):
    small = replace(configuration, scale=configuration.scale.model_copy(update={"directions": True}))
    for name in ("momentumrnn", "acenode"):
        columns = paper(small, root, name).columns
        assert columns.count(SMALL) == 1 and OURS not in columns
    assert paper(small, root).lines[0].cells[SMALL].startswith("+0.022")  # of A1


def test_exploratory_comparisons_are_counted_by_q(configuration, root):
    assert re.findall(r"\d+", exploratory_sentence(configuration, root))[:3] == ["3", "2", "1"]


def test_verdicts_that_are_missing_are_named(configuration, root):
    path = root / configuration.paths.verdicts
    path.unlink()
    with refused(file=path):
        findings_of(configuration, root)
