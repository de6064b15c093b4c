"""What torch does at a process's first step of an optimiser: it loads its compiler, which takes as long as torch.

Importing this does it. A calibration's processes are forked from one that has, and a training's start-up counts it.
"""

import torch


def step() -> None:
    """Without backpropagation, which may start threads: this process is to be forked."""
    parameter = torch.nn.Parameter(torch.ones(1))
    parameter.grad = torch.ones(1)
    optimiser = torch.optim.SGD([parameter], lr=0.1)
    optimiser.zero_grad(set_to_none=False)
    optimiser.step()


step()
