"""The papers' figures, drawn from summaries of runs.

Every figure says on its face what made it: scale, data (a stand-in is named as one), network size, seeds, readings,
smoothing and device. Building a figure and saving it are apart, so that what is drawn can be looked at without files.
"""

from hidden_dynamics.rendering.figures.ablation import ablation_figure
from hidden_dynamics.rendering.figures.copying_example import copying_figure
from hidden_dynamics.rendering.figures.curves import curves_figure
from hidden_dynamics.rendering.figures.embedding import embedding_figure
from hidden_dynamics.rendering.figures.function_evaluations import function_evaluations_figure
from hidden_dynamics.rendering.figures.gradient_norms import gradient_norms_figure
from hidden_dynamics.rendering.figures.page import save
from hidden_dynamics.rendering.figures.summary import read_rows

__all__ = [
    "ablation_figure",
    "copying_figure",
    "curves_figure",
    "embedding_figure",
    "function_evaluations_figure",
    "gradient_norms_figure",
    "read_rows",
    "save",
]
