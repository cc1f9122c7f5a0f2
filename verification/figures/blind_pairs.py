"""A limit for false pairs with a proof, over many kinds of sets: whether it is kept, and what it costs.

Blind pairs are judged under a map that was estimated, as a user has it. Beside them stand the limit by
estimate, in a tenth of the draws, and what the ranking of the blind pairs would allow if the truth were
known. Cells in which the assumption behind the proof is broken are drawn apart from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import lslmatch
from lslmatch._types import FloatArray, IntArray
from lslmatch.choice.blind.choosing import choose_blindly
from lslmatch.choice.choosing import choose_pairs
from lslmatch.results import FalseShare
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.without_partner import SEPARATIONS
from verification.scenarios.strangers import LIKE, PartlyCommon, draw_partly_common
from verification.statistics import intervals
from verification.style import COLOURS, DASHES, INK

BLIND, ESTIMATE = "with a proof", "by estimate"
ASKED = (0.02, 0.05, 0.1)
#: The share of draws in which the limit by estimate is tried as well.
_BESIDE = 0.1
#: Groups of cells: strangers like the others in sets of two sizes, strangers of other kinds, and cells that
#: break what the proof assumes.
SMALL, LARGE, UNLIKE, BROKEN = "120 points", "300 points", "other strangers", "broken"
NOISY, NOISIER, ONE_SIDE, RELATIVES = "y noise 2", "y noise 4", "strangers in y only", "relatives"


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Match one draw with each limit."""
    sets = _draw(parameters, rng)
    # All limits are those of one matching, whose map is estimated once.
    whole = lslmatch.match(sets.x, sets.y, alignment="robust")
    beside = rng.random() < _BESIDE
    rows: list[Row] = []
    for asked in ASKED:
        for method in (BLIND, ESTIMATE) if beside else (BLIND,):
            if method == BLIND:
                result = choose_blindly(sets.x, sets.y, whole, asked, False, 1)
            else:
                result = choose_pairs(sets.x, sets.y, whole, FalseShare(asked), True, 1)
            found, false, _ = sets.score(result.permutation)
            kept = result.permutation >= 0
            assert result.confidence is not None, "pairs were chosen"
            sure = float(result.confidence[kept].sum())
            right = int((result.permutation[kept] == sets.partner[kept]).sum())
            rows.append(
                {"method": method, "asked": asked, "found": found, "false": false}
                | {"pairs": int(kept.sum()), "right": right, "expected": sure}
            )
    return rows


def _draw(parameters: Parameters, rng: np.random.Generator) -> PartlyCommon:
    kind, d = parameters["kind"], parameters["d"]
    sets = draw_partly_common(
        LIKE if parameters["group"] == BROKEN else kind,
        parameters["features"],
        pairs=parameters["pairs"],
        strangers=(parameters["x_strangers"], parameters["y_strangers"]),
        d=d,
        separation=SEPARATIONS[d],
        noise_ratio=parameters["noise_ratio"],
        rng=rng,
    )
    rows = np.flatnonzero(sets.partner >= 0)
    residuals = sets.x[rows] - sets.affine.apply(sets.y[sets.partner[rows]])
    level = float(np.sqrt(np.square(residuals).mean() / 2.0))
    if kind in (NOISY, NOISIER):
        more = level * np.sqrt((2.0 if kind == NOISY else 4.0) ** 2 - 1.0)
        return sets._replace(y=sets.y + _in_y(sets, more * rng.standard_normal(sets.y.shape)))
    return _with_relatives(sets, level, rng) if kind == RELATIVES else sets


def _in_y(sets: PartlyCommon, differences: FloatArray) -> FloatArray:
    """Bring differences into the units of y."""
    return differences / sets.affine.scale


