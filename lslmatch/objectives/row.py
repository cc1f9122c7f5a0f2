"""What a matching may minimise, as a row of the table of objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lslmatch._types import FloatArray
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry

#: The noise levels of x and of y.
Levels = tuple[FloatArray, FloatArray]


class Terms(NamedTuple):
    """What else than distances may come into costs."""

    scale: float  # of the map that brought y into the units of x
    levels: Levels | None  # each in the units of its set, where the objective needs them
    coincident: float  # points coincide up to this share of the mean square


class Pairs(NamedTuple):
    """What pairs say of the noise, for the likelihood of a cost."""

    dimension: int
    variance: float  # the mean noise variance of x
    cost: float  # the mean cost of a pair


class ObjectiveRow(NamedTuple):
    """An objective. The certificate has costs of its own: :mod:`lslmatch.certificate.criteria`."""

    name: str
    help: str
    """What the command line says of it: the cost of a pair at distance r."""
    rule: Callable[[Geometry, Terms], CostRule]
    """Gives the rule of the costs of two sets in common coordinates."""
    rate: Callable[[Pairs], float] | None = None
    """Gives the log-likelihood of a unit of cost; None if there is none: pairs have no confidence then."""
    needs_noise: bool = False
    is_minimised: bool = True
    """Whether the sum is minimised, so that there are dual variables and cheapest pairs."""
    is_chosen_from: bool = False
    """Whether the pairs that are probably right can be chosen."""
