"""How a step of a proof is reduced to functions of a few coordinates, and how that is checked.

The slack of a step is written as a formula in *goals* that is at least 0 when all goals are. The goals are
functions of coordinates with known ranges, and each is settled by a machine: by the signs of coefficients
(:mod:`polynomials`) or on a box (:mod:`trees`). The rest is tied to the step at random points of
its region, in 60 digits: the coordinates are in their ranges, and the formula gives the slack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from verification.audit.arithmetic import DECIMALS, DIGITS, FLOATS, Arithmetic
from verification.audit.proofs.intervals import INTERVALS
from verification.audit.proofs.polynomials import Range, is_nonnegative, over_orthant
from verification.audit.proofs.trees import Function, check_tree
from verification.audit.search import Problem, single_points

#: The points come from doubles, so that an end of a range may be missed by their rounding.
_EDGE = 1e-9
#: The largest relative difference between the slack and the formula in goals, in 60 digits and in doubles.
_TIE, _TIE_IN_DOUBLES = 1e-40, 1e-12


class Goal(NamedTuple):
    """A function of the coordinates that must not be negative."""

    function: Function
    kind: str = "algebra"
    """``algebra``: no negative coefficient; ``zero``: identically 0; ``number``: one positive number;
    ``boxes``: a stored tree over the coordinates that have two ends."""
    conditions: tuple[Function, ...] = ()
    """Functions that are at least 0 on the region; for boxes alone."""


class Proof(NamedTuple):
    """A reduction of a step to goals."""

    ranges: Mapping[str, Range]
    """The coordinates; (None, None) for one that may be any number."""
    coordinates: Callable[[Arithmetic, Any], Mapping[str, Any]]
    """From the quantities of the step to the coordinates; a list gives one term of a sum for each entry."""
    goals: tuple[Goal, ...]
    slack: Callable[[Arithmetic, Any, Any], Any]
    """From the quantities and the values of the goals to the slack, at least 0 if the goals are."""
    reduction: str = ""
    """The argument that is a person's, in a sentence; empty if the formula in goals says it all."""
    uses: tuple[str, ...] = ()
    """Other steps on which the ranges or the reduction rest."""
    bound: bool = False
    """Whether the formula is a lower bound of the slack, not the slack itself."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways in which the goals are settled."""
        return tuple(sorted({goal.kind for goal in self.goals}))


def failures(
    problem: Problem, proof: Proof, trees: Mapping[int, str], points: int = 12, seed: int = 0
) -> list[str]:
    """Check a proof of a step and give what is wrong with it; nothing if it stands."""
    wrong = [f"goal {k} is not settled" for k in unsettled(proof, trees)]
    return wrong or _untied(problem, proof, points, seed)


def unsettled(proof: Proof, trees: Mapping[int, str]) -> list[int]:
    """Give the numbers of the goals that their certificates do not prove."""
    return [k for k, goal in enumerate(proof.goals) if not _is_settled(goal, proof.ranges, trees.get(k, ""))]


def bounded(ranges: Mapping[str, Range]) -> dict[str, Range]:
    """Give the coordinates that have two ends."""
    return {name: ends for name, ends in ranges.items() if ends[0] is not None and ends[1] is not None}


def _is_settled(goal: Goal, ranges: Mapping[str, Range], tree: str) -> bool:
    if goal.kind == "boxes":
        return check_tree(tree, goal.function, goal.conditions, bounded(ranges))
    if goal.kind == "number":
        return bool(goal.function(INTERVALS, SimpleNamespace()).is_positive)
    value = goal.function(FLOATS, over_orthant(ranges))
    if isinstance(value, int):
        return value == 0 if goal.kind == "zero" else value >= 0
    return value.is_zero if goal.kind == "zero" else is_nonnegative(value, ranges)


def _untied(problem: Problem, proof: Proof, points: int, seed: int) -> list[str]:
    """Compare the formula in goals with the slack at random points and corners of the region."""
    rng = np.random.default_rng(seed)
    wrong: list[str] = []
    with localcontext() as context:
        context.prec = DIGITS
        arithmetic, number = (DECIMALS, Decimal) if problem.exact else (FLOATS, float)
        tolerance = _TIE if problem.exact else _TIE_IN_DOUBLES
        found = single_points(problem, rng, points)
        if not found:
            return ["the region is empty"]
        for point in found:
            exact = {
                name: [number(entry) for entry in value] if isinstance(value, list) else number(value)
                for name, value in point.items()
            }
            try:
                wrong += _untied_at(problem, proof, arithmetic, SimpleNamespace(**exact), tolerance, rng)
            except ArithmeticError as error:
                wrong.append(f"no value at a point of the region: {error!r}")
    return wrong


def _untied_at(
    problem: Problem, proof: Proof, m: Arithmetic, p: Any, tolerance: float, rng: np.random.Generator
) -> list[str]:
    u = SimpleNamespace(**proof.coordinates(m, p))
    wrong = []
    for name, (low, high) in proof.ranges.items():
        value = getattr(u, name)
        for entry in value if isinstance(value, list) else [value]:
            edge = _EDGE * max(1.0, abs(float(entry)))
            if low is not None and float(entry) < float(low) - edge:
                wrong.append(f"{name} = {float(entry):.6g} is below {float(low):.6g}")
            if high is not None and float(entry) > float(high) + edge:
                wrong.append(f"{name} = {float(entry):.6g} is above {float(high):.6g}")
    for goal in proof.goals:
        wrong += ["a condition is negative" for c in goal.conditions if float(c(m, u)) < -_EDGE]
    goals = _values(proof, m, u)
    claimed, actual = (np.ravel(value)[0] for value in (proof.slack(m, p, goals), problem.slack(m, p)))
    difference = float(claimed - actual) / max(1.0, abs(float(actual)))
    if difference > tolerance or (difference < -tolerance and not proof.bound):
        wrong.append(f"the formula in goals is off by {difference:.3g}")
    # The formula must not be negative for any other values of the goals that are not negative either.
    tried = [_other(goal, value, rng) for goal, value in zip(proof.goals, goals, strict=True)]
    if float(np.ravel(proof.slack(m, p, tried))[0]) < -tolerance:
        wrong.append("the formula is negative though no goal is")
    return wrong


def _other(goal: Goal, value: Any, rng: np.random.Generator) -> Any:
    """Give a random value, or a list of them, that the goal might have had: 0, or anything from 0 to 1."""
    if isinstance(value, list):
        return [_other(goal, entry, rng) for entry in value]
    return type(value)(0 if goal.kind == "zero" else float(rng.random()))


def _values(proof: Proof, m: Arithmetic, u: Any) -> list[Any]:
    """Evaluate the goals; one whose coordinates are lists, a term for each point, gives a list."""
    lists = {name: value for name, value in vars(u).items() if isinstance(value, list)}
    if not lists:
        return [goal.function(m, u) for goal in proof.goals]
    length = len(next(iter(lists.values())))
    terms = [
        SimpleNamespace(**{**vars(u), **{name: value[k] for name, value in lists.items()}})
        for k in range(length)
    ]
    return [[goal.function(m, term) for term in terms] for goal in proof.goals]
