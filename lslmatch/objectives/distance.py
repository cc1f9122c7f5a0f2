"""The sum of distances, not squared: what a far point costs grows no faster than its distance."""

from __future__ import annotations

import math
import sys

import numpy as np

from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.powers import least_exponent
from lslmatch.objectives.row import ObjectiveRow, Pairs, Terms


def _rule(geometry: Geometry, terms: Terms) -> CostRule:
    n, m = geometry.shape
    # The unit is that of most points: single ones may be much larger.
    greatest = geometry.exponent + max(least_exponent(geometry.a), least_exponent(geometry.b))
    if not (geometry.exponent > -1000 and max(geometry.exponent, greatest) < 1000):
        raise ValueError(
            "x and y must have moderate units for a sum of distances: these exceed the range of float64; "
            "multiply both sets by a constant first"
        )
    unit = math.ldexp(1.0, -geometry.exponent)
    return CostRule(False, True, 0.0, 0.0, np.full(n, unit), np.zeros(m))


def _rate(pairs: Pairs) -> float:
    """Give 1 / b, if the difference of partners has a density in proportion to exp(-r / b).

    Its length is then gamma distributed with the mean d b, so that mean costs estimate b.
    """
    return pairs.dimension / max(pairs.cost, sys.float_info.min)


DISTANCE = ObjectiveRow(
    "distance", "r; for few large errors, and where lengths are to be short", _rule, rate=_rate
)
