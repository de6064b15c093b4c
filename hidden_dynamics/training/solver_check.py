"""A check that a trained network's solver resolves its flow: what is lost forwards and backwards, and the test when
finer.

Solved forwards and then backwards by the same solver, a state comes back to where it began, but for the solver's
errors: where more than a hundredth is lost, or a finer solution changes the test, what the network answers is an answer
of solver and field together (Ott et al., "ResNet After All?", ICLR 2021).
"""

import contextlib
import math
import time
import traceback
from collections.abc import Generator
from typing import Any

import torch
from torch import nn

from hidden_dynamics.configuration.spec import Spec
from hidden_dynamics.errors import SolverFailure
from hidden_dynamics.models.latent_family.ode_rnn import ODERNNCore
from hidden_dynamics.models.solver import Solver
from hidden_dynamics.models.sporadic.gru_ode_bayes import GRUODEBayes
from hidden_dynamics.tasks.task import AnyTask, PartlyTestedTask
from hidden_dynamics.training.devices import generators_kept
from hidden_dynamics.training.loop import History
from hidden_dynamics.training.reported import place_of

MOST, SAMPLES = 1000, 40  # items, at most, and one for so many samples that were trained on
ADAPTIVE, FIXED = ("0.1", "0.01"), ("0.5", "0.25")  # of the tolerance, or of the step


def check(spec: Spec, task: AnyTask, network: nn.Module, history: History) -> dict[str, Any] | None:
    """The record of the check on the first items of the test set, with the weights that the training left; None where
    there is no ODE, no evaluation gave a finite number, or the task is none that is partly tested.

    They are so few that the check takes a small share of a run's time. What a part of it raises is recorded, not
    raised: a run that is trained stands. Nothing of network, task and generators changes.

    Returns:
        `solver`, its settings; `items`; `metric`, the test's of the kind that is reported; `error`, the share of the
        state that is lost forwards and backwards; `at`, metrics and evaluations of the dynamics (`nfe`) as trained
        ("1") and finer, by the share of tolerance or step; `missing`, why one of these was not made, and `failures`,
        why one was not solved; `seconds`.
    """
    report = spec["training"]["report"]
    if not isinstance(task, PartlyTestedTask) or place_of(history.metrics, report) is None:
        return None
    if not any(map(_solves, network.modules())):
        return None
    from hidden_dynamics.training.finer import finer  # torchdiffeq, which other networks do without

    items = min(max(history.iteration * spec["training"]["batch_size"] // SAMPLES, 1), MOST)
    record: dict[str, Any] = {"solver": "", "items": items, "metric": report["metric"].replace("validation_", "test_")}
    record |= {"error": None, "at": {}, "missing": {}, "failures": {}}
    begun, training, levels = time.perf_counter(), network.training, [("1", 0)]
    network.eval()
    with torch.no_grad(), generators_kept(next(network.parameters()).device):
        for share, level in levels:  # the first says what the others are
            with finer(network, level) as solvers:
                with _recorded(record, share):
                    record["items"], metrics = task.test_on_first(items, network)
                    finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
                    record["at"][share] = finite | {"nfe": solvers.forward or solvers.steps}
                if level:
                    continue
                levels += zip(ADAPTIVE if solvers.adaptive else FIXED, (1, 2), strict=True)
                record["solver"] = "; ".join(solvers.texts)
                if "1" in record["at"] and solvers.why:
                    record["missing"]["error"] = solvers.why
                else:
                    with _recorded(record, "error"):
                        record["error"] = solvers.error()
    network.train(training)
    return record | {"seconds": time.perf_counter() - begun}


@contextlib.contextmanager
def _recorded(record: dict[str, Any], part: str) -> Generator[None]:
    """A part of the check, whose errors are recorded."""
    try:
        yield
    except SolverFailure as failure:
        record["failures"][part] = str(failure)
    except Exception as error:
        traceback.print_exception(error)
        record["missing"][part] = type(error).__name__  # its message may tell of the machine


def _solves(module: nn.Module) -> bool:
    return isinstance(module, (ODERNNCore, GRUODEBayes)) or isinstance(getattr(module, "solver", None), Solver)
