"""Partners in random order, and the likelihood of a matching of them."""

import math

import numpy as np
import pytest

from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.model import adversarial_configuration
from lslmatch.request import Request
from tests.support.reference import SMALL

searches = pytest.mark.parametrize("alignment", ["profile", "auto"])
estimates = pytest.mark.parametrize("alignment", ["profile", "robust", "auto"])


def draw(n, m, d, seed=0, scale=2.0, shift=1.0, least_noise=0.01):
    """Partners in random order, with noise levels over two decades."""
    rng = np.random.default_rng([n, m, d, seed])
    features = rng.standard_normal((max(n, m), d))
    noise = least_noise ** rng.random((max(n, m), 1))
    x = features + noise * rng.standard_normal(features.shape)
    y = (features + noise * rng.standard_normal(features.shape) - shift) / scale
    return rng.permutation(x[:n]), rng.permutation(y[:m])


def match_by_one_scale(x, y, alignment, objective="lsl", noise=None):
    """Match without a look at whether each column has a scale of its own, as "auto" does at its end."""
    return match_isotropic(x, y, Request(objective, alignment, noise=noise))


def likelihood(x, y, result):
    """f of the paper: the sum of log(r**2 / scale) over the pairs."""
    rows = np.flatnonzero(result.permutation >= 0)
    rest = x[rows] - result.scale * y[result.permutation[rows]] - result.shift
    return float((np.log((rest**2).sum(axis=1)) - math.log(result.scale)).sum())


compiled = pytest.mark.skipif(SMALL, reason="the effect shows only with many points")


def adversarial(rng):
    n = 60 if SMALL else 600
    truth = adversarial_configuration(n, 12, noise_ratio=900.0, separation=6.0, strength=2.0, rng=rng)
    return truth, *truth.sample(rng + 100)
