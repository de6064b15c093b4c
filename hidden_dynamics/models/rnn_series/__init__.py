"""Recurrent networks that the Latent-ODE family is compared with (Rubanova et al. 2019; ACE-NODE, Tables 7 to 9)."""
