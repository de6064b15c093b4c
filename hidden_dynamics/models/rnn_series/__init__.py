"""Recurrent networks that the Latent-ODE family is compared with (Rubanova et al. 2019; ACE-NODE, Tables 7 to 9).

All run over the rows of each series alone: their states are kept at the union times where a series has none.
"""

from hidden_dynamics.models.rnn_series.baselines import RNNGRUD, RNNDecay, RNNDelta, RNNImpute
from hidden_dynamics.models.rnn_series.rnn_vae import RNNVAE

__all__ = ["RNNGRUD", "RNNVAE", "RNNDecay", "RNNDelta", "RNNImpute"]
