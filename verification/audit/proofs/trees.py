"""A proof on a box, kept as the tree of its bisections: one letter for each node.

A digit halves the box in that coordinate, and its two halves follow, the lower one first. ``p`` is a
leaf on which the goal is positive, ``o`` one that lies outside the region, because a condition is negative
on all of it. Whoever reads the tree halves the box himself, so that the leaves cover it by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.intervals import INTERVALS, Interval, Unbounded

#: A function of the coordinates, in any arithmetic.
Function = Callable[[Arithmetic, Any], Any]
Box = tuple[tuple[Fraction, Fraction], ...]


def check_tree(
    tree: str, goal: Function, conditions: Sequence[Function], ranges: Mapping[str, tuple[Any, Any]]
) -> bool:
    """Say whether a stored tree proves that the goal is positive on the box where the conditions hold.

    Examples
    --------
    >>> def goal(m, u):
    ...     return u.x * u.x - u.x + 1
    >>> check_tree("p", goal, (), {"x": (0, 1)}), check_tree("0p0pp", goal, (), {"x": (0, 1)})
    (False, True)
    """
    letters = iter(tree)
    pending: list[Box] = [whole_box(ranges)]
    while pending:
        box, letter = pending.pop(), next(letters, "")
        if letter.isdigit() and int(letter) < len(box):
            lower, upper = halves(box, int(letter))
            pending += [upper, lower]
        elif letter == "p":
            if not _is_positive(goal, box, ranges):
                return False
        elif letter == "o":
            if not any(_is_positive(_minus(c), box, ranges) for c in conditions):
                return False
        else:
            return False
    return next(letters, None) is None


def whole_box(ranges: Mapping[str, tuple[Any, Any]]) -> Box:
    """Give the box of all coordinates."""
    return tuple((Fraction(low), Fraction(high)) for low, high in ranges.values())


def halves(box: Box, coordinate: int) -> tuple[Box, Box]:
    """Halve a box."""
    low, high = box[coordinate]
    middle = (low + high) / 2
    lower, upper = list(box), list(box)
    lower[coordinate], upper[coordinate] = (low, middle), (middle, high)
    return tuple(lower), tuple(upper)


def _minus(function: Function) -> Function:
    return lambda m, u: -function(m, u)


def _is_positive(function: Function, box: Box, names: Mapping[str, Any]) -> bool:
    point = {name: Interval.between(*ends) for name, ends in zip(names, box, strict=True)}
    try:
        return bool(function(INTERVALS, SimpleNamespace(**point)).is_positive)
    except Unbounded:
        return False
