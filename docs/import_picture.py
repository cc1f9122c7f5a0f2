"""The picture of the components of a package: storeys from top to bottom, and what lives in each.

Called by ``import_graph.py``. There are no arrows: a component imports only what stands to its right in the
same storey, or below. Which imports which is a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

if TYPE_CHECKING:
    from import_graph import Layer

#: Lengths in inches.
WIDTH, ROW, BOX, LETTER, MARGIN, GAP = 8.0, 0.46, 0.3, 0.085, 0.24, 0.14
TITLES = 1.9  # the column of the storeys' titles
INK, PAPER, BAND = "#1c2733", "#ffffff", "#dfe6ee"


class Box(NamedTuple):
    """A component, and where its left side and its line are within its storey."""

    name: str
    left: float
    line: int

    @property
    def width(self) -> float:
        """Enough for the letters."""
        return len(self.name) * LETTER + MARGIN


def group(layers: list[Layer], storeys: dict[str, str]) -> dict[str, list[str]]:
    """Give the components of each storey, which ends with the layer of the component that it names."""
    groups: dict[str, list[str]] = {}
    left = list(layers)
    for title, last in storeys.items():
        end = next(k for k, layer in enumerate(left) if last in layer.components) + 1
        groups[title] = [name for layer in left[:end] for name in layer.components]
        left = left[end:]
    assert not left, f"no storey has {left[0].components}"
    return groups


def arrange(names: list[str]) -> list[Box]:
    """Put boxes into lines, from left to right."""
    boxes, at, line = [], TITLES, 0
    for name in names:
        box = Box(name, at, line)
        if at > TITLES and at + box.width > WIDTH - GAP:
            at, line = TITLES, line + 1
            box = Box(name, at, line)
        boxes.append(box)
        at += box.width + GAP
    return boxes


def draw(layers: list[Layer], storeys: dict[str, str], target: Path) -> None:
    """Draw the storeys of a package."""
    groups = {title: arrange(names) for title, names in group(layers, storeys).items()}
    heights = {title: (boxes[-1].line + 1) * ROW + GAP for title, boxes in groups.items()}
    with mpl.rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(WIDTH, sum(heights.values())), facecolor=PAPER)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, WIDTH), ylim=(-sum(heights.values()), 0))
        axes.set_axis_off()
        top = 0.0
        for title, boxes in groups.items():
            bottom = top - heights[title]
            axes.axhspan(bottom + 0.03, top - 0.03, color=BAND, linewidth=0, zorder=0)
            axes.text(GAP, (top + bottom) / 2, title, va="center", fontsize=9, color=INK)
            for box in boxes:
                _draw_box(axes, box, top - GAP / 2 - ROW * (box.line + 0.5))
            top = bottom
        figure.savefig(target.with_suffix(".png"), dpi=150, metadata={"Software": None})


def _draw_box(axes: Any, box: Box, y: float) -> None:
    style = "round,pad=0,rounding_size=0.06"
    corner = (box.left, y - BOX / 2)
    axes.add_patch(FancyBboxPatch(corner, box.width, BOX, style, facecolor=PAPER, edgecolor=INK, zorder=3))
    middle = box.left + box.width / 2
    axes.text(middle, y, box.name, ha="center", va="center", fontsize=9, color=INK, family="monospace")
