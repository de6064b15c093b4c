"""Every file of a run, written and read in one place; summaries and curves over runs."""
