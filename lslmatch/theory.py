"""The paper's quantities and the right-hand side of each of its statements.

The features theta_i (n vectors in R^d) and the noise magnitudes sigma_i > 0 are those of the first
set, and Z_i is its i-th observation minus their mean. Every kappa, mu and s below belongs to Z.
A bound is the bare formula: it can be evaluated outside the conditions of its statement, which
its docstring gives. Wherever features and noise come together, one number of noise stands for n.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lslmatch._types import FloatArray
from lslmatch._validation import (
    check_at_least,
    check_between,
    check_count,
    check_option,
    check_points,
    check_positive,
    check_positive_vector,
    check_probability,
    check_weights,
)

#: A sum of squares above this has lost nothing that matters to underflow.
_SAFE_SQUARE = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


#: The constants of Theorem 2, the paper's and those that its proof gives.
_CONSTANTS = {"paper": (5.0, 17.0, 52.0), "sharp": (4.68, 16.2, 47.52)}


class Bounds(NamedTuple):
    """A lower and an upper bound; the stated probability is that of each, not of both at once."""

    lower: float
    """The statistic falls below it with at most the stated probability."""
    upper: float
    """The statistic rises above it with at most the stated probability."""


def separation(features: ArrayLike, noise: ArrayLike) -> float:
    """Give kappa(Z) of Definition 1, the least ||theta_i - theta_j|| / sqrt(s_i^2 + s_j^2) over i != j.

    `features` is (n, d), `noise` is (n,). Exact differences, one row against the rest at a time:
    O(n d) memory and no cancellation under a large common offset. Coincident features give 0.

    Examples
    --------
    >>> separation([[0.0, 0.0], [3.0, 4.0]], 1.0)
    5.0
    """
    features, noise = _check_model(features, noise)
    unit, noise_unit = _power_of_two(features), _power_of_two(noise)  # so that no square overflows
    features, variance = features / unit, _centred_variances(noise / noise_unit)
    smallest = math.inf
    for i in range(len(features) - 1):
        difference, summed = features[i + 1 :] - features[i], variance[i + 1 :] + variance[i]
        squared = np.einsum("ij,ij->i", difference, difference)
        if squared.min() > _SAFE_SQUARE:
            nearest = math.sqrt((squared / summed).min())
        else:  # a distance so small that its square underflows
            nearest = float((np.hypot.reduce(difference, axis=1) / np.sqrt(summed)).min())
        smallest = min(smallest, nearest)
    return smallest * (unit / noise_unit)


def centred_moments(features: ArrayLike, noise: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Give (mu, s) of section 3.1: Z_i is N(mu_i, s_i^2 I_d).

    mu_i = theta_i - mean(theta), of shape (n, d), and s_i^2 = (n-2)/n sigma_i^2 + ||sigma||^2 / n^2,
    of shape (n,), from `features` (n, d) and `noise` (n,).

    Examples
    --------
    >>> mu, s = centred_moments([[1.0], [3.0]], [3.0, 4.0])
    >>> mu.ravel(), s
    (array([-1.,  1.]), array([2.5, 2.5]))
    """
    features, noise = _check_model(features, noise)
    mu = features - (features / len(features)).sum(axis=0)
    mu -= mu.mean(axis=0)  # the second pass removes the rounding of a large common offset
    unit = _power_of_two(noise)
    return mu, unit * np.sqrt(_centred_variances(noise / unit))


def noise_ratio(noise: ArrayLike) -> float:
    """Give rho_sigma of Theorem 2, the largest sigma_j^2 / sigma_i^2 of `noise` (n,).

    Examples
    --------
    >>> noise_ratio([1.0, 3.0, 2.0])
    9.0
    """
    noise = check_positive_vector(noise, "noise")
    ratio = float(noise.max()) / float(noise.min())
    return ratio * ratio


def relative_noise(noise: ArrayLike) -> float:
    """Give alpha_sigma of Theorem 1, sigma_max / ||sigma||, between n^(-1/2) and 1, of `noise` (n,).

    Examples
    --------
    >>> relative_noise([1.0, 1.0, 1.0, 1.0])
    0.5
    """
    noise = check_positive_vector(noise, "noise")
    return float(noise.max() / _norm(noise))


