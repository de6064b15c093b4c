"""Measure the gradients of untrained cells with respect to their hidden states, and the products of MomentumRNN's
Eqs. 11 and 13 beside them, in float64.

    python scripts/measure_jacobian.py --artifact momentumrnn_jacobian

Writes a row per cell and step (hidden_dynamics.results.measured.GradientNorm) to <results>/<scale>/jacobian/.
docs/jacobian.md derives what it computes.
"""

import _bootstrap  # noqa: F401  isort: skip

from hidden_dynamics.artifacts import artifact_named
from hidden_dynamics.configuration import load, parse_settings
from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.measurements.jacobian import measure
from hidden_dynamics.results.measured import GradientNorm
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.arguments import parser
from hidden_dynamics.training import devices


def main() -> None:
    given = parser(__doc__, "--artifact", "--config").parse_args()
    configuration = load(parse_settings(given.config))
    artifact = artifact_named(configuration, given.artifact, "--artifact")
    if artifact.measured != "jacobian":
        raise UserError(f"{artifact.name} shows no measured gradients (its kind is {artifact.settings.kind}).")
    devices.set_arithmetic(1, configuration.settings.precision)
    write_rows(artifact.inputs()["jacobian"], list(GradientNorm.model_fields), measure())


if __name__ == "__main__":
    run_main(main)
