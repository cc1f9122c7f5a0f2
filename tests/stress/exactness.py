"""Exactness under stress: ``python -m tests.stress.exactness --small 100000 --large 1000``.

Matrices and pairs of point sets of hard families are solved and compared with SciPy. Every answer is checked
by its certificate, and that of small instances in exact rational arithmetic.
"""

import argparse
import math
import sys
import time
import warnings
from fractions import Fraction
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy.optimize
from tqdm import tqdm

import lslmatch
from lslmatch.assignment import settings
from lslmatch.certificate import checking
from tests.support.hard_instances import draw, draw_matrix
from tests.support.reference import certificate_violation, costs, greatest_cost
from tests.support.solver import BY_REGION

#: The greatest number of points of small and of large instances.
SMALL_POINTS, LARGE_POINTS = 12, 500
#: Up to this number of pairs (and share of the point sets) the certificate is checked in rationals, too.
_RATIONAL_PAIRS, _RATIONAL_SHARE = 36, 0.1
#: Rounding errors that are allowed, in units of the greatest cost.
LIMIT = 1e-13


class Measures(NamedTuple):
    """How far an answer is from being proven, in units of the greatest cost; 0 is exact."""

    family: str
    excess: float
    """What each pair costs more than in SciPy's answer, on average; negative if less."""
    violation: float
    """Of the certificate."""
    gap: float
    """A pair's share of the gap between the answer and the bound of its duals, in rationals; or NaN."""

    @property
    def is_proven(self):
        """Whether all of it is rounding error."""
        return self.excess <= LIMIT and self.violation <= LIMIT and not self.gap > LIMIT


def try_matrix(rng, most):
    """Solve a random matrix, of up to 12 or of just 500 rows."""
    n, m = _shape(rng, most)
    if rng.random() < 0.2:
        n, m = m, n
    cost, family = draw_matrix(rng, n, m)
    answer = lslmatch.solve_assignment(cost)
    np.testing.assert_array_equal(lslmatch.linear_sum_assignment(cost), answer[:2])
    return _measure(family, cost, answer, rational=cost.size <= _RATIONAL_PAIRS)


def try_points(rng, most):
    """Match two random sets, mostly by the solver for large ones."""
    n, m = _shape(rng, most)
    d = int(rng.choice([1, 2, 3, 5, 10, 40]))
    x, y, family = draw(rng, n, m, d)
    if rng.random() < 0.2:
        x, y = y, x
    objective = str(rng.choice(["lsl", "lsl", "lss", "lsns"]))
    options = {"objective": objective, "alignment": "identity"}
    if rng.random() < 0.4 and np.ptp(x, axis=0).any() and np.ptp(y, axis=0).any():
        options["alignment"] = "standardize"
    if objective == "lsns":
        # In units of the points, or the costs would be out of range.
        unit = max(np.abs(x).max(), np.abs(y).max()) or 1.0
        options["noise"] = [
            unit * np.exp(rng.normal(size=len(points)) * rng.choice([0, 1, 5])) for points in (x, y)
        ]
    # Small sets do not go to the dense solver here, and their lists come to an end.
    is_large = most >= LARGE_POINTS
    changes = {} if is_large and rng.random() < 0.9 else {"dense_pairs": 0}
    if not is_large:
        changes |= {"list_size": int(rng.choice([1, 2, 5, 32])), "short_list_size": int(rng.choice([1, 4]))}
        changes |= {"kept_pairs": int(rng.choice([0, 1 << 26]))}
        changes |= {"many_conflicts": float(rng.choice([0.0, 0.15, 1.0]))}
    elif rng.random() < 0.3:
        changes |= BY_REGION
        changes |= {"block_rows": 32, "many_conflicts": float(rng.choice([0.15, 1.0])), "dense_pairs": 0}
    solver = mock.patch.object(settings, "DEFAULT", settings.DEFAULT._replace(**changes))
    with solver, warnings.catch_warnings():
        # Lattices and sets without a relation contradict any scale.
        warnings.simplefilter("ignore", lslmatch.ColumnScaleWarning)
        result = lslmatch.match(x, y, **options)
    rational = n * m <= _RATIONAL_PAIRS and rng.random() < _RATIONAL_SHARE
    if rational:
        cost = costs(objective, x, y, result.scale, result.shift, result.noise)
    else:
        pairs = checking._Costs(x, y, result)
        every = np.divmod(np.arange(len(x) * len(y)), len(y))
        cost = pairs.of(*every).reshape(len(x), len(y))
    rows = np.flatnonzero(result.permutation >= 0)
    answer = rows, result.permutation[rows], result.row_dual, result.col_dual
    return _measure(f"{family}, {objective}", cost, answer, rational)


