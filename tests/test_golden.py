"""The golden vectors of the cells, which others port by, are what the cells give."""

import golden
import numpy as np
import pytest


@pytest.mark.parametrize("name", golden.CELLS)
def test_a_cell_gives_its_golden_vectors_and_the_file_has_no_others(name):
    vectors = golden.vectors(name)
    with np.load(golden.FILE) as published:
        assert {key.partition("/")[0] for key in published} == set(golden.CELLS)
        assert {key for key in published if key.startswith(f"{name}/")} == set(vectors)
        for key, array in vectors.items():
            np.testing.assert_allclose(array, published[key], rtol=1e-10, atol=1e-12, err_msg=key)
