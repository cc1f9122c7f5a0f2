"""Starts by profiles: how far a point is from all others of its set stays when the set is turned."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray, SingleArray
from lslmatch.assignment.solve import assign
from lslmatch.similarity.procrustes import Rules, fit_pairs
from lslmatch.similarity.units import Turn

#: Quantiles of the distances, points that are asked for them, and of the rows that are looked at together.
_QUANTILES, _ASKED, _BLOCK = 64, 1500, 256
#: What is added to the difference of a pair before its weight is taken, in median least differences.
_QUIET = 0.3


def profile_costs(a: FloatArray, b: FloatArray, a_all: FloatArray) -> SingleArray:
    """Give the sums of absolute differences of the profiles of points `a`, among `a_all`, and of b."""
    quantiles = min(_QUANTILES, max(8, (1 << 27) // (len(a) * len(b))))
    one, other = _profiles(a, a_all, quantiles), _profiles(b, b, quantiles)
    costs = np.zeros((len(a), len(b)), np.float32)
    for k in range(quantiles):
        costs += np.abs(np.subtract.outer(one[:, k], other[:, k]))
    return costs


def profile_start(a: FloatArray, b: FloatArray, costs: SingleArray, rules: Rules) -> Turn:
    """Fit a map to the assignment of profiles, pairs that differ little counting more."""
    partner = assign(costs.astype(np.float64)).col_ind
    own = costs[np.arange(len(a)), partner].astype(np.float64)
    weight = 1.0 / (_QUIET * float(np.median(costs.min(axis=1))) + own + 1e-12) ** 2
    return fit_pairs(a, b, partner, weight, rules).turn


def soft_start(a: FloatArray, b: FloatArray, plan: SingleArray, rules: Rules) -> Turn:
    """Fit a map to a plan (n, m) whose rows are probabilities, sure rows counting more."""
    sure = plan.max(axis=1)
    partners = plan @ b.astype(plan.dtype)
    everyone: IntArray = np.arange(len(a))
    return fit_pairs(a, partners.astype(np.float64), everyone, sure.astype(np.float64) + 1e-12, rules).turn


def _profiles(points: FloatArray, among: FloatArray, quantiles: int) -> SingleArray:
    some = among[np.linspace(0, len(among) - 1, min(len(among), _ASKED)).astype(np.intp)].astype(np.float32)
    kept = np.linspace(0, len(some) - 1, quantiles).astype(np.intp)
    squares = np.einsum("ij,ij->i", some, some)
    found = np.empty((len(points), quantiles), np.float32)
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK].astype(np.float32)
        distances = np.einsum("ij,ij->i", block, block)[:, None] + squares - 2.0 * (block @ some.T)
        found[start : start + _BLOCK] = np.sort(np.sqrt(np.maximum(distances, 0.0)), axis=1)[:, kept]
    return found
