"""A run's files and our CSV files say what was written, or are named with what to do about them."""

import numpy as np
import pytest
from conftest import refused
from drawn import artifact_at
from made import change_record, evaluations_of, make_run, predictions_of

from hidden_dynamics.configuration.runs import GRADIENTS, PREDICTIONS
from hidden_dynamics.results.rows import read_rows, write_rows

READERS = {
    "run.json": lambda files: files.record(),
    "metrics.csv": lambda files: files.evaluations("test_accuracy"),
    "clock.csv": lambda files: files.clock(),
    "train_loss.npy": lambda files: files.train_loss(),
    GRADIENTS: lambda files: files.gradients(),
    PREDICTIONS: lambda files: files.predictions(),
}
NORMS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, np.inf]]
FIGURE = artifact_at("demo", "momentumrnn_figure2")
RUN = FIGURE.case_runs[0]  # of PMNIST, which records gradients


@pytest.fixture
def files(tmp_path):
    evaluations, predictions = evaluations_of(RUN, (0.5, 0.75, 0.625), "test_accuracy"), predictions_of(RUN)
    return make_run(tmp_path, FIGURE.configuration, RUN, evaluations, gradients=NORMS, predictions=predictions)


def test_what_was_written_is_read(files):
    assert files.record()["status"] == "finished"
    assert files.metrics()[1] == {"iteration": 20, "epoch": 2, "train_loss": 1, "test_accuracy": 0.75}
    for against, x in (("iteration", [10, 20, 30]), ("epoch", [1, 2, 3])):
        found = files.evaluations("test_accuracy", against)
        assert [values.tolist() for values in found] == [x, [0.5, 0.75, 0.625]]
    assert [row["training_seconds"] for row in files.clock()] == pytest.approx([20, 40, 60])
    losses = files.train_loss()
    assert losses.shape == (30,) and losses.dtype == np.float64
    iterations, norms = files.gradients()
    assert iterations.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(norms, np.float32(NORMS))
    np.testing.assert_equal(files.predictions(), predictions_of(RUN))


def test_an_empty_cell_is_nothing_measured(files):
    path = files.directory / "metrics.csv"
    path.write_bytes(b"iteration,epoch,test_accuracy,test_loss\n10,1,0.5,\n20,2,0.75,0.25\n")
    change_record(files)
    assert "test_loss" not in files.metrics()[0]
    assert [values.tolist() for values in files.evaluations("test_loss", "epoch")] == [[2], [0.25]]
    with refused("test_mse", file=path):
        files.evaluations("test_mse")


def test_a_run_that_diverged_at_once_has_no_evaluations_and_no_predictions(tmp_path):
    files = make_run(tmp_path, FIGURE.configuration, RUN, [], diverged_at=1, gradients=[], predictions={})
    assert files.metrics() == files.clock() == []
    assert [values.size for values in files.evaluations("test_accuracy")] == [0, 0]
    assert files.gradients()[1].size == 0 and files.predictions() == {}
    assert files.progress("test_accuracy", 0.5) == (None, None, None)


@pytest.mark.parametrize("name", READERS)
def test_what_was_altered_or_is_missing_is_refused(files, name):
    path = files.directory / name
    content = path.read_bytes()
    middle = len(content) // 2
    other = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    for altered in (other, content[:-9], b""):
        path.write_bytes(altered)
        with refused("remove .* and run snakemake again", file=path):
            READERS[name](files)
    path.unlink()
    with refused("missing.*run snakemake again", file=path):
        READERS[name](files)


@pytest.mark.parametrize("content", [b"[]", b"{", b"{}", b'{"checksum": ""}'])
def test_a_record_that_is_none_is_refused(files, content):
    path = files.directory / "run.json"
    path.write_bytes(content)
    with refused("remove .* and run snakemake again", file=path):
        files.record()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.csv"
    write_rows(path, ("a", "b"), [{"a": 0.1, "b": 'x, "y"\nz'}, {"a": None, "b": True}, {"a": 2}])
    return path


def test_rows_are_read_as_text(path):
    assert read_rows(path) == [{"a": "0.1", "b": 'x, "y"\nz'}, {"a": "", "b": "true"}, {"a": "2", "b": ""}]
    path.unlink()
    with refused("missing.*run snakemake again", file=path):
        read_rows(path)


def test_a_row_with_something_that_is_no_column_is_a_mistake(tmp_path):
    with pytest.raises(ValueError, match="c"):
        write_rows(tmp_path / "rows.csv", ("a", "b"), [{"c": 1}])
    assert not list(tmp_path.iterdir())
