"""Witnesses of the steps that fail: exact fractions, certified to be allowed and to violate the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any, NamedTuple

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.intervals import INTERVALS, Interval
from verification.audit.search import Problem

#: A quantity, or the entries of a vector.
Exact = Any


class Witness(NamedTuple):
    """A point of a step's region at which the step fails."""

    point: Mapping[str, Exact]
    conditions: Callable[[Arithmetic, Any], list[Any]]
    """What must not be negative for the point to be allowed."""
    integers: tuple[str, ...] = ()
    """Quantities that must be integers."""


def doubts(
    problem: Problem,
    witness: Witness,
    arithmetic: Arithmetic = INTERVALS,
    enclose: Callable[[Any], Any] = Interval.exactly,
) -> list[str]:
    """Certify a witness and give what could not be certified; nothing if it refutes the step.

    The slack and the conditions are evaluated in enclosures: by default in those of the checker.
    """
    point = SimpleNamespace(
        **{
            name: [enclose(entry) for entry in value] if isinstance(value, list) else enclose(value)
            for name, value in witness.point.items()
        }
    )
    found = [
        f"{name} is not an integer" for name in witness.integers if F(witness.point[name]).denominator != 1
    ]
    for k, condition in enumerate(witness.conditions(arithmetic, point)):
        if not _is_nonnegative(condition):
            found.append(f"condition {k} may be violated")
    if not _is_negative(problem.slack(arithmetic, point)):
        found.append("the slack may be nonnegative")
    return found


def _is_nonnegative(value: Any) -> bool:
    return value.is_nonnegative if isinstance(value, Interval) else bool(value >= 0)


def _is_negative(value: Any) -> bool:
    return value.is_negative if isinstance(value, Interval) else bool(value < 0)


def _nothing(m: Arithmetic, p: Any) -> list[Any]:
    return []


def _positive(*names: str) -> Callable[[Arithmetic, Any], list[Any]]:
    return lambda m, p: [getattr(p, name) for name in names]


def _centred(m: Arithmetic, p: Any) -> list[Any]:
    return [-(sum(p.z) ** 2), -(sum(p.z_sharp) ** 2), p.tau]


def _level(m: Arithmetic, p: Any) -> list[Any]:
    return [p.delta, 1 - p.delta]


def _sample_size(m: Arithmetic, p: Any) -> list[Any]:
    return [p.n - 1, p.log_4_delta - m.log(4), p.epsilon, 1 - 2 * p.epsilon]


def _theorem_1(m: Arithmetic, p: Any) -> list[Any]:
    level = [p.log_4_delta - m.log(4), p.d - 224 * p.alpha**2 * p.log_4_delta]
    return [p.n - 8, p.d - 1, p.n * p.alpha**2 - 1, 1 - p.alpha, p.lam, *level]


def _theorem_2(m: Arithmetic, p: Any) -> list[Any]:
    return [*_theorem_1(m, p), p.n - p.d, p.d - 1024 * p.alpha**2 * p.log_4_delta]


def _with_epsilon(m: Arithmetic, p: Any) -> list[Any]:
    return [*_theorem_2(m, p), p.epsilon, 1 - 2 * p.epsilon]


_COUNTS = ("n", "d")
_HUNDRED = {"n": 100, "d": 100, "alpha": F(1, 8), "log_4_delta": 2, "lam": 1}

WITNESSES = {
    "section-4-scale-minimiser": Witness({"z": [1, 1, -2], "z_sharp": [2, 2, -4], "tau": F(1, 2)}, _centred),
    "section-4-likelihood": Witness(
        {"first": 1, "second": 1, "tau": 1, "d": 1, "v": [1, 2, 4]}, _positive("first", "second", "tau")
    ),
    "section-4-cross-expectation": Witness({"theta": [0, 1, 2], "scale": 2, "shift": 0}, _positive("scale")),
    "section-4-second-moment": Witness({"square": 1, "d": 1, "variance": 1}, _positive("square", "variance")),
    "section-4-conditional": Witness({"variance": 1, "square": 0}, _positive("variance")),
    "prop-1-lemma-2-citation": Witness({"delta": F(1, 2)}, _level),
    "thm-1-error-identity": Witness(
        {"scale": 2, "first_sum": 1, "second_sum": 1}, _positive("scale", "first_sum", "second_sum")
    ),
    "thm-1-expectation": Witness(
        {"n": 8, "d": 10**5, "alpha": F(3, 8), "log_4_delta": 2, "lam": 0}, _theorem_1, _COUNTS
    ),
    "lemma-3-maximum-union": Witness({"n": 2, "log_4_delta": 2, "epsilon": F(1, 4)}, _sample_size, ("n",)),
    "lemma-3-maximum-event": Witness({"n": 1000, "log_4_delta": 4, "epsilon": F(1, 4)}, _sample_size, ("n",)),
    "zeta-1-fixed-direction": Witness(
        {"a": 1, "ratio": 1, "mu_along": 1, "mu_across": F(1, 1000), "g": [1, 0], "g_prime": [-1, 0]},
        _positive("ratio", "mu_across"),
    ),
    "thm-2-first-term": Witness(_HUNDRED, _theorem_2, _COUNTS),
    "thm-2-zeta-1-term": Witness({**_HUNDRED, "epsilon": F(1, 4)}, _with_epsilon, _COUNTS),
    "thm-2-zeta-2-term": Witness({**_HUNDRED, "epsilon": F(1, 4)}, _with_epsilon, _COUNTS),
    "thm-2-combination": Witness(
        {"n": 1024, "d": 2, "alpha": F(1, 32), "log_4_delta": F(3, 2), "lam": 0}, _theorem_2, _COUNTS
    ),
    "thm-2-probability": Witness({"delta": F(1, 10)}, _level),
    "thm-1-expectation-display": Witness(
        {"n": 8, "ratio": F(1, 10**6)}, lambda m, p: [p.n - 8, p.ratio, 1 - p.ratio], ("n",)
    ),
    "prop-1-frobenius-remark": Witness({"bound": 1, "gap": 1}, _positive("bound", "gap")),
    "thm-2-zeta-1-defined": Witness(
        {"epsilon": F(1, 4), "tau": 1}, lambda m, p: [p.epsilon - abs(1 - p.tau), 1 - 2 * p.epsilon]
    ),
    "thm-2-random-separation": Witness(
        {"epsilon": F(1, 4), "tau": 3, "mu_i": 3, "mu_j": 1}, _positive("epsilon", "tau", "mu_i", "mu_j")
    ),
}
