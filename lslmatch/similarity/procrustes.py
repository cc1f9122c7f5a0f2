"""The similarity that fits pairs best, by weighted least squares, and what it would be without one of them.

A pair that was used to fit a map is nearer under it than it should be: with d (d - 1) / 2 angles to choose,
much nearer. So a pair is judged by the map that all others give. Its rotation is computed to first order.
With M the weighted sum of products of partners and ``M = U diag(s) V^T``, the rotation is ``U V^T``; without
a pair with the (rotated) coordinates p and q and the weight w it changes by ``U W V^T``,

    W[k, l] = w (p[l] q[k] - p[k] q[l]) / (s[k] + s[l]).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.similarity.units import Turn

#: Sums of singular values below this share of the greatest tell nothing of a rotation.
_LEAST = 1e-9
#: The least squared distance, in squared robust units: below it is rounding.
FLOOR = 1e-24


class Rules(NamedTuple):
    """What a similarity may be: whether it may mirror, and its scale if that is held."""

    mirror: bool = True
    scale: float | None = None


class Fit(NamedTuple):
    """A fitted similarity, with both sets in the axes of its singular values."""

    turn: Turn
    singular: tuple[FloatArray, FloatArray, FloatArray]  # U, s, V^T
    a: FloatArray  # (n, d), from the weighted mean on, times U
    b: FloatArray  # (m, d), times V
    weight: FloatArray  # (n,)
    partner: IntArray  # (n,)

    def squares_of_pairs(self) -> FloatArray:
        """Give the squared distance of each pair under the map of the others."""
        partners = self.b[self.partner]
        inner = (self.a * partners).sum(axis=1) + (self._without_row(partners) * partners).sum(axis=1)
        return self._combine((self.a**2).sum(axis=1), (partners**2).sum(axis=1), inner)

    def squares(self) -> FloatArray:
        """Give the squared distances of all points, each under the map without the pairs of both."""
        partners = self.b[self.partner]
        left = np.hstack([self.a, self._without_row(partners)])
        right = np.hstack([self.b + self._without_column(partners), self.b])
        squares = self._combine((self.a**2).sum(axis=1)[:, None], (self.b**2).sum(axis=1), left @ right.T)
        rows = np.arange(len(self.a))
        squares[rows, self.partner] = self.squares_of_pairs()
        return squares

    def _combine(self, a_squares: FloatArray, b_squares: FloatArray, inner: FloatArray) -> FloatArray:
        scale = self.turn.scale
        squares = inner
        squares *= -2.0 * scale
        squares += a_squares
        squares += scale * scale * b_squares
        return np.maximum(squares, FLOOR, out=squares)

    def _inverse_sums(self) -> FloatArray:
        sizes = self.singular[1]
        sums = np.add.outer(sizes, sizes)
        return np.where(sums > _LEAST * sizes[0], 1.0 / np.where(sums > 0.0, sums, 1.0), 0.0)

    def _without_row(self, partners: FloatArray) -> FloatArray:
        """Give what is added to each row when its pair is left out."""
        inverse = self._inverse_sums()
        a = self.a
        return self.weight[:, None] * (((a * partners) @ inverse) * a - ((a * a) @ inverse) * partners)

    def _without_column(self, partners: FloatArray) -> FloatArray:
        """Give the same for each point of b; nothing for those without a partner."""
        inverse = self._inverse_sums()
        a, b = self.a, partners
        change = np.zeros_like(self.b)
        change[self.partner] = self.weight[:, None] * (((b * a) @ inverse) * b - ((b * b) @ inverse) * a)
        return change


def fit_pairs(
    a: FloatArray, b: FloatArray, partner: IntArray, weight: FloatArray, rules: Rules, flip: int | None = None
) -> Fit:
    """Fit the similarity of pairs that have weights; with one singular direction reversed, if asked."""
    share = weight / weight.sum()
    partners = b[partner]
    a_mean, b_mean = share @ a, share @ partners
    a_part, b_part = a - a_mean, partners - b_mean
    # In the units of the weights, so that a pair is left out as it came in.
    left, sizes, right = np.linalg.svd((a_part * share[:, None]).T @ b_part)
    sizes = sizes.copy()
    if flip is not None:
        left[:, flip] *= -1.0
        sizes[flip] *= -1.0
    if not rules.mirror and np.linalg.slogdet(left @ right)[0] < 0.0:
        last = int(np.argmin(np.abs(sizes)))
        left[:, last] *= -1.0
        sizes[last] *= -1.0
    rotation = left @ right
    scale = rules.scale
    if scale is None:
        spread = float(share @ (b_part**2).sum(axis=1))
        scale = math.sqrt(float(share @ (a_part**2).sum(axis=1)) / spread) if spread > 0.0 else 1.0
        scale = scale if 0.0 < scale < math.inf else 1.0
    turn = Turn(rotation, scale, a_mean - scale * (rotation @ b_mean))
    a_turned, b_turned = (a - a_mean) @ left, (b - b_mean) @ right.T
    return Fit(turn, (left, sizes, right), a_turned, b_turned, share, partner)


def squares_under(turn: Turn, a: FloatArray, b: FloatArray) -> FloatArray:
    """Give all squared distances under a map, with no pair left out."""
    mapped = turn.apply(b)
    squares = (a @ mapped.T) * -2.0
    squares += (a**2).sum(axis=1)[:, None]
    squares += (mapped**2).sum(axis=1)
    return np.maximum(squares, FLOOR, out=squares)
