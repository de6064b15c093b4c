"""‖∂L/∂h_t‖ of untrained cells by autograd, by Eq. 11 and by Eq. 13 of MomentumRNN, over t (docs/jacobian.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

from hidden_dynamics.artifacts import sheet
from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.results.evidence import Evidence
from hidden_dynamics.results.measured import EQUAL, GradientNorm

LINES: Mapping[str, tuple[str, Mapping[str, Any]]] = {  # by column of what was measured
    "autograd": ("∂L/∂hₜ by autograd", {"color": "#9ecae1", "linewidth": 4.5}),
    "product": ("∂L/∂hₜ by Eq. 11", {"color": "black", "linewidth": 1.1}),
    "claimed": ("∂L/∂hₜ by Eq. 13", {"color": "#d62728", "linestyle": (0, (5, 1.5))}),
    "input": ("∂L/∂vₜ", {"color": "#2ca02c", "linestyle": (0, (1, 1.2))}),
}
NOTES = (
    "Nothing is trained, and no scale changes anything: L = ‖h_T‖² of one sequence of 60 steps of 8 normal inputs, N = "
    "32, float64, one seed. The tanh cell (Eqs. 1 and 9) has an orthogonal U times 0.7, with which gradients vanish; "
    "DTRIV is the project's own, as a training starts. Eq. 11 has no term of momentum. Derivation: docs/jacobian.md.",
    "v_t is the filtered input. What momentum does add is in ∂L/∂v_t: μ times that of the next step, a memory of "
    "1/(1 − μ) steps. For μ, NAG and restarts have that of the step, and Adam what its scaling leaves of μ; in Eq. 13, "
    "too. RMSProp has none: there Eq. 13 is Eq. 11.",
    "Figure 2 is of ‖∂L/∂h_t‖ of DTRIV and MomentumDTRIV in training. These can differ by D, the units that modReLU "
    "holds at 0, and by what training made of the weights; by no term of momentum.",
)
PRODUCTS = {"product": "Eq. 11", "claimed": "Eq. 13"}


class Jacobian(Artifact):
    measured = "jacobian"
    origin = "It is computed from untrained cells."


def draw(artifact: Jacobian, evidence: Evidence) -> "sheet.Page":
    """A row of panels for each core, a column for each filter: norms over t; those of the first step as a table."""
    import pandas

    cells: dict[tuple[str, str], list[GradientNorm]] = {}
    for norms in evidence.gradients:
        cells.setdefault((norms.core, norms.filter), []).append(norms)
    cores, filters = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    table = pandas.DataFrame([_first_step(*cell, steps) for cell, steps in cells.items()])
    figure, body = sheet.page(
        artifact.settings,
        "untrained, float64, N = 32, T = 60",
        width=2.05 * len(filters) + 0.7,
        height=2.3 * len(cores),
        notes=[_equal_note(list(cells.values())), *NOTES],
        handles=[sheet.legend_entry(label, **look) for label, look in LINES.values()],
        table=table.to_markdown(index=False, disable_numparse=True),
        data=[norms.model_dump() for norms in evidence.gradients],
    )
    axes = body.subplots(len(cores), len(filters), sharex=True, sharey="row", squeeze=False)
    for (core, name), steps in cells.items():
        ax, cell = axes[cores.index(core)][filters.index(name)], f"{core}, {name}"
        for column, (_, look) in LINES.items():
            values = [getattr(norms, column) for norms in steps]
            ax.semilogy([norms.step for norms in steps], values, **look, gid=f"{column} {cell}")
        ax.set_title(cell)
    for ax in axes[:, 0]:
        ax.set_ylabel("Norm")
    for ax in axes[-1]:
        ax.set_xlabel("Step t")
    return figure


def _equal_note(cells: Sequence[Sequence[GradientNorm]]) -> str:
    """In how many cells each product is what autograd gives, at all steps."""
    counts = [sum(all(getattr(at, f"{name}_error") <= EQUAL for at in steps) for steps in cells) for name in PRODUCTS]
    labels = zip(PRODUCTS.values(), counts, strict=True)
    texts = [f"{label} in {count} of {len(cells)} cells" for label, count in labels]
    return f"Equal to autograd at every step, within {EQUAL:g} of the vector's length: {', '.join(texts)}."


def _first_step(core: str, name: str, steps: Sequence[GradientNorm]) -> dict[str, str]:
    """A row of the table: the norms at t = 1, and how far autograd and Eq. 11 are apart at the worst of all steps."""
    norms = {label.replace("ₜ", "₁"): f"{getattr(steps[0], column):.3g}" for column, (label, _) in LINES.items()}
    worst = max(at.product_error for at in steps)
    return {"Core": core, "Filter": name, **norms, "Autograd and Eq. 11 differ by": f"{worst:.0e}" if worst else "0"}
