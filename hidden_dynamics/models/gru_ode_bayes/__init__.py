"""GRU-ODE-Bayes (De Brouwer et al. 2019): a state that flows by a continuous GRU and jumps at observations."""

from hidden_dynamics.models.gru_ode_bayes.dynamics import GRUODE
from hidden_dynamics.models.gru_ode_bayes.jump import BayesJump
from hidden_dynamics.models.gru_ode_bayes.network import ACEGRUODEBayes, Filtered, GRUODEBayes, Masks

__all__ = ["GRUODE", "ACEGRUODEBayes", "BayesJump", "Filtered", "GRUODEBayes", "Masks"]
