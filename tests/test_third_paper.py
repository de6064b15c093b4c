"""A third paper is at home: its tables and claims are files of published/ and an entry of config/, and stay its own."""

import shutil

import yaml
from conftest import ROOT
from drawn import cells
from made import evaluations_of, make_run

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims import judge
from hidden_dynamics.claims.verdict import write_verdicts
from hidden_dynamics.pages import findings
from hidden_dynamics.papers import published
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.evidence import Evidence

CLAIM = {"id": "S1", "says": "LSTM is better.", "place": "Table 1", "kind": "better", "published": "table1"}
CLAIM |= {"task": "mnist", "subject": "lstm", "reference": "momentum_lstm", "size": 128, "metric": "test_accuracy"}
PRINTED = {"lstm": 99.0, "momentum_lstm": 98.0}
ENTRY = {"kind": "results_table", "title": "Third", "source": "S4, Table 1", "published": "s4/table1.yaml"}
ENTRY |= {"tasks": ["mnist"], "rows": [{"model": model, "size": 128} for model in PRINTED]}


def test_a_third_paper_has_its_table_its_verdict_and_its_findings(project, tmp_path, monkeypatch):
    """MomentumRNN's M2 and the third paper's claim are of the same runs, and say the opposite of each other."""
    there = tmp_path / "published"
    shutil.copytree(ROOT / "published", there)
    (there / "s4").mkdir()
    rows = [
        {"model": model, "size": 128, "values": {"mnist": {"test_accuracy": {"mean": mean, "std": 0.1}}}}
        for model, mean in PRINTED.items()
    ]
    table = {"kind": "results", "source": {"table": "Table 1"}, "metrics": {"test_accuracy": {}}, "rows": rows}
    claims = {"paper": {"title": "S4", "year": 2022}, "claims": [CLAIM]}
    for name, content in {"table1": table, "claims": claims}.items():
        (there / f"s4/{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(published, "PUBLISHED", there)
    for module in (judge, findings):
        monkeypatch.setattr(module, "load_claims", lambda: load_claims(there))
    project.write("config/artifacts.yaml", project.read("config/artifacts.yaml") | {"s4_table1": ENTRY})
    configuration = project.load(scale="paper", seeds=[0, 1, 2])
    artifact = artifact_named(configuration, "s4_table1")
    level = {"lstm": 0.98, "momentum_lstm": 0.97}
    naive = {"test_accuracy": {"majority class": 0.1135}}
    for run in artifact.case_runs:
        make_run(tmp_path, configuration, run, evaluations_of(run, [level[run.model] + run.seed / 1000]), naive=naive)
    evidence = Evidence.read(configuration, artifact.case_runs, tmp_path)
    drawn = artifact.draw(evidence)
    assert cells(drawn, "MomentumLSTM")["published"] == "98.00 ± 0.10" and artifact.paper == "s4"
    verdicts = judge.verdicts(evidence)
    (ours,) = [one for one in verdicts if one.paper == "s4"]
    (theirs,) = [one for one in verdicts if (one.paper, one.id) == ("momentumrnn", "M2")]
    assert ours.difference == -(theirs.difference or 0) > 0 and ours.p == theirs.p
    assert ours.outcome != theirs.outcome and ours.printed_difference == 1.0
    path = tmp_path / configuration.paths.verdicts
    write_verdicts(path, verdicts)
    assert [paper.title for paper in findings.findings_of(configuration, tmp_path)] == ["MomentumRNN", "ACE-NODE", "S4"]
