"""An independent check that a matching is optimal: plain NumPy, no code of the solver or of its costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._validation import check_affine, check_point_pair, check_positive
from lslmatch.results import FloatArray, MatchResult

#: Entries of the largest temporary array.
_BLOCK_ENTRIES = 1 << 21


def check_certificate(x: Any, y: Any, result: MatchResult, *, atol: float | None = None) -> float:
    """Measure how far a matching is from being proven optimal by its dual variables.

    Every one of the n * m costs is computed anew, by differences of coordinates and in blocks, and
    compared with the duals. This shares no code with the solver.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set that was matched.
    y : array_like of shape (m, d)
        The second set.
    result : MatchResult
        What :func:`match` returned for them.
    atol : float, optional
        If given, a larger violation raises an error.

    Returns
    -------
    float
        The largest violation: of ``row_dual[i] + col_dual[j] <= cost(i, j)`` over all pairs, of
        equality over the matched pairs, and, where one set is larger, of its duals being at most
        0, and 0 where unmatched. The matching costs at most ``2 * max(n, m)`` times this more than the
        optimum. In units of the cost: for "lsl", of the logarithm.

    Raises
    ------
    ValueError
        If the result has no certificate ("greedy"), does not fit `x` and `y`, is not a matching, or
        violates its certificate by more than `atol`.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import check_certificate, match
    >>> x = np.random.default_rng(1).normal(size=(50, 3))
    >>> check_certificate(x, 2.0 * x[::-1] + 1.0, match(x, 2.0 * x[::-1] + 1.0)) < 1e-9
    True
    """
    x, y = check_point_pair(x, y)
    n, m = x.shape[0], y.shape[0]
    if result.row_dual is None or result.col_dual is None:
        raise ValueError(
            f"result must carry dual variables; criterion {result.criterion!r} has no certificate"
        )
    permutation, u, v = (np.asarray(part) for part in (result.permutation, result.row_dual, result.col_dual))
    if permutation.shape != (n,) or u.shape != (n,) or v.shape != (m,):
        raise ValueError(
            f"result must fit x and y of {n} and {m} points; got shapes {permutation.shape}, {u.shape} and "
            f"{v.shape}"
        )
    rows = np.flatnonzero(permutation >= 0)
    partners = permutation[rows]
    if rows.size != min(n, m) or np.unique(partners).size != rows.size or partners.max() >= m:
        raise ValueError(f"result.permutation must match {min(n, m)} points of x to different points of y")

    larger, matched = (u, rows) if n > m else (v, partners)
    worst = 0.0
    if n != m:
        unmatched = np.setdiff1d(np.arange(larger.size), matched)
        worst = max(float(larger.max()), float(np.abs(larger[unmatched]).max()))
    costs = _Costs(x, y, result)
    step = max(1, _BLOCK_ENTRIES // (m * x.shape[1]))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        slack = costs.of(block) - u[block, None]
        slack -= v
        inside = rows[(rows >= block.start) & (rows < block.stop)]
        tightness = np.abs(slack[inside - start, permutation[inside]])
        # A NaN anywhere must surface as a violation: numpy's max keeps it, Python's would not.
        worst = float(np.max([worst, -slack.min(), tightness.max(initial=0.0)]))
    if atol is not None and not worst <= check_positive(atol, "atol"):
        raise ValueError(f"result violates its certificate by {worst:.3g}, more than atol = {atol:.3g}")
    return worst


class _Costs:
    """The costs of the pairs by their definition.

    Coordinates are divided by one power of two that keeps squares in range, and each is held as a
    double and the rest that the double could not hold, so that coincident points show their true
    distance and a large common offset costs no digits.
    """

    def __init__(self, x: FloatArray, y: FloatArray, result: MatchResult) -> None:
        scale, shift = check_affine((result.scale, result.shift), "result", x.shape[1])
        fraction, power = math.frexp(scale)
        extents = [(np.abs(x).max(), 0), (np.abs(y).max(), power), (np.abs(shift).max(), 0)]
        self.exponent = 2 + max((math.frexp(size)[1] + p for size, p in extents if size > 0), default=0)
        x, y, shift = (
            np.ldexp(points, -exponent)
            for points, exponent in ((x, self.exponent), (y, self.exponent - power), (shift, self.exponent))
        )
        # scale * y without error: the two halves of each factor have exact products.
        half, y_half = float(np.float32(fraction)), y.astype(np.float32).astype(np.float64)
        rest, y_rest = fraction - half, y - y_half
        offset = shift - x[0]
        products = [half * y_half, half * y_rest, rest * y_half, rest * y_rest]
        terms = [*products, offset, _rounding_error(shift, -x[0], offset)]
        self.x = x - x[0]
        self.x_rest = _rounding_error(x, -x[0], self.x)
        self.y, self.y_rest = np.zeros_like(y), np.zeros_like(y)
        for term in terms:
            total = self.y + term
            self.y_rest += _rounding_error(self.y, term, total)
            self.y = total
        # Beside a large common offset all this may be very small: choose the unit by what is left.
        rest = max(np.abs(self.x).max(), np.abs(self.y).max())
        shrunk = math.frexp(rest)[1] if rest > 0 else 0
        self.exponent += shrunk
        self.x, self.y, self.x_rest, self.y_rest = (
            np.ldexp(part, -shrunk) for part in (self.x, self.y, self.x_rest, self.y_rest)
        )
        self.criterion = result.criterion
        if self.criterion == "lsl":
            centre = self.x.mean(axis=0)
            spread = ((self.x - centre) ** 2).sum() + ((self.y - centre) ** 2).sum()
            self.floor = spread / (len(x) + len(y)) * 2.0**-104
        if result.noise is not None:
            self.x_variance = np.ldexp(result.noise[0], -self.exponent) ** 2
            self.y_variance = (fraction * np.ldexp(result.noise[1], power - self.exponent)) ** 2

    def of(self, block: slice) -> FloatArray:
        differences = self.x[block, None, :] - self.y
        differences += self.x_rest[block, None, :] - self.y_rest
        squares = np.einsum("ijk,ijk->ij", differences, differences)
        if self.criterion == "lsl" and self.floor == 0.0:
            return squares
        if self.criterion == "lsl":
            logarithms: FloatArray = np.log(np.maximum(squares, self.floor))
            return logarithms + 2 * self.exponent * math.log(2)
        if self.criterion == "lss":
            return np.ldexp(squares, 2 * self.exponent)
        return squares / (self.x_variance[block, None] + self.y_variance)


def _rounding_error(p: FloatArray, q: FloatArray, total: FloatArray) -> FloatArray:
    """Return what ``total = p + q`` lost in rounding."""
    back = total - p
    return (p - (total - back)) + (q - back)
