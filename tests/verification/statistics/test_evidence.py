"""Evidence may be looked at after every trial; a test for a fixed number of trials may not."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, binomtest

from verification.statistics.evidence import log_evidence_above, log_evidence_below, upper_limit

LEVEL = 0.05


def ever_rejects(rng, rate, log_evidence, trials=400):
    """Whether one stream of trials ever reaches the level, looked at after each of them."""
    events = np.cumsum(rng.random(trials) < rate)
    return any(
        log_evidence(int(k), n, 0.1) >= -math.log(LEVEL) for n, k in enumerate(events, start=1) if n % 4 == 0
    )


@pytest.mark.parametrize("log_evidence", [log_evidence_above, log_evidence_below])
def test_a_rate_on_the_edge_is_rejected_at_most_at_the_level_however_often_one_looks(log_evidence):
    rng, repetitions = np.random.default_rng(0), 300
    rejected = sum(ever_rejects(rng, 0.1, log_evidence) for _ in range(repetitions))
    assert rejected <= binom.isf(1e-4, repetitions, LEVEL)


def test_a_fixed_test_that_is_looked_at_often_breaks_its_level():
    """The control: what the evidence is there to prevent does happen."""
    rng, broken = np.random.default_rng(1), 0
    for _ in range(100):
        events = np.cumsum(rng.random(400) < 0.1)
        looks = range(8, 400, 8)
        broken += any(binomtest(int(events[n - 1]), n, 0.1, "greater").pvalue <= LEVEL for n in looks)
    assert broken > binom.isf(1e-4, 100, LEVEL)


@pytest.mark.parametrize(
    ("events", "trials", "rate"), [(3, 20, 0.1), (0, 20, 0.1), (18, 20, 0.9), (20, 20, 0.5)]
)
def test_the_closed_form_is_the_mean_of_likelihood_ratios(events, trials, rate):
    weight = 0.5 / min(rate, 1 - rate)
    prior = beta(weight * rate, weight * (1 - rate))

    def likelihood(q):
        return q**events * (1 - q) ** (trials - events) / (rate**events * (1 - rate) ** (trials - events))

    for ends, mass, found in (
        ((rate, 1), prior.sf(rate), log_evidence_above),
        ((0, rate), prior.cdf(rate), log_evidence_below),
    ):
        # In the distribution function, in which the density has no poles.
        low, high = prior.cdf(ends[0]), prior.cdf(ends[1])
        mean = quad(lambda u: likelihood(prior.ppf(u)), low, high, epsabs=1e-12, limit=200)[0] / mass
        assert found(events, trials, rate) == pytest.approx(math.log(mean), abs=1e-5)


@pytest.mark.parametrize(("events", "trials"), [(0, 50), (3, 100), (700, 1000)])
def test_every_rate_above_the_limit_is_rejected_and_none_below(events, trials):
    limit = upper_limit(events, trials, LEVEL)
    for rate in np.linspace(max(events / trials, 1e-6), 1 - 1e-6, 200):
        rejected = log_evidence_below(events, trials, float(rate)) >= -math.log(LEVEL)
        assert rejected == (rate >= limit)
