"""Networks as the papers write them: what the tasks are given to train."""
