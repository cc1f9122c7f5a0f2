"""Planted data with correlated noise: covariance and separation are those that were asked for."""

import numpy as np
import pytest

from lslmatch import theory
from verification.scenarios import correlated_noise
from verification.scenarios.correlated_noise import LEVELS, NOISE_LEVELS, SHAPES
from verification.scenarios.families import typical_separation

CONDITION = 50.0


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "isotropic"])
def test_variances_differ_by_the_condition_number(name):
    covariance = SHAPES[name](30, CONDITION, np.random.default_rng(1))
    variances = np.linalg.eigvalsh(covariance)
    assert np.allclose(covariance, covariance.T, rtol=1e-12)
    # AR(1) reaches it in the limit of many dimensions, and a mixture stays below its parts.
    low = 0.8 * CONDITION if name == "AR(1)" else 5.0 if name == "mixed" else CONDITION
    assert low * (1 - 1e-9) <= variances[-1] / variances[0] <= CONDITION * (1 + 1e-9)


@pytest.mark.parametrize(("name", "strong"), [("one direction", 1), ("low rank", 4), ("blocks", 5)])
def test_as_many_directions_are_strong_as_the_name_says(name, strong):
    variances = np.linalg.eigvalsh(SHAPES[name](20, CONDITION, np.random.default_rng(1)))
    assert (variances > 10 * variances[0]).sum() == strong


def test_the_noise_has_the_covariance_that_the_truth_says():
    rng = np.random.default_rng(2)
    covariance = correlated_noise.autoregressive_covariance(4, 0.8)
    truth = correlated_noise.correlated_configuration(covariance, 4000, level=1.0, rng=rng)
    x, y = truth.sample(rng)
    features = truth.white.features @ truth.factor.T
    assert np.cov((x - features).T) == pytest.approx(covariance, abs=0.1)
    # Both sets have it, so the difference of partners has twice as much.
    shift = truth.white.shift @ truth.factor.T
    residuals = x - truth.white.scale * y[truth.permutation] - shift
    assert np.cov(residuals.T) == pytest.approx(2 * covariance, abs=0.2)
    assert np.allclose(truth.covariance, covariance)


@pytest.mark.parametrize("noise", NOISE_LEVELS)
def test_half_of_the_points_are_separated_by_the_level_where_noise_is_isotropic(noise):
    covariance = SHAPES["one direction"](10, 1e4, np.random.default_rng(0))
    truth = correlated_noise.correlated_configuration(
        covariance, 60, level=LEVELS["above"], noise=noise, rng=np.random.default_rng(3)
    )
    separation = typical_separation(truth.white.features, truth.white.noise)
    assert separation == pytest.approx(2 * theory.noise_floor(60, 10))


def test_a_family_keeps_its_noise_levels():
    truth = correlated_noise.correlated_family(
        "few quiet points", 200, shape="AR(1)", condition=10.0, level=1.0, rng=np.random.default_rng(4)
    )
    assert set(truth.white.noise) == {1.0, 100.0}


def test_only_what_is_not_known_of_the_covariance_makes_a_difference():
    rng = np.random.default_rng(5)
    strong = SHAPES["one direction"](12, 1e4, rng)
    truth = correlated_noise.correlated_configuration(strong, 60, level=LEVELS["above"], rng=rng)
    row = correlated_noise.match_in_each_way(truth, rng)
    assert row["right true covariance"] > 0.9 > 0.5 > row["right isotropic"]
    assert row["right auto"] > 0.9
    assert row["kept"] == 1.0
