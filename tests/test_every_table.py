"""What every kind of table is asked: what it says, also of deviations and failures, and which inputs it refuses.

A new kind is one more row of `TABLES`, or of `OTHERS` where nothing published stands beside a mean of ours.
"""

from dataclasses import replace

import pytest
from approved import approved
from conftest import refused
from drawn import add_model, artifact_at
from made import FAILED, costs_of, evidence_of, features_of, make_run, run_record

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.artifacts.notes import READING
from hidden_dynamics.artifacts.tables import markdown
from hidden_dynamics.errors import UserError

TABLES = {  # {name: (its baseline's label, a user's own task and size, how a run that diverged is counted)}
    "momentumrnn_table11": ("LSTM", ("mnist", 128), "diverged 1 of 2"),
    "momentumrnn_table14": ("LSTM", ("pmnist", 256), None),
    "momentumrnn_table16": ("LSTM", ("pmnist", 256), "1 diverged"),
    "acenode_table5": ("ODE-Net", ("cifar10_images", 64), "diverged 1 of 2"),
}
OTHERS = ("momentumrnn_controls", "momentumrnn_logs", "acenode_latent", "acenode_solver")
APPROVED = ("momentumrnn_table14", "acenode_table5", "momentumrnn_controls", "momentumrnn_logs")
MOST_NOTES, LONGEST_HEAD = 5, 45
every = pytest.mark.parametrize("name", TABLES)


def evidence_at(artifact, root, ends=None, change=lambda row: row):
    """What an artifact is made of: runs that reach 0.9 and 0.95, and cost the same.

    Args:
        ends: keywords of a run, as for `made.record_of`, by (model, seed).
        change: of each run and row of a measurement.
    """

    def about(run):
        measured = dict.fromkeys(("test_accuracy", "validation_accuracy", "test_loss"), 0.9 + 0.05 * run.seed)
        return {"evaluations": [{"iteration": 10, "epoch": 1.0, **measured}]} | ends.get((run.model, run.seed), {})

    ends, configuration, runs, measured = ends or {}, artifact.configuration, [], {}
    if artifact.summarised:
        runs = [change(run_record(configuration, run, root, **about(run))) for run in artifact.case_runs]
        for run in artifact.runs if artifact.run_files else ():
            make_run(root, configuration, run, **about(run))
    if artifact.measured == "costs":
        measured["costs"] = [change(row) for row in costs_of(artifact)]
    if artifact.measured == "features":
        measured["features"] = []
        for row in features_of(artifact):
            end = ends.get((row.model, row.seed))
            lost = end and {"status": end.get("status", "diverged"), "silhouette": None}
            measured["features"].append(change(row.model_copy(update=lost)))
    return evidence_of(artifact, runs=runs, **measured)


def changed(row, **changes):
    return row.model_copy(update=changes) if hasattr(row, "model_copy") else replace(row, **changes)


def table_of(artifact, root, ends=None):
    return artifact.draw(evidence_at(artifact, root, ends))


def test_every_kind_of_table_is_asked(configured):
    kinds = {one.settings.kind for one in load_artifacts(configured()).values() if one.form == "table"}
    assert kinds == {artifact_at("demo", name).settings.kind for name in (*TABLES, *OTHERS)}


@pytest.mark.parametrize("name", APPROVED)
def test_a_table_is_as_approved(name, tmp_path):
    scale = "" if name == "momentumrnn_logs" else "_paper"  # it is the same at every scale
    approved(f"{name}{scale}.md", markdown(table_of(artifact_at("paper", name), tmp_path)))


@pytest.mark.parametrize("scale", ["demo", "evening", "paper"])
def test_a_table_has_few_notes_and_short_heads(configured, scale, tmp_path):
    for name, artifact in load_artifacts(configured(scale=scale, seeds=[0, 1, 2])).items():
        if artifact.form == "table":
            table = table_of(artifact, tmp_path)
            assert table.notes[0] == READING and len(table.notes) <= MOST_NOTES, name
            assert all(len(head) <= LONGEST_HEAD for _, head in table.frame.columns), name
            if scale == "evening" and name in ("acenode_table2", "acenode_table7"):
                texts = [text for column in table.frame for text in (*column, *table.frame[column])]
                assert sum(map(len, table.notes)) < sum(map(len, texts)), "notes are shorter than the table"


