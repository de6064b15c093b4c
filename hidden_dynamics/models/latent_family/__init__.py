"""What the networks of the Latent-ODE family share: their batches and predictions, their layers, their loss."""
