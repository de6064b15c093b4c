"""Generated stand-ins: the same for a seed; what is observed tells kinds apart."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from hidden_dynamics.data import intensive_care_stays, prepared, tagged_movements
from hidden_dynamics.data.generated import LIKE, held


@pytest.mark.parametrize(
    ("name", "settings"), [("intensive_care_stays", {"stays": 9}), ("tagged_movements", {"reports": 60})]
)
def test_the_same_seed_draws_the_same_arrays(name, settings):
    prepare = import_module(f"hidden_dynamics.data.{name}").prepare
    drawn = [prepare(Path("nowhere"), settings | {"seed": seed}) for seed in (0, 0, 1)]
    digests = [prepared.digest(arrays) for arrays in drawn]
    assert digests[0] == digests[1] != digests[2]
    first = np.cumsum(drawn[0]["lengths"]) - drawn[0]["lengths"]
    assert (drawn[0]["times"][first] == 0).all() and drawn[0]["mask"].any(1).all()


def test_a_kind_holds_until_another_is_drawn():
    new = np.array([False, False, True, False, True, True])
    kinds = held(np.random.default_rng(0), new, 10**6)
    assert (np.diff(kinds) != 0).tolist() == new[1:].tolist() and kinds.max() < 10**6


def test_what_is_observed_tells_who_dies_and_what_is_done():
    stays, moves = intensive_care_stays.prepare(Path(), {"stays": 2000}), tagged_movements.prepare(Path(), {})
    assert 0.2 < stays["died"].mean() < 0.3 and (stays["values"][:, :5] == -1).any()
    assert set(moves["labels"]) == set(range(7)) and set(moves["lowest"]) == {-1, *range(7)}
    for arrays, kinds in ((stays, np.repeat(stays["died"], stays["lengths"])), (moves, moves["labels"] == 1)):
        apart = [
            [column[seen & (kinds == which)].mean() for which in (True, False)]
            for column, seen in zip(arrays["values"].T, arrays["mask"].T, strict=True)
        ]
        assert np.abs(np.diff(apart)).max() > 1


def test_images_have_the_side_that_is_asked_and_are_alike_within_a_class():
    for name, side, shape in (("mnist", 14, (196,)), ("cifar10", 16, (16, 16, 3))):
        arrays = LIKE[name].model_copy(update={"side": side, "train": 50}).drawn(np.random.default_rng(0))
        assert arrays["train_images"].shape == (50, *shape)
        of_one = arrays["train_images"][arrays["train_labels"] == arrays["train_labels"][0]]
        assert (of_one == of_one[0]).all()
