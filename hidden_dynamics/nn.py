"""The networks' parts by short names, for code of one's own: `import hidden_dynamics.nn as hd` (docs/library.md).

Recurrent cells in the place of a one-layer, one-directional `torch.nn.LSTM` or `torch.nn.RNN`, the input filters that
they are made with, neural ODEs, and networks of series observed at irregular times. It needs PyTorch, NumPy and
torchdiffeq alone: no configuration, no data, no Snakemake. The workflow itself names every class by the module that
defines it.
"""

# ruff: noqa: F401

from hidden_dynamics.errors import ObservationError, SolverFailure
from hidden_dynamics.models.continuous.attention import PairwiseRate, correlation, elementwise, pairwise
from hidden_dynamics.models.continuous.co_evolving import CoEvolving
from hidden_dynamics.models.continuous.convolution import ConvolutionalDynamics, TimeConv2d
from hidden_dynamics.models.continuous.integral import FunctionEvaluations, Integral
from hidden_dynamics.models.gru_ode_bayes.ace_network import ACEGRUODEBayes
from hidden_dynamics.models.gru_ode_bayes.network import GRUODEBayes
from hidden_dynamics.models.gru_ode_bayes.parts import GRUODE, BayesJump
from hidden_dynamics.models.latent_family.series_batch import Answer, SeriesBatch
from hidden_dynamics.models.latent_ode.ace_latent_ode import ACELatentODE
from hidden_dynamics.models.latent_ode.latent_ode import LatentODE
from hidden_dynamics.models.latent_ode.poisson_latent_ode import LatentODEPoisson
from hidden_dynamics.models.momentum.filters import Adam, Identity, Momentum, Nesterov, RMSProp
from hidden_dynamics.models.observations import Observations, Rows, batch_of
from hidden_dynamics.models.ragged import run_ragged
from hidden_dynamics.models.recurrent import (
    DTRIV,
    LSTM,
    NAGLSTM,
    SRDTRIV,
    SRLSTM,
    AdamDTRIV,
    AdamLSTM,
    LookAheadLSTM,
    LSTMState,
    MomentumDTRIV,
    MomentumLSTM,
    OrthogonalRNN,
    OrthogonalState,
    RMSPropDTRIV,
    RMSPropLSTM,
)
from hidden_dynamics.models.recurrent.trivialisation import DynamicTrivialisation
from hidden_dynamics.models.solver import Solver
from hidden_dynamics.system.memory import keep_memory

__all__ = [name for name in dir() if not name.startswith("_")]
