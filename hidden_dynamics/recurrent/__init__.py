"""Recurrent cores: each takes an input filter (hidden_dynamics.filters)."""

from hidden_dynamics.recurrent.look_ahead import SRLSTM, LookAheadLSTM
from hidden_dynamics.recurrent.lstm import LSTM, NAGLSTM, AdamLSTM, LSTMState, MomentumLSTM, RMSPropLSTM

__all__ = ["LSTM", "AdamLSTM", "LSTMState", "LookAheadLSTM", "MomentumLSTM", "NAGLSTM", "RMSPropLSTM", "SRLSTM"]
