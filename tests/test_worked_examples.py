"""docs/examples: each is run as its page says, smaller, and has learnt."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from PIL import Image


def numbers(name, *arguments):
    """What the example prints, by name."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, ROOT / "docs" / "examples" / name, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return {key: float(value) for key, value in re.findall("(.*): (.*)", done.stdout)}


@pytest.mark.slow
def test_a_momentum_lstm_reads_digits_in_the_place_of_torchs():
    """The most frequent digit is one in nine of those held out."""
    found = numbers("digits.py", "--epochs", "4")
    assert list(found) == ["nn.LSTM", "MomentumLSTM"] and min(found.values()) > 0.25, found


@pytest.mark.slow
def test_filters_are_compared_with_their_control_and_drawn(tmp_path):
    found = numbers("filters.py", "--figure", str(tmp_path / "filters.png"), "--iterations", "250")
    assert list(found) == ["plain LSTM", "momentum", "scale only", "Adam"] and max(found.values()) < 0.15, found
    with Image.open(tmp_path / "filters.png") as picture:
        assert picture.format == "PNG" and len(picture.convert("RGB").getcolors(10**6)) > 50
