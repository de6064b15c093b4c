"""A figure taken apart: panels that are drawn one by one, and what stands around them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from hidden_dynamics.artifacts.sheet import Styles


@dataclass(frozen=True)
class Panel:
    """
    Attributes:
        draw: draws all but the title into axes. The gid of what belongs to a model is "<mark> <model>", such as
            "curve lstm".
    """

    title: Sequence[str]
    draw: Callable[[Axes], None]


@dataclass(frozen=True)
class Key:
    """A model in the legend.

    Attributes:
        dashes: lengths of its line's dashes and gaps, in line widths; none for a solid line.
    """

    model: str
    label: str
    dashes: Sequence[float]


@dataclass(frozen=True)
class Panels:
    """A figure as the page shows it, panel by panel.

    Attributes:
        subtitle: its scale, and what is not as in the paper.
        marks: what lines and symbols mean that are no model's.
        notes: the caption, by paragraph.
    """

    subtitle: str
    panels: Sequence[Panel]
    keys: Sequence[Key]
    marks: Sequence[str]
    notes: Sequence[str]


def keys_of(styles: Styles, handles: Sequence[Line2D]) -> list[Key]:
    """The keys of models whose lines have these styles; their labels are those of the legend's first handles."""
    return [
        Key(model, str(handle.get_label()), () if style["linestyle"] == "solid" else style["linestyle"][1])
        for (model, style), handle in zip(styles.items(), handles, strict=False)
    ]
