"""Intervals cover what they promise to cover."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from verification.statistics import intervals


def test_a_proportion_of_none_has_an_upper_limit():
    found = intervals.proportion([0.0] * 80, "share")
    assert found["share"] == found["share_low"] == 0
    assert found["share_high"] == pytest.approx(1 - 0.025 ** (1 / 80))


@pytest.mark.parametrize("size", [6, 7, 20, 81])
def test_the_median_s_interval_covers_it_as_often_as_promised(size):
    found = intervals.median(list(range(size)), "value")
    rank = found["value_low"]  # of the values 0, 1, ...: how many lie below
    missed = 2 * binom.cdf(rank, size, 0.5)
    wider = 2 * binom.cdf(rank + 1, size, 0.5)
    assert missed <= 0.05 < wider
    assert found["value_low"] + found["value_high"] == size - 1


def test_too_few_values_have_no_limits():
    assert intervals.median([1.0] * 5, "value")["value_high"] == math.inf
    assert intervals.mean([1.0], "value")["value_low"] == -math.inf


def test_the_mean_s_interval_is_student_s():
    found = intervals.mean([1.0, 2.0, 3.0], "value")
    assert found["value"] == 2
    assert found["value_high"] == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-6)


def test_draws_from_one_pool_need_the_wider_interval():
    rng = np.random.default_rng(1)
    covered = {0.0: 0, 0.25: 0}
    for _ in range(400):
        pool = rng.standard_normal(200)  # of a population with mean 0
        draws = [rng.choice(pool, 50, replace=False).mean() for _ in range(24)]
        for overlap in covered:
            interval = intervals.overlapping_mean(draws, overlap, "mean")
            covered[overlap] += interval["mean_low"] <= 0 <= interval["mean_high"]
    assert covered[0.25] >= 0.92 * 400
    assert covered[0.0] <= 0.8 * 400
    assert intervals.overlapping_mean(draws, 0.0, "mean") == pytest.approx(intervals.mean(draws, "mean"))
    assert intervals.overlapping_mean([0.5], 0.25, "mean")["mean_high"] == np.inf


def test_the_interval_of_a_paired_difference_covers_it():
    rng = np.random.default_rng(2)
    gained, lost, _ = rng.multinomial(80, [0.15, 0.05, 0.8], size=1000).T
    found = [intervals.paired_difference(*pair, 80, "d") for pair in zip(gained, lost, strict=True)]
    covered = sum(row["d_low"] <= 0.1 <= row["d_high"] for row in found)
    assert 0.93 * 1000 <= covered <= 0.98 * 1000
    assert sum(row["d_low"] <= 0.3 <= row["d_high"] for row in found) <= 0.05 * 1000
    never = intervals.paired_difference(0, 0, 80, "d")
    assert never["d_low"] < never["d"] == 0 < never["d_high"]
