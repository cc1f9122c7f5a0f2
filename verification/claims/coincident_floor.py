"""The floor for coincident points: below it a squared distance is rounding, which has no logarithm."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import lslmatch
from lslmatch._types import FloatArray
from verification.claims.conditions import at_least
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events

_EPS = Fraction(1, 2**52)
#: Logarithms are compared up to this.
_ROUNDING = 1e-9


def trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Let some points coincide, and compare costs and pairs with the definition in rational numbers."""
    n, d, together = parameters["n"], parameters["d"], parameters["together"]
    unit = 10.0 ** rng.uniform(-parameters["decades"], parameters["decades"])
    x = unit * rng.standard_normal((n, d))
    partner = rng.permutation(n)
    y = np.empty_like(x)
    y[partner] = x
    apart = partner[together:]
    y[apart] += 0.1 * unit * rng.standard_normal((len(apart), d))
    costs = lslmatch.log_cost_matrix(x, y)
    squares = [[_distance(a, b) for b in y] for a in x]
    mean_square = _mean_square(x, y)

    def differs(floor: Fraction) -> bool:
        expected = [[_log(max(value, floor)) for value in row] for row in squares]
        return bool(np.abs(costs - np.array(expected)).max() > _ROUNDING)

    pairs = certified_match(x, y, alignment="identity").permutation
    return {
        "differs": differs(_EPS**2 * mean_square) or not np.array_equal(pairs[:together], partner[:together]),
        "eps for its square": differs(_EPS * mean_square),
        "twice the floor": differs(2 * _EPS**2 * mean_square),
        "no mean square": differs(_EPS**2),
    }


def _distance(a: FloatArray, b: FloatArray) -> Fraction:
    return sum(((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(a, b, strict=True)), Fraction(0))


def _mean_square(x: FloatArray, y: FloatArray) -> Fraction:
    """Give the mean squared distance of all points from the mean of x."""
    centre = [sum(map(Fraction, column)) / len(x) for column in x.T.tolist()]
    points = [*x.tolist(), *y.tolist()]
    total = sum((Fraction(p) - c) ** 2 for point in points for p, c in zip(point, centre, strict=True))
    return Fraction(total) / len(points)


def _log(value: Fraction) -> float:
    """Give a logarithm whose argument may be out of the range of float64."""
    shift = value.denominator.bit_length() - value.numerator.bit_length()
    return math.log(value * Fraction(2) ** shift) - shift * math.log(2.0)


CLAIMS = (
    Claim(
        id="coincident-floor",
        kind="probability",
        source="the costs of LSL, where log 0 would stand",
        statement="Squared distances count as 2⁻¹⁰⁴ times the mean square where they are below that, "
        "and as they are elsewhere; and points that coincide are paired.",
        formula="Mᵢⱼ = log max( ‖Zᵢ − Z#ⱼ‖², 2⁻¹⁰⁴ · mean square )",
        cells=tuple(
            Cell(
                f"n={n} d={d} together={together} decades={decades}",
                {"n": n, "d": d, "together": together, "decades": decades},
                0.0,
                trials,
                tier,
            )
            for n, d, together, decades, trials, tier in (
                (8, 2, 3, 0, (15, 60, 500), "smoke"),
                (12, 3, 1, 100, (15, 60, 500), "smoke"),
                (30, 5, 10, 20, (0, 30, 200), "quick"),
            )
        ),
        conditions=(
            at_least("n", 2),
            Condition("a pair coincides", lambda p: 1 <= p["together"] < p["n"]),
            Condition("no point far beyond the others", lambda p: p["n"] * p["d"] < 10**4),
        ),
        setup=keep_parameters,
        trial=trial,
        column="differs",
        decide=decide_events,
        controls=(
            Control("eps in place of its square", "eps for its square"),
            Control("twice the floor", "twice the floor"),
            Control("the floor without the mean square", "no mean square"),
        ),
        picture="bars",
        axes=("", "share of trials in which it differs"),
        batch=20,
        remark="Costs and floor are computed again in rational numbers.",
    ),
)
