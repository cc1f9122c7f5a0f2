"""Quotients of polynomials whose variables are at least 0: the signs of coefficients decide.

A coordinate with the range [low, infinity) is low + t, one with the range [low, high] is
(low + high t) / (1 + t), t >= 0. If after these substitutions numerator and denominator have no negative
coefficient, the quotient is at least 0 for all t > 0, and at the ends of the ranges by continuity.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

#: From the powers of the variables to the coefficient.
Terms = dict[tuple[int, ...], Fraction]
#: The ends of a coordinate; None above is infinity, and None twice the whole line.
Range = tuple[Any, Any]


class Quotient:
    """A quotient of two polynomials with rational coefficients.

    Examples
    --------
    >>> t = over_orthant({"t": (0, None)}).t
    >>> ((1 + t) ** 2 - 1 - 2 * t - t * t).is_zero
    True
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: Terms, bottom: Terms) -> None:
        self.top, self.bottom = top, bottom

    @property
    def is_zero(self) -> bool:
        """Whether the quotient is 0 everywhere."""
        return not self.top

    def __add__(self, other: Any) -> Quotient:
        """Add."""
        other = self._like(other)
        if self.bottom == other.bottom:
            return Quotient(_sum(self.top, other.top), self.bottom)
        top = _sum(_product(self.top, other.bottom), _product(other.top, self.bottom))
        return Quotient(top, _product(self.bottom, other.bottom))

    def __mul__(self, other: Any) -> Quotient:
        """Multiply."""
        other = self._like(other)
        return Quotient(_product(self.top, other.top), _product(self.bottom, other.bottom))

    def __truediv__(self, other: Any) -> Quotient:
        """Divide."""
        other = self._like(other)
        return Quotient(_product(self.top, other.bottom), _product(self.bottom, other.top))

    def __neg__(self) -> Quotient:
        """Negate."""
        return Quotient({powers: -value for powers, value in self.top.items()}, self.bottom)

    def __sub__(self, other: Any) -> Quotient:
        """Subtract."""
        return self + -self._like(other)

    def __rsub__(self, other: Any) -> Quotient:
        """Subtract from a number."""
        return self._like(other) - self

    def __rtruediv__(self, other: Any) -> Quotient:
        """Divide a number."""
        return self._like(other) / self

    def __pow__(self, power: int) -> Quotient:
        """Raise to an integer power."""
        result = self._like(1)
        for _ in range(power):
            result = result * self
        return result

    __radd__ = __add__
    __rmul__ = __mul__

    def _like(self, value: Any) -> Quotient:
        if isinstance(value, Quotient):
            return value
        constant = (0,) * len(next(iter(self.bottom)))
        return Quotient({constant: Fraction(value)} if value else {}, {constant: Fraction(1)})


def over_orthant(ranges: Mapping[str, Range]) -> SimpleNamespace:
    """Give each coordinate as a quotient of polynomials in variables that are at least 0.

    A coordinate without ends stands for itself, and :func:`is_nonnegative` concludes nothing from it.
    """
    found = {}
    for k, (name, (low, high)) in enumerate(ranges.items()):
        power = tuple(int(j == k) for j in range(len(ranges)))
        variable = Quotient({power: Fraction(1)}, {(0,) * len(ranges): Fraction(1)})
        if high is None:
            found[name] = variable + (low or 0)
        else:
            found[name] = (variable * high + low) / (variable + 1)
    return SimpleNamespace(**found)


def is_nonnegative(quotient: Quotient, ranges: Mapping[str, Range]) -> bool:
    """Say whether no coefficient is negative, above or below the line, and no coordinate without ends occurs.

    Examples
    --------
    >>> ranges = {"s": (0, 1), "t": (1, None)}
    >>> u = over_orthant(ranges)
    >>> is_nonnegative(u.t - u.s, ranges), is_nonnegative(u.s + u.s - u.t, ranges)
    (True, False)
    """
    free = [k for k, (low, _) in enumerate(ranges.values()) if low is None]
    terms = [*quotient.top.items(), *quotient.bottom.items()]
    return all(value >= 0 and not any(powers[k] for k in free) for powers, value in terms)


def _sum(first: Terms, second: Terms) -> Terms:
    result = dict(first)
    for powers, value in second.items():
        result[powers] = result.get(powers, Fraction(0)) + value
    return {powers: value for powers, value in result.items() if value}


def _product(first: Terms, second: Terms) -> Terms:
    result: Terms = {}
    for one, a in first.items():
        for other, b in second.items():
            powers = tuple(i + j for i, j in zip(one, other, strict=True))
            result[powers] = result.get(powers, Fraction(0)) + a * b
    return {powers: value for powers, value in result.items() if value}
