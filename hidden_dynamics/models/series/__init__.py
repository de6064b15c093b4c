"""What GRU-ODE-Bayes is compared with on irregular time series (ACE-NODE, Table 6), each from its own paper."""

from hidden_dynamics.models.series.gru_d import GRUD
from hidden_dynamics.models.series.gru_simple import GRUSimple
from hidden_dynamics.models.series.neural_ode_vae import NeuralODEVAE
from hidden_dynamics.models.series.sequential_vae import SequentialVAE
from hidden_dynamics.models.series.t_lstm import TLSTM

__all__ = ["GRUD", "TLSTM", "GRUSimple", "NeuralODEVAE", "SequentialVAE"]