def distortion_to_noise(features: ArrayLike, noise: ArrayLike) -> float:
    """Give lambda of Theorem 1, ||mu|| / ||sigma||, from `features` (n, d) and `noise` (n,).

    Examples
    --------
    >>> distortion_to_noise([[1.0], [-1.0]], [0.5, 0.5])
    2.0
    """
    features, noise = _check_model(features, noise)
    return _norm(centred_moments(features, noise)[0]) / _norm(noise)


def obstruction(features: ArrayLike, noise: ArrayLike, scale_error: float) -> float:
    """Give obstr of section 5.2, eps_tau * max_i ||mu_i|| / s_i, for the relative error eps_tau of tau-hat.

    `features` is (n, d), `noise` is (n,), `scale_error` is eps_tau, observed or bounded.

    Examples
    --------
    >>> obstruction([[3.0, 4.0], [-3.0, -4.0]], [3.0, 4.0], 0.5)
    1.0
    """
    mu, s = centred_moments(features, noise)
    return check_at_least(scale_error, "scale_error", 0) * float((np.hypot.reduce(mu, axis=1) / s).max())


def noise_floor(n: int, d: int) -> float:
    """Give the noise floor nf of section 5.2, max of (d log n)^(1/4) and sqrt(log n).

    The order of the separation that suffices when tau is known. The paper's figures draw the first
    of the two alone, which is the larger one as soon as d >= log n.

    Examples
    --------
    >>> round(noise_floor(2500, 15), 3)
    3.291
    """
    n, d = check_count(n, "n", 2), check_count(d, "d", 1)
    return max(math.sqrt(math.sqrt(d * math.log(n))), math.sqrt(math.log(n)))


def expected_sum_of_squares(features: ArrayLike, noise: ArrayLike) -> float:
    """Give E sum_i ||Z_i||^2 = ||mu||^2 + d (n-1)/n ||sigma||^2 (after Proposition 1).

    `features` is (n, d), `noise` is (n,).

    Examples
    --------
    >>> expected_sum_of_squares([[1.0], [-1.0]], [1.0, 1.0])
    3.0
    """
    features, noise = _check_model(features, noise)
    n, d = features.shape
    mu, _ = centred_moments(features, noise)
    return float(np.vdot(mu, mu) + d * (n - 1) / n * np.vdot(noise, noise))


def sum_of_squares_bounds(features: ArrayLike, noise: ArrayLike, delta: float) -> Bounds:
    """Bound sum_i ||Z_i||^2 by Proposition 1: each bound holds with probability at least 1 - delta.

    The deviations are counted from ||mu||^2 + d ||sigma||^2. `features` is (n, d), `noise` is (n,).

    Examples
    --------
    >>> bounds = sum_of_squares_bounds([[1.0], [-1.0]], [1.0, 1.0], delta=0.1)
    >>> bounds.upper > expected_sum_of_squares([[1.0], [-1.0]], [1.0, 1.0]) > bounds.lower
    True
    """
    features, noise = _check_model(features, noise)
    mu, _ = centred_moments(features, noise)
    centre = float(np.vdot(mu, mu) + features.shape[1] * np.vdot(noise, noise))
    lower, upper = _sum_of_squares_deviations(mu, noise, check_probability(delta, "delta"))
    return Bounds(centre + lower, centre + upper)


def frobenius_bounds(features: ArrayLike, noise: ArrayLike, delta: float) -> Bounds:
    """Bound ||Z||_F^2 = sum_i ||Z_i||^2 by the deviations of Proposition 1 from its expectation.

    As the paper states it after the proposition: both bounds are lower than those of
    :func:`sum_of_squares_bounds` by (d/n) ||sigma||^2, and each holds with probability at least
    1 - delta. `features` is (n, d), `noise` is (n,).

    Examples
    --------
    >>> around_mean = frobenius_bounds([[1.0], [-1.0]], [1.0, 1.0], delta=0.1)
    >>> round(sum_of_squares_bounds([[1.0], [-1.0]], [1.0, 1.0], delta=0.1).upper - around_mean.upper, 9)
    1.0
    """
    features, noise = _check_model(features, noise)
    mean = expected_sum_of_squares(features, noise)
    mu, _ = centred_moments(features, noise)
    lower, upper = _sum_of_squares_deviations(mu, noise, check_probability(delta, "delta"))
    return Bounds(mean + lower, mean + upper)


