"""The paper's first figure: two sets in 100 dimensions, matched without and with alignment.

The paper gives d = 100 and the two precisions, and neither n nor the features. Here the features fill
a plane, as a picture of two principal components suggests. The table also has features that fill all 100
dimensions: there plain LSL does as well, because distances in many dimensions forgive a wrong scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch.model import Configuration
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics import intervals
from verification.style import COLOURS

#: By the names that they have in the table.
ALIGNMENTS = {"plain": "identity", "affine": "standardize"}

_D, _SCALE = 100, 2.0


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give the precision of both methods, or for the picture every point and its partners."""
    truth = draw_truth(parameters, rng)
    x, y = truth.sample(rng)
    results = {name: certified_match(x, y, alignment=alignment) for name, alignment in ALIGNMENTS.items()}
    if not parameters.get("picture"):
        return [{name: _precision(result.permutation, truth) for name, result in results.items()}]
    aligned = results["affine"].scale * y + results["affine"].shift
    centre = np.concatenate([x, y]).mean(axis=0)
    axes = np.linalg.svd(np.concatenate([x, y]) - centre, full_matrices=False)[2][:2].T
    sets = {"x": x, "y": y, "aligned": aligned}
    flat = {name: (points - centre) @ axes for name, points in sets.items()}
    return [
        {f"{name}_{k + 1}": float(points[i, k]) for name, points in flat.items() for k in range(2)}
        | {"partner": int(truth.permutation[i])}
        | {name: int(result.permutation[i]) for name, result in results.items()}
        for i in range(len(x))
    ]


def draw_truth(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw features in the first few axes, equal noise, and a shift of twice the features' spread."""
    n, used, spread = parameters["n"], parameters["dimensions"], parameters["spread"]
    features = np.zeros((n, _D))
    features[:, :used] = spread * rng.standard_normal((n, used))
    shift = np.zeros(_D)
    shift[:used] = 2 * spread / np.sqrt(used)
    return Configuration(features + shift, np.ones(n), _SCALE, shift, draw_permutation(n, rng))


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the precision of each method with its interval, and the points of the picture."""
    precision: list[Row] = []
    points: Sequence[Row] = ()
    for cell, rows in cells:
        if cell.parameters.get("picture"):
            points = rows
            continue
        for name in ALIGNMENTS:
            values = intervals.mean([row[name] for row in rows], "precision")
            shape = {"features": cell.parameters["features"], "n": cell.parameters["n"], "d": _D}
            precision.append(shape | {"method": name, "trials": len(rows)} | values)
    return {"": precision, "points": points}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the raw sets, then the pairs of either method."""
    points = tables["points"]
    x, y, aligned = (np.array([[row[f"{name}_{k}"] for k in (1, 2)] for row in points]) for name in _SETS)
    partner = np.array([row["partner"] for row in points], int)
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    titles = ["raw data:\nthe second set is shifted and half as large"]
    for axes, (name, second) in zip(panels[1:], (("plain", y), ("affine", aligned)), strict=True):
        chosen = np.array([row[name] for row in points], int)
        right = chosen == partner
        # Short wrong pairs would vanish under the points, so they are drawn over them.
        for kind, colour, width, order in (
            (right, COLOURS[2], 1.2, 2),
            (~right, COLOURS[6], _WIDTHS[name], 4),
        ):
            ends = np.full((kind.sum(), 3, 2), np.nan)  # a gap after each pair
            ends[:, 0], ends[:, 1] = x[kind], second[chosen[kind]]
            axes.plot(*ends.reshape(-1, 2).T, color=colour, linewidth=width, zorder=order)
        typical = next(row for row in tables[""] if row["method"] == name)
        titles.append(
            f"{_TITLES[name]}: {right.mean():.2f} of the pairs right\n"
            f"(mean of {typical['trials']:.0f} draws {typical['precision']:.3f} "
            f"[{typical['precision_low']:.3f}, {typical['precision_high']:.3f}])"
        )
    for axes, second, title in zip(panels, (y, y, aligned), titles, strict=True):
        axes.plot(*x.T, "o", color=COLOURS[0], markersize=3.5, label="first set", zorder=2)
        axes.plot(*second.T, "x", color=COLOURS[1], markersize=4, label="second set", zorder=3)
        axes.set_title(title)
        axes.set(xticks=[], yticks=[], xlabel="first principal component", aspect="equal")
        axes.grid(False)
    panels[0].set_ylabel("second principal component")
    panels[1].plot([], [], color=COLOURS[2], label="right pair")
    panels[1].plot([], [], color=COLOURS[6], linewidth=_WIDTHS["plain"], label="wrong pair")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(
        "Without alignment almost every pair is wrong; with it almost every pair is right", fontweight="bold"
    )


_SETS = ("x", "y", "aligned")
_WIDTHS = {"plain": 0.4, "affine": 1.2}
_TITLES = {"plain": "plain LSL", "affine": "affine LSL"}


def _precision(permutation: Any, truth: Configuration) -> float:
    return float((permutation == truth.permutation).mean())


def _cells(n: int, pictures: tuple[int, int, int], trials: tuple[int, int, int]) -> tuple[Cell, ...]:
    plane = {"features": "in a plane", "n": n, "dimensions": 2, "spread": 90.0}
    everywhere = {"features": "in all directions", "n": n, "dimensions": _D, "spread": 0.76}
    return (
        Cell(f"n={n} picture", plane | {"picture": True}, trials=pictures),
        Cell(f"n={n} plane", plane, trials=trials),
        Cell(f"n={n} all directions", everywhere, trials=trials),
    )


STUDY = Study(
    id="step-by-step",
    cells=_cells(20, (1, 0, 0), (2, 0, 0)) + _cells(200, (0, 1, 1), (0, 100, 1000)),
    trial=trial,
    batch=20,
)

FIGURES = (Figure("step-by-step", "first figure", STUDY, tabulate, draw, (9.6, 3.6)),)
