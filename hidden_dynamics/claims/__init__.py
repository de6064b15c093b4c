"""Verdicts on the papers' headline claims (docs/claims.md), and comparisons of two cases, which tables show, too."""
