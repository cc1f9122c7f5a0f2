"""The right-hand sides themselves: what lslmatch.theory evaluates is what the paper prints, retyped here.

A bound that is far from sharp would pass its simulation even if it were mistyped; this claim is what notices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lslmatch import theory
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.statistics.binomial import decide_events

_TOLERANCE = 1e-9

Pair = tuple[float, float]


def _lemma_1(rng: np.random.Generator) -> list[Pair]:
    a, x = rng.random(int(rng.integers(1, 9))), float(rng.exponential(3)) + 1e-3
    found = theory.chi_square_deviation_bounds(a, x)
    spread = 2 * math.sqrt(sum(a**2)) * math.sqrt(x)
    return [(found.upper, spread + 2 * max(a) * x), (found.lower, -spread)]


def _lemma_2(rng: np.random.Generator) -> list[Pair]:
    a, sigma, x = rng.standard_normal((5, 3)), rng.random(5) + 0.1, float(rng.random()) + 0.1
    variance = sum(s**2 * sum(v**2) for s, v in zip(sigma, a, strict=True))
    return [(theory.gaussian_tail(x, a, sigma), 2 * math.exp(-(x**2) / (2 * variance)))]


def _lemma_3(rng: np.random.Generator) -> list[Pair]:
    n, _, epsilon, delta = _numbers(rng)
    paper = math.sqrt(2 * math.log(12 * n**3 / delta)) + 2 * epsilon / n * math.sqrt(math.log(8 * n / delta))
    return [(theory.linear_supremum_bound(n, epsilon, delta), paper)]


def _lemma_4(rng: np.random.Generator) -> list[Pair]:
    n, d, epsilon, delta = _numbers(rng)
    net, norms = math.log(12 * n**3 / delta), math.log(4 * n / delta)
    paper = 2 * math.sqrt(d * net) + 2 * net + 4 * epsilon / n * (d + 2 * math.sqrt(d * norms) + 2 * norms)
    return [(theory.quadratic_supremum_bound(n, d, epsilon, delta), paper)]


def _proposition_1(rng: np.random.Generator) -> list[Pair]:
    n, d, _, delta = _numbers(rng)
    features, sigma = 3 * rng.standard_normal((n, d)), rng.random(n) + 0.1
    mu, log = features - features.mean(axis=0), math.log(2 / delta)
    norm = math.sqrt((mu**2).sum())
    spread = 2 * max(sigma) * norm * math.sqrt(2 * log) + 2 * math.sqrt(sum(sigma**4)) * math.sqrt(d * log)
    upper, lower = spread + 2 * max(sigma) ** 2 * log, -spread - d / n * sum(sigma**2)
    centre, mean = norm**2 + d * sum(sigma**2), norm**2 + d * (n - 1) / n * sum(sigma**2)
    plain, around = (
        theory.sum_of_squares_bounds(features, sigma, delta),
        theory.frobenius_bounds(features, sigma, delta),
    )
    return [
        (plain.upper - centre, upper),
        (plain.lower - centre, lower),
        (around.upper - mean, upper),
        (around.lower - mean, lower),
        (theory.expected_sum_of_squares(features, sigma), mean),
    ]


def _theorem_1(rng: np.random.Generator) -> list[Pair]:
    n, d, _, delta = _numbers(rng)
    alpha, distortion = float(rng.uniform(n**-0.5, 1)), float(rng.exponential(5))
    part = alpha**2 * math.log(4 / delta) / (distortion**2 + d)
    paper = 12 * math.sqrt(part) + 2 * part + 2 * d / (n * (distortion**2 + d))
    found = theory.scale_error_bound(n, d, relative_noise=alpha, distortion=distortion, delta=delta)
    smallest = theory.scale_error_smallest_delta(d, relative_noise=alpha)
    return [(found, paper), (smallest, 4 * math.exp(-d / (224 * alpha**2)))]


def _theorem_2(rng: np.random.Generator) -> list[Pair]:
    n, d, _, delta = _numbers(rng)
    rho, alpha = 1 + float(rng.exponential(20)), float(rng.uniform(n**-0.5, 1))
    paper = 5 * (d * math.log(12 * n**3 / delta)) ** 0.25 + 17 * math.sqrt(math.log(24 * n**3 / delta))
    paper += 52 * math.sqrt(rho * math.log(4 / delta))
    smallest = theory.recovery_smallest_delta(d, relative_noise=alpha)
    return [
        (theory.recovery_threshold(n, d, noise_ratio=rho, delta=delta), paper),
        (smallest, 4 * math.exp(-d / (1024 * alpha**2))),
    ]


def _theorem_1_sharp(rng: np.random.Generator) -> list[Pair]:
    n, d, _, delta = _numbers(rng)
    alpha, distortion = float(rng.uniform(n**-0.5, 1)) / 10, float(rng.exponential(5))
    log = math.log(2 / delta)
    deviation = 2 * alpha * (math.sqrt(2) * distortion + math.sqrt(d)) * math.sqrt(log)
    below = distortion**2 + d * (1 - 1 / n) - deviation
    proven = (2 * deviation + 2 * alpha**2 * log) / below if below > 0 else math.inf
    found = theory.scale_error_bound(
        n, d, relative_noise=alpha, distortion=distortion, delta=delta, constants="sharp"
    )
    return [(found, proven)] if math.isfinite(proven) else [(1 / found, 1e-300)]


def _theorem_2_sharp(rng: np.random.Generator) -> list[Pair]:
    n, d, _, delta = _numbers(rng)
    rho = 1 + float(rng.exponential(20))
    proven = 4.68 * (d * math.log(12 * n**3 / delta)) ** 0.25
    proven += 16.2 * math.sqrt(math.log(24 * n**3 / delta)) + 47.52 * math.sqrt(rho * math.log(4 / delta))
    return [(theory.recovery_threshold(n, d, noise_ratio=rho, delta=delta, constants="sharp"), proven)]


_STATEMENTS: dict[str, Callable[[np.random.Generator], list[Pair]]] = {
    "Lemma 1": _lemma_1,
    "Lemma 2": _lemma_2,
    "Lemma 3": _lemma_3,
    "Lemma 4": _lemma_4,
    "Proposition 1": _proposition_1,
    "Theorem 1": _theorem_1,
    "Theorem 2": _theorem_2,
    "Theorem 1, sharp constants": _theorem_1_sharp,
    "Theorem 2, sharp constants": _theorem_2_sharp,
}


def setup(parameters: Parameters, rng: np.random.Generator) -> Any:
    """Find the statement."""
    return _STATEMENTS[parameters["statement"]]


def trial(statement: Any, rng: np.random.Generator) -> Values:
    """Compare library and paper at one random point."""
    pairs = statement(rng)
    tenths = [(found / 10, paper) for found, paper in pairs]
    return {"library differs": _differ(pairs), "a tenth of it differs": _differ(tenths)}


def _differ(pairs: list[Pair]) -> bool:
    return max(abs(found - paper) / abs(paper) for found, paper in pairs) > _TOLERANCE


def _numbers(rng: np.random.Generator) -> tuple[int, int, float, float]:
    n, d = int(rng.integers(8, 60)), int(rng.integers(1, 60))
    return n, d, float(rng.uniform(0.01, 0.49)), float(rng.uniform(1e-4, 0.99))


CLAIMS = (
    Claim(
        id="right-hand-sides",
        kind="audit",
        source="all statements",
        statement="The bounds that this library evaluates, and that the simulations compare with, "
        "are those printed in "
        "the paper, and with sharp constants those that its proofs give.",
        formula="lslmatch.theory = the paper's formula, at random points, to a relative 1e-9",
        cells=tuple(
            Cell(name, {"statement": name}, allowed=0.0, trials=(40, 400, 4000)) for name in _STATEMENTS
        ),
        conditions=(Condition("a statement of the paper", lambda p: p["statement"] in _STATEMENTS),),
        setup=setup,
        trial=trial,
        column="library differs",
        decide=decide_events,
        controls=(Control("a tenth of each bound", "a tenth of it differs"),),
        picture="bars",
        axes=("", "share of differences"),
        batch=400,
        remark="A loose bound would pass its simulation even if a constant were mistyped; this is "
        "what notices.",
    ),
)
