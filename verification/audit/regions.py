"""Maps from the unit cube to the quantities of the statements.

Magnitudes are spread evenly in their logarithm. The confidence level enters as log(4/delta) or
log(2/delta), because the smallest delta that the theorems allow may lie far below the smallest double.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from verification.audit.search import FloatArray, Point

#: The longest vector that a search lays out coordinate by coordinate.
LONGEST = 6

#: The statements ask for delta < 1.
LARGEST_DELTA = 1 - 1e-6


def log_between(u: FloatArray, low: Any, high: Any) -> FloatArray:
    """Spread u in [0, 1] from low to high evenly in the logarithm; NaN where low > high."""
    low, high = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
    inside = np.where(u >= 1, high, np.where(u <= 0, low, low * (high / low) ** u))
    return np.where(low <= high, inside, np.nan)


def between(u: FloatArray, low: Any, high: Any) -> FloatArray:
    """Spread u in [0, 1] evenly from low to high."""
    return np.asarray(low + (high - low) * u, dtype=np.float64)


def count_between(u: FloatArray, low: Any, high: Any) -> FloatArray:
    """Spread u in [0, 1] over the integers from low to high, evenly in the logarithm."""
    return np.rint(log_between(u, low, high))


def noise_vector(u: FloatArray) -> Point:
    """Map 1 + 6 coordinates to n from 2 to 6 and n noise magnitudes, padded with zeros."""
    n = np.rint(between(u[0], 2, LONGEST))
    sigma = [np.where(k < n, log_between(u[k + 1], 1e-3, 1e3), 0.0) for k in range(LONGEST)]
    return {"n": n, "sigma": sigma}


def centred_means(u: FloatArray, n: FloatArray) -> list[FloatArray]:
    """Map 6 coordinates to n means on a line that sum to zero without any rounding, padded with zeros."""
    raw = [np.where(k < n, np.rint((2 * u[k] - 1) * 2**20) / 2**20, 0.0) for k in range(LONGEST)]
    total = np.sum(raw, axis=0)
    return [np.where(k < n, n * raw[k] - total, 0.0) for k in range(LONGEST)]


def theorem_region(
    u: FloatArray,
    *,
    constant: int,
    tall: bool = False,
    log_name: str = "log_4_delta",
    smallest_n: int = 8,
    largest_n: int = 10**6,
) -> Point:
    """Map 5 coordinates to n, d, alpha, the logarithm and lambda that a theorem allows.

    alpha lies between n^(-1/2) and 1, delta at most 1 - 1e-6, the logarithm at or below
    d / (constant alpha^2), and n and d at most 10^6. `tall` adds n >= d. `log_name` says which
    logarithm it is: ``log_4_delta`` or ``log_2_delta``.
    """
    least_log = math.log((4 if log_name == "log_4_delta" else 2) / LARGEST_DELTA)
    n = count_between(u[0], smallest_n, largest_n)
    least_d = np.maximum(1, np.ceil(constant * least_log / n))  # alpha^2 is at least 1/n
    d = count_between(u[1], least_d, n if tall else np.maximum(least_d, 10**6))
    alpha = log_between(u[2], 1 / np.sqrt(n), np.minimum(1, np.sqrt(d / (constant * least_log))))
    log = log_between(u[3], least_log, np.maximum(least_log, d / (constant * alpha**2)))
    n = np.where(np.isfinite(alpha), n, np.nan)  # the conditions may leave no d
    share = u[4] * (1 - 1e-12)  # lambda / sqrt(lambda^2 + d)
    return {"n": n, "d": d, "alpha": alpha, log_name: log, "lam": np.sqrt(d) * share / np.sqrt(1 - share**2)}
