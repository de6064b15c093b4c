"""Measure the image features of trained networks: the quality of their clusters, and a map of them in the plane.

    python scripts/measure_features.py --artifact acenode_table5

The runs are the artifact's, which must be there, as must the prepared data; which features, and how, say its `features`
in config/artifacts.yaml.

Writes one row per run (hidden_dynamics.results.measured.Features) to <results>/<scale>/features/ as the
artifact shares it with others, and the maps beside it, with .npz for .csv; none where nothing was measured. An empty
cell means "none".
"""

import _bootstrap  # noqa: F401  isort: skip

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.artifacts.kinds.silhouette_table import Featured
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.feature_measurement import measure
from hidden_dynamics.results.measured import Features
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.system.files import atomic
from hidden_dynamics.training import devices


def main() -> None:
    given = parser(__doc__, "--artifact", "--config", "--device", "--threads").parse_args()
    configuration = load(parse_settings(given.config))
    artifact = artifact_named(configuration, given.artifact, "--artifact")
    if not isinstance(artifact, Featured):
        raise UserError(f"{artifact.name} shows no measured features (its kind is {artifact.settings.kind}).")
    device = devices.choose(given.device or configuration.device_of(artifact.runs[0].task))
    devices.set_arithmetic(given.threads or configuration.scale.threads, configuration.settings.precision)
    rows: list[dict[str, Any]] = []
    maps: dict[str, NDArray] = {}
    with devices.turn(device, configuration.runs_per_gpu) as device:
        for row, own_maps in measure(configuration, artifact.runs, artifact.settings.features, device):
            rows.append(row)
            maps |= own_maps
            found = "" if row.get("silhouette") is None else f" silhouette {row['silhouette']:.4f}"
            print(f"{row['task']}/{row['model']}/seed{row['seed']} {row['status']}{found}", flush=True)
    output = Path(artifact.inputs()["features"])
    with atomic(output.with_suffix(".npz"), "wb") as handle:
        np.savez(handle, **maps)  # pyright: ignore[reportArgumentType]  # none is called `allow_pickle`
    about = {"settings": json.dumps(artifact.settings.features.given(), sort_keys=True)}
    write_rows(output, list(Features.model_fields), [row | about for row in rows])


if __name__ == "__main__":
    run_main(main)
