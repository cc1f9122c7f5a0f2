"""Theorem 2 term by term: the separation that suffices, beside the theorem's formula.

Most cells are outside of the theorem's conditions (n >= d, and a delta that it allows: n d >= 4487 for equal
noise at delta = 0.05). There the formula is shown, and the theorem says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.stats import binom

import lslmatch
from lslmatch import theory
from lslmatch._types import FloatArray
from lslmatch.model import Configuration, adversarial_configuration
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.statistics.intervals import INTERVAL_LEVEL
from verification.style import INK, error_line

_DELTA = 0.05
#: Theorem 2 allows this share of failures.
_ALLOWED = 4 * _DELTA
_STRENGTH = 2.0
#: Where the threshold of one draw is looked for, and how often the (logarithmic) range is halved.
_RANGE, _HALVINGS = (0.2, 60.0), 9

_SPHERE, _ADVERSARIAL = "random directions", "adversarial"

#: The panels: what varies, in words, and the family.
PANELS = {
    "d": ("dimension d, n = 60", _SPHERE),
    "n": ("points n, d = 100", _SPHERE),
    "rho": ("noise ratio ρ, n = 200, d = 12", _ADVERSARIAL),
}


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Find by bisection the separation from which one draw is matched without an error.

    The noise is the same at every separation. Recovery is nearly, not strictly, monotone in it.
    """
    shape_seed, noise_seed = (int(rng.integers(2**62)) for _ in range(2))
    low, high = (math.log(end) for end in _RANGE)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        truth = _configuration(parameters, math.exp(middle), np.random.default_rng(shape_seed))
        x, y = truth.sample(np.random.default_rng(noise_seed))
        found = lslmatch.match(x, y).permutation
        low, high = (low, middle) if np.array_equal(found, truth.permutation) else (middle, high)
    return [{"separation": math.exp((low + high) / 2)}]


