"""The way back from a publication: runs identical to the byte, or refused; tables and figures from records alone."""

import json
import lzma
import shutil
from hashlib import sha256

import pytest
import restore
import yaml
from conftest import ROOT, refused
from published_here import COMMIT, COSTS, IMAGES, TABLE, results_of, with_few
from raw import pack

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.configuration import load
from hidden_dynamics.configuration.runs import WEIGHTS, all_runs, code_of
from hidden_dynamics.measurements.feature_measurement import load_weights
from hidden_dynamics.publication import restoring
from hidden_dynamics.publication.command import SETTINGS, settings_of
from hidden_dynamics.publication.restoring import (
    CONFIGURATION,
    MEASURED,
    METADATA,
    PARTS,
    PUT_BACK,
    THERE,
    Publication,
    put_all_back,
)
from hidden_dynamics.results import run_files
from hidden_dynamics.results.archives import KEPT, packed, unpacked
from hidden_dynamics.results.run_files import is_finished

RUN = "mnist/lstm-n32/seed0"
FOUND = {  # by task, where another batch size, other data, other code, and another size are there
    "pmnist": {"of other specification"},
    "ptb": {"of other data"},
    "timit": {"of other code"},
    "adding": {PUT_BACK, "not configured"},
    "mnist": {PUT_BACK},
}


@pytest.fixture(scope="module")
def published(configured, tmp_path_factory):
    return results_of(configured(scale="demo", seeds=[0]), tmp_path_factory.mktemp("published"))


@pytest.mark.parametrize("scale", ["paper", "evening"])
def test_what_is_published_here_can_be_drawn_by_the_code_that_is_here(scale):
    assert TABLE in load_artifacts(Publication(ROOT / "docs/evidence" / scale).configuration)


@pytest.fixture
def copy(published, tmp_path):
    """A copy of the publication, to change."""
    shutil.copytree(published.directory, tmp_path / "evidence")
    return Publication(tmp_path / "evidence")


def files_in(directory):
    """Every file by its path; no sidecars, no checkpoints."""
    paths = [path for path in directory.rglob("[!.]*") if path.is_file() and KEPT not in path.parts]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def test_runs_come_back_as_finished_runs_identical_to_the_byte(published, tmp_path, ended, monkeypatch):
    configuration = published.configuration
    outcome = put_all_back(Publication(published.directory), tmp_path, configuration)
    every = {run.id: run for run in all_runs(configuration)}
    assert outcome == dict.fromkeys(every, PUT_BACK)
    assert files_in(tmp_path / configuration.results / "runs") == files_in(published.results / "runs")
    for folder in MEASURED:  # what was measured of them, too
        assert files_in(tmp_path / configuration.results / folder) == files_in(published.results / folder)
    again = ended(restore.main, published.directory, "--root", tmp_path / "again")  # with its own settings
    assert again.out == f"{len(every)} runs {PUT_BACK}\n"
    monkeypatch.chdir(tmp_path)
    assert all(is_finished(configuration, run) for run in every.values())
    assert put_all_back(Publication(published.directory), tmp_path, configuration) == dict.fromkeys(every, THERE)


def test_everything_is_drawn_from_the_records_alone_and_says_by_which_commit(published, tmp_path, ended, monkeypatch):
    """Whatever the configuration and the code are: here, the configuration is another one."""
    monkeypatch.setattr(restoring, "load", lambda *given: with_few(load(*given)))
    said = ended(restore.main, published.directory, "--draw", tmp_path / "redrawn")
    assert said.code == 0 and said.out.splitlines()[-1].endswith(str(tmp_path / "redrawn/results/demo/index.html"))
    redrawn = files_in(tmp_path / "redrawn/results/demo")
    assert redrawn == files_in(published.results)
    assert not [path for path, content in redrawn.items() if b"frozenset" in content]  # its order is another each time
    for name in (TABLE, IMAGES):
        assert f"Code: commit {COMMIT[:10]}." in (tmp_path / f"redrawn/results/demo/tables/{name}.md").read_text()
    again = ended(restore.main, published.directory, "--draw", tmp_path / "redrawn")
    assert again.code == 1 and "redrawn is there" in again.err
    # No description, a damaged one, one without files, or without records.
    nothing = [None, "{}", '{"@graph": []}', '{"@graph": [{"@id": "README.md"}]}']
    for description in nothing:
        if description:
            (tmp_path / METADATA).write_text(description)
        assert ended(restore.main, tmp_path, "--draw", tmp_path / "not drawn").code == 1
    for given in (["--config", "{}"], ["--root", tmp_path]):
        assert ended(restore.main, published.directory, "--draw", tmp_path / "not drawn", *given).code == 1
    assert not (tmp_path / "not drawn").exists()


def altered(copy, path, content, name=None):
    """The publication with this content of a file, by its own digest, and another name of it in the description."""
    (copy.directory / path).write_bytes(content)
    metadata = json.loads((copy.directory / METADATA).read_bytes())
    (entity,) = [each for each in metadata["@graph"] if each["@id"] == path]
    entity |= {"sha256": sha256(content).hexdigest(), "@id": name or path}
    (copy.directory / METADATA).write_text(json.dumps(metadata))
    return Publication(copy.directory)


