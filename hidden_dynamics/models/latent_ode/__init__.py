"""The Latent-ODE family (Rubanova et al. 2019; ACE-NODE, Sections 4.3 to 4.6): what is latent at the start of a series
flows by an ODE, and every row is read from where it is then."""

from hidden_dynamics.models.latent_ode.ace_latent_ode import ACELatentODE
from hidden_dynamics.models.latent_ode.latent_ode import LatentODE
from hidden_dynamics.models.latent_ode.poisson_latent_ode import LatentODEPoisson

__all__ = ["ACELatentODE", "LatentODE", "LatentODEPoisson"]
