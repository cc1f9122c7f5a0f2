"""Columns that run the other way in the second set."""

import numpy as np
import pytest

from lslmatch import check_certificate, diagnose, match
from lslmatch.columns.signs import guess_signs
from lslmatch.columns.standard import standard_units
from tests.support.reference import SMALL

several_matchings = pytest.mark.skipif(SMALL, reason="several matchings, each with a search")


def draw(seed, n=20 if SMALL else 60, d=4, noise=0.05):
    """Draw skewed, correlated columns, half of which run the other way in y, in other units."""
    rng = np.random.default_rng(seed)
    features = np.exp(0.5 * rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d))
    features /= features.std(axis=0)
    x, y = (features + noise * rng.normal(size=(n, d)) for _ in range(2))
    scales = np.exp(rng.normal(size=d)) * np.where(np.arange(d) % 2, -1.0, 1.0)
    order = rng.permutation(n)
    return x, ((y - 1.0) / scales)[np.argsort(order)], scales, order


@pytest.mark.parametrize("d", [1] if SMALL else [1, 2, 4])
def test_unknown_signs_are_found(d):
    x, y, scales, order = draw(d, d=d, noise=0.02 if d > 2 else 0.001)
    result = match(x, y, alignment="signed-columns")
    np.testing.assert_array_equal(np.sign(result.map.scales), np.sign(scales))
    assert (result.permutation == order).mean() > 0.9
    assert check_certificate(x, y, result) < 1e-9
    assert diagnose(x, y, result).expected_right > 0.9


@several_matchings
def test_positive_units_do_not_turn_columns():
    x, y, scales, order = draw(4)
    wrong = match(x, y, alignment="columns")
    assert (wrong.map.scales > 0.0).all()
    assert (wrong.permutation == order).mean() < 0.5


@several_matchings
def test_an_unrelated_set_is_no_reason_to_believe_in_signs():
    x, y, _, _ = draw(5, n=40)
    y = np.random.default_rng(0).normal(size=y.shape)
    result = match(x, y, alignment="signed-columns")
    assert diagnose(x, y, result).expected_right < 0.3


def test_each_guess_is_made_once_and_the_first_turns_nothing():
    for d in (1, 2, 5):
        x, y, _, _ = draw(6, d=d)
        guesses = [tuple(signs) for signs in guess_signs(standard_units(x, y))]
        assert guesses[0] == (1.0,) * d
        assert len(set(guesses)) == len(guesses)
        assert {abs(sign) for signs in guesses for sign in signs} == {1.0}


def test_moments_that_say_nothing_end_the_ascent():
    x = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
    assert len(list(guess_signs(standard_units(x, x)))) >= 1
