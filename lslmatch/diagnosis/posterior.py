"""How probable each pair is to be right, with a noise whose shape and size are learned from all candidates.

The objective alone does not say how sure its pairs are. That of LSL knows nothing of noise levels, which is
too little where they are alike; and pairs that were matched for being near make noise seem small. So noise
and pairs are learned together, as by the EM algorithm:

- Given the noise, each pair of points has a weight, and :mod:`lslmatch.diagnosis.confidence` turns weights
  into the probabilities that two points are partners, among all matchings.
- Given the probabilities, noise is learned from all candidates, each as far as it is probable. It follows
  Student's law, whose degrees of freedom say how much levels differ from point to point: all of it between
  equal noise and the one that LSL knows nothing of. Along each direction it has a variance of its own, where
  directions are the columns or the principal axes of the points, whichever tell more.

Features of finite spread S_k tell less of who is who: in a direction where the differences of partners have
the variance v_k, squares count by ``f_k = 2 S_k / (2 S_k + v_k / 2)``, which is exact for normal features. A
direction without features counts nothing, however far noise puts points apart in it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.diagnosis.confidence import settle_shares
from lslmatch.geometry.coordinates import Geometry

#: Rounds at most, and the change of the expected share of right pairs that ends them.
_ROUNDS, _SETTLED = 20, 2e-3
#: Degrees of freedom that are tried; those of infinity are equal noise.
_DEGREES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, math.inf)
#: Rounds of the fixed point of the variances, and the change of a logarithm that ends them.
_VARIANCES, _SAME = 20, 3e-3
#: A pair that is less probable teaches nothing.
_PROBABLE = 1e-3
#: Coordinates are cut off at this multiple of the typical one, which is far beyond noise.
_FAR = 2.0**10
#: The least variance, as a share of a column's typical square: what is below is rounding.
_LEAST_VARIANCE = 2.0**-92
#: Principal axes are found in up to 600 dimensions, and down to 1e-13 of the greatest variance.
_MOST_DIMENSIONS, _LEAST_SPREAD = 600, 1e-13
#: A logarithm of a weight below the greatest of its row is not less than this.
_LEAST_WEIGHT = -600.0
#: Free points are no further out than this many variances, to tell how probably they are free.
_FREE = 9.0


class Noise(NamedTuple):
    """The law of the differences of partners, in some directions."""

    variance: FloatArray  # (d,)
    degrees: float
    likelihood: float


def pair_posteriors(
    geometry: Geometry, col_of_row: IntArray, tempered: float, asked: IntArray | None = None
) -> FloatArray:
    """Give the probability of every row's pair; rows are the smaller set.

    Weights are tempered: their exponents are, on average, at most `tempered` times those of as many
    independent coordinates as there are. Other pairs may be `asked` for, of the same rows.
    """
    rows, wanted = np.arange(col_of_row.size), col_of_row if asked is None else asked
    a, b, floor = _typical_coordinates(geometry)
    before = math.nan
    axes = _axes(a, b, floor, col_of_row)
    a, b, floor = axes.a, axes.b, axes.floor
    noise = axes.noise
    first, second, weight = rows, col_of_row, np.ones(rows.size)
    confidence = np.ones(rows.size)
    for k in range(_ROUNDS):
        if k > 0:
            noise = _learn(np.square(a[first] - b[second]), weight, noise.variance, floor)
        shares = _shares(a, b, axes.spread, noise, tempered)
        confidence = shares[rows, wanted].copy()
        if abs(confidence.mean() - before) < _SETTLED:
            break
        before = confidence.mean()
        first, second = np.nonzero(shares[: rows.size] > _PROBABLE)
        weight = shares[first, second]
    return confidence


class _Axes(NamedTuple):
    a: FloatArray
    b: FloatArray
    floor: FloatArray
    spread: FloatArray  # (d,): the variances of the points
    noise: Noise


def _typical_coordinates(geometry: Geometry) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give both sets about a typical point, with all that is far out cut off, and the least variances."""
    middle = len(geometry.a) // 2
    at = np.argpartition(geometry.a, middle, axis=0)[middle], np.arange(geometry.a.shape[1])
    centre, low = geometry.a[at], geometry.a_low[at]
    a = (geometry.a - centre) + (geometry.a_low - low)
    b = (geometry.b - centre) + (geometry.b_low - low)
    size = np.median(np.abs(a), axis=0)
    size = np.where(size > 0.0, size, np.abs(a).mean(axis=0))
    size = np.where(size > 0.0, size, np.abs(b).mean(axis=0))
    size = np.where(size > 0.0, size, 1.0)
    # In one unit, so that no square over- or underflows but where columns differ by half of all exponents.
    unit = size.max()
    for part in (a, b):
        np.clip(part, -_FAR * size, _FAR * size, out=part)
        part /= unit
    return a, b, np.maximum(_LEAST_VARIANCE * (size / unit) ** 2, np.finfo(float).tiny / _LEAST_VARIANCE)


