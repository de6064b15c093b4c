"""The library that the steps of the workflow share.

A package uses those above it in this list, and `system`; nothing else (tests/test_layers.py):

    configuration  what is configured, typed; what one run is; where everything lies
    data           from an address to a verified file to prepared arrays, a module per dataset
    models         networks as the papers write them: momentum, recurrent cores, continuous time
    tasks          batches, loss and evaluation, a module per experiment
    training       the loop, its optimisers, its checkpoints, the device
    floors         classical models of each task
    results        every file of a run, written and read in one place; numbers and curves over seeds
    measurements   costs, features of images, the calibration of a forecast
    papers         what the papers print and claim, as data
    claims         evidence, tests and verdicts
    artifacts      tables and figures: what each needs, shows and how it is drawn, a module per kind
    pages          the page of a scale
    publication    a scale's results as files that are kept with the code, and the way back
    system         files, locks, SLURM, the digest of code

Code of one's own, beside the workflow, finds cells, filters and neural ODEs in `hidden_dynamics.nn`.
"""

__version__ = "0.1.0"
