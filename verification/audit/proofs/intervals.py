"""Intervals with ends that are integers over 2^256: the arithmetic of the checker.

It uses nothing but Python's integers, so that it shares no code with the ball arithmetic in which proofs are
made. Every operation rounds the lower end down and the upper end up. Where the result cannot be enclosed,
because a divisor or the argument of a logarithm may be 0, it raises :class:`Unbounded`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

from verification.audit.arithmetic import Arithmetic

#: Binary digits after the point.
BITS = 256
_GUARD = 64
_ONE = 1 << BITS
_WIDE = 1 << (BITS + _GUARD)


class Unbounded(ArithmeticError):
    """A value has no finite enclosure."""


class Interval:
    """All numbers from low to high, in units of 2^-256.

    Examples
    --------
    >>> third = Interval.exactly(1) / 3
    >>> (3 * third).encloses(1), third.encloses(0.3333)
    (True, False)
    """

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    @classmethod
    def exactly(cls, value: Any) -> Interval:
        """Enclose an integer, a fraction or a float, none of which is rounded before."""
        return cls.between(value, value)

    @classmethod
    def between(cls, low: Any, high: Any) -> Interval:
        """Enclose all numbers between two."""
        low, high = Fraction(low), Fraction(high)
        return cls(
            (low.numerator << BITS) // low.denominator, -((-high.numerator << BITS) // high.denominator)
        )

    @property
    def is_positive(self) -> bool:
        """Whether every number of the interval is above 0."""
        return self.low > 0

    @property
    def is_negative(self) -> bool:
        """Whether every number of the interval is below 0."""
        return self.high < 0

    @property
    def is_nonnegative(self) -> bool:
        """Whether no number of the interval is below 0."""
        return self.low >= 0

    def encloses(self, value: Any) -> bool:
        """Say whether a number lies in the interval."""
        return Fraction(self.low, _ONE) <= Fraction(value) <= Fraction(self.high, _ONE)

    def __float__(self) -> float:
        """Give the middle."""
        return float(Fraction(self.low + self.high, 2 * _ONE))

    def __neg__(self) -> Interval:
        """Negate."""
        return Interval(-self.high, -self.low)

    def __abs__(self) -> Interval:
        """Give the absolute value."""
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Interval(0, max(-self.low, self.high))

    def __add__(self, other: Any) -> Interval:
        """Add."""
        other = _interval(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Any) -> Interval:
        """Subtract."""
        return self + -_interval(other)

    def __rsub__(self, other: Any) -> Interval:
        """Subtract from a number."""
        return _interval(other) - self

    def __mul__(self, other: Any) -> Interval:
        """Multiply."""
        other = _interval(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends) >> BITS, -(-max(ends) >> BITS))

    def __truediv__(self, other: Any) -> Interval:
        """Divide."""
        other = _interval(other)
        if other.low <= 0 <= other.high:
            raise Unbounded("division by an interval that holds 0")
        ends = [(a << BITS, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(a // b for a, b in ends), max(-(-a // b) for a, b in ends))

    def __rtruediv__(self, other: Any) -> Interval:
        """Divide a number."""
        return _interval(other) / self

    def __pow__(self, power: int) -> Interval:
        """Raise to an integer power."""
        if power < 0:
            return 1 / self**-power
        base = abs(self) if power % 2 == 0 else self
        result = Interval(_ONE, _ONE)
        for _ in range(power):
            result = result * base
        return result

    __radd__ = __add__
    __rmul__ = __mul__


def _interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval.exactly(value)


def _sqrt(value: Any) -> Interval:
    """Give the root; what lies below 0 by rounding alone is cut off."""
    value = _interval(value)
    if value.high < 0:
        raise Unbounded("root of a negative number")
    upper = isqrt(value.high << BITS)
    return Interval(isqrt(max(value.low, 0) << BITS), upper + (upper * upper < value.high << BITS))


def _log(value: Any) -> Interval:
    value = _interval(value)
    if value.low <= 0:
        raise Unbounded("logarithm of a number that may be 0")
    return Interval(_log_of(value.low) - 1, _log_of(value.high) + 1)


def _exp(value: Any) -> Interval:
    value = _interval(value)
    low, high = _exp_of(value.low), _exp_of(value.high)
    return Interval(low - (low >> 250) - 1, high + (high >> 250) + 1)


@lru_cache(maxsize=4096)
def _log_of(scaled: int) -> int:
    """Give the logarithm of scaled / 2^256 to within one unit, by the series of the inverse tangent."""
    power = scaled.bit_length() - 1
    mantissa = (scaled << (BITS + _GUARD)) >> power  # in [1, 2)
    return (_log_near_one(mantissa) + (power - BITS) * _log_two()) >> _GUARD


@lru_cache(maxsize=1)
def _log_two() -> int:
    return _log_near_one(2 * _WIDE)


def _log_near_one(wide: int) -> int:
    """Give log(wide) = 2 artanh((wide - 1) / (wide + 1)) for wide from 1 to 2, by its series."""
    term = ((wide - _WIDE) << (BITS + _GUARD)) // (wide + _WIDE)
    square, total, odd = term * term >> (BITS + _GUARD), 0, 1
    while term:
        total += term // odd
        term, odd = term * square >> (BITS + _GUARD), odd + 2
    return 2 * total


@lru_cache(maxsize=4096)
def _exp_of(scaled: int) -> int:
    """Give the exponential, with a relative error below 2^-260, by its series and repeated squaring."""
    power = scaled * _WIDE // _log_two() >> BITS  # so that the rest is between 0 and log 2
    rest = (scaled << _GUARD) - power * _log_two()
    term, total, count = _WIDE, 0, 0
    while term:
        total, count = total + term, count + 1
        term = (term * rest >> (BITS + _GUARD)) // count
    return total << power >> _GUARD if power >= 0 else total >> (_GUARD - power)


def _larger(first: Any, second: Any) -> Interval:
    first, second = _interval(first), _interval(second)
    return Interval(max(first.low, second.low), max(first.high, second.high))


def _smaller(first: Any, second: Any) -> Interval:
    return -_larger(-_interval(first), -_interval(second))


INTERVALS = Arithmetic(_sqrt, _log, _exp, _larger, _smaller)
