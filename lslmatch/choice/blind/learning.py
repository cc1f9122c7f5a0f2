"""Learning the covariance of the noise from blind pairs, without a look at the sets either.

The surer half of the blind pairs gives residuals, these a covariance, and under that the pool is paired
again. Columns are first divided by their noise levels (:mod:`lslmatch.covariance.diagonal`), residuals by
their lengths, as noise levels differ; what is left is shrunk to the identity by the formula of Ledoit and
Wolf. So with few pairs, or in many dimensions, there is still a variance for each column.

As labels are not looked at, all that is true of blind pairs under a known covariance is true of these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.choice.blind.pairing import Edges, pair_blindly
from lslmatch.choice.blind.pool import Pool
from lslmatch.covariance.diagonal import learn_variances
from lslmatch.covariance.leave_out import WHITE_COINCIDENT

#: Rounds of pairing and learning, at most, and in pools of more points than this.
_ROUNDS, _FEW_ROUNDS, _LARGE = 6, 2, 8192
#: The share of the pairs that is learned from, and the least number.
_TRUSTED, _LEAST_TRUSTED = 0.5, 10
#: A residual whose mean square, in units of the columns, is below this share of the mean one gets no greater
#: weight for it.
_LEAST_FORM = 1e-9
#: The least shrinkage, times the number of pairs.
_LEAST_SHRINKAGE = 1e-3
#: Above so many dimensions only variances are learned.
_MOST_DIMENSIONS = 2048


class Noise(NamedTuple):
    """A covariance ``diag(units) @ factor @ factor.T @ diag(units)`` of determinant 1."""

    units: FloatArray  # (d,)
    factor: FloatArray  # (d, d), lower triangular

    @property
    def root(self) -> FloatArray:
        """The matrix R with ``R.T @ R`` the covariance."""
        return np.ascontiguousarray((self.units[:, None] * self.factor).T)

    def whiten(self, points: FloatArray) -> FloatArray:
        """Bring points, or differences of them, into coordinates in which the noise is isotropic."""
        from scipy.linalg import solve_triangular  # takes longer than the rest of the import

        return np.ascontiguousarray(solve_triangular(self.factor, (points / self.units).T, lower=True).T)


class Learned(NamedTuple):
    """Blind pairs, the pool in whose coordinates they were made, and the covariance behind these."""

    edges: Edges
    pool: Pool
    noise: Noise | None
    rounds: int


def pair_and_learn(pool: Pool, kind: str, workers: int) -> Learned:
    """Pair a pool under noise that is "isotropic", or learned: "diagonal" or "full"."""
    found = Learned(pair_blindly(pool, workers), pool, None, 0)
    if kind == "isotropic" or pool.points.shape[1] == 1:
        return found
    is_full = kind == "full" and pool.points.shape[1] <= _MOST_DIMENSIONS
    seen: set[bytes] = set()
    for rounds in range(1, (_FEW_ROUNDS if pool.size > _LARGE else _ROUNDS) + 1):
        trusted = found.edges.ends[: max(int(_TRUSTED * len(found.edges.ends)), _LEAST_TRUSTED)]
        if trusted.tobytes() in seen:
            break
        seen.add(trusted.tobytes())
        noise = _learn(pool.differences(*trusted.T), pool.mean_squares(), is_full)
        if noise is None:
            break
        white = _whiten(pool, noise)
        found = Learned(pair_blindly(white, workers), white, noise, rounds)
    return found


def _learn(residuals: FloatArray, mean_squares: FloatArray, is_full: bool) -> Noise | None:
    """Learn from the residuals of some pairs and the columns' mean squares; None if there is no noise."""
    greatest = float(np.abs(residuals).max(initial=0.0))
    found = learn_variances(residuals / greatest, mean_squares / greatest**2) if greatest > 0.0 else None
    if found is None:
        return None
    units = greatest * found.units
    factor = np.eye(units.size)
    if is_full:
        scaled = residuals / units
        form = np.einsum("ij,ij->i", scaled, scaled) / units.size
        scaled /= np.sqrt(np.maximum(form, _LEAST_FORM * form.mean()))[:, None]
        factor = np.linalg.cholesky(_shrunken(scaled)).astype(np.float64)
    log_volume = float(np.log(units).sum() + np.log(np.diag(factor)).sum())
    return Noise(units * np.exp(-log_volume / units.size), factor)


def _shrunken(residuals: FloatArray) -> FloatArray:
    """Give the second moments of residuals, shrunk to a multiple of the identity (Ledoit and Wolf, 2004)."""
    count, d = residuals.shape
    scatter: FloatArray = residuals.T @ residuals / count
    squares = np.einsum("ij,ij->i", residuals, residuals)
    mean = float(squares.mean()) / d
    norm = float(np.vdot(scatter, scatter))
    distance = norm - d * mean**2
    error = (float((squares**2).mean()) - norm) / count
    shrinkage = 1.0 if distance <= 0.0 else min(max(error / distance, _LEAST_SHRINKAGE / count), 1.0)
    scatter *= 1.0 - shrinkage
    scatter[np.diag_indices(d)] += shrinkage * mean
    return scatter


def _whiten(pool: Pool, noise: Noise) -> Pool:
    """Bring the pool into coordinates in which the noise is isotropic."""
    points, low = noise.whiten(pool.points), noise.whiten(pool.low)
    mean_square = float(np.square(points - points.mean(axis=0)).sum(axis=1).mean())
    floor = WHITE_COINCIDENT * mean_square
    return pool._replace(points=points, low=low, floor=floor if floor > 0.0 else pool.floor)
