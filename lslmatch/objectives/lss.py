"""The sum of squared distances, for noise of the same level everywhere."""

from __future__ import annotations

import sys

from lslmatch.costs import CostRule, square_rule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.row import ObjectiveRow, Terms


def _rule(geometry: Geometry, terms: Terms) -> CostRule:
    return square_rule(geometry)


LSS = ObjectiveRow(
    "lss",
    "r^2; for noise of the same level everywhere",
    _rule,
    # Both points of a pair have that variance. (Squares of very small levels underflow, and so do the costs.)
    rate=lambda pairs: 0.25 / max(pairs.variance, sys.float_info.min),
)
