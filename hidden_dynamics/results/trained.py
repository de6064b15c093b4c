"""A finished run on disk: its record, the data that it was trained on, and the weights that it left."""

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, data_file
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.seals import check, remedy


def read_record(directory: Path) -> tuple[Run, dict[str, Any]]:
    """The run in `directory`, as its run.json specifies it, and all that run.json says.

    Raises:
        UserError: it is no run's directory, the run has not finished, or its record is damaged.
    """
    path = directory / "run.json"
    if not path.is_file():
        if (directory / "checkpoint.pt").is_file():
            raise UserError(
                f"{directory}: this run has not finished: there is a checkpoint, but no run.json. The command that "
                "trained it continues from the checkpoint."
            )
        raise UserError(
            f"{directory} is not the directory of a run: it has no run.json. Name one such as "
            "results/demo/runs/ptb/lstm-n64/seed0."
        )
    check(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        spec, (_, variant, _) = record["spec"], record["run"].split("/")
        record["reported"], record["diverged_at"], record["dataset"]["digest"]  # needed, too
        run = Run(spec["task"], spec["model"], variant, record["paper_size"], spec["seed"], str(directory), spec)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not the record of a run ({error!r}): {remedy(path)}") from error
    return run, record


def load_data(configuration: Configuration, run: Run, record: dict[str, Any]) -> prepared.Prepared:
    """The prepared data that a run was trained on.

    Args:
        configuration: says where the prepared data is; nothing else of it counts.

    Raises:
        UserError: it is missing, or is not what the run was trained on.
    """
    path = data_file(configuration, run.spec["dataset"], run.spec["data"])
    data = prepared.load(path)
    trained_on = record["dataset"]["digest"]
    if data.digest != trained_on:
        raise UserError(
            f"{path} is not what {run.id} was trained on: it was prepared anew, and differs. Its digest is "
            f"{data.digest}, the run's {trained_on}. What the network learnt need not hold for it: prepare the data as "
            "it was, or train the run again."
        )
    return data


def load_weights(network: nn.Module, directory: Path) -> None:
    """Put the weights of the run in `directory` into its network, wherever that is.

    Raises:
        UserError: they are missing, damaged, or another network's.
    """
    path = directory / "model.pt"
    if not path.is_file():
        raise UserError(f"{path} is missing: it has the run's weights. Run snakemake again, which restores it.")
    check(path)
    try:
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # a damaged file raises almost anything, according to where the damage is
        problem = " ".join(str(error).split())  # torch's errors have several lines
        raise UserError(
            f"{path} does not hold the weights of the network that run.json describes: {problem}: {remedy(path)}"
        ) from error