def _configuration(parameters: Parameters, separation: float, rng: np.random.Generator) -> Configuration:
    n, d, ratio = (parameters[key] for key in ("n", "d", "noise_ratio"))
    if parameters["family"] == _ADVERSARIAL:
        strength = max(_STRENGTH, separation / 8)  # large enough for the adversarial pair to be the closest
        truth = adversarial_configuration(
            n, d, noise_ratio=ratio, separation=separation, strength=strength, rng=rng
        )
        return truth._replace(permutation=draw_permutation(n, rng))
    # Directions in many dimensions are nearly equally far apart, so that all pairs are dangerous at once.
    features = rng.standard_normal((n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    features *= separation / theory.separation(features, np.ones(n))
    return Configuration(features, np.ones(n), 3.0, np.full(d, 5.0), draw_permutation(n, rng))


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the separation that suffices in each cell beside the theorem's, and the constants that fit."""
    rows = [_row(cell.parameters, [row["separation"] for row in found]) for cell, found in cells]
    return {"": rows, "constants": _constants(rows)}


def _row(parameters: Parameters, separations: Sequence[float]) -> Row:
    n, d, ratio = (parameters[key] for key in ("n", "d", "noise_ratio"))
    ordered, size = np.sort(separations), len(separations)
    # The quantile that leaves the allowed share of failures, between two order statistics.
    ranks = binom.ppf([INTERVAL_LEVEL / 2, 1 - INTERVAL_LEVEL / 2], size, 1 - _ALLOWED)
    low, high = (float(ordered[min(max(int(rank), 0), size - 1)]) for rank in ranks)
    terms = _terms(n, d, ratio)
    asked = theory.recovery_threshold(n, d, noise_ratio=ratio, delta=_DELTA)
    enough = float(np.quantile(ordered, 1 - _ALLOWED))
    configuration = _configuration(parameters, 5.0, np.random.default_rng(0))
    shown = {key: parameters[key] for key in ("panel", "family", "n", "d", "noise_ratio")}
    return {
        **shown,
        "trials": size,
        "enough": enough,
        "enough_low": low,
        "enough_high": high,
        "asked": asked,
        "share": enough / asked,
        "conditions": "met" if _applies(configuration.noise, d) else "not met",
        **{f"term_{k + 1}": term for k, term in enumerate(terms)},
    }


def _applies(noise: FloatArray, d: int) -> bool:
    """Say whether Theorem 2 says anything: n >= 8, n >= d, and a delta that it allows."""
    least = theory.recovery_smallest_delta(d, relative_noise=theory.relative_noise(noise))
    return len(noise) >= max(8, d) and least <= _DELTA


def _terms(n: int, d: int, ratio: float) -> tuple[float, float, float]:
    """Give the three terms of Theorem 2 without their constants 5, 17 and 52."""
    return (
        (d * math.log(12 * n**3 / _DELTA)) ** 0.25,
        math.sqrt(math.log(24 * n**3 / _DELTA)),
        math.sqrt(ratio * math.log(4 / _DELTA)),
    )


def _constants(rows: Sequence[Row]) -> list[Row]:
    """Fit constants, none of them negative, that make the three terms add up to what was enough."""
    terms = np.array([[row[f"term_{k}"] for k in (1, 2, 3)] for row in rows])
    enough = np.array([row["enough"] for row in rows])
    fitted, _ = nnls(terms / enough[:, None], np.ones(len(rows)))  # relative errors
    return [
        {"term": k + 1, "paper": paper, "in practice": float(found)}
        for k, (paper, found) in enumerate(zip((5, 17, 52), fitted, strict=True))
    ]


def draw(figure: Any, tables: Tables) -> None:
    """Draw what suffices and what the theorem asks for, against d, n and rho."""
    for axes, (panel, (label, _)) in zip(figure.subplots(1, 3, sharey=True), PANELS.items(), strict=True):
        rows = [row for row in tables[""] if row["panel"] == panel]
        key = {"d": "d", "n": "n", "rho": "noise_ratio"}[panel]
        x = [row[key] for row in rows]
        asked = [row["asked"] for row in rows]
        axes.plot(x, asked, "--", color=INK, linewidth=0.8)
        for words, fill, said in (
            ("met", INK, "Theorem 2 asks for"),
            ("not met", "white", "its formula, outside its conditions"),
        ):
            at = [k for k, row in enumerate(rows) if row["conditions"] == words]
            marks = ([x[k] for k in at], [asked[k] for k in at])
            axes.plot(*marks, "o", color=INK, markerfacecolor=fill, markersize=4, label=said)
        error_line(axes, x, rows, "enough", 0, "enough for four of five draws")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.minorticks_off()
    figure.axes[0].set_ylabel("separation κ(Z)")
    figure.axes[1].legend(loc="center left")
    figure.axes[0].set_yticks([2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000], minor=False)
    figure.axes[0].set_yticklabels(["2", "5", "10", "20", "50", "100", "200", "500", "1000", "2000"])
    figure.suptitle("What suffices, beside the formula of Theorem 2", fontweight="bold")


def _cell(panel: str, n: int, d: int, ratio: float, trials: tuple[int, int, int]) -> Cell:
    parameters = {"panel": panel, "family": PANELS[panel][1], "n": n, "d": d, "noise_ratio": ratio}
    return Cell(f"{panel} n={n} d={d} rho={ratio:g}", parameters, trials=trials)


_SMALL, _ALL = (6, 60, 400), (0, 60, 400)

STUDY = Study(
    id="empirical-threshold",
    cells=tuple(_cell("d", 60, d, 1.0, _SMALL if d == 20 else _ALL) for d in (20, 50, 100, 200, 400))
    + tuple(_cell("n", n, 100, 1.0, _SMALL if n == 20 else _ALL) for n in (20, 40, 80, 160, 320))
    + tuple(_cell("rho", 200, 12, r, _SMALL if r == 4 else _ALL) for r in (4.0, 16.0, 64.0, 196.0)),
    trial=trial,
    batch=5,
)

FIGURES = (
    Figure(
        "empirical-threshold",
        "Theorem 2, term by term: its formula, mostly outside its conditions",
        STUDY,
        tabulate,
        draw,
        (9.0, 3.6),
    ),
)
