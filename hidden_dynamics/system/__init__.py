"""What the machine offers: files that are whole, locks, SLURM, its hardware; and the digest of code."""