@every
def test_what_deviates_is_said_and_is_not_held_to_the_paper(name, tmp_path):
    table, papers = (table_of(artifact_at(scale, name), tmp_path / scale) for scale in ("demo", "paper"))
    assert table.title.endswith("demo scale, not comparable with the published numbers")
    assert papers.title.endswith("paper scale")
    (said,) = [note for note in table.notes if "Deviates from the paper: " in note]
    assert " in place of " in said and ", not " in said
    assert not [note for note in papers.notes if "Deviates" in note]
    held = [column for column in ("difference", "published_lead", "published_ratio") if column in table.data]
    assert held and table.data.dropna(subset="deviations")[held].isna().all(axis=None)
    assert papers.data["deviations"].isna().all() and papers.data[held].notna().any(axis=None)


@every
@pytest.mark.parametrize("baseline", [False, True])
def test_what_deviates_in_one_model_leaves_the_others_comparable_but_for_the_baseline(name, baseline, tmp_path):
    artifact = artifact_at("paper", name)
    model = artifact.published.baseline if baseline else artifact.cases()[-1].model
    change = lambda row: changed(row, size=7) if row.model == model else row  # noqa: E731
    table = artifact.draw(evidence_at(artifact, tmp_path, change=change))
    data = table.data.set_index("model")
    held = [column for column in ("published_lead", "published_ratio") if column in data]
    assert data.loc[model, held].isna().all(axis=None)
    assert data[held].isna().all(axis=None) == baseline
    if not baseline:
        assert table.title.endswith("in some cells") and not data.drop(model)["deviations"].any()


@pytest.mark.parametrize("name", [name for name, (*_, count) in TABLES.items() if count])
@pytest.mark.parametrize("end", [{"diverged_at": 7}, FAILED])
def test_a_run_that_diverged_or_failed_is_counted(name, end, tmp_path):
    artifact = artifact_at("demo", name)
    first = artifact.cases()[0].model
    table = table_of(artifact, tmp_path, {(first, 1): end | {"evaluations": []}})
    row = table.frame[table.frame["", "Model"] == TABLES[name][0]].iloc[0]
    assert any(TABLES[name][2].replace("diverged", end.get("status", "diverged")) in text for text in row)


@every
def test_a_users_own_model_is_a_further_row(name, project, tmp_path):
    _, (task, size), _ = TABLES[name]
    add_model(project, task, size, network="mine.Net", core="mine.Core")
    table = table_of(artifact_named(project.load(), name), tmp_path)
    assert "Mine" in set(table.frame["", "Model"]) and "Not in the paper's table: Mine." in table.notes[1]
    assert set(table.data[table.data["label"] == "Mine"]["extra"]) == {True}


@every
def test_a_missing_file_is_named(name, tmp_path):
    artifact = artifact_at("paper", name)
    with pytest.raises(UserError, match="missing") as error:
        artifact.evidence(tmp_path)
    files = [*artifact.floors().values(), *artifact.inputs().values(), *artifact.details()]
    assert error.value.file in {str(tmp_path / file) for file in files}


@pytest.mark.parametrize(
    ("name", "file", "change"),
    [
        *((f"momentumrnn_table{number}", "costs", {"process": 5}) for number in (14, 15, 16)),
        ("acenode_table5", "features", {"seed": 5}),
    ],
)
def test_a_measurement_that_lacks_a_row_is_refused(name, file, change, tmp_path):
    artifact = artifact_at("paper", name)
    evidence = evidence_at(artifact, tmp_path)
    rows = [row.model_copy(update=change) for row in getattr(evidence, file)]
    with refused(file=artifact.inputs()[file]):
        artifact.draw(replace(evidence, **{file: rows}))