def scale_error_bound(
    n: int,
    d: int,
    *,
    relative_noise: float,
    distortion: float,
    delta: float,
    constants: Literal["paper", "sharp"] = "paper",
) -> float:
    """Bound ``|tau-hat^2 / tau^2 - 1|`` by the three terms of Theorem 1, or by what its proof gives.

    The bound holds with probability at least 1 - 4 delta.
    `relative_noise` is alpha_sigma, `distortion` is lambda. The theorem asks for n >= 8 and for a
    `delta` of at least :func:`scale_error_smallest_delta`.

    With ``constants="sharp"`` it is the quotient from which the proof derives the three terms, with both sums
    centred at their mean and log(2/delta): (2 c + 2 alpha^2 L) / (lambda^2 + d (1 - 1/n) - c) with
    c = 2 alpha (sqrt(2) lambda + sqrt(d)) sqrt(L). It needs no condition, and is infinite where the
    denominator is not positive.

    Examples
    --------
    >>> round(scale_error_bound(100, 20, relative_noise=0.1, distortion=10.0, delta=0.05), 4)
    0.2334
    >>> options = {"relative_noise": 0.1, "distortion": 10.0, "delta": 0.05}
    >>> round(scale_error_bound(100, 20, **options, constants="sharp"), 4)
    0.1276
    """
    n, d = check_count(n, "n", 2), check_count(d, "d", 1)
    alpha = check_positive(relative_noise, "relative_noise")
    if check_option(constants, "constants", tuple(_CONSTANTS)) == "sharp":
        ratio = check_at_least(distortion, "distortion", 0)
        return _scale_error_quotient(n, d, alpha, ratio, math.log(2 / check_probability(delta, "delta")))
    root = math.hypot(check_at_least(distortion, "distortion", 0), math.sqrt(d))  # sqrt(lambda^2 + d)
    log = math.log(4 / check_probability(delta, "delta"))
    small, large = alpha * math.sqrt(log) / root, math.sqrt(d) / root
    return 12 * small + 2 * small * small + 2 / n * large * large


def scale_error_smallest_delta(d: int, *, relative_noise: float) -> float:
    """Give the smallest delta that Theorem 1 allows, 4 exp(-d / (224 alpha_sigma^2)); at 1 or more, none is.

    Examples
    --------
    >>> round(scale_error_smallest_delta(10, relative_noise=0.1), 4)
    0.0461
    """
    return _smallest_delta(d, relative_noise, 224)


def column_scale_error_bounds(
    n: int,
    *,
    relative_noise: ArrayLike,
    distortion: ArrayLike,
    delta: float,
    constants: Literal["paper", "sharp"] = "paper",
) -> FloatArray:
    """Bound ``|a-hat_k^2 / a_k^2 - 1|`` for all columns at once, each with a scale a_k of its own.

    A column is data of the paper's model with d = 1; Theorem 1 holds for each with probability at least
    1 - 4 delta / d, and so for all d of them with probability at least 1 - 4 delta, however columns and their
    noise depend on each other.
    `relative_noise` and `distortion` are alpha_sigma and lambda of the columns, of shape (d,). The paper's
    constants ask for n >= 8 and for a `delta` of at least :func:`column_scale_smallest_delta`; with
    ``constants="sharp"`` no condition is needed (see :func:`scale_error_bound`).

    Examples
    --------
    >>> alpha, distortion = [2000**-0.5] * 3, [1.0, 10.0, 20.0]
    >>> options = {"relative_noise": alpha, "distortion": distortion, "delta": 0.05}
    >>> column_scale_error_bounds(2000, **options).round(3).tolist()
    [0.447, 0.063, 0.031]
    """
    alpha, ratio = (np.atleast_1d(np.asarray(values, float)) for values in (relative_noise, distortion))
    if alpha.ndim != 1 or alpha.shape != ratio.shape:
        raise ValueError(
            "relative_noise and distortion must have a number for each column; got shapes "
            f"{alpha.shape} and {ratio.shape}"
        )
    each = check_probability(delta, "delta") / alpha.size
    bounds = [
        scale_error_bound(n, 1, relative_noise=a, distortion=r, delta=each, constants=constants)
        for a, r in zip(alpha.tolist(), ratio.tolist(), strict=True)
    ]
    return np.array(bounds)


