"""The picture of the components of a package: layers from top to bottom, arrows to what is imported.

Called by ``import_graph.py``. An arrow is left out where a longer path says the same. A long arrow passes the
layers on its way through gaps that are kept free for it, so that no arrow runs through a box.
"""

from __future__ import annotations

import random
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Curve

if TYPE_CHECKING:
    from import_graph import Layer

Edge = tuple[str, str]

#: Lengths in inches.
ROW, BOX, LETTER, MARGIN, GAP, LANE = 0.62, 0.3, 0.078, 0.14, 0.3, 0.12
TITLES = 1.75  # the column of the layers' titles
#: Orders of the layers that are tried, sweeps that straighten each, and how much more a long arrow pulls.
STARTS, SWEEPS, STRAIGHT = 40, 200, 4.0

INK, ARROW, PAPER, BAND = "#1c2733", "#5b6b7b", "#ffffff", "#eef2f6"


class Place(NamedTuple):
    """What stands in a layer: a box, or the gap through which a long arrow passes."""

    name: str
    width: float
    is_box: bool


def without_detours(edges: list[Edge]) -> list[Edge]:
    """Leave out the edges whose ends are also joined by a longer path."""
    below: dict[str, set[str]] = {}
    for above, component in edges:
        below.setdefault(above, set()).add(component)

    def reachable(start: str, seen: set[str]) -> set[str]:
        for component in below.get(start, set()) - seen:
            seen.add(component)
            reachable(component, seen)
        return seen

    return [
        (above, component)
        for above, component in edges
        if not any(component in reachable(other, set()) for other in below[above] - {component})
    ]


def route(layers: list[list[str]], edges: list[Edge]) -> tuple[list[list[Place]], list[list[str]]]:
    """Return what stands in each layer, gaps included, and for each edge the places that it visits."""
    level = {component: k for k, components in enumerate(layers) for component in components}
    places = [
        [Place(component, LETTER * len(component) + 2 * MARGIN, True) for component in components]
        for components in layers
    ]
    paths = []
    for above, below in edges:
        path = [above]
        for k in range(level[above] + 1, level[below]):
            gap = Place(f"{above}>{below}@{k}", LANE, False)
            places[k].append(gap)
            path.append(gap.name)
        paths.append([*path, below])
    return places, paths


def arrange(places: list[list[Place]], paths: list[list[str]]) -> dict[str, float]:
    """Return the middle of every place: few arrows cross, and they go down as straight as they can."""
    steps = [step for path in paths for step in pairwise(path)]
    best = None
    for seed in range(STARTS):
        chance = random.Random(seed)
        rows = _uncross([chance.sample(row, len(row)) for row in places], steps)
        middle = _straighten(rows, steps)
        crossings = _crossings(rows, _steps_between(rows, steps))
        value = crossings, sum(abs(middle[above] - middle[below]) for above, below in steps)
        if best is None or value < best[0]:
            best = value, middle
    assert best is not None
    return best[1]


def _straighten(rows: list[list[Place]], steps: list[Edge]) -> dict[str, float]:
    """Move places, in the order of their layers, below and above their neighbours."""
    boxes = {place.name for row in rows for place in row if place.is_box}
    pulls: dict[str, list[tuple[str, float]]] = {place.name: [] for row in rows for place in row}
    for above, below in steps:
        strength = 1.0 if {above, below} <= boxes else STRAIGHT
        pulls[above].append((below, strength))
        pulls[below].append((above, strength))
    middle: dict[str, float] = {}
    for row in rows:
        middle.update(_side_by_side(row, dict.fromkeys([place.name for place in row], 0.0)))
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            wanted = {place.name: _mean(pulls[place.name], middle, place.name) for place in row}
            middle.update(_side_by_side(row, wanted))
    return middle


def _mean(pulls: list[tuple[str, float]], middle: dict[str, float], name: str) -> float:
    if not pulls:
        return middle[name]
    return sum(strength * middle[other] for other, strength in pulls) / sum(strength for _, strength in pulls)


def _uncross(rows: list[list[Place]], steps: list[Edge]) -> list[list[Place]]:
    """Exchange places of a layer as long as that makes fewer arrows cross."""
    between = _steps_between(rows, steps)
    improved = True
    while improved:
        improved = False
        for k, row in enumerate(rows):
            near = between[max(k - 1, 0) : k + 1]  # all that an exchange in this layer can change
            for i, j in combinations(range(len(row)), 2):
                before = _crossings(rows, near)
                row[i], row[j] = row[j], row[i]
                if _crossings(rows, near) < before:
                    improved = True
                else:
                    row[i], row[j] = row[j], row[i]
    return rows


def _steps_between(rows: list[list[Place]], steps: list[Edge]) -> list[tuple[int, list[Edge]]]:
    """Sort the steps by the layer that they leave."""
    level = {place.name: k for k, row in enumerate(rows) for place in row}
    return [(k, [step for step in steps if level[step[0]] == k]) for k in range(len(rows))]


