"""The greedy choice against the plainest loop."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment.greedy import choose_nearest
from lslmatch.geometry.coordinates import common_coordinates


@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (7, 7, 3), (5, 40, 2), (9, 530, 6)])
@pytest.mark.parametrize("whole", [False, True])
def test_rows_choose_in_turn_among_what_is_left(n, m, d, whole):
    rng = np.random.default_rng([n, m, d])
    x, y = 3.0 * rng.normal(size=(n, d)), 3.0 * rng.normal(size=(m, d))
    if whole:  # ties: any of equally near columns may be taken
        x, y = np.round(x), np.round(y)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    choice, least = choose_nearest(geometry)
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    for i in range(n):
        assert squares[i, choice[i]] == squares[i].min() < np.inf
        assert least[i] * 4.0**geometry.exponent == pytest.approx(squares[i, choice[i]], rel=1e-12, abs=1e-12)
        squares[:, choice[i]] = np.inf
