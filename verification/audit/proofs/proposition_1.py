"""The proof of Proposition 1, reduced term by term."""

from __future__ import annotations

from functools import reduce
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof

_ANY = (None, None)
_POSITIVE = (0, None)


def _power_sum(values: list[Any], power: int) -> Any:
    return sum(value**power for value in values)


def _centred_variance() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        direct = u.own * (1 - 1 / u.n) ** 2 + (u.total - u.own) / u.n**2
        return direct - ((u.n - 2) / u.n * u.own + u.total / u.n**2)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        total = _power_sum(p.sigma, 2)
        return -abs(g[0]) / ((p.n - 2) / p.n * p.sigma[0] ** 2 + total / p.n**2)

    return Proof(
        {"n": (1, None), "own": _ANY, "total": _ANY},
        lambda m, p: {"n": p.n, "own": p.sigma[0] ** 2, "total": _power_sum(p.sigma, 2)},
        (Goal(difference, "zero"),),
        slack,
        "Both sides depend on n, sigma_i^2 and the sum of all sigma_k^2 alone.",
    )


def _cross_term() -> Proof:
    def terms(p: Any) -> tuple[list[Any], Any, Any]:
        noise = [s * x for s, x in zip(p.sigma, p.xi, strict=True)]
        mean = sum(noise) / p.n
        scale = sum(abs(a * b) for a, b in zip(p.mu, noise, strict=True)) + abs(mean)
        return noise, mean, scale

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        noise, mean, _ = terms(p)
        return {"mu": p.mu, "noise": noise, "mean": [mean] * len(noise)}

    def difference(m: Arithmetic, u: Any) -> Any:
        return u.mu * (u.noise - u.mean) - (u.mu * u.noise - u.mean * u.mu)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        _, mean, scale = terms(p)
        return -abs(sum(g[0]) - mean * sum(p.mu)) / scale

    return Proof(
        {"mu": _ANY, "noise": _ANY, "mean": _ANY},
        coordinates,
        (Goal(difference, "zero"),),
        slack,
        "Term by term mu_i (x_i - mean) = mu_i x_i - mean mu_i, and the mu_i sum to zero.",
    )


def _largest_times(term: Any) -> Proof:
    """Bound a weighted sum of sigma_i^2 by sigma_max^2, term by term."""

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        largest = reduce(m.maximum, p.sigma)
        return {
            "sigma": p.sigma,
            "below": [largest - s for s in p.sigma],
            "weight": [term(p, k) for k in range(len(p.sigma))],
        }

    def gap(m: Arithmetic, u: Any) -> Any:
        return ((u.sigma + u.below) ** 2 - u.sigma**2) * u.weight

    return Proof(
        {"sigma": _POSITIVE, "below": _POSITIVE, "weight": _POSITIVE},
        coordinates,
        (Goal(gap),),
        lambda m, p, g: (
            sum(g[0]) / sum(reduce(m.maximum, p.sigma) ** 2 * term(p, k) for k in range(len(p.sigma)))
        ),
        "Term by term, for every n: sigma_i <= sigma_max.",
    )


def linear_variance() -> Proof:
    """Sum sigma_i^2 ||mu_i||^2 <= sigma_max^2 ||mu||^2."""
    return _largest_times(lambda p, k: p.mu[k] ** 2)


def noise_norms() -> Proof:
    """||sigma||_4^4 <= sigma_max^2 ||sigma||_2^2, from which the step of Theorem 1 follows by a root."""
    proof = _largest_times(lambda p, k: p.sigma[k] ** 2)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        squares = [s**2 for s in p.sigma]
        right = reduce(m.maximum, squares) * sum(squares)
        left = right - sum(g[0])
        return sum(g[0]) / (m.sqrt(right) * (m.sqrt(right) + m.sqrt(m.maximum(left, 0))))

    return proof._replace(slack=slack)


def _trace() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        return u.sigma * u.sigma * (1 - 1 / u.n) - (u.n - 1) / u.n * u.sigma**2

    return Proof(
        {"sigma": _ANY, "n": (1, None)},
        lambda m, p: {"sigma": p.sigma, "n": [p.n] * len(p.sigma)},
        (Goal(difference, "zero"),),
        lambda m, p, g: -abs(sum(g[0])) / ((p.n - 1) / p.n * _power_sum(p.sigma, 2)),
        "Term by term, for every n: the diagonal entry is sigma_i^2 (1 - 1/n).",
    )


def _square_sums(m: Arithmetic, p: Any) -> dict[str, Any]:
    second, fourth = _power_sum(p.sigma, 2), _power_sum(p.sigma, 4)
    return {"n": p.n, "second": second, "fourth": fourth, "spread": p.n * fourth - second**2}


