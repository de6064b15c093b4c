"""The way back from a publication: runs identical to the byte, or refused; tables and figures from records alone."""

import json
import shutil
from copy import deepcopy
from hashlib import sha256

import pytest
import restore
from conftest import ROOT, refused
from made import summary_of
from published_here import COMMIT, COSTS, GRADIENTS, IMAGES, TABLE, few_artifacts, results_of

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.notes import runs_notes
from hidden_dynamics.configuration import runs
from hidden_dynamics.configuration.runs import WEIGHTS, all_runs, code_of
from hidden_dynamics.publication.restoring import METADATA, PUT_BACK, THERE, Publication, put_all_back
from hidden_dynamics.results.records import KEPT, packed, unpacked
from hidden_dynamics.results.run_files import is_finished
from hidden_dynamics.results.trained import load_weights

RUN = "mnist/lstm-n32/seed0"
FOUND = {  # by task, where other epochs, other data, and another size are configured
    "mnist": {"of other specification"},
    "ptb": {"of other data"},
    "adding": {PUT_BACK, "not configured"},
    "pmnist": {PUT_BACK},
}


@pytest.fixture(scope="module")
def published(configured, tmp_path_factory):
    return results_of(configured(scale="demo", seeds=[0]), tmp_path_factory.mktemp("published"))


def test_what_is_published_here_at_the_papers_settings_can_be_drawn_by_the_code_that_is_here():
    assert TABLE in load_artifacts(Publication(ROOT / "docs/evidence/paper").configuration)


@pytest.fixture
def copy(published, tmp_path):
    """A copy of the publication, to change."""
    shutil.copytree(published.directory, tmp_path / "evidence")
    return Publication(tmp_path / "evidence")


def files_in(directory, without=()):
    """Every file by its path; no sidecars, no checkpoints."""
    paths = [path for path in directory.rglob("[!.]*") if path.is_file() and not {*path.parts} & {KEPT, *without}]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def test_runs_come_back_as_finished_runs_identical_to_the_byte(published, tmp_path, ended, monkeypatch):
    configuration = published.configuration
    outcome = put_all_back(Publication(published.directory), tmp_path, configuration)
    every = {run.id: run for run in all_runs(configuration)}
    assert outcome == dict.fromkeys(every, PUT_BACK)
    assert files_in(tmp_path / configuration.results / "runs") == files_in(published.results / "runs")
    for folder in ("costs", "features"):  # what was measured of them, too
        assert files_in(tmp_path / configuration.results / folder) == files_in(published.results / folder)
    again = ended(restore.main, published.directory, "--root", tmp_path / "again")  # with its own settings
    assert again.out == f"{len(every)} runs {PUT_BACK}\n"
    monkeypatch.chdir(tmp_path)
    assert all(is_finished(configuration, run) for run in every.values())
    assert put_all_back(Publication(published.directory), tmp_path, configuration) == dict.fromkeys(every, THERE)


def test_a_figure_says_by_which_commits(published):
    rows = summary_of(load_artifacts(published.configuration)[GRADIENTS])
    rows = [row | {"commit": commit} for row, commit in zip(rows, (COMMIT, f"{COMMIT}+", ""), strict=False)]
    assert runs_notes(rows)[0].endswith(f" Code: commit {COMMIT[:10]}, {COMMIT[:10]}+.")


def test_a_run_of_other_code_is_refused(published, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "code_of", lambda run: "other" if run.model == "lstm" else code_of(run))
    configuration = deepcopy(published.configuration)
    configuration.resolved.clear()
    outcome = put_all_back(Publication(published.directory), tmp_path, configuration)
    assert {name for name, what in outcome.items() if what == "of other code"} == {
        run.id for run in all_runs(configuration) if run.model == "lstm"
    }


@pytest.mark.parametrize("path", ["records/mnist.tar.xz", "records/configuration.tar.xz"])
def test_the_same_files_make_the_same_archive(published, path):
    assert packed(dict(reversed(unpacked(published.files[path]).items()))) == published.files[path]