def _axes(a: FloatArray, b: FloatArray, floor: FloatArray, col_of_row: IntArray) -> _Axes:
    """Take the columns or the principal axes: those in which the residuals are more probable."""
    (n, d), m = a.shape, len(b)
    parts = a - a.mean(axis=0), b - b.mean(axis=0)
    spread = sum((part**2).sum(axis=0) for part in parts) / (n + m)
    found = [_Axes(a, b, floor, np.maximum(spread, floor), _first_noise(a, b, floor, col_of_row))]
    if 1 < d <= _MOST_DIMENSIONS:
        values, vectors = np.linalg.eigh(sum(part.T @ part for part in parts) / (n + m))
        if values[0] > _LEAST_SPREAD * values[-1]:
            turned, other = a @ vectors, b @ vectors
            # Rounding is that of the greatest column.
            least = np.full(d, floor.max())
            noise = _first_noise(turned, other, least, col_of_row)
            found.append(_Axes(turned, other, least, np.maximum(values, least), noise))
    return max(found, key=lambda axes: axes.noise.likelihood)


def _first_noise(a: FloatArray, b: FloatArray, floor: FloatArray, col_of_row: IntArray) -> Noise:
    squares = np.square(a - b[col_of_row])
    start = np.maximum(np.full(a.shape[1], np.median(squares.sum(axis=1)) / a.shape[1]), floor)
    return _learn(squares, np.ones(len(a)), start, floor)


def _learn(squares: FloatArray, weight: FloatArray, start: FloatArray, floor: FloatArray) -> Noise:
    """Find the variances and the degrees of freedom that make weighted squared residuals most probable."""
    from scipy.special import gammaln  # takes longer than the rest of the import

    d, total, best = squares.shape[1], weight.sum(), None
    for degrees in _DEGREES:
        variance = start if best is None else best.variance
        for _ in range(_VARIANCES):
            before = variance
            weighted = (
                weight
                if math.isinf(degrees)
                else weight * (degrees + d) / (degrees + squares @ (1.0 / variance))
            )
            variance = _shrunken(np.maximum(weighted @ squares / total, floor), total)
            if np.abs(np.log(variance / before)).max() < _SAME:
                break
        forms = squares @ (1.0 / variance)
        if math.isinf(degrees):
            logarithm = -0.5 * forms - 0.5 * d * math.log(2.0 * math.pi)
        else:
            constant = float(gammaln((degrees + d) / 2.0) - gammaln(degrees / 2.0))
            constant -= 0.5 * d * math.log(degrees * math.pi)
            logarithm = constant - 0.5 * (degrees + d) * np.log1p(forms / degrees)
        likelihood = float(weight @ logarithm) - 0.5 * total * float(np.log(variance).sum())
        if best is None or likelihood > best.likelihood:
            best = Noise(variance, degrees, likelihood)
    assert best is not None
    return best


def _shrunken(variance: FloatArray, count: float) -> FloatArray:
    """Shrink logarithms to their mean by as much as chance would spread those of `count` pairs."""
    logarithms = np.log(variance)
    spread = float(logarithms.var(ddof=1)) if variance.size > 1 else 0.0
    kept = max(1.0 - 2.0 / count / spread, 0.0) if spread > 0.0 else 0.0
    mean = logarithms.mean()
    shrunken: FloatArray = np.exp(mean + kept * (logarithms - mean))
    return shrunken


def _shares(a: FloatArray, b: FloatArray, spread: FloatArray, noise: Noise, tempered: float) -> FloatArray:
    """Give the probabilities that two points are partners; one more row is that of points that are free."""
    n, m = len(a), len(b)
    variance = noise.variance
    features = np.maximum(spread - variance / 2.0, 1e-6 * spread)
    factor = 2.0 * features / (2.0 * features + variance / 2.0)
    root = np.sqrt(factor / variance)
    weights = np.full((n + (n < m), m), 0.0)
    weights[:n] = _forms(a * root, b * root)
    rows = weights[:n]
    if math.isinf(noise.degrees):
        rows *= -0.5
    else:
        rows /= noise.degrees
        np.log1p(rows, out=rows)
        rows *= -0.5 * (noise.degrees + factor.sum())
    exponent = min(1.0, tempered / float(factor.mean()))
    rows *= exponent
    if n < m:
        # How much less probable a point is as one of a pair than by itself, for normal features.
        out = np.minimum((b - a.mean(axis=0)) ** 2 / spread, _FREE) @ (features / (spread + features))
        weights[n] = -0.5 * exponent * out
    weights -= weights.max(axis=1, keepdims=True)
    weights -= weights.max(axis=0)
    np.maximum(weights, _LEAST_WEIGHT, out=weights)
    np.exp(weights, out=weights)
    total = np.ones(len(weights))
    total[n:] = m - n
    return settle_shares(weights, total, np.ones(m))


def _forms(a: FloatArray, b: FloatArray) -> FloatArray:
    """Give the squared distances of all pairs, by differences where products would cancel."""
    a_square, b_square = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    forms = np.add.outer(a_square, b_square)
    norms = forms.copy()
    forms -= 2.0 * (a @ b.T)
    rows, cols = np.nonzero(forms <= 1e-6 * norms)
    step = max((1 << 20) // a.shape[1], 1)
    for first in range(0, rows.size, step):
        some = slice(first, first + step)
        forms[rows[some], cols[some]] = np.square(a[rows[some]] - b[cols[some]]).sum(axis=1)
    return forms
