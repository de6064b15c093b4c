"""Data: where it comes from, how it is fetched, checked, turned into arrays and stored.

`registry` reads config/datasets.yaml, `fetch` brings one file and checks its content, `archives` reads the members of
one, a module per dataset turns raw files into arrays with `prepare(raw, settings)`, `prepared` stores arrays beside
their provenance and digest, and `streams` gives every random draw its own reproducible generator. Importing them takes
no torch; `speech` uses it, and torchaudio, where it makes frames.
"""
