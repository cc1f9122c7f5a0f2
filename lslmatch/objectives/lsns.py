"""The sum of squared distances over the noise variances of the pairs, for noise of known levels."""

from __future__ import annotations

from lslmatch.costs import CostRule, normalized_rule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.row import ObjectiveRow, Terms


def _rule(geometry: Geometry, terms: Terms) -> CostRule:
    assert terms.levels is not None, "noise has been checked"
    return normalized_rule(geometry, terms.levels, terms.scale)


LSNS = ObjectiveRow(
    "lsns",
    "r^2 over the noise variance of the pair; needs --noise-x and --noise-y",
    _rule,
    rate=lambda pairs: 0.5,
    needs_noise=True,
)
