"""The one place that knows how pictures look, and how they are saved."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib import patheffects
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray
from PIL import Image

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a8a")

#: Markers and dashes that go with the colours, for a print in grey.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), "-", "--")

#: Lines that are not data: references, bounds.
INK = "#333333"

#: Shares from 0 to 1: one hue, from dark to light, which is the same order in grey.
SHARES = "cividis"

#: A notebook keeps its pictures inside, so they are of a modest size there, and of 256 colours.
_NOTEBOOK_DPI = 96

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: smaller, sharper, searchable
    "svg.hashsalt": "lslmatch",  # the same picture is the same file
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 9,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "lines.linewidth": 1.4,
    "savefig.dpi": 160,
}


class Sheet(Figure):
    """A figure that a notebook shows in the common style."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        with Image.open(io.BytesIO(png(self, "", dpi=_NOTEBOOK_DPI))) as picture:
            picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
        return data.getvalue()


def draw_figure(draw: Callable[[Any], None], size: tuple[float, float]) -> Sheet:
    """Give a figure of `size` in inches, drawn and laid out in the common style."""
    with matplotlib.rc_context(_STYLE):
        figure = Sheet(figsize=size, layout="constrained")
        draw(figure)
        return figure


def error_line(
    axes: Any,
    places: Sequence[float] | NDArray[np.float64],
    rows: Sequence[Mapping[str, Any]],
    value: str,
    style: int,
    label: str,
    *,
    sideways: bool = False,
    **looks: Any,
) -> None:
    """Draw a column of rows of a table as a line, with its intervals `value`_low and `value`_high.

    `style` says which colour, marker and dash it has, unless `looks` say otherwise; `linestyle=""` leaves
    marks alone. `places` are along the horizontal axis, or along the vertical one if `sideways`.
    """
    middle, low, high = (np.array([row[value + end] for row in rows]) for end in ("", "_low", "_high"))
    usual = {"color": COLOURS[style], "marker": MARKERS[style], "linestyle": DASHES[style], "markersize": 4}
    errors = np.abs([middle - low, high - middle])
    looks = {"capsize": 2, "label": label, **usual, **looks}
    if sideways:
        axes.errorbar(middle, places, xerr=errors, **looks)
    else:
        axes.errorbar(places, middle, yerr=errors, **looks)


def draw_share_matrix(axes: Any, share: NDArray[np.float64], text: float) -> Any:
    """Draw shares from 0 to 1, rows from below, as colours and as numbers in per cent of `text` points.

    What is not a number stays empty.
    """
    shown = axes.imshow(share, origin="lower", aspect="auto", cmap=SHARES, vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(share):
        if np.isnan(value):
            continue
        colour, ground = ("black", "white") if value > 0.5 else ("white", "black")
        rim = [patheffects.withStroke(linewidth=1, foreground=ground, alpha=0.6)]
        label = f"{100 * value:.0f}"
        axes.text(
            j, i, label, ha="center", va="center", fontsize=text, color=colour, path_effects=rim, zorder=4
        )
    return shown


def label_log_axis(axis: Any, ticks: Sequence[float]) -> None:
    """Label a logarithmic axis with plain numbers at `ticks`."""
    axis.set_ticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def svg(figure: Any, title: str) -> str:
    """Give a figure as an SVG element that depends on nothing but what is drawn."""
    text = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]


def png(figure: Any, title: str, dpi: float | None = None) -> bytes:
    """Give a figure as a PNG file, in the style's own resolution unless told."""
    data = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(data, format="png", dpi=dpi, metadata={"Title": title, "Software": None})
    return data.getvalue()