def column_scale_smallest_delta(relative_noise: ArrayLike) -> float:
    """Give the smallest delta that Theorem 1 allows for columns, of alpha_sigma of each; at 1 or more, none.

    It is ``4 d exp(-1 / (224 alpha^2))`` for the greatest alpha_sigma: with equal noise n must be a thousand.

    Examples
    --------
    >>> round(column_scale_smallest_delta([2000**-0.5] * 3), 4)
    0.0016
    """
    alpha = np.atleast_1d(np.asarray(relative_noise, float))
    return alpha.size * max(scale_error_smallest_delta(1, relative_noise=a) for a in alpha.tolist())


def recovery_threshold(
    n: int, d: int, *, noise_ratio: float, delta: float, constants: Literal["paper", "sharp"] = "paper"
) -> float:
    """Give the separation kappa(Z) from which Theorem 2 recovers pi with probability at least 1 - 4 delta.

    `noise_ratio` is rho_sigma. The theorem asks for n >= 8, n >= d and for a `delta` of at least
    :func:`recovery_smallest_delta`.

    With ``constants="sharp"`` its constants 5, 17 and 52 become 4.68, 16.2 and 47.52, which its proof gives
    under the same conditions (steps ``sharp-5``, ``sharp-17`` and ``sharp-52`` of the proof audit).

    Examples
    --------
    >>> round(recovery_threshold(100, 60, noise_ratio=1.0, delta=0.05), 1)
    214.0
    >>> round(recovery_threshold(100, 60, noise_ratio=1.0, delta=0.05, constants="sharp"), 1)
    199.2
    """
    n, d = check_count(n, "n", 2), check_count(d, "d", 1)
    rho = check_at_least(noise_ratio, "noise_ratio", 1)
    delta = check_probability(delta, "delta")
    five, seventeen, fifty_two = _CONSTANTS[check_option(constants, "constants", tuple(_CONSTANTS))]
    chi_square = five * math.sqrt(math.sqrt(d * _log_ratio(12, n, 3, delta)))
    gaussian = seventeen * math.sqrt(_log_ratio(24, n, 3, delta))
    return chi_square + gaussian + fifty_two * math.sqrt(rho * math.log(4 / delta))


def recovery_smallest_delta(d: int, *, relative_noise: float) -> float:
    """Give the smallest delta that Theorem 2 allows, 4 exp(-d / (1024 alpha_sigma^2)); at 1 or more, none is.

    Examples
    --------
    >>> round(recovery_smallest_delta(60, relative_noise=0.1), 4)
    0.0114
    """
    return _smallest_delta(d, relative_noise, 1024)


def chi_square_deviation_bounds(weights: ArrayLike, x: float) -> Bounds:
    """Bound T = sum_i a_i (Y_i^2 - 1), Y_i i.i.d. N(0, 1), by Lemma 1 (Laurent and Massart).

    T passes each bound with probability at most exp(-x). `weights` (n,) are the a_i >= 0, and x > 0.

    Examples
    --------
    >>> chi_square_deviation_bounds([3.0, 4.0], 1.0)
    Bounds(lower=-10.0, upper=18.0)
    """
    weights, x = check_weights(weights, "weights"), check_positive(x, "x")
    spread = 2 * _norm(weights) * math.sqrt(x)
    return Bounds(-spread, spread + 2 * float(weights.max()) * x)


def gaussian_tail(x: float, vectors: ArrayLike, noise: ArrayLike) -> float:
    """Bound ``P(|T| >= x)`` of T = sum_i a_i^T Y_i, Y_i independent N(0, sigma_i^2 I_d), by Lemma 2.

    2 exp(-x^2 / (2 sum_i sigma_i^2 ||a_i||^2)), which may pass 1. `vectors` (n, d) are the a_i,
    `noise` (n,) the sigma_i, and x > 0.

    Examples
    --------
    >>> round(gaussian_tail(10.0, [[3.0, 4.0], [0.0, 0.0]], 2.0), 4)
    1.2131
    """
    x = check_positive(x, "x")
    vectors, noise = _check_model(vectors, noise, "vectors")
    deviation = _norm(vectors * noise[:, None])
    ratio = x / deviation if deviation > 0 else math.inf
    return 2 * math.exp(-ratio * ratio / 2)