def test_of_a_published_config_yaml_only_what_decides_results_is_taken(copy, published, tmp_path):
    """Those of before have all of it, with places of whoever published."""
    settings = unpacked(published.files[CONFIGURATION], PARTS)
    own = yaml.safe_load(settings["config.yaml"])
    assert own.keys() <= {*SETTINGS} and (own["scale"], own["seeds"]) == ("demo", [0])
    theirs = own | {"results": str(tmp_path / "elsewhere"), "data": {"directory": "x", "mirror": "/theirs"}, "gone": 1}
    changed = altered(copy, CONFIGURATION, packed(settings | {"config.yaml": yaml.safe_dump(theirs).encode()}))
    assert (changed.configuration.results, changed.configuration.seeds) == ("results/demo", [0])
    assert changed.configuration.settings.data.mirror is None
    put_all_back(changed, tmp_path / "redrawn")
    assert {path.name for path in tmp_path.iterdir()} == {"evidence", "redrawn"}


ADDING = "records/adding.tar.xz"
FOREIGN = [  # a file of the publication, what it holds instead, the member that is named
    *((ADDING, packed({name: b"x"}), name) for name in ("{}/x", "../../x", "lstm-n4/seed0/../../../x")),
    *((ADDING, packed({f"lstm-n4/seed0/{name}": b"x"}), f"lstm-n4/seed0/{name}") for name in ("model.pt", "x.py")),
    *((CONFIGURATION, packed({name: b"x"}), name) for name in ("{}/x", "config/../../x", "conftest.py")),
    (ADDING, pack({}, "w:xz", links=["lstm-n4/seed0/run.json"]), "lstm-n4/seed0/run.json"),
    (ADDING, lzma.compress(bytes(600))[:-9], ""),
    (ADDING, b"no archive", ""),
]


@pytest.mark.parametrize("draw", [False, True])
@pytest.mark.parametrize(("path", "content", "member"), FOREIGN)
def test_an_archive_with_anything_else_is_refused_before_a_byte_is_written(
    copy, published, tmp_path, path, content, member, draw
):
    if "{}" in member:  # an absolute name
        member = member.format(tmp_path)
        content = packed({member: b"x"})
    changed, before = altered(copy, path, content), sorted(tmp_path.rglob("*"))
    with refused(file=copy.directory / path, key=member):
        if not draw and path == CONFIGURATION:
            settings_of(changed.configuration)
        put_all_back(changed, tmp_path / "restored", None if draw else published.configuration)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", [f"costs/../../{COSTS}.csv", f"costs/more/{COSTS}.csv"])
def test_of_a_description_with_paths_elsewhere_nothing_is_written_there(copy, published, tmp_path, name):
    content = published.files[f"costs/{COSTS}.csv"]
    changed = altered(copy, f"costs/{COSTS}.csv", content, name)
    (copy.directory / name).parent.mkdir(exist_ok=True)
    (copy.directory / name).write_bytes(content)
    put_all_back(changed, tmp_path / "restored", published.configuration)
    assert not list((tmp_path / "restored").rglob(f"{COSTS}.csv"))


def test_a_run_of_other_specification_data_or_code_is_refused_and_what_was_measured_of_its_task(
    published, tmp_path, configured, monkeypatch
):
    changes = {"pmnist": {"training": {"batch_size": 7}}, "adding": {"models": {"lstm": {"sizes": [64]}}}}
    configuration = configured(scale="demo", seeds=[0], overrides={"tasks": changes})
    monkeypatch.setattr(run_files, "code_of", lambda run: "other" if run.task == "timit" else code_of(run))
    ptb = configuration.tasks["ptb"]
    about = tmp_path / configuration.paths.prepared(ptb.dataset, ptb.data)
    about.parent.mkdir(parents=True)
    about.with_suffix(".json").write_text(json.dumps({"digest": "of other data"}))
    outcome = put_all_back(Publication(published.directory), tmp_path, configuration)
    found = {task: {what for name, what in outcome.items() if name.startswith(f"{task}/")} for task in FOUND}
    assert found == FOUND
    there = {path.parts[-4] for path in tmp_path.glob("results/demo/runs/*/*/*/run.json")}
    assert there & FOUND.keys() == {"adding", "mnist"}
    measured = published.configuration.paths.measured
    assert not (tmp_path / measured("costs", COSTS)).exists() and (tmp_path / measured("features", IMAGES)).exists()
    assert [(tmp_path / measured("floors", task)).exists() for task in ("mnist", "pmnist")] == [True, False]


def test_an_altered_archive_is_refused_by_its_name(copy, published, tmp_path):
    file = copy.directory / "records/adding.tar.xz"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with refused("digest", file=file):
        put_all_back(copy, tmp_path, published.configuration)
    file.unlink()
    with refused("missing", file=file):
        put_all_back(copy, tmp_path, published.configuration)


def test_what_was_published_before_classical_baselines_is_drawn_without_them(published, tmp_path):
    configuration = published.configuration
    put_all_back(Publication(published.directory), tmp_path)
    shutil.rmtree(tmp_path / configuration.results / "floors")
    restore.draw_all(with_few(configuration, [TABLE]), tmp_path)
    path = configuration.paths.drawn("table", TABLE, "csv")
    said = ["Logistic regression (classical)" in (root / path).read_text() for root in (published.root, tmp_path)]
    assert said == [True, False]


def test_weights_of_a_restored_run_are_missed_in_words(published, tmp_path):
    put_all_back(Publication(published.directory), tmp_path, published.configuration)
    directory = tmp_path / f"{published.configuration.results}/runs/{RUN}"
    with refused(f"remove {directory},", file=directory / WEIGHTS):
        load_weights(None, directory)
