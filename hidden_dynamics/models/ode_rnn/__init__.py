"""ODE-RNN (Rubanova et al. 2019): a state that flows by an ODE between union times and meets a GRU unit at rows."""

from hidden_dynamics.models.ode_rnn.gru_unit import GRUUnit
from hidden_dynamics.models.ode_rnn.ode_rnn_core import ODERNNCore, Passed
from hidden_dynamics.models.ode_rnn.ode_rnn_encoder import ODERNNEncoder
from hidden_dynamics.models.ode_rnn.ode_rnn_network import ODERNN
from hidden_dynamics.models.ode_rnn.union_times import Gaps, gaps

__all__ = [
    "ODERNN",
    "GRUUnit",
    "Gaps",
    "ODERNNCore",
    "ODERNNEncoder",
    "Passed",
    "gaps",
]