def linear_supremum_bound(n: int, epsilon: float, delta: float) -> float:
    """Bound Phi_1, the largest ``|u_ij^T (eta_i - a eta'_j)| / sqrt(w_i^2 + a^2 w_j^2)``, by Lemma 3.

    Over all n^2 pairs and all a within `epsilon` < 1/2 of 1, for fixed unit vectors u_ij, with
    probability at least 1 - delta.

    Examples
    --------
    >>> round(linear_supremum_bound(10, 0.25, 0.1), 3)
    4.966
    """
    n, epsilon = check_count(n, "n", 1), check_between(epsilon, "epsilon", 0, 0.5)
    delta = check_probability(delta, "delta")
    at_net = math.sqrt(2 * _log_ratio(12, n, 3, delta))
    return at_net + 2 * epsilon / n * math.sqrt(_log_ratio(8, n, 1, delta))


def quadratic_supremum_bound(n: int, d: int, epsilon: float, delta: float) -> float:
    """Bound Phi_2, the largest ``| ||eta_i - a eta'_j||^2 / (w_i^2 + a^2 w_j^2) - d |``, by Lemma 4.

    Over all n^2 pairs and all a within `epsilon` < 1/2 of 1, with probability at least 1 - delta.

    Examples
    --------
    >>> round(quadratic_supremum_bound(10, 5, 0.25, 0.1), 2)
    41.48
    """
    n, d = check_count(n, "n", 1), check_count(d, "d", 1)
    epsilon, delta = check_between(epsilon, "epsilon", 0, 0.5), check_probability(delta, "delta")
    net, norms = _log_ratio(12, n, 3, delta), _log_ratio(4, n, 1, delta)
    at_net = 2 * math.sqrt(d * net) + 2 * net
    return at_net + 4 * epsilon / n * (d + 2 * math.sqrt(d * norms) + 2 * norms)


def _check_model(
    features: ArrayLike, noise: ArrayLike, name: str = "features"
) -> tuple[FloatArray, FloatArray]:
    points = check_points(features, name)
    return points, check_positive_vector(noise, "noise", len(points))


def _centred_variances(noise: FloatArray) -> FloatArray:
    """Give the s_i^2 of noise that has no range to overflow."""
    n, variances = len(noise), noise**2
    centred: FloatArray = (n - 2) / n * variances + variances.sum() / n**2
    return centred


def _power_of_two(values: FloatArray) -> float:
    """Give a unit in which the largest magnitude is between 1 and 2, and division by which is exact."""
    _, exponent = math.frexp(float(np.abs(values).max()))
    return math.ldexp(1.0, exponent - 1)


def _norm(values: FloatArray) -> float:
    unit = _power_of_two(values)
    return unit * float(np.linalg.norm(values / unit))


def _sum_of_squares_deviations(mu: FloatArray, noise: FloatArray, delta: float) -> Bounds:
    """Give r_lb and r_ub, the right-hand sides of Proposition 1."""
    n, d = mu.shape
    log, largest = math.log(2 / delta), float(noise.max())
    spread = 2 * largest * _norm(mu) * math.sqrt(2 * log)
    spread += 2 * float(np.sqrt((noise**4).sum())) * math.sqrt(d * log)
    return Bounds(-spread - d / n * float(np.vdot(noise, noise)), spread + 2 * largest * largest * log)


def _scale_error_quotient(n: int, d: int, alpha: float, distortion: float, log: float) -> float:
    """Give the bound on the difference of both sums over that on the second one, all over lambda^2 + d."""
    root = math.hypot(distortion, math.sqrt(d))
    small, mean, noise = alpha * math.sqrt(log) / root, distortion / root, math.sqrt(d) / root
    cross = 2 * small * (math.sqrt(2) * mean + noise)
    denominator = 1 - noise * noise / n - cross
    return (2 * cross + 2 * small * small) / denominator if denominator > 0 else math.inf


def _smallest_delta(d: int, relative_noise: float, constant: float) -> float:
    alpha = check_positive(relative_noise, "relative_noise")
    return 4 * math.exp(-check_count(d, "d", 1) / constant / alpha / alpha)


def _log_ratio(constant: float, n: int, power: int, delta: float) -> float:
    """Give log(constant * n^power / delta), which has no range to overflow."""
    return math.log(constant) + power * math.log(n) - math.log(delta)
