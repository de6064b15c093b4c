"""A check that a trained network's solver resolves its flow: what is lost forwards and backwards, and the test when
finer.

Solved forwards and then backwards by the same solver, a state comes back to where it began, but for the solver's
errors: where more than a hundredth is lost, or a finer solution changes the test, what the network answers is an answer
of solver and field together (Ott et al., "ResNet After All?", ICLR 2021).
"""

import math
import time
import traceback
from collections.abc import Callable
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

SHARE = 0.05  # of a run's time that the check may take
MOST, SAMPLES = 1000, 40  # items, at most, and one for so many samples that were trained on
LEFT_OUT = f"left out: it would take the check beyond {SHARE:.0%} of the run's time"
ADAPTIVE, FIXED = ("0.1", "0.01"), ("0.5", "0.25")  # of the tolerance, or of the step


def check(spec: Spec, task: AnyTask, network: nn.Module, history: History) -> dict[str, Any] | None:
    """The record of the check on the first items of the test set, with the weights that the training left; None where
    there is no ODE, no evaluation gave a finite number, or the task is none that is partly tested.

    How many items does not depend on a clock. A part of the check is left out where it would exceed the check's share
    of the run's time, by what the parts before it took, the first by the run's evaluations. What a part raises is
    recorded, not raised: a run that is trained stands. Nothing of network, task and generators changes.

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

    budget = SHARE * (history.training_seconds + history.evaluation_seconds)
    items = min(max(history.iteration * spec["training"]["batch_size"] // SAMPLES, 1), MOST)
    record: dict[str, Any] = {"solver": "", "items": items, "metric": report["metric"].replace("validation_", "test_")}
    record |= {"error": None, "at": {}, "missing": {}, "failures": {}}
    begun, seconds = time.perf_counter(), history.evaluation_seconds / len(history.metrics)

    def part(name: str, measure: Callable[[], None], expected: float) -> float:
        """The seconds that a part took; infinite where it was not made."""
        start = time.perf_counter()
        if start - begun + expected > budget:
            record["missing"][name] = LEFT_OUT
            return math.inf
        try:
            measure()
        except SolverFailure as failure:
            record["failures"][name] = str(failure)
        except Exception as error:
            traceback.print_exception(error)
            record["missing"][name] = type(error).__name__  # its message may tell of the machine
        return time.perf_counter() - start

    device, training, levels = next(network.parameters()).device, network.training, [("1", 0)]
    network.eval()
    with torch.no_grad(), generators_kept(device):
        for share, level in levels:  # the first says what the others are
            with finer(network, level) as solvers:

                def test(share: str = share, solvers: Any = solvers) -> None:
                    record["items"], metrics = task.test_on_first(items, network)
                    finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
                    record["at"][share] = finite | {"nfe": solvers.forward or solvers.steps}

                seconds = part(share, test, seconds * (2 if level else 1))
                if level:
                    continue
                levels += zip(ADAPTIVE if solvers.adaptive else FIXED, (1, 2), strict=True)
                record["solver"] = "; ".join(solvers.texts)
                if "1" in record["at"] and solvers.why:
                    record["missing"]["error"] = solvers.why
                else:
                    part("error", lambda: record.update(error=solvers.error()), 2 * seconds)
    network.train(training)
    return record | {"seconds": time.perf_counter() - begun}


def _solves(module: nn.Module) -> bool:
    return isinstance(module, (ODERNNCore, GRUODEBayes)) or isinstance(getattr(module, "solver", None), Solver)
