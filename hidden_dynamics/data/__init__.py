"""Data: sources, downloads, checks, conversion to arrays, storage.

`fetch` brings one file of config/datasets.yaml and checks its content, and `archives` reads the members of one. A
module per dataset turns raw files into arrays with `prepare(raw, settings)`: `raw` is the directory of its verified
files (what is generated uses none), and settings that are missing, unknown or out of range are a `UserError`, as its
`Settings` say. `preparing` finds files and module and states the arrays' provenance, `prepared` stores them with it and
their digest, and `streams` gives every random draw its own reproducible generator. Importing them takes no torch;
`speech` uses it, and torchaudio, to make frames, and `physionet2012` to read an order of records.
"""
