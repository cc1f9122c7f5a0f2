"""Look for the point of a region at which an inequality has the least slack.

A region is the image of the unit cube: random points, all corners and the starts of a simplex
optimiser are drawn in the cube and mapped to the quantities of the statement. A point that the
statement does not allow is NaN. A negative slack found in doubles counts as a counterexample only
if it is negative in 60 digits too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from verification.audit.arithmetic import DECIMALS, DIGITS, FLOATS, Arithmetic

FloatArray = NDArray[np.float64]
#: The quantities of a statement by name: an array over the points, or for a vector a list of them.
Point = dict[str, Any]

#: A slack above minus this is rounding, not a counterexample.
ROUNDING = 1e-9


class Problem(NamedTuple):
    """An inequality over a region."""

    dimension: int
    """Number of coordinates of the unit cube."""
    domain: Callable[[FloatArray], Point]
    """From the coordinates (dimension, points) to the quantities; NaN where the statement allows none."""
    slack: Callable[[Arithmetic, Any], Any]
    """From the quantities, as attributes, to the slack: negative where the inequality fails."""
    exact: bool = True
    """Whether the slack can be evaluated in decimals: no special functions, no eigenvalues."""


class Effort(NamedTuple):
    """How hard to search."""

    points: int
    """Random points."""
    starts: int
    """Points from which the optimiser starts."""
    steps: int
    """Evaluations for each start."""


EFFORTS = {"smoke": Effort(1_000, 1, 60), "quick": Effort(20_000, 2, 200), "full": Effort(200_000, 16, 1_000)}


class Finding(NamedTuple):
    """The least slack of a search."""

    slack: float
    """Infinity if the region is empty."""
    witness: Mapping[str, Any]
    """The quantities there, a number or a list of numbers each."""
    searched: int
    """Points of the region that were looked at."""
    verdict: str
    """``supported``, ``refuted``, ``vacuous`` (empty region) or ``inconclusive`` (decimals disagree)."""
    constant: bool = False
    """Whether the slack was the same at all random points."""


def least_slack(problem: Problem, rng: np.random.Generator, effort: Effort) -> Finding:
    """Search a region for the least slack and decide whether the inequality survives.

    Examples
    --------
    >>> square = Problem(1, lambda u: {"x": 4 * u[0]}, lambda m, p: p.x**2 - 2 * p.x + 1)
    >>> least_slack(square, np.random.default_rng(0), EFFORTS["smoke"]).verdict
    'supported'
    """
    inside = rng.random((problem.dimension, effort.points))
    cube = np.concatenate([_corners(problem.dimension, rng), inside], axis=1)
    values = _evaluate(problem, cube)
    searched = int(np.isfinite(values).sum())
    if not searched:
        return Finding(np.inf, {}, 0, "vacuous")
    order = np.argsort(values)[: effort.starts]
    best, slack = cube[:, order[0]], float(values[order[0]])
    for start in order:
        if np.isfinite(values[start]):
            swept, points = _sweep(problem, cube[:, start])
            found, count = _descend(problem, swept, effort.steps)
            value = float(_evaluate(problem, found[:, None])[0])
            searched += points + count
            if value < slack:
                best, slack = found, value
    witness = _single(problem.domain(best[:, None]))
    inside_values = values[np.isfinite(values)]
    constant = bool(np.ptp(inside_values) < ROUNDING * max(1.0, abs(slack)))
    return Finding(slack, witness, searched, _verdict(problem, slack, witness), constant)


def single_points(problem: Problem, rng: np.random.Generator, count: int) -> list[dict[str, Any]]:
    """Give about `count` points of a region one by one, a fifth of them corners."""
    corners = _corners(problem.dimension, rng)
    some = corners[:, rng.permutation(corners.shape[1])[: 4 * max(count // 5, 1)]]
    cube = np.concatenate([some, rng.random((problem.dimension, 8 * count))], axis=1)
    values = _evaluate(problem, cube)
    inside = np.flatnonzero(np.isfinite(values))
    at_corners = inside[inside < some.shape[1]][: max(count // 5, 1)]
    within = inside[inside >= some.shape[1]][: count - len(at_corners)]
    with np.errstate(all="ignore"):
        return [_single(problem.domain(cube[:, [k]])) for k in (*at_corners, *within)]


def slack_at(problem: Problem, witness: Mapping[str, Any]) -> float:
    """Evaluate the slack at one point, in decimals if the problem allows it."""
    if not problem.exact:
        return float(np.ravel(problem.slack(FLOATS, SimpleNamespace(**witness)))[0])
    with localcontext() as context:
        context.prec = DIGITS
        exact = {
            name: [Decimal(entry) for entry in value] if isinstance(value, list) else Decimal(value)
            for name, value in witness.items()
        }
        return float(problem.slack(DECIMALS, SimpleNamespace(**exact)))


def _verdict(problem: Problem, slack: float, witness: Mapping[str, Any]) -> str:
    if slack >= -ROUNDING:
        return "supported"
    return "refuted" if slack_at(problem, witness) < -ROUNDING else "inconclusive"


def _evaluate(problem: Problem, cube: FloatArray) -> FloatArray:
    """Give the slack at each column of the cube, and infinity outside the region or where it has no value."""
    with np.errstate(all="ignore"):
        slack = np.asarray(problem.slack(FLOATS, SimpleNamespace(**problem.domain(cube))), dtype=np.float64)
    slack = np.broadcast_to(slack, cube.shape[1:])
    return np.where(np.isfinite(slack), slack, np.inf)


def _corners(dimension: int, rng: np.random.Generator) -> FloatArray:
    """Give all corners of the cube, or a random thousand of them when they are more."""
    if dimension > 10:
        return rng.integers(0, 2, (dimension, 1024)).astype(np.float64)
    return np.array(list(itertools.product((0.0, 1.0), repeat=dimension))).T


def _sweep(problem: Problem, start: FloatArray) -> tuple[FloatArray, int]:
    """Move one coordinate at a time to its best level, so that edges meet interior values."""
    levels = np.linspace(0, 1, 33)
    best, searched = start.copy(), 0
    for coordinate in np.tile(np.arange(problem.dimension), 2):
        line = np.repeat(best[:, None], len(levels) + 1, axis=1)
        line[coordinate, 1:] = levels
        values = _evaluate(problem, line)
        best = line[:, np.argmin(values)].copy()
        searched += int(np.isfinite(values).sum())
    return best, searched


def _descend(problem: Problem, start: FloatArray, steps: int) -> tuple[FloatArray, int]:
    """Run a simplex search inside the cube, with a wall where the region ends."""

    def objective(point: FloatArray) -> float:
        return min(float(_evaluate(problem, np.clip(point, 0, 1)[:, None])[0]), 1e6)

    bounds = [(0.0, 1.0)] * problem.dimension
    options = {"maxfev": steps, "xatol": 1e-10, "fatol": 1e-14}
    result = minimize(objective, start, method="Nelder-Mead", bounds=bounds, options=options)
    return np.clip(result.x, 0, 1), int(result.nfev)


def _single(point: Point) -> dict[str, Any]:
    """Take the only point out of arrays of length one."""

    def first(value: Any) -> float:
        return float(np.ravel(value)[0])

    return {
        name: [first(entry) for entry in value] if isinstance(value, list) else first(value)
        for name, value in point.items()
    }
