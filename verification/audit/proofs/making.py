"""Make proofs anew: trees of boxes in ball arithmetic, and an SMT solver's opinion on polynomial goals.

Needs the extra ``proofs`` (python-flint and z3-solver). What is made here is judged elsewhere: trees are
stored, and checked by code that shares nothing with this module but the goals themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof, bounded
from verification.audit.proofs.polynomials import Range
from verification.audit.proofs.trees import Box, Function, halves, whole_box

#: A goal that needs more leaves is given up.
MOST_LEAVES = 1_000
#: What the solver may spend on a goal, in milliseconds.
SOLVER_TIME = 20_000


class Made(NamedTuple):
    """What came out for one proof."""

    trees: dict[int, str]
    """For each goal on a box its tree; one that is missing was given up."""
    opinions: dict[int, str]
    """For each polynomial goal what the solver said: ``unsat`` (it holds), ``sat`` or ``unknown``."""


def make(proof: Proof) -> Made:
    """Grow the trees of a proof and ask the solver about its polynomial goals."""
    trees, opinions = {}, {}
    for k, goal in enumerate(proof.goals):
        if goal.kind == "boxes":
            tree = grow(goal.function, goal.conditions, bounded(proof.ranges))
            if tree is not None:
                trees[k] = tree
        elif goal.kind in ("algebra", "zero"):
            opinions[k] = ask_solver(goal, proof.ranges)
    return Made(trees, opinions)


def grow(goal: Function, conditions: Sequence[Function], ranges: Mapping[str, Range]) -> str | None:
    """Halve a box until the goal is positive on every part, or give up.

    Each time the coordinate is halved that raises the lower of the two bounds most.
    """
    letters: list[str] = []
    pending: list[Box] = [whole_box(ranges)]
    leaves = 0
    while pending:
        box = pending.pop()
        if _lower(goal, box, ranges) > 0:
            letters.append("p")
        elif any(_lower(_minus(c), box, ranges) > 0 for c in conditions):
            letters.append("o")
        else:
            splits = [halves(box, k) for k in range(len(box))]
            gains = [min(_lower(goal, half, ranges) for half in split) for split in splits]
            widths = [
                float((high - low) / ((end[1] - end[0]) or 1))
                for (low, high), end in zip(box, whole_box(ranges), strict=True)
            ]
            best = max(range(len(box)), key=lambda k: (gains[k], widths[k]))
            letters.append(str(best))
            pending += [splits[best][1], splits[best][0]]
            continue
        leaves += 1
        if leaves + len(pending) > MOST_LEAVES:
            return None
    return "".join(letters)


def ask_solver(goal: Goal, ranges: Mapping[str, Range]) -> str:
    """Ask whether the goal can be negative, or for an identity other than 0, inside the ranges."""
    import z3

    solver = z3.Solver()
    solver.set("timeout", SOLVER_TIME)
    names = {name: z3.Real(name) for name in ranges}
    for name, (low, high) in ranges.items():
        if low is not None:
            solver.add(names[name] > _real(low))  # the ends follow by continuity
        if high is not None:
            solver.add(names[name] < _real(high))
    value = goal.function(_SMT, SimpleNamespace(**names))
    solver.add(value != 0 if goal.kind == "zero" else value < 0)
    return str(solver.check())


def balls() -> Arithmetic:
    """Give the arithmetic of python-flint's balls."""
    from flint import arb

    def root(value: Any) -> Any:
        value = arb(value)
        if value.lower() >= 0:
            return value.sqrt()
        return arb(0).union(value.upper().sqrt())  # what lies below 0 does so by rounding alone

    return Arithmetic(
        root,
        lambda x: arb(x).log(),
        lambda x: arb(x).exp(),
        lambda x, y: arb(x).max(arb(y)),
        lambda x, y: arb(x).min(arb(y)),
    )


def ball(low: Any, high: Any) -> Any:
    """Give a ball that holds all numbers between two fractions."""
    from flint import arb, fmpq

    ends = [arb(fmpq(Fraction(end).numerator, Fraction(end).denominator)) for end in (low, high)]
    return ends[0].union(ends[1])


def _lower(function: Function, box: Box, names: Mapping[str, Any]) -> float:
    """Give a lower bound of a function on a box; minus infinity where there is none."""
    point = {name: ball(*ends) for name, ends in zip(names, box, strict=True)}
    found = float(function(balls(), SimpleNamespace(**point)).lower())
    return found if found == found else -float("inf")


def _minus(function: Function) -> Function:
    return lambda m, u: -function(m, u)


def _real(value: Any) -> Any:
    import z3

    return z3.Q(Fraction(value).numerator, Fraction(value).denominator)


def _no_function(*_: Any) -> Any:
    raise TypeError("a polynomial goal has no roots and logarithms")


_SMT = Arithmetic(_no_function, _no_function, _no_function, _no_function, _no_function)
