"""Each point of the smaller set chooses its nearest free partner, in turn."""

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.assignment import greedy
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.matching import alignments, run
from tests.support.reference import costs, greedy_partners, squared_distances
from tests.support.sets import draw


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


def test_the_greedy_matching_may_be_interrupted_between_any_rows(monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 23, 3))
    whole = match(x, y, objective="greedy")
    monkeypatch.setattr(greedy, "_COORDINATES_PER_CALL", 1)
    in_steps = match(x, y, objective="greedy")
    assert in_steps.permutation.tolist() == whole.permutation.tolist()
    assert in_steps.objective == whole.objective


@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (6, 9, 1), (40, 40, 2), (30, 75, 3)])
def test_of_equally_near_columns_the_first_is_chosen_at_its_exact_distance(n, m, d):
    # Few whole numbers about 0, which is the origin then: many distances are the same, and none is rounded.
    rng = np.random.default_rng([n, m, d])
    half = rng.integers(-2, 3, (n // 2, d)).astype(float)
    x, y = np.concatenate([half, -half]), rng.integers(-2, 3, (m, d)).astype(float)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    choice, least = greedy.choose_nearest(geometry)
    squares = squared_distances(x, y)
    assert choice.tolist() == greedy_partners(squares)
    np.testing.assert_array_equal(
        np.ldexp(least, 2 * geometry.exponent), squares[np.arange(n), choice].astype(float)
    )
