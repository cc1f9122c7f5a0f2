"""The heat maps after standardising and at the profile's scale, side by side, from the committed tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from verification.engine.samples import Row
from verification.engine.tables import read_table
from verification.figures.heat_map import draw_plane
from verification.style import draw_figure, svg

#: Where the figure "comparison" and its tables are kept.
FOLDER = Path(__file__).parents[2] / "docs" / "figures"

_TITLES = {"standardize": "after standardising", "profile": "at the scale of the profile likelihood"}


class HeatMaps(NamedTuple):
    """Two heat maps, and what a reader must know of the trials behind them."""

    picture: str
    """An SVG element."""
    narrow: str
    """The same for the width of a phone, one below the other."""
    size: Mapping[str, Any]
    """n, d and trials of a cell."""
    origin: Mapping[str, Any]
    """Seed, revision and the rest, as they were written beside the table."""


def load(folder: Path = FOLDER) -> HeatMaps | None:
    """Draw the heat maps of a folder's tables; None if it does not have both."""
    if not (folder / "comparison.json").is_file():
        return None
    origin = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    rows = read_table(folder / "comparison.csv")
    curves = read_table(folder / "comparison-curves.csv")
    planes = {name: [row for row in rows if row["method"] == name] for name in _TITLES}
    if not all(planes.values()):
        return None

    def draw(figure: Any) -> None:
        _draw_maps(figure.subplots(1, len(planes), sharey=True), planes, curves)
        figure.axes[1].set_ylabel("")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)

    def draw_narrow(figure: Any) -> None:
        _draw_maps(figure.subplots(len(planes), 1, sharex=True), planes, curves)
        figure.axes[0].set_xlabel("")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center")

    roomy, narrow = draw_figure(draw, (9.6, 4.8)), draw_figure(draw_narrow, (3.9, 7.4))
    return HeatMaps(svg(roomy, "heat maps"), svg(narrow, "heat maps"), rows[0], origin)


def _draw_maps(panels: Any, planes: Mapping[str, Sequence[Row]], curves: Sequence[Row]) -> None:
    for axes, (name, shown) in zip(panels, planes.items(), strict=True):
        draw_plane(axes, shown, curves, text=5.5)
        axes.set_title(_TITLES[name], fontweight="bold")
