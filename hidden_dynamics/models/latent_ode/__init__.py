"""The Latent-ODE family (Rubanova et al. 2019; ACE-NODE, Sections 4.3 to 4.6): what is latent at the start of a series
flows by an ODE, and every row is read from where it is then."""
