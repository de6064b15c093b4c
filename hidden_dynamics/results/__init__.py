"""Every file of a run, written and read in one place; numbers and curves over seeds."""
