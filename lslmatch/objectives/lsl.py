"""The sum of logarithms of squared distances: the paper's estimator, for noise of unknown levels."""

from __future__ import annotations

from lslmatch.costs import CostRule, log_rule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.row import ObjectiveRow, Terms


def _rule(geometry: Geometry, terms: Terms) -> CostRule:
    return log_rule(geometry, terms.coincident)


LSL = ObjectiveRow(
    "lsl",
    "log r^2; for noise of unknown level that differs between points",
    _rule,
    # If nothing is known of features and levels, the likelihood of a pair is r^-d.
    rate=lambda pairs: pairs.dimension / 2.0,
    is_chosen_from=True,
)
