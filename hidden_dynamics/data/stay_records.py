"""Stays in intensive care as arrays, one row for each time of a stay, the stays one after another:

times    (rows,), float32, hours, in multiples of a quantum; the first of each stay is 0
values   (rows, 41), float32, in the units of the challenge, -1 for an unknown height, weight or sex included; 0
         where a parameter was not measured
mask     (rows, 41), bool, whether it was
lengths  (stays,), int64, how many rows each stay has
ids      (stays,), int64, ascending where no other order is asked for
died     (stays,), bool, whether the patient died in the hospital
"""

import numpy as np

from hidden_dynamics.data.ragged import ragged

# In the order of Latent-ODE (Rubanova et al., NeurIPS 2019); the first five are descriptors, known at admission.
PARAMETERS = (
    *("Age", "Gender", "Height", "ICUType", "Weight", "Albumin", "ALP", "ALT", "AST", "Bilirubin", "BUN"),
    *("Cholesterol", "Creatinine", "DiasABP", "FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "Mg"),
    *("MAP", "MechVent", "Na", "NIDiasABP", "NIMAP", "NISysABP", "PaCO2", "PaO2", "pH", "Platelets", "RespRate"),
    *("SaO2", "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC"),
)
ADMISSION = len(PARAMETERS)  # in the place of a parameter, where a line says only that the stay has a row
HOURS = 48
QUANTUM = 0.016  # hours, to which Latent-ODE rounds; less than the minute to which times are known


def stays(
    ids: np.ndarray, hours: np.ndarray, parameter: np.ndarray, value: np.ndarray, quantum: float = QUANTUM
) -> dict[str, np.ndarray]:
    """The first five arrays, of a table with a line for each measurement: four arrays (lines,).

    A time is rounded to a multiple of the quantum, halves to the even one, and what was measured of a parameter until
    that changes is averaged, as in Latent-ODE.

    Args:
        ids: of the stays, int64.
        hours: since admission, float64.
        parameter: places in `PARAMETERS`, or `ADMISSION`.
        quantum: hours, above 0.
    """
    ticks = np.round(hours / quantum).astype(np.int64)
    arrays = ragged(ids, ticks, parameter, value, len(PARAMETERS) + 1, quantum)
    return arrays | {name: np.ascontiguousarray(arrays[name][:, :ADMISSION]) for name in ("values", "mask")}
