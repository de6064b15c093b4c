"""Verdicts on the papers' claims (published/claims.yaml): which hold in the runs at hand, by which test. docs/claims.md."""
