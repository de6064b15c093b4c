"""Data: where it comes from, how it is fetched, checked, turned into arrays and stored.

`registry` reads config/datasets.yaml, `fetch` brings one file and checks its content, one module per dataset turns raw
files into arrays with `prepare(raw, settings)`, `prepared` stores arrays beside their provenance and digest, and
`streams` gives every random draw its own reproducible generator. Nothing here needs torch.
"""
