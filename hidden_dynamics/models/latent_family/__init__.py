"""The Latent-ODE family (Rubanova et al. 2019; ACE-NODE, Sections 4.3 to 4.6): values and labels at any time."""
