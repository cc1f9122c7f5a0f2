"""Two encoders, two translations: verses matched across sentence encoders, after the paper's supplement.

Here the verses of the King James and the World English Bible stand for the paper's corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lslmatch._types import FloatArray
from verification.data.verses import load_verses
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios import side_by_side
from verification.scenarios.side_by_side import REFERENCE
from verification.statistics import intervals
from verification.style import error_line

#: Pairs of sets by name, translation and encoder of each; the first has the larger vectors.
PAIRS = {
    "KJV by L6, WEB by L3": ("WEB-L3", "KJV-L6"),
    "WEB by L6, KJV by L3": ("KJV-L3", "WEB-L6"),
    "both by L6": ("WEB-L6", "KJV-L6"),
    "both by L3": ("WEB-L3", "KJV-L3"),
}


def load_pair(parameters: Parameters, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """Give the vectors of the same verses in both sets, and the number to draw."""
    first, second = PAIRS[parameters["pair"]]
    vectors = load_verses().vectors
    return vectors[first], vectors[second], parameters["n"]


def trial(state: tuple[FloatArray, FloatArray, int], rng: np.random.Generator) -> list[Row]:
    """Draw verses, and give what each method made of them."""
    x, y, n = state
    drawn = rng.choice(len(x), size=n, replace=False)
    return [{**row, "overlap": n / len(x)} for row in side_by_side.compare(x[drawn], y[drawn], rng)]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the shares, and the differences to the reference on the same draws."""
    shares: list[Row] = []
    differences: list[Row] = []
    for cell, rows in cells:
        for name, lines in pd.DataFrame(rows).groupby("method", sort=False):
            n, overlap = lines["pairs"].iloc[0], lines["overlap"].iloc[0]
            place = {"data": cell.parameters["pair"], "n": n, "method": name, "draws": len(lines)}
            if overlap == 1:
                whole_share, whole_difference = _whole_pool(lines.iloc[0])
                shares.append({**place, **whole_share})
                if name != REFERENCE:
                    differences.append({**place, **whole_difference})
                continue
            recovered = intervals.overlapping_mean(lines["right"] / n, overlap, "recovered")
            recovered["recovered_high"] = min(1.0, recovered["recovered_high"])
            scale = intervals.overlapping_mean(lines["scale"], overlap, "scale")
            shares.append({**place, **recovered, **scale})
            if name != REFERENCE:
                ahead = (lines["gained"] - lines["lost"]) / n
                # For verses like these, and for these verses alone.
                wide = intervals.overlapping_mean(ahead, overlap, "difference")
                differences.append({**place, **wide, **intervals.mean(ahead, "difference_here")})
    return {"": shares, "differences": differences}


def _whole_pool(line: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Give share and difference where all verses are matched: the verses are the cases then, not the draws.

    They are taken for independent, which verses of the same chapter are not quite.
    """
    total = int(line["pairs"])
    right = intervals.proportion(
        [1.0] * int(line["right"]) + [0.0] * (total - int(line["right"])), "recovered"
    )
    ahead = intervals.paired_difference(line["gained"], line["lost"], total, "difference")
    here = {name.replace("difference", "difference_here"): ahead["difference"] for name in ahead}
    scale = dict.fromkeys(("scale", "scale_low", "scale_high"), float(line["scale"]))
    return {**right, **scale}, {**ahead, **here}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares for the smaller size: a line for each pair of sets, a mark for each way to match."""
    least = min(row["n"] for row in tables[""])
    rows = [row for row in tables[""] if row["n"] == least]
    pairs = list(dict.fromkeys(row["data"] for row in rows))
    axes = figure.subplots()
    for k, name in enumerate(_SHOWN):
        shown = [row for row in rows if row["method"] == name]
        places = [pairs.index(row["data"]) + 0.16 * (k - 1) for row in shown]
        error_line(axes, places, shown, "recovered", k, name, sideways=True, linestyle="", markersize=6)
    scales = {row["data"]: row["scale"] for row in rows if row["method"] == REFERENCE}
    axes.set_yticks(range(len(pairs)), [f"{name}\nscale {scales[name]:.1f}" for name in pairs])
    axes.set(ylim=(len(pairs) - 0.5, -0.5), xlim=(None, 1.005), xlabel="share of pairs recovered")
    axes.grid(False, axis="y")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(_SHOWN))
    figure.suptitle(
        f"{least:.0f} verses by two encoders: what is left to find is found\nby learning the covariance",
        fontweight="bold",
    )


#: The methods of the picture; the table has all.
_SHOWN = ("least squares", REFERENCE, "learned covariance")


def _cell(pair: str, n: int, trials: tuple[int, int, int]) -> Cell:
    return Cell(f"{pair}, n={n}", {"pair": pair, "n": n}, trials=trials)


STUDY = Study(
    id="sentences",
    cells=(
        *(_cell(pair, 500, (0, 8, 48)) for pair in PAIRS),
        *(_cell(pair, 1000, (0, 4, 24)) for pair in list(PAIRS)[:2]),
        # All verses there are: one draw, and the shuffle changes nothing.
        *(_cell(pair, 2000, (0, 1, 1)) for pair in list(PAIRS)[:2]),
        *(_cell(pair, 12, (2, 0, 0)) for pair in PAIRS),
    ),
    setup=load_pair,
    trial=trial,
    batch=4,
)

FIGURES = (Figure("sentences", "supplement, sentence matching", STUDY, tabulate, draw, (6.4, 3.6)),)
