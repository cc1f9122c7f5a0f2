"""Sets of hundreds of points, which are matched in the short way or in the long one: the optimum, proven."""

import pytest
from scipy.optimize import linear_sum_assignment

from lslmatch import Affine, check_certificate, log_cost_matrix, match
from tests.benchmarks.instances import Case, draw
from tests.support.matching import assert_is_matching
from tests.support.reference import SMALL

pytestmark = pytest.mark.skipif(SMALL, reason="hundreds of points take minutes without compilation")

CASES = [
    *(Case(kind, 500, d) for kind in ("near", "below", "nosignal") for d in (2, 10, 60)),
    *(Case(kind, 450, 7, 900) for kind in ("near", "nosignal")),
    *(Case(kind, 600, 5) for kind in ("clusters", "duplicates", "tails", "wild")),
    Case("lattice", 484, 2),
    Case("embeddings", 420, 384),
    *(Case(kind, 1000, d) for kind in ("above", "near") for d in (3, 20, 100)),
    *(Case(kind, 1300, 10) for kind in ("above", "nosignal")),
]


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning", "ignore::lslmatch.ColumnScaleWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_optimum_is_scipys_and_proven(case):
    x, y = draw(case)
    result = match(x, y)
    assert_is_matching(result, len(x), len(y))
    cost = log_cost_matrix(x, y, Affine(result.scale, result.shift))
    assert result.objective == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-11, abs=1e-9)
    assert check_certificate(x, y, result) < 1e-11


@pytest.mark.parametrize("kind", ["near", "below", "tails"])
def test_neither_workers_nor_the_order_of_the_sets_count(kind):
    x, y = draw(Case(kind, 700, 6))
    result, other = match(x, y, alignment="identity", workers=2), match(y, x, alignment="identity")
    assert result == match(x, y, alignment="identity")
    assert other.objective == pytest.approx(result.objective, rel=1e-12)
    assert check_certificate(y, x, other) < 1e-11
