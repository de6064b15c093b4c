"""A finished run on disk: its record, its data, its weights."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import WEIGHTS, Run
from hidden_dynamics.data import prepared
from hidden_dynamics.errors import UserError
from hidden_dynamics.results.records import KEPT
from hidden_dynamics.results.run_files import RunFiles
from hidden_dynamics.results.seals import RECORD, check, remedy

PARTS = ("network", "core", "task_class")  # of a specification: the names of classes


def read_record(directory: Path, configuration: Configuration) -> tuple[Run, dict[str, Any]]:
    """The run in `directory`, as its run.json specifies it, and all that run.json says.

    Args:
        configuration: says in which modules the run's classes are; nothing else of it counts.

    Raises:
        UserError: it is no run's directory, the run has not finished, its record is damaged, or a class of it is
            configured no more.
    """
    path = directory / RECORD
    if not path.is_file():
        raise UserError(_what_is_there(directory), file=path)
    record = RunFiles(directory).record()
    try:
        spec, (_, variant, _) = record["spec"], record["run"].split("/")
        record["reported"], record["diverged_at"], record["dataset"]["digest"]  # needed, too
        names = {part: spec[part] for part in PARTS if spec[part]}
        run = Run(spec["task"], spec["model"], variant, record["paper_size"], spec["seed"], str(directory), spec, names)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not the record of a run ({error!r}): {remedy(path)}", file=path) from error
    return replace(run, classes=_places_of(names, configuration, path)), record


def _what_is_there(directory: Path) -> str:
    if (directory / "checkpoint.pt").is_file():
        return (
            f"{directory}: this run has not finished: there is a checkpoint, but no {RECORD}. The command that trained "
            "it continues from the checkpoint."
        )
    example = "results/demo/runs/ptb/lstm-n64/seed0"
    return f"{directory} is not the directory of a run: it has no {RECORD}. Name one such as {example}."


def _places_of(names: Mapping[str, str], configuration: Configuration, path: Path) -> dict[str, str]:
    """The dotted names of classes, which a record knows by their bare names."""
    for part, name in names.items():
        if name not in configuration.classes:
            text = f"{path}: its run's {part} is {name}, which config/ does not name any more: configure it again, or "
            raise UserError(f"{text}remove the run.", file=path, key=f"spec.{part}")
    return {part: configuration.classes[name] for part, name in names.items()}


def load_data(configuration: Configuration, run: Run, record: dict[str, Any]) -> prepared.Prepared:
    """The prepared data that a run was trained on.

    Args:
        configuration: says where the prepared data is; nothing else of it counts.

    Raises:
        UserError: it is missing, or is not what the run was trained on.
    """
    path = configuration.paths.prepared(run.spec["dataset"], run.spec["data"])
    data = prepared.load(path)
    trained_on = record["dataset"]["digest"]
    if data.digest != trained_on:
        raise UserError(
            f"{path} is not what {run.id} was trained on: it was prepared anew, and differs. Its digest is "
            f"{data.digest}, the run's {trained_on}. What the network learnt need not hold for it: prepare the data as "
            "it was, or train the run again.",
            file=path,
        )
    return data


def load_weights(network: nn.Module, directory: Path) -> None:
    """Put the weights of the run in `directory` into its network, wherever that is.

    Raises:
        UserError: they are missing, damaged, or another network's.
    """
    path = directory / WEIGHTS
    if not path.is_file():
        again = (
            f"The run was restored from its record, which has none: remove {directory}, and snakemake trains it again."
            if (directory / KEPT).is_dir()
            else f"Run snakemake again without {directory / RECORD}: both come back from the run's checkpoint."
        )
        raise UserError(f"{path} is missing: it has the run's weights. {again}", file=path)
    check(path)
    try:
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # a damaged file raises almost anything, according to where the damage is
        problem = " ".join(str(error).split())  # torch's errors have several lines
        text = f"{path} does not hold the weights of the network that {RECORD} describes: {problem}: {remedy(path)}"
        raise UserError(text, file=path) from error