def test_everything_is_drawn_from_the_records_alone_and_says_by_which_commit(published, tmp_path, ended):
    """Whatever the configuration and the code are: here, the configuration is another one."""
    with few_artifacts():
        said = ended(restore.main, published.directory, "--draw", tmp_path / "redrawn")
    assert said.code == 0 and said.out.splitlines()[-1].endswith(str(tmp_path / "redrawn/results/demo/index.html"))
    redrawn = files_in(tmp_path / "redrawn/results/demo")
    assert redrawn == files_in(published.results)
    assert not [path for path, content in redrawn.items() if b"frozenset" in content]  # its order is another each time
    for name in (TABLE, IMAGES):
        assert f"Code: commit {COMMIT[:10]}." in (tmp_path / f"redrawn/results/demo/tables/{name}.md").read_text()
    again = ended(restore.main, published.directory, "--draw", tmp_path / "redrawn")
    assert again.code == 1 and "redrawn is there" in again.err
    (tmp_path / METADATA).write_text("{}")  # a directory without records
    assert ended(restore.main, tmp_path, "--draw", tmp_path / "not drawn").code == 1
    assert not (tmp_path / "not drawn").exists()


def test_results_that_were_elsewhere_are_drawn_in_the_directory_that_is_named(copy, tmp_path):
    path = copy.directory / "records/configuration.tar.xz"
    settings = unpacked(path.read_bytes())
    assert settings["config.yaml"].count(b"results: results") == 1
    for elsewhere in (tmp_path / "elsewhere", "../elsewhere"):
        given = settings["config.yaml"].replace(b"results: results", f"results: {elsewhere}".encode())
        path.write_bytes(packed(settings | {"config.yaml": given}))
        metadata = json.loads((copy.directory / METADATA).read_bytes())
        (entity,) = [each for each in metadata["@graph"] if each["@id"] == "records/configuration.tar.xz"]
        entity["sha256"] = sha256(path.read_bytes()).hexdigest()
        (copy.directory / METADATA).write_text(json.dumps(metadata))
        changed = Publication(copy.directory)
        assert changed.configuration.results == "results/demo"
    put_all_back(changed, tmp_path / "redrawn")
    assert {path.name for path in tmp_path.iterdir()} == {"evidence", "redrawn"}


def test_a_run_of_another_specification_or_other_data_is_refused(published, tmp_path, configured):
    changes = {"tasks": {"mnist": {"training": {"epochs": 7}}, "adding": {"models": {"lstm": {"sizes": [64]}}}}}
    configuration = configured(scale="demo", overrides=changes)
    ptb = configuration.tasks["ptb"]
    about = tmp_path / configuration.paths.prepared(ptb.dataset, ptb.data)
    about.parent.mkdir(parents=True)
    about.with_suffix(".json").write_text(json.dumps({"digest": "of other data"}))
    outcome = put_all_back(Publication(published.directory), tmp_path, configuration)
    found = {task: {what for name, what in outcome.items() if name.startswith(f"{task}/")} for task in FOUND}
    assert found == FOUND
    there = {path.parts[-4] for path in tmp_path.glob("results/demo/runs/*/*/*/run.json")}
    assert there & FOUND.keys() == {"adding", "pmnist"}


def test_an_altered_archive_is_refused_by_its_name(copy, published, tmp_path):
    file = copy.directory / "records/adding.tar.xz"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with refused("digest", file=file):
        put_all_back(copy, tmp_path, published.configuration)
    file.unlink()
    with refused("missing", file=file):
        put_all_back(copy, tmp_path, published.configuration)


def test_what_was_measured_comes_back_only_where_the_runs_of_its_tasks_agree(published, tmp_path, configured):
    changes = {"tasks": {"pmnist": {"training": {"epochs": 7}}}}
    put_all_back(Publication(published.directory), tmp_path, configured(scale="demo", seeds=[0], overrides=changes))
    assert not (tmp_path / published.configuration.paths.costs(COSTS)).exists()
    assert (tmp_path / published.configuration.paths.features(IMAGES)).exists()


def test_weights_of_a_restored_run_are_missed_in_words(published, tmp_path):
    put_all_back(Publication(published.directory), tmp_path, published.configuration)
    directory = tmp_path / f"{published.configuration.results}/runs/{RUN}"
    with refused(f"remove {directory},", file=directory / WEIGHTS):
        load_weights(None, directory)
