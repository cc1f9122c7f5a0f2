"""Theorem 2 at small delta: how rare failures are, and which separation that takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lslmatch import theory
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.rare_failures import Pairs, equidistant, failure_weight, pairs_of
from verification.style import COLOURS, INK

#: The most points are the fewest, with n = d, for which Theorem 2 allows the smallest delta.
_FEW, _MANY = 8, 173
_DELTAS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
_LABELS = {"lsl": "LSL", "lss": "least squares"}


class State(NamedTuple):
    """What the trials of a cell share."""

    pairs: Pairs
    objective: str


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Place n points at equal distances, and learn how they are exchanged."""
    objective = parameters["objective"]
    noise = np.ones(parameters["n"])
    return State(pairs_of(equidistant(noise, parameters["separation"]), noise, objective, rng), objective)


def trial(state: State, rng: np.random.Generator) -> list[Row]:
    """Draw once, and give the weight of a failure; 0 if there is none."""
    return [{"weight": failure_weight(state.pairs, state.objective, rng)}]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the probability of a failure in each cell, and the separations that make it 4 delta."""
    rows = [_row(cell.parameters, [row["weight"] for row in found]) for cell, found in cells]
    many = [row for row in rows if row["n"] == _MANY and row["probability"] > 0]
    return {"": rows, "thresholds": _thresholds(many) if len(many) > 1 else []}


def _row(parameters: Parameters, weights: Sequence[float]) -> Row:
    mean, error = float(np.mean(weights)), float(np.std(weights) / math.sqrt(len(weights)))
    shown = {key: parameters[key] for key in ("objective", "n", "separation")}
    return {**shown, "trials": len(weights), "probability": mean, "standard_error": error}


def _thresholds(rows: Sequence[Row]) -> list[Row]:
    """Interpolate the logarithm of the probability, which is nearly linear in kappa^2, where it was seen."""
    squares = np.array([row["separation"] ** 2 for row in rows])
    logs = np.array([math.log(row["probability"]) for row in rows])
    found: list[Row] = []
    for delta in _DELTAS:
        level = math.log(4 * delta)
        if logs.min() <= level <= logs.max():
            enough = math.sqrt(float(np.interp(-level, -logs, squares)))
            asked = theory.recovery_threshold(_MANY, _MANY, noise_ratio=1.0, delta=delta)
            found.append({"delta": delta, "enough": enough, "asked": asked, "share": enough / asked})
    return found


def slope(thresholds: Sequence[Row], column: str) -> float:
    """Give by how much the square of a separation grows with log(1/delta), by least squares."""
    logs = [-math.log(row["delta"]) for row in thresholds]
    return float(np.polyfit(logs, [row[column] ** 2 for row in thresholds], 1)[0])


def draw(figure: Any, tables: Tables) -> None:
    """Draw how rare failures are, and what Theorem 2 asks for beside what suffices."""
    left, right = figure.subplots(1, 2)
    kinds = ((_FEW, "lsl"), (_FEW, "lss"), (_MANY, "lsl"))
    for colour, (n, objective) in zip(COLOURS, kinds, strict=False):
        rows = [row for row in tables[""] if (row["n"], row["objective"]) == (n, objective)]
        x, y = ([row[key] for row in rows] for key in ("separation", "probability"))
        reach = [min(2 * row["standard_error"], 0.9 * row["probability"]) for row in rows]
        label = f"{_LABELS[objective]}, n = d = {n}"
        left.errorbar(x, y, yerr=reach, fmt="o-", color=colour, markersize=3.5, capsize=2, label=label)
    left.set(yscale="log", xlabel="separation κ(Z)", ylabel="probability of a failure")
    left.legend(loc="lower left")
    rows = list(tables["thresholds"])
    x = [1 / row["delta"] for row in rows]
    for column, style, label in (("asked", "o--", "Theorem 2 asks for"), ("enough", "o-", "enough")):
        colour = INK if column == "asked" else COLOURS[2]
        right.plot(x, [row[column] for row in rows], style, color=colour, markersize=4, label=label)
    ticks = [5, 10, 20, 50, 100, 200, 500]
    right.set(xscale="log", yscale="log", xlabel=f"1/δ, n = d = {_MANY}", ylabel="separation κ(Z)")
    right.set_yticks(ticks, [f"{tick}" for tick in ticks])
    right.minorticks_off()
    right.legend(loc="center right")
    figure.suptitle("Failures at equal distances and equal noise, by importance sampling", fontweight="bold")


def _cell(n: int, separation: float, objective: str, trials: tuple[int, int, int]) -> Cell:
    parameters = {"n": n, "separation": separation, "objective": objective}
    return Cell(f"{objective} n={n} kappa={separation:g}", parameters, trials=trials)


STUDY = Study(
    id="rare-failures",
    cells=tuple(
        _cell(_FEW, float(kappa), objective, (20 if kappa in (4, 8) else 0, 1000, 10000))
        for objective in ("lsl", "lss")
        for kappa in range(4, 13)
    )
    + tuple(_cell(_MANY, float(kappa), "lsl", (0, 300, 3000)) for kappa in range(9, 18)),
    setup=setup,
    trial=trial,
    batch=300,
)

FIGURES = (Figure("rare-failures", "Theorem 2, at small delta", STUDY, tabulate, draw, (8.6, 3.8)),)
