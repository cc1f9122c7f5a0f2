"""Exact tail probabilities of sums of weighted non-central chi-squares, down to the smallest.

P(Q > x) is an integral of exp(K(s) - s x) / s over a vertical line in the plane of complex s, where K is the
logarithm of the moment generating function (Imhof's formula is the line through 0). On the line through
the saddle point of the integrand its size is that of the probability itself, so that a probability of 1e-12
comes out with as many digits as one of a half. The trapezoidal rule converges exponentially there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from lslmatch._types import FloatArray


class QuadraticForm(NamedTuple):
    """Q = sum_j weights[j] * chi-square of freedom[j] degrees and noncentrality[j], all independent."""

    weights: FloatArray
    """Of either sign, none of them 0."""
    freedom: FloatArray
    noncentrality: FloatArray

    @property
    def mean(self) -> float:
        """The expectation."""
        return float((self.weights * (self.freedom + self.noncentrality)).sum())

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(2 * float((self.weights**2 * (self.freedom + 2 * self.noncentrality)).sum()))

    def minus(self, other: QuadraticForm, factor: float) -> QuadraticForm:
        """Give the form of Q - factor * Q', for an independent Q'."""
        weights = np.concatenate([self.weights, -factor * other.weights])
        freedom = np.concatenate([self.freedom, other.freedom])
        return QuadraticForm(weights, freedom, np.concatenate([self.noncentrality, other.noncentrality]))

    def above(self, x: float) -> float:
        """Give P(Q > x).

        Examples
        --------
        >>> four = np.full(2, 4.0)
        >>> round(QuadraticForm(np.ones(2), four, four).above(9.0), 6)
        0.851669
        >>> round(QuadraticForm(np.array([1.0, -1.0]), four, four).above(0.0), 6)
        0.5
        """
        if np.ptp(self.weights) == 0:  # one chi-square
            weight, freedom = float(self.weights[0]), float(self.freedom.sum())
            shift = float(self.noncentrality.sum())
            law = ncx2(freedom, shift) if shift > 0 else chi2(freedom)
            return float(law.sf(x / weight) if weight > 0 else law.cdf(x / weight))
        if x < self.mean:
            return 1.0 - self._tail(x, below=True)
        return self._tail(x, below=False)

    def below(self, x: float) -> float:
        """Give P(Q < x), with as many digits if it is small."""
        return self._replace(weights=-self.weights).above(-x)

    def _tail(self, x: float, *, below: bool) -> float:
        form = self._replace(weights=-self.weights) if below else self
        return _upper_tail(form, -x if below else x)


def centred_sum_of_squares(mu: FloatArray, noise: FloatArray) -> QuadraticForm:
    """Give the law of sum_i ||Z_i||^2, for centred features mu (n, d) and noise levels (n,).

    Z = mu + P D xi with P the centring and D the noise levels, so the weights are the squared singular
    values of P D, each with d degrees of freedom.
    """
    n, d = mu.shape
    centring = np.eye(n) - 1.0 / n
    left, values, _ = np.linalg.svd(centring * noise)
    kept = slice(0, n - 1)  # the last singular value is that of the constant vector, 0
    weights = values[kept] ** 2
    return QuadraticForm(
        weights, np.full(n - 1, float(d)), ((left[:, kept].T @ mu) ** 2).sum(axis=1) / weights
    )


def _upper_tail(form: QuadraticForm, x: float) -> float:
    """Give P(Q > x) for an x of at least the mean."""
    weights, freedom, shift = form
    if weights.max() <= 0 <= x:
        return 0.0
    pole = 0.5 / float(weights.max()) if weights.max() > 0 else math.inf

    def slope(s: float) -> float:
        rest = 1 - 2 * weights * s
        return float((weights * freedom / rest + weights * shift / rest**2).sum()) - x

    saddle = 0.0
    if slope(0.0) < 0:
        end = 1 / form.deviation
        while end < pole and slope(end) < 0:
            end *= 2
        end = min(end, pole * (1 - 1e-12))
        saddle = float(brentq(slope, 0.0, end, xtol=1e-9 * end, rtol=1e-9))  # any line near it will do
    line = min(max(saddle, 0.25 / form.deviation), 0.5 * (saddle + pole))

    def log_integrand(t: FloatArray) -> np.ndarray:
        s = line + 1j * t[:, None]
        rest = 1 - 2 * weights * s
        k = (-0.5 * freedom * np.log(rest) + shift * weights * s / rest).sum(axis=1)
        return np.asarray(k - s[:, 0] * x - np.log(s[:, 0]))

    peak = float(log_integrand(np.zeros(1))[0].real)
    # The width of the integrand on the line, from the curvature there.
    rest = 1 - 2 * weights * line
    curvature = float((2 * weights**2 * freedom / rest**2 + 4 * weights**2 * shift / rest**3).sum())
    step, total, start = 0.05 / math.sqrt(curvature), 0.0, 0
    step = min(step, 0.05 * line)
    while True:
        t = step * np.arange(start, start + 4096, dtype=np.float64)
        values = np.exp(log_integrand(t) - peak)
        if start == 0:
            values[0] *= 0.5
        total += float(values.real.sum())
        start += 4096
        if abs(values[-1]) < 1e-13 or start >= 4096 * 600:
            return math.exp(peak) * total * step / math.pi
