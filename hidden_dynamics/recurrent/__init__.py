"""Recurrent cores: each takes an input filter (hidden_dynamics.filters)."""

from hidden_dynamics.recurrent.look_ahead import LookAheadLSTM, SRLSTM
from hidden_dynamics.recurrent.lstm import LSTM, AdamLSTM, LSTMState, MomentumLSTM, NAGLSTM, RMSPropLSTM

__all__ = ["LSTM", "AdamLSTM", "LSTMState", "LookAheadLSTM", "MomentumLSTM", "NAGLSTM", "RMSPropLSTM", "SRLSTM"]
