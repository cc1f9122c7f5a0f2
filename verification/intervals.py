"""Estimates with 95 % intervals, as columns of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, t
from statsmodels.stats.proportion import proportion_confint

LEVEL = 0.05


def proportion(events: Sequence[float], name: str) -> dict[str, float]:
    """Give the share of events (each 0 or 1) with its Clopper-Pearson interval."""
    count, total = round(sum(events)), len(events)
    low, high = proportion_confint(count, total, alpha=LEVEL, method="beta")
    return {name: count / total, f"{name}_low": float(low), f"{name}_high": float(high)}


def mean(values: Sequence[float], name: str) -> dict[str, float]:
    """Give the mean with Student's interval, unbounded for a single value."""
    centre, size = float(np.mean(values)), len(values)
    reach = math.inf
    if size > 1:
        reach = float(t.isf(LEVEL / 2, size - 1) * np.std(values, ddof=1) / math.sqrt(size))
    return {name: centre, f"{name}_low": centre - reach, f"{name}_high": centre + reach}


def median(values: Sequence[float], name: str) -> dict[str, float]:
    """Give the median with the interval between two order statistics, which needs no distribution.

    With fewer than six values no order statistics reach the level, and the interval is unbounded.
    """
    ordered, size = np.sort(values), len(values)
    skip = int(binom.ppf(LEVEL / 2, size, 0.5)) - 1  # ranks that may be left out at either end
    low, high = (-math.inf, math.inf) if skip < 0 else (float(ordered[skip]), float(ordered[size - 1 - skip]))
    return {name: float(np.median(ordered)), f"{name}_low": low, f"{name}_high": high}