def _with_relatives(sets: PartlyCommon, level: float, rng: np.random.Generator) -> PartlyCommon:
    """Make half of the strangers of y relatives of strangers of x, as near to them as partners are."""
    strangers = np.flatnonzero(sets.partner < 0)
    others: IntArray = np.setdiff1d(np.arange(len(sets.y)), sets.partner)
    half = min(len(strangers), len(others)) // 2
    points = sets.x[strangers[:half]] + np.sqrt(2.0) * level * rng.standard_normal((half, sets.x.shape[1]))
    y = sets.y.copy()
    y[others[:half]] = sets.affine.inverse().apply(points)
    return sets._replace(y=y)


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give means over the draws of each cell, and for each group how many cells exceed their limit."""
    lines: list[Row] = []
    for cell, rows in cells:
        for (method, asked), draws in pd.DataFrame(rows).groupby(["method", "asked"], sort=False):
            means = [intervals.mean(draws[key].tolist(), key) for key in ("false", "found")]
            error = float(draws["false"].std(ddof=1) / np.sqrt(len(draws))) if len(draws) > 1 else np.nan
            sure = float(draws["expected"].sum() / max(draws["right"].sum(), 1))
            lines.append(
                {**cell.parameters, "method": method, "asked": asked, "draws": len(draws)}
                | {**means[0], **means[1], "error": error, "pairs": float(draws["pairs"].mean())}
                | {"expected_beside_right": sure}
            )
    frame = pd.DataFrame(lines)
    groups: list[Row] = []
    for place, part in frame.groupby(["group", "method", "asked"], sort=False):
        excess = (part["false"] - part["asked"]) / part["error"].clip(lower=1e-12)
        groups.append(
            {
                **dict(zip(("group", "method", "asked"), place, strict=True)),
                "cells": len(part),
                "draws": int(part["draws"].sum()),
                "above_by_1_error": int((excess > 1.0).sum()),
                "above_by_2_errors": int((excess > 2.0).sum()),
                "worst": float(part["false"].max()),
                "false": float(part["false"].mean()),
                "found": float(part["found"].mean()),
            }
        )
    return {"": lines, "groups": groups}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the share of false pairs of every cell in ascending order, and what was found, by limit."""
    panels = figure.subplots(1, len(ASKED), sharey=True)
    cells = [row for row in tables[""] if row["group"] != BROKEN]
    for axes, asked in zip(panels, ASKED, strict=True):
        for style, method in enumerate((BLIND, ESTIMATE)):
            rows = [row for row in cells if row["method"] == method and row["asked"] == asked]
            shares = sorted(row["false"] / asked for row in rows)
            found = np.mean([row["found"] for row in rows]) if rows else np.nan
            place = (np.arange(len(shares)) + 0.5) / max(len(shares), 1)
            label = f"{method}: {100 * found:.0f} % of the partners found"
            axes.plot(place, shares, color=COLOURS[style], linestyle=DASHES[style], label=label)
        axes.axhline(1.0, color=INK, linewidth=0.8)
        axes.set(title=f"limit {100 * asked:g} %", xlabel="cells, in order", ylim=(0.0, 4.0))
        axes.legend(loc="upper left", fontsize=7)
    panels[0].set_ylabel("mean share of false pairs / limit")
    figure.suptitle("Limits for false pairs, over all cells in which the proof applies", fontweight="bold")


def _cells() -> list[Cell]:
    cells: list[Cell] = []

    def add(group: str, kind: str, features: str, d: int, ratio: float, counts: tuple[int, int, int]) -> None:
        name = f"{group}, {kind}, {features}, d={d}, noise={ratio:g}, {counts[0]} and {counts[1:]}"
        place = {"group": group, "kind": kind, "features": features, "d": d, "noise_ratio": ratio}
        sizes = dict(zip(("pairs", "x_strangers", "y_strangers"), counts, strict=True))
        # One of a kind for the smoke profile.
        smoke = int(features == "normal" and d == 5 and ratio == 1.0 and counts[0] in (84, 60))
        cells.append(Cell(name, {**place, **sizes}, trials=(smoke, 10 if group == LARGE else 20, 100)))

    for d in SEPARATIONS:
        for ratio in (1.0, 100.0):
            for share in (0.3, 0.5):
                alone = round(120 * share)
                for features in ("normal", "uniform", "clustered", "uneven"):
                    for other in (alone, alone // 2):
                        add(SMALL, LIKE, features, d, ratio, (120 - alone, alone, other))
                for kind in ("wide", "another population", "several clusters", "heavy-tailed"):
                    for features in ("normal", "clustered"):
                        add(UNLIKE, kind, features, d, ratio, (120 - alone, alone, alone))
            for share in (0.1, 0.3, 0.5):
                alone = round(300 * share)
                for features in ("normal", "clustered", "uneven"):
                    add(LARGE, LIKE, features, d, ratio, (300 - alone, alone, alone))
            for kind in (NOISY, NOISIER, RELATIVES):
                add(BROKEN, kind, "normal", d, ratio, (84, 36, 36))
            add(BROKEN, ONE_SIDE, "normal", d, ratio, (84, 0, 36))
    return cells


STUDY = Study(id="blind-pairs", cells=tuple(_cells()), trial=trial, batch=10)

FIGURES = (Figure("blind-pairs", "beyond the paper", STUDY, tabulate, draw, (9.6, 3.6)),)
