"""A limit for the share of false pairs: what was asked for, what was expected, and what came.

Eighty of a hundred points have a partner in the other set; the strangers look like all others. The noise
goes from well above the floor to close to it, where probabilities are estimated from pairs of which many are
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import lslmatch
from lslmatch.results import FalseShare
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.strangers import score_pairs
from verification.statistics import intervals
from verification.style import INK, error_line

_N, _PAIRS, _SCALE = 100, 80, 2.5
ASKED = (0.02, 0.05, 0.1, 0.2)
AUTO = "auto"
#: Dimensions and noise levels; the features have a spread of 1.
SETTINGS = ((4, 0.1), (4, 0.15), (4, 0.2), (10, 0.3), (10, 0.45))


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Match one draw with each limit, and with pairs="auto"."""
    d, noise = parameters["d"], parameters["noise"]
    common = rng.standard_normal((_PAIRS, d))
    x, y = (
        np.vstack([common, rng.standard_normal((_N - _PAIRS, d))]) + noise * rng.standard_normal((_N, d))
        for _ in range(2)
    )
    place = rng.permutation(_N)
    shuffled = np.empty_like(y)
    shuffled[place] = (y - 4.0) / _SCALE
    partner = np.where(np.arange(_N) < _PAIRS, place, -1)
    rows: list[Row] = []
    for asked in (*ASKED, AUTO):
        pairs: Any = AUTO if asked == AUTO else FalseShare(float(asked))
        result = lslmatch.match(x, shuffled, alignment="robust", pairs=pairs)
        recall, false, _ = score_pairs(partner, result.permutation)
        kept = result.permutation >= 0
        assert result.confidence is not None, "pairs were chosen"
        expected = 1.0 - float(result.confidence[kept].mean()) if kept.any() else 0.0
        found = {"recall": recall, "false": false, "pairs": int(kept.sum()), "expected": expected}
        rows.append({"asked": str(asked), **found})
    return rows


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give means over the draws of each setting and limit."""
    lines: list[Row] = []
    for cell, rows in cells:
        for asked, draws in pd.DataFrame(rows).groupby("asked", sort=False):
            means = [intervals.mean(draws[key].tolist(), key) for key in ("false", "expected", "recall")]
            place = {**cell.parameters, "asked": asked, "draws": len(draws)}
            lines.append({**place, **means[0], **means[1], **means[2], "pairs": float(draws["pairs"].mean())})
    return {"": lines}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the share that came, and the pairs that were found, against the share that was asked for."""
    panels = figure.subplots(1, 2)
    panels[0].plot([0, 0.2], [0, 0.2], color=INK, linewidth=0.8, label="as asked")
    settings = list(dict.fromkeys((row["d"], row["noise"]) for row in tables[""]))
    for style, (d, noise) in enumerate(settings):
        rows = [row for row in tables[""] if (row["d"], row["noise"]) == (d, noise) and row["asked"] != AUTO]
        places = [float(row["asked"]) + 0.0012 * (style - 2) for row in rows]
        for axes, value in zip(panels, ("false", "recall"), strict=True):
            error_line(axes, places, rows, value, style, f"d = {d:.0f}, noise {noise:g}")
    for axes in panels:
        axes.set(xlabel="share of false pairs that is allowed", xticks=ASKED)
    panels[0].set(ylabel="share of pairs that are false", ylim=(-0.01, None))
    panels[1].set(ylabel="share of partners found", ylim=(-0.03, 1.03))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("A limit for false pairs, from above the noise floor to close to it", fontweight="bold")


STUDY = Study(
    id="false-share",
    cells=tuple(
        Cell(
            f"d={d}, noise={noise:g}",
            {"d": d, "noise": noise},
            trials=(1 if (d, noise) == (4, 0.1) else 0, 20, 200),
        )
        for d, noise in SETTINGS
    ),
    trial=trial,
    batch=10,
)

FIGURES = (Figure("false-share", "beyond the paper", STUDY, tabulate, draw, (8.4, 4.2)),)
