"""Whether an estimate is worth keeping: at the very limits, against sums by hand."""

import math
import statistics

import numpy as np
import pytest

from lslmatch.covariance.worth import doubt_estimate, reflect

Y = np.random.default_rng(3).normal(size=(7, 3))


def drawn(count, mean, spread, seed=0):
    """Draw numbers with exactly this mean and standard deviation."""
    values = np.random.default_rng([count, seed]).normal(size=count)
    return mean + spread * (values - values.mean()) / values.std(ddof=1)


def doubt(gain, learned, unrelated=None):
    return doubt_estimate(learned, learned + gain, Y, lambda y: unrelated)


@pytest.mark.parametrize(("share", "is_kept"), [(0.999, False), (1.001, True)])
def test_an_estimate_must_be_better_by_a_standard_error(share, is_kept):
    spread, count = 5.0, 9
    gain = drawn(count, share * spread / math.sqrt(count), spread)
    found = doubt(gain, drawn(count, 2.0, 7.0, 1))
    assert (found == "") == is_kept
    if not is_kept:
        better = 2.0 + share * spread / 3.0
        assert (
            found
            == f"isotropic noise predicts the pairs as well: cross-entropy {better:.3g} against {2.0:.3g}"
        )


@pytest.mark.parametrize(("share", "is_kept"), [(0.999, False), (1.001, True)])
@pytest.mark.parametrize(("spread", "other_spread"), [(3.0, 4.0), (0.1, 4.0), (3.0, 0.1)])
def test_it_must_be_surer_than_of_unrelated_sets(share, is_kept, spread, other_spread):
    error = math.sqrt(spread**2 / 9 + other_spread**2 / 6)
    learned, unrelated = drawn(9, 1.0, spread), drawn(6, 1.0 + share * 0.75 * error, other_spread)
    assert statistics.stdev(learned) == pytest.approx(spread)
    found = doubt(np.full(9, 50.0), learned, unrelated)
    assert (found == "") == is_kept
    if not is_kept:
        assert found.startswith(
            f"the estimate predicts pairs of unrelated sets as well: cross-entropy {unrelated.mean():.3g} "
        )
        assert found.endswith("against 1")


def test_what_makes_no_difference_at_all_is_doubted():
    assert doubt(np.zeros(5), np.ones(5)).startswith("isotropic")
    assert doubt(np.ones(5), np.ones(5), np.ones(4)).startswith("the estimate")


def test_the_unrelated_set_is_the_reflected_one():
    asked = []
    doubt_estimate(np.zeros(5), np.ones(5), Y, lambda y: asked.append(y))
    np.testing.assert_allclose(asked, [2.0 * Y.mean(axis=0) - Y], rtol=1e-14)


def test_a_reflection_keeps_mean_and_distances():
    reflected = reflect(Y + 1e6)
    np.testing.assert_allclose(reflected.mean(axis=0), (Y + 1e6).mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(np.diff(reflected, axis=0), -np.diff(Y, axis=0), atol=1e-8)


def test_what_overflows_is_not_reflected_and_not_compared():
    far = np.zeros((4, 2))
    # The mean is in range, and the reflection of the first point is not, in one coordinate.
    far[:, 0] = -1.7e308, 1.7e308, 1.7e308, 1.7e308
    assert np.isfinite(reflect(0.5 * far)).all()
    assert reflect(far) is None
    assert doubt_estimate(np.zeros(5), np.ones(5), far, lambda y: pytest.fail("was compared")) == ""
