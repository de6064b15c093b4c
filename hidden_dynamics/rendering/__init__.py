"""Tables and figures, made from summaries of runs and from the configuration."""
