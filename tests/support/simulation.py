"""Configurations of the model, naive formulas, and tests of claims by simulation.

A probability claim "the event has at most this probability" is tried under a seed fixed beforehand and
fails its test with probability at most FALSE_FAIL if it is true (exact binomial test). Each such test has a
control, the same claim made false, which the same trials must refute.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

FALSE_FAIL = 1e-6


def refuted(events, allowed):
    """Whether the events are too many for the claim that their probability is at most `allowed`."""
    count, trials = int(np.sum(events)), np.size(events)
    return stats.binomtest(count, trials, allowed, alternative="greater").pvalue < FALSE_FAIL


def centring(n):
    return np.eye(n) - np.ones((n, n)) / n


def naive_deviations(noise):
    """The s_i, as the diagonal of the covariance matrix of the centred noise."""
    p = centring(len(noise))
    return np.sqrt(np.diag(p @ np.diag(np.square(noise)) @ p))


def naive_separation(features, noise):
    s = naive_deviations(noise)
    pairs = itertools.combinations(range(len(features)), 2)
    return min(math.dist(features[i], features[j]) / math.hypot(s[i], s[j]) for i, j in pairs)


def pair_separations(features, noise):
    """Every pair with its separation, closest first, from the covariance of the centred noise."""
    n = len(noise)
    p = np.eye(n) - np.ones((n, n)) / n
    s = np.sqrt(np.diag(p @ np.diag(np.square(noise)) @ p))
    pairs = itertools.combinations(range(n), 2)
    return sorted((math.dist(features[i], features[j]) / math.hypot(s[i], s[j]), (i, j)) for i, j in pairs)


def centred_noise(noise, d, trials, rng):
    eta = np.asarray(noise)[:, None] * rng.standard_normal((trials, len(noise), d))
    return eta - eta.mean(axis=1, keepdims=True)


def mixed_configuration(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.standard_normal((n, d)) + 5, np.exp(rng.normal(size=n))


CONFIGURATIONS = {
    "equal noise": (np.arange(24.0).reshape(8, 3) % 7, np.ones(8)),
    "mixed noise": mixed_configuration(12, 4),
    "one dominating noise": (np.eye(8, 5), np.array([10.0] + 7 * [0.01])),
    "no distortion": (np.zeros((10, 6)), np.linspace(1, 2, 10)),
    "large distortion": (100 * np.eye(9, 2), np.linspace(1, 3, 9)),
}

each_configuration = pytest.mark.parametrize("name", CONFIGURATIONS)
