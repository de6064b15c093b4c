"""Verdicts on the papers' claims (published/claims.yaml): which hold in the runs at hand (docs/claims.md)."""
