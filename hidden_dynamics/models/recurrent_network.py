"""Networks map a task's input to its output; a class is built from the task, a core class and hyperparameters."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

from torch import Tensor, nn

from hidden_dynamics.models.choices import one_of
from hidden_dynamics.models.ragged import run_ragged
from hidden_dynamics.models.recurrent.state import FilteredState


class SequenceTask(Protocol):
    """The properties of a task that a sequence network needs."""

    input_size: int
    output_size: int
    every_step: bool


class RecurrentNetwork(nn.Module):
    """One recurrent core and a linear readout of its last hidden state, or of every one.

    Args:
        core: `core(input_size, **hyperparameters)` makes a module with an attribute `hidden_size` that maps
            (T, batch, d) to ((T, batch, hidden_size), state); a ValueError where it reads other than that.
        readout: how the readout starts: "uniform", as torch's (the released code), or "kaiming", normal for a ReLU,
            biases 0 (expRNN's copying task); a ValueError where it is none of these.
        hyperparameters: of the core, `hidden_size` among them.
    """

    def __init__(
        self,
        task: SequenceTask,
        core: Callable[..., nn.Module],
        readout: Literal["uniform", "kaiming"] = "uniform",
        **hyperparameters: Any,
    ):
        super().__init__()
        one_of("readout", readout, ("uniform", "kaiming"))
        self.every_step = task.every_step
        self.core: Any = core(task.input_size, **hyperparameters)
        if getattr(self.core, "batch_first", False) or getattr(self.core, "bidirectional", False):
            raise ValueError("a network reads (T, batch, d) in one direction: neither batch_first nor bidirectional")
        self.readout = nn.Linear(self.core.hidden_size, task.output_size)
        if readout == "kaiming":
            nn.init.kaiming_normal_(self.readout.weight, nonlinearity="relu")
            nn.init.zeros_(self.readout.bias)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The answers of a batch, x (T, batch, d): (batch, output_size); if every step is read out, (T, batch,
        output_size), or with `lengths`, as of `run_ragged`, those of the valid steps in its order, (sum of lengths,
        output_size). A ValueError where there are lengths and not every step is read out."""
        if lengths is not None:
            if not self.every_step:
                raise ValueError("sequences of different lengths are for tasks in which every step is read out")
            return self.readout(run_ragged(self.core, x, lengths))
        h, state = self.core(x)
        if self.every_step:
            return self.readout(h)
        # The orthogonal cores give the last state by itself, so that no gradient of the size of h is made for it.
        last = getattr(state, "h", None) if isinstance(state, FilteredState) else None
        return self.readout(h[-1] if last is None else last[-1])

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """The parameters by the name of their optimiser: the core's `parameter_groups()`; the readout is in "main"."""
        own = hasattr(self.core, "parameter_groups")
        groups = self.core.parameter_groups() if own else {"main": list(self.core.parameters())}
        return {**groups, "main": [*groups["main"], *self.readout.parameters()]}
