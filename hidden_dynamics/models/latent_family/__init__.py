"""What the networks of the Latent-ODE family share: what they are given and answer, their layers, their loss."""
