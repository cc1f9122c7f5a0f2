"""Sets that are too far from each other without a map, against the matrix of all costs."""

import numpy as np
import pytest

from lslmatch.alignment.without_map import is_worse


def least_costs(x, y):
    squares = ((x[:, None] - y) ** 2).sum(axis=-1)
    return np.log(squares.min(axis=1) if len(x) <= len(y) else squares.min(axis=0))


@pytest.mark.parametrize(("n", "m", "d"), [(20, 20, 1), (20, 30, 3), (30, 20, 7), (2, 2, 5)])
def test_of_few_points_all_are_looked_at(n, m, d):
    rng = np.random.default_rng([n, m, d])
    x, y = rng.standard_normal((n, d)) + 5.0, rng.standard_normal((m, d))
    limit = least_costs(x, y).sum()
    for only_some in (False, True):
        assert is_worse(x, y, limit - 1e-6, only_some)
        assert not is_worse(x, y, limit + 1e-6, only_some)


@pytest.mark.parametrize("turned", [False, True])
def test_of_many_points_some_are_and_their_mean_must_be_six_standard_errors_too_high(turned):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((190, 2)), rng.standard_normal((200, 2))
    some = least_costs(x[np.arange(64) * 189 // 63], y)
    limit = 190 * (some.mean() - 6.0 * some.std() / 8.0)
    sets = (y, x) if turned else (x, y)
    assert is_worse(*sets, limit - 1e-6, True)
    assert not is_worse(*sets, limit + 1e-6, True)
    # All of them are looked at then, if they may be.
    every = least_costs(x, y).sum()
    assert every > limit
    assert is_worse(*sets, every - 1e-6, False)
    assert not is_worse(*sets, every + 1e-6, False)


def test_points_that_coincide_but_for_rounding_cost_as_little_as_the_floor():
    x = np.random.default_rng(0).standard_normal((30, 3)) + 100.0
    floor = np.log(2.0**-104 * ((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert not is_worse(x, x[::-1].copy(), 30 * floor + 1e-6, False)
    assert is_worse(x, x[::-1].copy(), 30 * floor - 1e-6, False)


def test_units_out_of_the_ordinary_are_not_judged():
    x = 2.0**150 * np.random.default_rng(0).standard_normal((30, 3))
    assert not is_worse(x, -x, -1e9, False)
