"""One formula, two arithmetics: arrays of doubles for the search, 60 digits for the second look.

A slack is written once, with the operators and the functions below and integer constants only, so
that the same lines can be evaluated on a million points and again, digit by digit, at the one
point that would refute them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

#: Significant digits of the second look.
DIGITS = 60


class Arithmetic(NamedTuple):
    """The functions that a slack may use besides ``+ - * /``, integer powers and ``abs``."""

    sqrt: Callable[[Any], Any]
    log: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    maximum: Callable[[Any, Any], Any]
    minimum: Callable[[Any, Any], Any]

    def fourth_root(self, x: Any) -> Any:
        """Give x^(1/4)."""
        return self.sqrt(self.sqrt(x))


FLOATS = Arithmetic(np.sqrt, np.log, np.exp, np.maximum, np.minimum)
DECIMALS = Arithmetic(
    lambda x: Decimal(x).sqrt(), lambda x: Decimal(x).ln(), lambda x: Decimal(x).exp(), max, min
)


def at_most(left: Any, right: Any) -> Any:
    """Give the slack of left <= right for right > 0: the share of the right-hand side that is left over.

    Examples
    --------
    >>> at_most(9.0, 10.0) > 0 > at_most(11.0, 10.0)
    True
    """
    return 1 - left / right


def equal(left: Any, right: Any) -> Any:
    """Give the slack of left = right for right != 0: minus the relative difference.

    Examples
    --------
    >>> equal(3.0, 3.0), equal(3.0, 4.0)
    (-0.0, -0.25)
    """
    return -abs(left / right - 1)
