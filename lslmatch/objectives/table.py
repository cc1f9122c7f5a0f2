"""The table of objectives, and the rule of the costs that each of them makes."""

from __future__ import annotations

from lslmatch.costs import COINCIDENT, CostRule, check_in_range
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.distance import DISTANCE
from lslmatch.objectives.greedy import GREEDY
from lslmatch.objectives.lsl import LSL
from lslmatch.objectives.lsns import LSNS
from lslmatch.objectives.lss import LSS
from lslmatch.objectives.row import Levels, ObjectiveRow, Terms

#: The objectives by name.
OBJECTIVES: dict[str, ObjectiveRow] = {row.name: row for row in (LSL, LSS, LSNS, DISTANCE, GREEDY)}


def make_rule(
    objective: str,
    geometry: Geometry,
    scale: float,
    levels: Levels | None = None,
    coincident: float = COINCIDENT,
) -> CostRule:
    """Make the cost rule of an objective for two sets that `scale` has brought into common coordinates.

    `levels` are the noise levels that some need. Points coincide up to a share `coincident` of the mean
    square.
    """
    check_in_range(geometry)
    return OBJECTIVES[objective].rule(geometry, Terms(scale, levels, coincident))


def minimised() -> tuple[str, ...]:
    """Give the names of the objectives whose sum is minimised."""
    return tuple(name for name, row in OBJECTIVES.items() if row.is_minimised)


def noisy() -> tuple[str, ...]:
    """Give the names of the objectives that need noise levels."""
    return tuple(name for name, row in OBJECTIVES.items() if row.needs_noise)
