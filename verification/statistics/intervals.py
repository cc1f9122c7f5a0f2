"""Estimates with 95 % intervals, as columns of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binom, norm, t
from statsmodels.stats.proportion import proportion_confint

INTERVAL_LEVEL = 0.05


def proportion(events: Sequence[float], name: str) -> dict[str, float]:
    """Give the share of events (each 0 or 1) with its Clopper-Pearson interval."""
    count, total = round(sum(events)), len(events)
    low, high = proportion_confint(count, total, alpha=INTERVAL_LEVEL, method="beta")
    return {name: count / total, f"{name}_low": float(low), f"{name}_high": float(high)}


def mean(values: Sequence[float], name: str) -> dict[str, float]:
    """Give the mean with Student's interval, unbounded for a single value."""
    centre, size = float(np.mean(values)), len(values)
    reach = math.inf
    if size > 1:
        reach = float(t.isf(INTERVAL_LEVEL / 2, size - 1) * np.std(values, ddof=1) / math.sqrt(size))
    return {name: centre, f"{name}_low": centre - reach, f"{name}_high": centre + reach}


def median(values: Sequence[float], name: str) -> dict[str, float]:
    """Give the median with the interval between two order statistics, which needs no distribution.

    With fewer than six values no order statistics reach the level, and the interval is unbounded.
    """
    ordered, size = np.sort(values), len(values)
    skip = int(binom.ppf(INTERVAL_LEVEL / 2, size, 0.5)) - 1  # ranks that may be left out at either end
    low, high = (-math.inf, math.inf) if skip < 0 else (float(ordered[skip]), float(ordered[size - 1 - skip]))
    return {name: float(np.median(ordered)), f"{name}_low": low, f"{name}_high": high}


def overlapping_mean(values: Sequence[float], overlap: float, name: str) -> dict[str, float]:
    """Give the mean over draws from one pool, of which any two share the share `overlap` on average.

    Such draws are alike, so Student's interval would be too short. Nadeau and Bengio's correction
    adds what the pool itself leaves open.
    """
    centre, size = float(np.mean(values)), len(values)
    reach = math.inf
    if size > 1:
        spread = np.var(values, ddof=1) * (1 / size + overlap / (1 - overlap))
        reach = float(t.isf(INTERVAL_LEVEL / 2, size - 1) * math.sqrt(spread))
    return {name: centre, f"{name}_low": centre - reach, f"{name}_high": centre + reach}


def paired_difference(gained: int, lost: int, total: int, name: str) -> dict[str, float]:
    """Give the difference of two shares of the same `total` cases, with Agresti and Min's interval.

    `gained` cases are events for the first only, `lost` for the second only. Half a case is added to
    each of the four kinds, so that the interval has a length even if the two always agree.
    """
    more, less, size = gained + 0.5, lost + 0.5, total + 2
    middle = (more - less) / size
    spread = (more + less - (more - less) ** 2 / size) / size**2
    reach = float(norm.isf(INTERVAL_LEVEL / 2)) * math.sqrt(spread)
    return {name: (gained - lost) / total, f"{name}_low": middle - reach, f"{name}_high": middle + reach}


def ratio(events: Any, counts: Any, name: str) -> dict[str, float]:
    """Give the share of events among all cases; trials are independent, the cases of one trial are not.

    `events` and `counts` are arrays with one entry a trial.
    """
    total = counts.sum()
    if not total:
        return {name: 0.5, f"{name}_low": 0.0, f"{name}_high": 1.0}
    share = float(events.sum() / total)
    # The usual error of a ratio of sums.
    size = len(counts)
    error = math.sqrt(((events - share * counts) ** 2).sum() * size / max(size - 1, 1)) / total
    reach = float(norm.isf(INTERVAL_LEVEL / 2) * error)
    return {name: share, f"{name}_low": max(share - reach, 0.0), f"{name}_high": min(share + reach, 1.0)}
