"""The warning that the pairs contradict the moments: when it comes, and when it does not."""

import warnings

import numpy as np
import pytest

from lslmatch import AlignmentWarning, match
from tests.support.reference import SMALL
from verification.scenarios.strangers import LIKE, draw_partly_common


def drawn(kind, pairs, strangers, d=5, seed=0):
    rng = np.random.default_rng([seed, d])
    return draw_partly_common(
        kind, "normal", pairs=pairs, strangers=strangers, d=d, separation=8.0, noise_ratio=9.0, rng=rng
    )


@pytest.mark.parametrize(("kind", "strangers"), [("one far cluster", 1), ("wide", 6), ("heavy-tailed", 12)])
def test_wild_points_of_one_set_are_told(kind, strangers):
    sets = drawn(kind, 60, (strangers, 0))
    y = np.vstack([sets.y, sets.y[:strangers]])  # of equal size, as where readings fail
    with pytest.warns(AlignmentWarning, match=r"the pairs contradict the (scale|shift): residuals of"):
        match(sets.x, y)


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_noise_alone_is_no_reason(d):
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        for seed in range(3 if SMALL else 20):
            sets = drawn(LIKE, 40, (0, 0), d, seed)
            match(sets.x, sets.y)


def test_only_the_moments_are_doubted():
    sets = drawn("one far cluster", 60, (6, 6))
    with pytest.warns(AlignmentWarning):
        match(sets.x, sets.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        match(sets.x, sets.y, alignment="robust")
        match(sets.x, sets.y, alignment=sets.affine)


def test_rounding_errors_are_not_doubted():
    y = np.random.default_rng(0).standard_normal((40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AlignmentWarning)
        match(3.0 * y[::-1] + 1e9, y)
        match(y[::-1], y)