def _shape(rng, most):
    n = most if most >= LARGE_POINTS else int(rng.integers(2, most + 1))
    return n, n + int(rng.choice([0, 0, 0, 1, 5, n // 4]))


def _measure(family, cost, answer, rational):
    rows, cols = answer[:2]
    # A power of two, so that sums stay in range.
    scaled = np.ldexp(cost, -math.frexp(greatest_cost(cost))[1])
    theirs = scipy.optimize.linear_sum_assignment(scaled)
    excess = math.fsum([*scaled[rows, cols], *-scaled[theirs]]) / len(rows)
    gap = rational_gap(cost, *answer[:4]) if rational else math.nan
    return Measures(family, excess, certificate_violation(cost, answer), gap)


def rational_gap(cost, row_ind, col_ind, row_dual, col_dual):
    """The gap between an assignment and the lower bound of its duals, made feasible without any rounding.

    As a share of one pair, in units of the greatest cost. Only the duals of the longer side are used.
    """
    if cost.shape[0] > cost.shape[1]:
        return rational_gap(cost.T, col_ind, row_ind, col_dual, row_dual)
    v = [Fraction(value) for value in col_dual.tolist()]
    if cost.shape[0] < cost.shape[1]:
        v = [min(value, Fraction(0)) for value in v]  # so that leaving columns out never lowers the sum
    lower = sum(v)
    for row in cost.tolist():
        lower += min(Fraction(c) - p for c, p in zip(row, v, strict=True) if math.isfinite(c))
    total = sum(Fraction(float(value)) for value in cost[row_ind, col_ind])
    return float((total - lower) / (len(row_ind) * Fraction(greatest_cost(cost))))


def main(argv=None):
    """Try instances of both kinds and sizes; the exit code is 1 if an answer is not proven."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.exactness", description=__doc__)
    parser.add_argument(
        "--small", type=int, default=1000, help="matrices, and pairs of sets, of up to 12 points"
    )
    parser.add_argument("--large", type=int, default=10, help="the same of 500 points")
    parser.add_argument("--only", choices=["matrix", "points"], help="one of the two kinds")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    failures = 0
    for kind, attempt in enumerate((try_matrix, try_points)):
        if options.only and not attempt.__name__.endswith(options.only):
            continue
        for size, count in ((SMALL_POINTS, options.small), (LARGE_POINTS, options.large)):
            start, measures = time.perf_counter(), []
            title = f"{attempt.__name__}, n <= {size}"
            for k in tqdm(range(count), title, disable=None, leave=False):
                measures.append(attempt(np.random.default_rng([options.seed, kind, size, k]), size))
                if not measures[-1].is_proven:
                    failures += 1
                    print(f"NOT PROVEN: {attempt.__name__}, {size}, {k}: {measures[-1]}", flush=True)
            _report(title, measures, time.perf_counter() - start)
    return 1 if failures else 0


def _report(title, measures, seconds):
    print(f"{title}: {len(measures)} instances in {seconds:.0f} s")
    for family in sorted({item.family for item in measures}):
        part = [item for item in measures if item.family == family]
        same, better = sum(item.excess == 0 for item in part), sum(item.excess < 0 for item in part)
        gaps = [item.gap for item in part if not math.isnan(item.gap)]
        excess, violation = (max(item[k] for item in part) for k in (1, 2))
        print(
            f"  {family:<40} {len(part):>6}: {same} cost what SciPy's do, {better} less, the others at most "
            f"{excess:.0e} more; violation {violation:.0e}; gap {max(gaps, default=math.nan):.0e} "
            f"({len(gaps)} in rationals)"
        )


if __name__ == "__main__":
    sys.exit(main())
