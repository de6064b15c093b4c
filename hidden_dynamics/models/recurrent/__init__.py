"""Recurrent cores: each takes an input filter (hidden_dynamics.models.momentum.filters)."""

from hidden_dynamics.models.recurrent.look_ahead import SRLSTM, LookAheadLSTM
from hidden_dynamics.models.recurrent.lstm import LSTM, NAGLSTM, AdamLSTM, LSTMState, MomentumLSTM, RMSPropLSTM
from hidden_dynamics.models.recurrent.orthogonal import (
    DTRIV,
    SRDTRIV,
    AdamDTRIV,
    MomentumDTRIV,
    OrthogonalRNN,
    OrthogonalState,
    RMSPropDTRIV,
)

__all__ = [
    "DTRIV",
    "LSTM",
    "SRDTRIV",
    "AdamDTRIV",
    "AdamLSTM",
    "LSTMState",
    "LookAheadLSTM",
    "MomentumDTRIV",
    "MomentumLSTM",
    "NAGLSTM",
    "OrthogonalRNN",
    "OrthogonalState",
    "RMSPropDTRIV",
    "RMSPropLSTM",
    "SRLSTM",
]
