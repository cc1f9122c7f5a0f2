"""Problems with the smaller set as rows, and their solutions as the sides were given."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment.orientation import sides_as_given, smaller_as_rows
from lslmatch.costs import cost_matrix
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("n", "m"), [(4, 7), (5, 5), (7, 4)])
def test_the_smaller_set_comes_first_at_the_same_costs(objective, n, m):
    rng = np.random.default_rng([n, m])
    geometry = common_coordinates(rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), Affine(2.0, np.ones(3)))
    rule = make_rule(objective, geometry, 2.0, (rng.uniform(1, 2, n), rng.uniform(1, 2, m)))
    cost = cost_matrix(geometry, rule)
    turned = cost_matrix(*smaller_as_rows(geometry, rule))
    assert turned.shape == (min(n, m), max(n, m))
    np.testing.assert_allclose(turned, cost.T if n > m else cost, rtol=1e-12, atol=1e-12)


def test_the_solution_is_turned_back():
    col_of_row = np.array([4, 0, 2])
    rows, cols = sides_as_given(col_of_row, transposed=False)
    assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == [(0, 4), (1, 0), (2, 2)]
    rows, cols = sides_as_given(col_of_row, transposed=True)
    assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == [(0, 1), (2, 2), (4, 0)]
