"""The publication of a scale's results: a small directory of text and pictures that is kept with the code.

A README, the verdicts read in plain words, tables, figures, the verdicts and the runs as CSV, and a description of it
all as a Workflow Run RO-Crate. It is made of finished results alone, and the same from the same results.
"""
