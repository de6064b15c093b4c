"""Training a network on a task: the loop, its optimisers, its checkpoints."""
