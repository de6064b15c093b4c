"""Tasks: batches, loss and evaluation of one experiment. What one is, `hidden_dynamics.tasks.task` says."""
