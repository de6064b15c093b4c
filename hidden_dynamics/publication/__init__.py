"""The publication of a scale's results: a small directory that is kept with the code.

Tables, figures, verdicts and runs as CSV, a record of every run, and a description of it all as an RO-Crate. It is made
of finished results alone, and the same from the same results; they are restored from it.
"""
