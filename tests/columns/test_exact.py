"""Matchings with a unit for each column are optimal, and certificates hold to rounding in any units."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from lslmatch import ColumnMap, Covariance, check_certificate, diagnose, match, match_path

OBJECTIVES = ("lsl", "lss", "lsns")


def draw(seed, n, m, d, noise=0.1):
    """Draw two sets whose columns have units from 1e-6 to 1e6, the map between them, and the units of x."""
    rng = np.random.default_rng(seed)
    units, others = 10.0 ** rng.uniform(-6, 6, (2, d))
    offset = rng.normal(size=d) * 100.0
    z = rng.normal(size=(max(n, m), d))
    y = (z[:m] + noise * rng.normal(size=(m, d)) + offset)[rng.permutation(m)] * others
    return z[:n] * units, y, ColumnMap(units / others, -offset * units), units


def exact_squares(x, y, given, units):
    """Compute squared distances in rationals."""
    weights = [Fraction(float(w)) for w in np.exp(np.log(units).mean() - np.log(units))]
    scales, shifts = ([Fraction(float(v)) for v in part] for part in given)
    columns = list(zip(weights, scales, shifts, strict=True))
    return np.array(
        [
            [
                float(
                    sum(
                        (w * (Fraction(float(p)) - a * Fraction(float(q)) - b)) ** 2
                        for (w, a, b), p, q in zip(columns, row, col, strict=True)
                    )
                )
                for col in y
            ]
            for row in x
        ]
    )


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(5, 5), (4, 6), (6, 4)])
def test_no_permutation_costs_less(objective, sizes):
    n, m = sizes
    x, y, given, units = draw(n, n, m, 3)
    noise = (np.linspace(1, 2, n), np.linspace(1, 3, m)) if objective == "lsns" else None
    result = match(x, y, alignment=given, covariance=units**2, objective=objective, noise=noise)
    costs = exact_squares(x, y, given, units)
    if objective == "lsl":
        costs = np.log(costs)
    if noise is not None:
        costs /= np.add.outer(noise[0] ** 2, (noise[1] * given.scale) ** 2)
    few = costs if n <= m else costs.T
    least = min(sum(few[range(len(few)), p]) for p in permutations(range(few.shape[1]), len(few)))
    assert result.objective == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("noise", [0.1, 1e-6, 1e-12])
@pytest.mark.parametrize("seed", range(4))
def test_certificate_holds_to_rounding_in_any_units(seed, noise):
    x, y, given, units = draw(seed, 9 + seed, 11, 1 + seed, noise)
    for covariance in ("isotropic", units**2):
        result = match(x, y, alignment=given, covariance=covariance)
        assert check_certificate(x, y, result) < 1e-11
        # A proof of other numbers is none.
        moved = result._replace(column_map=given._replace(scales=given.scales * 1.001))
        assert check_certificate(x, y, moved) > 1e-5
        if not isinstance(covariance, str):
            other = Covariance(np.empty((0, units.size)), 1.0, units=units * np.geomspace(1, 2, units.size))
            if units.size > 1:
                assert check_certificate(x, y, result._replace(covariance=other)) > 1e-5


def test_partners_that_nearly_coincide_cost_their_exact_distance():
    x, y, given, units = draw(3, 6, 6, 3, 1e-13)
    result = match(x, y, alignment=given, covariance=units**2)
    squares = exact_squares(x, y, given, units)[np.arange(6), result.permutation]
    assert result.objective == pytest.approx(np.log(squares).sum(), abs=1e-9)


def test_full_covariance_holds_with_units_far_apart():
    x, y, given, units = draw(5, 12, 12, 3)
    correlation = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 1.0]])
    result = match(x, y, alignment=given, covariance=correlation * np.multiply.outer(units, units))
    assert check_certificate(x, y, result) < 1e-11
    assert result.covariance.matrix == pytest.approx(correlation * np.multiply.outer(units, units), rel=1e-9)


@pytest.mark.parametrize(
    ("objective", "pairs"),
    [*((name, pairs) for name in OBJECTIVES for pairs in ("all", 7)), ("greedy", "all")],
)
@pytest.mark.parametrize("covariance", ["isotropic", "diagonal", "estimate"])
def test_every_objective_is_proven_and_diagnosed(objective, covariance, pairs):
    x, y, given, _ = draw(1, 14, 12, 3, 0.05)
    noise = (1.0, 2.0) if objective == "lsns" else None
    result = match(
        x, y, alignment="columns", covariance=covariance, objective=objective, pairs=pairs, noise=noise
    )
    assert result.map.scales == pytest.approx(given.scales, rel=1.0)
    found = diagnose(x, y, result)
    assert found.columns_report.factor.tolist() == result.map.scales.tolist()
    if objective != "greedy":
        # Squares are as large as their units are.
        assert check_certificate(x, y, result) <= 1e-9 * max(1.0, np.abs(result.col_dual).max())


def test_path_has_the_matchings_of_every_number():
    x, y, given, units = draw(2, 6, 7, 2)
    path = match_path(x, y, alignment=given, covariance=units**2)
    for k in (1, 4, 6):
        result = path.matching(k)
        assert result.map == given
        assert check_certificate(x, y, result) < 1e-10


def test_exchanged_sets_have_the_inverse_map():
    x, y, given, units = draw(4, 8, 10, 3)
    there = match(x, y, alignment=given, covariance=units**2)
    back = match(y, x, alignment=given.inverse(), covariance=(units / given.scales) ** 2)
    pairs = np.flatnonzero(there.permutation >= 0)
    assert back.permutation[there.permutation[pairs]].tolist() == pairs.tolist()
