"""The golden vectors of the cells, which others port by, are what the cells give."""

import golden
import numpy as np
import pytest
import torch


@pytest.mark.parametrize("name", golden.CELLS)
def test_a_cell_gives_its_golden_vectors(name):
    with np.load(golden.FILE) as published:
        for key, array in golden.vectors(name).items():
            np.testing.assert_allclose(array, published[key], rtol=1e-10, atol=1e-12, err_msg=key)


def test_the_lstms_vectors_are_those_of_torchs_own():
    with np.load(golden.FILE) as published:
        stock = torch.nn.LSTM(golden.D, golden.N, dtype=torch.float64)
        stock.load_state_dict({key: torch.from_numpy(published[f"LSTM/{key}"]) for key in stock.state_dict()})
        output = stock(torch.from_numpy(published["LSTM/x"]))[0]
        torch.testing.assert_close(output, torch.from_numpy(published["LSTM/output"]))


def test_the_file_has_the_vectors_of_all_cells_and_no_others():
    with np.load(golden.FILE) as published:
        assert set(published) == {key for name in golden.CELLS for key in golden.vectors(name)}
