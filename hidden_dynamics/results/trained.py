"""What a finished run was trained on, and the weights that it left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import WEIGHTS, Run
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.archives import KEPT
from hidden_dynamics.results.run_files import RECORD, verified


def load_data(configuration: Configuration, run: Run, record: Mapping[str, Any]) -> prepared.Prepared:
    """The prepared data that a run was trained on, where the configuration has them; a `UserError` where they are
    missing, or are not what the run was trained on."""
    path = configuration.paths.prepared(run.spec["dataset"], run.spec["data"])
    data = prepared.load(path)
    trained_on = record["dataset"]["digest"]
    if data.digest != trained_on:
        text = f"{path} (digest {data.digest}) is not what {run.id} was trained on ({trained_on}): train it again."
        raise UserError(text, file=path)
    return data


def load_weights(network: nn.Module, directory: Path) -> None:
    """Put the weights of the run in `directory` into its network, wherever that is; a `UserError` where they are
    missing or were altered."""
    path = directory / WEIGHTS
    if not path.is_file():
        again = directory if (directory / KEPT).is_dir() else directory / RECORD  # a restored run has no checkpoint
        raise UserError(f"{path} is missing: remove {again}, and run snakemake again, which makes it.", file=path)
    verified(path)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
