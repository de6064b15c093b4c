"""A third paper is at home: its tables and claims are files of published/ and an entry of config/, and stay its own."""

import shutil
from typing import Any

import yaml
from conftest import ROOT
from drawn import cells
from made import evaluations_of, make_run

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.claims import judge
from hidden_dynamics.claims.verdict import write_verdicts
from hidden_dynamics.pages import findings, sections
from hidden_dynamics.papers import published
from hidden_dynamics.papers.claims import load_claims
from hidden_dynamics.results.evidence import Evidence


def example(file: str) -> dict[str, Any]:
    """A file of the paper that docs/extending.md adds, with what is in one block with it."""
    blocks = (ROOT / "docs/extending.md").read_text(encoding="utf-8").split("```yaml\n")
    (block,) = (block for block in blocks if block.startswith(f"# published/mine/{file}"))
    return yaml.safe_load(block.split("```")[0])


def test_a_third_paper_has_its_table_its_verdict_and_its_findings(project, tmp_path, monkeypatch):
    """MomentumRNN's M2 and the third paper's claim are of the same runs, and say the opposite of each other."""
    there, files = tmp_path / "published", {name: example(name) for name in ("table1.yaml", "claims.yaml")}
    entry = files["table1.yaml"].pop("mine_table1") | {"published": "s4/table1.yaml"}
    shutil.copytree(ROOT / "published", there)
    (there / "s4").mkdir()
    for name, content in files.items():
        (there / "s4" / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(published, "PUBLISHED", there)
    for module in (judge, findings):
        monkeypatch.setattr(module, "load_claims", lambda: load_claims(there))
    project.write("config/artifacts.yaml", project.read("config/artifacts.yaml") | {"s4_table1": entry})
    project.set("config/tasks.yaml", "mnist.seeds", [0, 1, 2])
    configuration = project.load(scale="paper")
    artifact = artifact_named(configuration, "s4_table1")
    level = {"lstm": 0.98, "momentum_lstm": 0.97}
    naive = {"test_accuracy": {"majority class": 0.1135}}
    for run in artifact.case_runs:
        make_run(tmp_path, configuration, run, evaluations_of(run, [level[run.model] + run.seed / 1000]), naive=naive)
    evidence = Evidence.read(configuration, artifact.case_runs, tmp_path)
    assert cells(artifact.draw(evidence), "MomentumLSTM")["published"] == "98.00 ± 0.10"
    verdicts = judge.verdicts(evidence)
    (ours,) = [one for one in verdicts if one.paper == "s4"]
    (theirs,) = [one for one in verdicts if (one.paper, one.id) == ("momentumrnn", "M2")]
    assert ours.difference == -(theirs.difference or 0) > 0 and ours.p == theirs.p
    assert ours.outcome != theirs.outcome and ours.printed_difference == 1.0
    assert (ours.n_subject, ours.n_reference, ours.deviations) == (3, 3, "")
    write_verdicts(tmp_path / configuration.paths.verdicts, verdicts)
    assert [paper.title for paper in findings.findings_of(configuration, tmp_path)] == [
        "MomentumRNN", "ACE-NODE", "Mine"
    ]  # fmt: skip
    papers = dict.fromkeys(artifact.paper for artifact in sections.in_order(configuration))
    assert list(papers) == ["momentumrnn", "acenode", "s4"]