def _frobenius() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        entries = u.fourth * (1 - 1 / u.n) ** 2 + (u.second**2 - u.fourth) / u.n**2
        return entries - ((u.n - 2) / u.n * u.fourth + u.second**2 / u.n**2)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        fourth, second = _power_sum(p.sigma, 4), _power_sum(p.sigma, 2)
        return -abs(g[0]) / ((p.n - 2) / p.n * fourth + second**2 / p.n**2)

    return Proof(
        {"n": (1, None), "second": _ANY, "fourth": _ANY},
        _square_sums,
        (Goal(difference, "zero"),),
        slack,
        "For every n the squared entries sum to (1 - 1/n)^2 sum sigma_i^4 on the diagonal and to "
        "((sum sigma_i^2)^2 - sum sigma_i^4) / n^2 off it.",
    )


def _power_means() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        inside = [s**2 for k, s in enumerate(p.sigma) if k < p.n]
        pairs = [(a - b) ** 2 for k, a in enumerate(inside) for b in inside[:k]]
        return {"square": pairs}

    return Proof(
        {"square": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square),),
        lambda m, p, g: sum(g[0]) / (p.n * _power_sum(p.sigma, 4)),
        "For every n, n sum a_i^2 - (sum a_i)^2 is the sum of (a_i - a_j)^2 over all pairs, here a_i = "
        "sigma_i^2.",
    )


def _frobenius_bound() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        second_squared = u.n * u.fourth - u.spread
        return u.fourth - ((u.n - 2) / u.n * u.fourth + second_squared / u.n**2)

    return Proof(
        {"n": (1, None), "fourth": _POSITIVE, "spread": _POSITIVE},
        _square_sums,
        (Goal(goal),),
        lambda m, p, g: g[0] / _power_sum(p.sigma, 4),
        uses=("prop-1-frobenius", "prop-1-power-means"),
    )


def _operator_norm() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        largest = reduce(m.maximum, p.sigma)
        return {"sigma": p.sigma, "below": [largest - s for s in p.sigma], "x": p.x}

    def gap(m: Arithmetic, u: Any) -> Any:
        return ((u.sigma + u.below) ** 2 - u.sigma**2) * u.x**2

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        mean = sum(s * x for s, x in zip(p.sigma, p.x, strict=True))
        right = reduce(m.maximum, p.sigma) ** 2 * sum(x**2 for x in p.x)
        return (sum(g[0]) + mean**2 / p.n) / right

    return Proof(
        {"sigma": _POSITIVE, "below": _POSITIVE, "x": _POSITIVE},
        lambda m, p: {**coordinates(m, p), "x": [abs(x) for x in p.x]},
        (Goal(gap),),
        slack,
        "The norm is the largest x^T DPD x = sum sigma_i^2 x_i^2 - (sum sigma_i x_i)^2 / n over unit vectors "
        "x, "
        "for every n.",
    )


def _semidefinite() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        mean = sum(s * x for s, x in zip(p.sigma, p.x, strict=True)) / p.n
        entries = [s * x - mean for s, x in zip(p.sigma, p.x, strict=True)]
        inside = [entry**2 if k < p.n else entry * 0 for k, entry in enumerate(entries)]
        return {"square": inside}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return sum(g[0]) / (reduce(m.maximum, p.sigma) ** 2 * sum(x**2 for x in p.x))

    return Proof(
        {"square": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square),),
        slack,
        "x^T DPD x = ||P D x||^2, the sum of squares of the centred sigma_i x_i, for every n.",
    )


def _one_sided() -> Proof:
    return Proof(
        {"x": _POSITIVE, "t": _POSITIVE},
        lambda m, p: {"x": m.sqrt(m.log(2 / p.delta)), "t": p.delta},
        (Goal(lambda m, u: (u.x + u.t) ** 2 - u.x**2 - u.t**2),),
        lambda m, p, g: (g[0] * 0 + 1) / 2,
        "exp(x^2) erfc(x) is 2/sqrt(pi) times the integral over t > 0 of exp(x^2 - (x + t)^2), whose "
        "integrand is "
        "at most exp(-t^2); the integral of that is sqrt(pi)/2, so the tail is at most half of delta/2.",
        bound=True,
    )


PROOFS = {
    "prop-1-centred-variance": _centred_variance(),
    "prop-1-cross-term": _cross_term(),
    "prop-1-linear-variance": linear_variance(),
    "prop-1-trace": _trace(),
    "prop-1-frobenius": _frobenius(),
    "prop-1-power-means": _power_means(),
    "prop-1-frobenius-bound": _frobenius_bound(),
    "prop-1-operator-norm": _operator_norm(),
    "prop-1-semidefinite": _semidefinite(),
    "prop-1-one-sided-tail": _one_sided(),
}
