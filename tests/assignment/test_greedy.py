"""Each point of the smaller set chooses its nearest free partner, in turn."""

import numpy as np
import pytest

from lslmatch import match
from tests.support.matching import alignments, draw, run
from tests.support.reference import costs, greedy_partners, squared_distances


@alignments
@pytest.mark.parametrize(
    ("n", "m", "d"), [(2, 2, 1), (9, 9, 1), (7, 12, 3), (12, 7, 3), (70, 66, 2), (66, 70, 2)]
)
def test_greedy_gives_every_point_of_the_smaller_set_its_nearest_free_partner(alignment, n, m, d):
    x, y = draw(n, d), 2.0 * draw(m, d, 1) - 0.1
    result = run(x, y, "greedy", alignment)
    squares = squared_distances(x, y, result.scale, result.shift)
    assert result.permutation.tolist() == greedy_partners(squares)
    cost = costs("greedy", x, y, result.scale, result.shift)
    rows = np.flatnonzero(result.permutation >= 0)
    assert result.objective == pytest.approx(cost[rows, result.permutation[rows]].sum(), rel=1e-11)
    assert result.row_dual is None
    assert result.col_dual is None


def test_greedy_spans_columns_beyond_one_tile():
    x, y = draw(5, 64), draw(130, 64, 1)
    squares = squared_distances(x, y)
    assert match(x, y, objective="greedy", alignment="identity").permutation.tolist() == greedy_partners(
        squares
    )
