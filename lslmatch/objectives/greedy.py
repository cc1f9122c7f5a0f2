"""No sum: points choose their nearest free partner one after the other, for comparison."""

from __future__ import annotations

from lslmatch.costs import CostRule, log_rule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.row import ObjectiveRow, Terms


def _rule(geometry: Geometry, terms: Terms) -> CostRule:
    """Measure what it ends with as by "lsl"."""
    return log_rule(geometry, terms.coincident)


GREEDY = ObjectiveRow(
    "greedy",
    "every point in turn takes the nearest one that is left; for comparison",
    _rule,
    is_minimised=False,
)
