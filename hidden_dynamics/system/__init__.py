"""The machine and its files: whole files, locks, SLURM, hardware; and the digest of code."""
