"""A figure taken apart: panels that are drawn one by one, and what stands around them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes


@dataclass(frozen=True)
class Key:
    """A model in the legend.

    Attributes:
        dashes: lengths of its line's dashes and gaps, in line widths; none for a solid line.
    """

    model: str
    label: str
    dashes: Sequence[float] = ()


@dataclass(frozen=True)
class Panels:
    """What the page shows of a figure.

    Attributes:
        subtitle: its scale, and what is not as in the paper.
        draw: a function for each panel that draws it into axes, title and labels included. The gid of what belongs to
            a model is "<mark> <model>", such as "curve lstm".
        marks: what other lines and symbols mean.
        notes: the caption, by paragraph.
    """

    subtitle: str
    draw: Sequence[Callable[[Axes], None]]
    keys: Sequence[Key]
    marks: Sequence[str]
    notes: Sequence[str]
