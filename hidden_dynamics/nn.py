"""The networks' parts by short names, for code of one's own: `import hidden_dynamics.nn as hd` (docs/library.md).

Recurrent cells in the place of `torch.nn.LSTM` or `torch.nn.RNN`, the input filters that they are made with, neural
ODEs, and networks of series observed at irregular times. It needs PyTorch, NumPy and torchdiffeq alone: no
configuration, no data, no Snakemake. What these are made of, and the workflow itself, name a class by its module.
"""

from hidden_dynamics.errors import ObservationError, SolverFailure
from hidden_dynamics.models.continuous.attention import PairwiseRate, correlation, elementwise, pairwise
from hidden_dynamics.models.continuous.co_evolving import CoEvolving
from hidden_dynamics.models.continuous.convolution import ConvolutionalDynamics
from hidden_dynamics.models.continuous.integral import Integral
from hidden_dynamics.models.latent_family.ace_latent_ode import ACELatentODE
from hidden_dynamics.models.latent_family.family import SeriesBatch
from hidden_dynamics.models.latent_family.latent_ode import LatentODE
from hidden_dynamics.models.latent_family.ode_rnn import ODERNN
from hidden_dynamics.models.latent_family.rnn_baselines import RNNBaseline
from hidden_dynamics.models.momentum.filters import Adam, Identity, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.observations import Observations, Rows, batch_of
from hidden_dynamics.models.ragged import run_ragged
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN
from hidden_dynamics.models.recurrent.lstm import LSTM, NAGLSTM, SRLSTM, AdamLSTM, MomentumLSTM, RMSPropLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV, SRDTRIV, AdamDTRIV, MomentumDTRIV, RMSPropDTRIV
from hidden_dynamics.models.solver import Solver
from hidden_dynamics.models.sporadic.ace_gru_ode_bayes import ACEGRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes
from hidden_dynamics.system.memory import keep_memory

__all__ = ["LSTM", "MomentumLSTM", "AdamLSTM", "RMSPropLSTM", "NAGLSTM", "SRLSTM"]
__all__ += ["DTRIV", "MomentumDTRIV", "AdamDTRIV", "RMSPropDTRIV", "SRDTRIV"]
__all__ += ["FilteredRNN", "Identity", "Momentum", "Nesterov", "Adam", "RMSProp", "run_ragged", "keep_memory"]
__all__ += ["Integral", "Solver", "SolverFailure", "CoEvolving", "ConvolutionalDynamics"]
__all__ += ["PairwiseRate", "pairwise", "elementwise", "correlation"]
__all__ += ["LatentODE", "ACELatentODE", "ODERNN", "RNNBaseline", "SeriesBatch", "GRUODEBayes", "ACEGRUODEBayes"]
__all__ += ["Observations", "Rows", "batch_of", "ObservationError"]
