"""Trials on the adversarial family of section 5.2, and what the figures that share them tabulate.

The heat map, its slices and the comparison of alignments are three views of the same trials.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import lslmatch
from lslmatch import theory
from lslmatch.model import adversarial_configuration
from lslmatch.results import Affine
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows
from verification.scenarios.adversarial import REGIONS, STRENGTH, ClosedForm
from verification.scenarios.recovery import require_certificate
from verification.statistics import intervals

#: The scale is known and the shift estimated, which is what the noise floor is about.
KNOWN = "scale known"

#: Each method by name: the alignment that it hands to `match`.
ALIGNMENTS: Mapping[str, Callable[[Any, Any], str | Affine]] = {
    "standardize": lambda x, y: "standardize",
    "profile": lambda x, y: "profile",
    "auto": lambda x, y: "auto",
    KNOWN: lambda x, y: Affine(1.0, x.mean(axis=0) - y.mean(axis=0)),
}


class Grid(NamedTuple):
    """The plane of one profile: every R with every kappa(Z)."""

    n: int
    d: int
    roots: tuple[float, ...]
    """R, the roots of the noise ratio."""
    separations: tuple[float, ...]
    trials: tuple[int, int, int]


#: R passes sqrt(n), where the noise of the mean enters s_1 and the obstruction begins to saturate.
GRIDS = (
    Grid(24, 4, (1, 6), (1.2, 2.2, 20), (3, 0, 0)),
    Grid(1000, 15, (1, 8, 16, 32, 60), (2.5, 3.2, 4, 5, 7, 10, 14), (0, 24, 0)),
    Grid(
        2500,
        15,
        (1, 5, 10, 15, 20, 30, 40, 50, 70, 100),
        (2.5, 3, 3.5, 4, 5, 6.5, 8, 10, 12.5, 16, 20, 25),
        (0, 0, 80),
    ),
)


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give what each method made of one sample: recovery, error of the scale, seconds."""
    truth = adversarial_configuration(
        parameters["n"],
        parameters["d"],
        noise_ratio=parameters["root"] ** 2,
        separation=parameters["separation"],
        strength=STRENGTH,
        rng=rng,
    )
    x, y = truth.sample(rng)
    _, s = theory.centred_moments(truth.features, truth.noise)
    spacing = np.linalg.norm(truth.features[-1]) / (parameters["separation"] * s[-1])
    row: dict[str, float] = {"spacing": float(spacing)}
    for name, alignment in ALIGNMENTS.items():
        chosen = alignment(x, y)
        started = time.perf_counter()
        result = lslmatch.match(x, y, alignment=chosen)
        row[f"seconds {name}"] = time.perf_counter() - started
        require_certificate(x, y, result)
        row[f"recovered {name}"] = float(np.array_equal(result.permutation, truth.permutation))
        row[f"obstruction {name}"] = theory.obstruction(truth.features, truth.noise, abs(result.scale - 1))
    return [row]


def tabulate(cells: Sequence[CellRows], methods: Sequence[str]) -> list[Row]:
    """Give one line for each cell and method."""
    spacing = typical_spacing(cells)
    return [
        {
            "n": cell.parameters["n"],
            "d": cell.parameters["d"],
            "R": cell.parameters["root"],
            "separation": cell.parameters["separation"],
            "region": closed_form(cell, spacing).region(cell.parameters["separation"]),
            "method": name,
            "trials": len(rows),
            **intervals.proportion([row[f"recovered {name}"] for row in rows], "recovered"),
            **intervals.mean([row[f"obstruction {name}"] for row in rows], "obstruction"),
            "predicted_obstruction": closed_form(cell, spacing).obstruction(cell.parameters["separation"]),
            **intervals.median([row[f"seconds {name}"] for row in rows], "seconds"),
        }
        for cell, rows in cells
        for name in methods
    ]


def by_region(cells: Sequence[CellRows]) -> dict[str, list[Row]]:
    """Give all trials of each region that has any, from the lowest separations up."""
    spacing = typical_spacing(cells)
    found: dict[str, list[Row]] = {region: [] for region in REGIONS}
    for cell, rows in cells:
        found[closed_form(cell, spacing).region(cell.parameters["separation"])] += rows
    return {region: rows for region, rows in found.items() if rows}


def thresholds(cells: Sequence[CellRows]) -> list[Row]:
    """Give the noise floor and the predicted threshold along R, for the curves of a heat map."""
    spacing = typical_spacing(cells)
    roots = [cell.parameters["root"] for cell, _ in cells]
    lines: list[Row] = []
    for root in np.geomspace(min(roots), max(roots), 60):
        found = closed_form(cells[0].cell, spacing)._replace(root=float(root))
        lines.append(
            {"R": float(root), "noise_floor": found.noise_floor, "predicted": found.predicted_threshold()}
        )
    return lines


def typical_spacing(cells: Sequence[CellRows]) -> float:
    """Give the median radius of the inflators, in units of kappa(Z) and their noise."""
    return float(np.median([row["spacing"] for _, rows in cells for row in rows]))


def closed_form(cell: Cell, spacing: float) -> ClosedForm:
    """Give the closed form of a cell."""
    return ClosedForm(cell.parameters["n"], cell.parameters["d"], cell.parameters["root"], spacing)


def _cells(grid: Grid) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"n={grid.n} R={root:g} kappa={separation:g}",
            {"n": grid.n, "d": grid.d, "root": float(root), "separation": float(separation)},
            trials=grid.trials,
        )
        for root in grid.roots
        for separation in grid.separations
    )


STUDY = Study(
    id="adversarial-family",
    cells=tuple(cell for grid in GRIDS for cell in _cells(grid)),
    trial=trial,
    batch=4,
)
