"""What every kind of table is asked: what it says, also of deviations and failures, and which inputs it refuses.

A new kind is one more row of `TABLES`, or of `OTHERS` where nothing published stands beside a mean of ours.
"""

import json

import pytest
from approved import approved
from conftest import refused
from drawn import add_model, artifact_at
from made import FAILED, costs_of, features_of, make_run, sources_of, summary_of

from hidden_dynamics.artifacts import artifact_named, load_artifacts
from hidden_dynamics.artifacts.sources import Sources
from hidden_dynamics.artifacts.tables import markdown

TABLES = {  # {name: (its baseline's label, a user's own task and size, how a run that diverged is counted)}
    "momentumrnn_table11": ("LSTM", ("mnist", 128), "diverged 1 of 2"),
    "momentumrnn_table14": ("LSTM", ("pmnist", 256), None),
    "momentumrnn_table16": ("LSTM", ("pmnist", 256), "1 diverged"),
    "acenode_table5": ("ODE-Net", ("cifar10_images", 64), "diverged 1 of 2"),
}
OTHERS = ("momentumrnn_controls", "momentumrnn_logs", "acenode_latent", "acenode_solver")
every = pytest.mark.parametrize("name", TABLES)


def files_of(artifact, root, ends=None):
    """Rows of what an artifact is made of, by file: of runs that reach 0.9 and 0.95, and cost the same.

    Args:
        ends: keywords of a run, as for `made.record_of`, by (model, seed).
    """

    def about(run):
        measured = dict.fromkeys(("test_accuracy", "validation_accuracy", "test_loss"), 0.9 + 0.05 * run.seed)
        evaluations = [{"iteration": 10, "epoch": 1.0, **measured}]
        return {"evaluations": evaluations} | (ends or {}).get((run.model, run.seed), {})

    files = {}
    if artifact.summarised:
        files["summary"] = summary_of(artifact, about)
        for run in artifact.runs if artifact.run_files else ():
            make_run(root, artifact.configuration, run, **about(run))
    if artifact.measured == "costs":
        files["costs"] = costs_of(artifact)
    if artifact.measured == "features":
        files["features"] = features_of(artifact, {model: (0.5, 0.6) for model in artifact.configuration.models})
        for row in files["features"]:
            if (row["model"], int(row["seed"])) in (ends or {}):
                own = ends[row["model"], int(row["seed"])]
                row |= {"status": own.get("status", "diverged"), "diverged_at": "7", "silhouette": ""}
                row |= {"failure": json.dumps(own["failure"]) if "failure" in own else ""}
    return files


def table_of(artifact, root, ends=None, **changes):
    """The table, with changed rows of some files."""
    return artifact.draw(sources_of(artifact, root, **files_of(artifact, root, ends) | changes))


def test_every_kind_of_table_is_asked(configured):
    kinds = {one.settings.kind for one in load_artifacts(configured()).values() if one.form == "table"}
    assert kinds == {artifact_at("demo", name).settings.kind for name in (*TABLES, *OTHERS)}


@pytest.mark.parametrize("name", (*TABLES, *OTHERS))
@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_a_table_is_as_approved(name, scale, tmp_path):
    approved(f"{name}_{scale}.md", markdown(table_of(artifact_at(scale, name), tmp_path)))


@every
def test_what_deviates_is_said_and_is_not_held_to_the_paper(name, tmp_path):
    table, papers = (table_of(artifact_at(scale, name), tmp_path / scale) for scale in ("demo", "paper"))
    assert table.title.endswith("demo scale, not comparable with the published numbers")
    assert papers.title.endswith("paper scale")
    (said,) = [note for note in table.notes if "Deviates from the paper: " in note]
    assert " in place of " in said and ", not " in said
    assert not [note for note in papers.notes if "Deviates" in note]
    held = [column for column in ("difference", "published_gap", "published_ratio") if column in table.data]
    assert held and table.data.dropna(subset="deviations")[held].isna().all(axis=None)
    assert papers.data["deviations"].isna().all() and papers.data[held].notna().any(axis=None)


@every
@pytest.mark.parametrize("baseline", [False, True])
def test_what_deviates_in_one_model_leaves_the_others_comparable_but_for_the_baseline(name, baseline, tmp_path):
    artifact = artifact_at("paper", name)
    files, model = files_of(artifact, tmp_path), artifact.published.baseline if baseline else artifact.cases()[-1].model
    for row in (row for rows in files.values() for row in rows if row["model"] == model):
        row["size"] = "7"
    table = artifact.draw(sources_of(artifact, tmp_path, **files))
    data = table.data.set_index("model")
    held = [column for column in ("published_gap", "published_ratio") if column in data]
    assert data.loc[model, held].isna().all(axis=None)
    assert data[held].isna().all(axis=None) == baseline
    if not baseline:
        assert table.title.endswith("in some cells") and not data.drop(model)["deviations"].any()


@pytest.mark.parametrize("name", [name for name, (*_, said) in TABLES.items() if said])
@pytest.mark.parametrize("end", [{"diverged_at": 7}, FAILED])
def test_a_run_that_diverged_or_failed_is_counted_and_named(name, end, tmp_path):
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
    assert "Mine" in set(table.frame["", "Model"]) and "Not in the paper's table: Mine." in table.notes


@every
def test_a_missing_file_is_named(name, tmp_path):
    artifact = artifact_at("paper", name)
    files = [*artifact.inputs().values(), *(f"{run.directory}/run.json" for run in artifact.runs)]
    with refused("missing", file=tmp_path / files[0]):
        artifact.draw(Sources(artifact, tmp_path))


@pytest.mark.parametrize(
    ("name", "file", "column"),
    [
        *((name, "costs", "process") for name in ("momentumrnn_table14", "momentumrnn_table15", "momentumrnn_table16")),
        ("acenode_table5", "features", "seed"),
    ],
)
def test_a_measurement_that_lacks_a_row_is_refused(name, file, column, tmp_path):
    artifact = artifact_at("paper", name)
    files = files_of(artifact, tmp_path)
    changed = [row | {column: "5"} for row in files[file]]
    with refused(file=tmp_path / artifact.inputs()[file]):
        artifact.draw(sources_of(artifact, tmp_path, **files | {file: changed}))
