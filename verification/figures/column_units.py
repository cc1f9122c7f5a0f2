"""Beyond the paper: a unit of its own for each column, planted and in real sets.

Planted tables have more and more unequal units; real sets get their columns of y in random units. What one
scale finds is compared with a scale for each column, with scores of each column by itself, and with what one
scale finds where nobody changed the units.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lslmatch import ColumnScaleWarning, theory
from lslmatch._types import FloatArray, IntArray
from lslmatch.model import random_configuration
from verification.data.counties import load_counties
from verification.data.installed import MissingExtraError
from verification.data.instruments import load_spectra
from verification.data.pairs import Pairs, answerable_pairs
from verification.data.vowels import load_vowels
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics import intervals
from verification.style import draw_share_matrix

#: Decades of the standard deviation of the logarithms of units, and separations in units of the noise floor.
_DECADES = (0.0, 0.1, 0.2, 0.5, 1.0, 3.0)
_LEVELS = (0.75, 1.0, 1.5, 2.0, 3.0)
_N, _D = 150, 8
#: Decades of the units that columns of real sets get.
_RANDOM = 2.0


def _one_scale(x: FloatArray, y: FloatArray) -> IntArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnScaleWarning)
        return certified_match(x, y).permutation


def _scores(x: FloatArray, y: FloatArray) -> IntArray:
    x, y = ((points - points.mean(axis=0)) / points.std(axis=0) for points in (x, y))
    return _one_scale(x, y)


#: Ways to match, by name.
METHODS: Mapping[str, Callable[[FloatArray, FloatArray], IntArray]] = {
    "match(x, y)": _one_scale,
    "match on z-scores": _scores,
    "columns": lambda x, y: certified_match(x, y, alignment="columns").permutation,
    "all on auto": lambda x, y: certified_match(x, y, alignment="auto", covariance="auto").permutation,
}
_BEFORE = "match(x, y), own units"


def _spectra(first: str, second: str) -> Callable[[], Pairs]:
    def load() -> Pairs:
        corn = load_spectra("corn")
        return answerable_pairs(corn[first], corn[second])

    return load


#: Real sets whose columns correspond.
SETS: Mapping[str, Callable[[], Pairs]] = {
    "vowels": load_vowels,
    "counties": load_counties,
    "corn, m5 and mp5": _spectra("m5", "mp5"),
    "corn, m5 and mp6": _spectra("m5", "mp6"),
    "corn, mp5 and mp6": _spectra("mp5", "mp6"),
}


def compare(pairs: Pairs, units: FloatArray, rng: np.random.Generator) -> list[Row]:
    """Put the columns of y into other units, shuffle its rows, and match in each way."""
    place = draw_permutation(len(pairs.y), rng)
    shuffled = np.empty_like(pairs.y)
    shuffled[place] = pairs.y
    found = {name: method(pairs.x, shuffled * units) for name, method in METHODS.items()}
    found[_BEFORE] = _one_scale(pairs.x, shuffled)
    return [{"method": name, "right": float(np.mean(partner == place))} for name, partner in found.items()]


def planted_trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Draw a configuration of the paper's model, whose columns then get units."""
    separation = parameters["level"] * theory.noise_floor(_N, _D)
    truth = random_configuration(_N, _D, separation=separation, rng=rng)
    x, y = truth.sample(rng)
    units = 10.0 ** (parameters["decades"] * rng.standard_normal(_D))
    return compare(Pairs(x, y[truth.permutation]), units, rng)


def load_set(parameters: Parameters, rng: np.random.Generator) -> Pairs:
    """Give a real set."""
    return SETS[parameters["set"]]()


def real_trial(pairs: Pairs, rng: np.random.Generator) -> list[Row]:
    """Give the columns of y units at random."""
    return compare(pairs, 10.0 ** rng.uniform(-_RANDOM, _RANDOM, pairs.x.shape[1]), rng)


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the mean share of right pairs for each cell and method."""
    return {
        "": [
            {
                **cell.parameters,
                "method": name,
                "trials": sum(row["method"] == name for row in rows),
                **intervals.mean([row["right"] for row in rows if row["method"] == name], "right"),
            }
            for cell, rows in cells
            for name in (_BEFORE, *METHODS)
        ]
    }


def draw_planted(figure: Any, tables: Tables) -> None:
    """Draw a heat map for each method: the spread of units from left to right, the separation upwards."""
    share = {(row["method"], row["decades"], row["level"]): row["right"] for row in tables[""]}
    decades, levels = (sorted({key[k] for key in share}) for k in (1, 2))
    for axes, name in zip(figure.subplots(1, len(METHODS), sharey=True), METHODS, strict=True):
        matrix = np.array([[share[name, spread, level] for spread in decades] for level in levels])
        draw_share_matrix(axes, matrix, 7)
        axes.set_title(name)
        axes.set_xticks(range(len(decades)), [f"{spread:g}" for spread in decades])
        axes.set_yticks(range(len(levels)), [f"{level:g}" for level in levels])
        axes.grid(False)
        axes.set_xlabel("decades of the units")
    figure.axes[0].set_ylabel("separation over noise floor")
    figure.suptitle(f"Right pairs in per cent, n = {_N}, d = {_D}", fontweight="bold")


def draw_real(figure: Any, tables: Tables) -> None:
    """Draw the shares of the real sets as a matrix."""
    share = {(row["set"], row["method"]): row["right"] for row in tables[""]}
    names, methods = (list(dict.fromkeys(key[k] for key in share)) for k in (0, 1))
    axes = figure.subplots()
    draw_share_matrix(axes, np.array([[share[name, method] for method in methods] for name in names]), 9)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(methods)), methods)
    axes.grid(False)
    figure.suptitle("Real sets, columns of y in random units: right pairs in per cent", fontweight="bold")


def missing() -> str:
    """Say how to get the sets, if one of them is not installed."""
    try:
        for load in SETS.values():
            load()
    except MissingExtraError as error:
        return str(error)
    return ""


PLANTED = Study(
    "column-units",
    tuple(
        Cell(f"{spread:g} decades, {level:g}", {"decades": spread, "level": level}, trials=(1, 8, 40))
        for level in _LEVELS
        for spread in _DECADES
    ),
    planted_trial,
    batch=1,
)
REAL = Study(
    "column-units-real",
    tuple(Cell(name, {"set": name}, trials=(0, 8, 20)) for name in SETS),
    real_trial,
    load_set,
    batch=1,
)

FIGURES = (
    Figure("column-units", "beyond the paper", PLANTED, tabulate, draw_planted, (10.4, 3.0)),
    Figure(
        "column-units-real", "beyond the paper: real data", REAL, tabulate, draw_real, (8.0, 2.8), missing
    ),
)
