"""Exact tails, against closed forms and against simulation."""

import numpy as np
import pytest
from scipy.stats import chi2, f, ncx2, norm

from verification.statistics.quadratic_forms import QuadraticForm, centred_sum_of_squares


def nearly_one_chi_square(shift=(0.0, 0.0)):
    """Two weights that differ by too little to matter, so that the integral is used and the answer known."""
    return QuadraticForm(np.array([1.0, 1 + 1e-12]), np.array([6.0, 8.0]), np.array(shift))


@pytest.mark.parametrize("level", [0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (3.0, 5.0)])
def test_tails_are_those_of_a_chi_square_to_the_smallest(level, shift):
    law = ncx2(14, sum(shift)) if sum(shift) else chi2(14)
    form, x = nearly_one_chi_square(shift), law.isf(level)
    assert form.above(x) == pytest.approx(law.sf(x), rel=1e-6)
    low = law.ppf(level)
    assert form.below(low) == pytest.approx(law.cdf(low), rel=1e-6)


@pytest.mark.parametrize("ratio", [1.05, 1.5, 3.0, 6.0])
def test_a_ratio_of_sums_has_fisher_s_law(ratio):
    one = QuadraticForm(np.array([2.0, 2.0]), np.array([10.0, 20.0]), np.zeros(2))
    assert one.minus(one, ratio).above(0.0) == pytest.approx(f(30, 30).sf(ratio), rel=1e-6)
    assert one.minus(one, 1 / ratio).below(0.0) == pytest.approx(f(30, 30).cdf(1 / ratio), rel=1e-6)


def test_the_sum_of_squares_of_centred_observations():
    rng = np.random.default_rng(0)
    mu, noise = rng.standard_normal((6, 3)), rng.random(6) + 0.2
    mu -= mu.mean(axis=0)
    form = centred_sum_of_squares(mu, noise)
    drawn = mu + noise[:, None] * rng.standard_normal((40000, 6, 3))
    drawn -= drawn.mean(axis=1, keepdims=True)
    sums = (drawn**2).sum(axis=(1, 2))
    assert form.mean == pytest.approx(sums.mean(), rel=0.02)
    for share in (0.05, 0.5, 0.95):
        x = np.quantile(sums, 1 - share)
        assert abs(form.above(x) - share) < norm.isf(1e-6) * np.sqrt(share * (1 - share) / len(sums))
        assert form.above(x) + form.below(x) == pytest.approx(1.0, abs=1e-9)


def test_what_cannot_happen_has_probability_zero():
    positive = QuadraticForm(np.array([1.0, 2.0]), np.full(2, 4.0), np.zeros(2))
    assert positive.below(-1.0) == 0.0
    assert positive.above(-1.0) == 1.0