def _crossings(rows: list[list[Place]], between: list[tuple[int, list[Edge]]]) -> int:
    total = 0
    for k, steps in between:
        above, below = (
            {place.name: i for i, place in enumerate(row)} for row in (rows[k], (rows + [[]])[k + 1])
        )
        ends = [(above[start], below[end]) for start, end in steps]
        total += sum((i - k) * (j - m) < 0 for (i, j), (k, m) in combinations(ends, 2))
    return total


def _side_by_side(row: list[Place], wanted: dict[str, float]) -> dict[str, float]:
    """Put places next to each other in their order, as near as can be to where they should be.

    Neighbours that would overlap are joined into a block, which goes to the mean of what its parts want.
    """
    blocks: list[tuple[list[Place], float, float]] = []  # places, sum of wanted left ends, width
    for place in row:
        width = place.width + GAP
        block = ([place], wanted[place.name] - width / 2, width)
        while blocks and blocks[-1][1] / len(blocks[-1][0]) + blocks[-1][2] > block[1] / len(block[0]):
            members, total, wide = blocks.pop()
            block = (members + block[0], total + block[1] - wide * len(block[0]), wide + block[2])
        blocks.append(block)
    middle = {}
    for members, total, _ in blocks:
        left = total / len(members)
        for place in members:
            middle[place.name] = left + (place.width + GAP) / 2
            left += place.width + GAP
    return middle


def draw(layers: list[Layer], edges: list[Edge], target: Path) -> None:
    """Write the picture as SVG and as PNG; the same code gives the same bytes."""
    level = {component: k for k, layer in enumerate(layers) for component in layer.components}
    downwards = [(above, below) for above, below in edges if level[above] < level[below]]
    places, paths = route([layer.components for layer in layers], without_detours(downwards))
    middle = arrange(places, paths)
    boxes = [place for row in places for place in row]
    left = min(middle[place.name] - place.width / 2 for place in boxes) - GAP
    right = max(middle[place.name] + place.width / 2 for place in boxes) + GAP
    width, height = TITLES + right - left, ROW * len(layers)
    with mpl.rc_context({"svg.hashsalt": "lslmatch", "svg.fonttype": "path", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(left - TITLES, right), ylim=(-ROW * (len(layers) - 0.5), ROW / 2))
        axes.set_axis_off()
        for k, layer in enumerate(layers):
            if k % 2 == 0:
                axes.axhspan(-ROW * (k + 0.5), -ROW * (k - 0.5), color=BAND, linewidth=0, zorder=0)
            axes.text(left - TITLES + 0.12, -ROW * k, layer.title, va="center", fontsize=8, color=ARROW)
        row_of = {place.name: k for k, row in enumerate(places) for place in row}
        for path in paths:
            _draw_arrow(axes, [(middle[name], -ROW * row_of[name]) for name in path])
        for place in boxes:
            if place.is_box:
                _draw_box(axes, place, middle[place.name], -ROW * row_of[place.name])
        figure.savefig(target.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        figure.savefig(target.with_suffix(".png"), dpi=150, metadata={"Software": None})


def _draw_box(axes: Any, place: Place, x: float, y: float) -> None:
    style = "round,pad=0,rounding_size=0.06"
    corner = (x - place.width / 2, y - BOX / 2)
    axes.add_patch(FancyBboxPatch(corner, place.width, BOX, style, facecolor=PAPER, edgecolor=INK, zorder=3))
    axes.text(
        x, y, place.name, ha="center", va="center", fontsize=8.5, color=INK, family="monospace", zorder=4
    )


def _draw_arrow(axes: Any, points: list[tuple[float, float]]) -> None:
    """Draw a curve that leaves each layer straight down, from the foot of a box to the head of another."""
    x, y = points[0]
    vertices, codes = [(x, y - BOX / 2)], [Curve.MOVETO]
    for k, (x1, y1) in enumerate(points[1:], start=2):
        start = vertices[-1]
        head = y1 + BOX / 2 + (0.07 if k == len(points) else 0.0)
        bend = (start[1] + head) / 2
        vertices += [(start[0], bend), (x1, bend), (x1, head)]
        codes += [Curve.CURVE4] * 3
        if k < len(points):
            vertices.append((x1, y1 - BOX / 2))
            codes.append(Curve.LINETO)
    axes.add_patch(PathPatch(Curve(vertices, codes), fill=False, edgecolor=ARROW, linewidth=1.0, zorder=2))
    tip = points[-1][0], points[-1][1] + BOX / 2
    triangle = [(tip[0] - 0.04, tip[1] + 0.09), (tip[0] + 0.04, tip[1] + 0.09), tip]
    axes.add_patch(PathPatch(Curve([*triangle, triangle[0]]), facecolor=ARROW, linewidth=0, zorder=2))
