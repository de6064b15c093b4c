"""The networks' parts by short names, for code of one's own: `import hidden_dynamics.nn as hd` (docs/library.md).

Recurrent cells in the place of `torch.nn.LSTM` or `torch.nn.RNN`, the input filters that they are made with, neural
ODEs, and networks of series observed at irregular times. It needs PyTorch, NumPy and torchdiffeq alone: no
configuration, no data, no Snakemake. The workflow itself names every class by the module that defines it.
"""

from hidden_dynamics.errors import ObservationError as ObservationError
from hidden_dynamics.errors import SolverFailure as SolverFailure
from hidden_dynamics.models.continuous.attention import PairwiseRate as PairwiseRate
from hidden_dynamics.models.continuous.attention import correlation as correlation
from hidden_dynamics.models.continuous.attention import elementwise as elementwise
from hidden_dynamics.models.continuous.attention import pairwise as pairwise
from hidden_dynamics.models.continuous.co_evolving import CoEvolving as CoEvolving
from hidden_dynamics.models.continuous.convolution import ConvolutionalDynamics as ConvolutionalDynamics
from hidden_dynamics.models.continuous.convolution import TimeConv2d as TimeConv2d
from hidden_dynamics.models.continuous.integral import FunctionEvaluations as FunctionEvaluations
from hidden_dynamics.models.continuous.integral import Integral as Integral
from hidden_dynamics.models.latent_family.ace_latent_ode import ACELatentODE as ACELatentODE
from hidden_dynamics.models.latent_family.family import SeriesBatch as SeriesBatch
from hidden_dynamics.models.latent_family.latent_ode import LatentODE as LatentODE
from hidden_dynamics.models.latent_family.poisson_latent_ode import LatentODEPoisson as LatentODEPoisson
from hidden_dynamics.models.momentum.filters import Adam as Adam
from hidden_dynamics.models.momentum.filters import Identity as Identity
from hidden_dynamics.models.momentum.filters import Momentum as Momentum
from hidden_dynamics.models.momentum.filters import Nesterov as Nesterov
from hidden_dynamics.models.momentum.filters import RMSProp as RMSProp
from hidden_dynamics.models.observations import Observations as Observations
from hidden_dynamics.models.observations import Rows as Rows
from hidden_dynamics.models.observations import batch_of as batch_of
from hidden_dynamics.models.ragged import run_ragged as run_ragged
from hidden_dynamics.models.recurrent.filtered_rnn import FilteredRNN as FilteredRNN
from hidden_dynamics.models.recurrent.lstm import LSTM as LSTM
from hidden_dynamics.models.recurrent.lstm import NAGLSTM as NAGLSTM
from hidden_dynamics.models.recurrent.lstm import SRLSTM as SRLSTM
from hidden_dynamics.models.recurrent.lstm import AdamLSTM as AdamLSTM
from hidden_dynamics.models.recurrent.lstm import LookAheadLSTM as LookAheadLSTM
from hidden_dynamics.models.recurrent.lstm import LSTMState as LSTMState
from hidden_dynamics.models.recurrent.lstm import MomentumLSTM as MomentumLSTM
from hidden_dynamics.models.recurrent.lstm import RMSPropLSTM as RMSPropLSTM
from hidden_dynamics.models.recurrent.orthogonal import DTRIV as DTRIV
from hidden_dynamics.models.recurrent.orthogonal import SRDTRIV as SRDTRIV
from hidden_dynamics.models.recurrent.orthogonal import AdamDTRIV as AdamDTRIV
from hidden_dynamics.models.recurrent.orthogonal import MomentumDTRIV as MomentumDTRIV
from hidden_dynamics.models.recurrent.orthogonal import OrthogonalRNN as OrthogonalRNN
from hidden_dynamics.models.recurrent.orthogonal import OrthogonalState as OrthogonalState
from hidden_dynamics.models.recurrent.orthogonal import RMSPropDTRIV as RMSPropDTRIV
from hidden_dynamics.models.recurrent.trivialisation import DynamicTrivialisation as DynamicTrivialisation
from hidden_dynamics.models.solver import Solver as Solver
from hidden_dynamics.models.sporadic.ace_gru_ode_bayes import ACEGRUODEBayes as ACEGRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes as GRUODEBayes
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import GRUODE as GRUODE
from hidden_dynamics.models.sporadic.gru_ode_bayes_parts import BayesJump as BayesJump
from hidden_dynamics.system.memory import keep_memory as keep_memory

__all__ = [name for name, value in dict(globals()).items() if callable(value)]
