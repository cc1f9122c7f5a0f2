"""What is proven of all angles in the plane, with all that its check needs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._comparison import comparable
from lslmatch._types import FloatArray, IntArray
from lslmatch.maps import Similarity


@comparable
class TurnProof(NamedTuple):
    """A proof that no turn of y about a point, mirrored or not, has a matching of a smaller sum.

    The sum is that of ``log(r**2 + floor**2)`` over the pairs, at one scale and about one centre. Without the
    floor it would be least, at minus infinity, wherever two points of y and x coincide.
    :func:`lslmatch.check_certificate` checks the proof.
    """

    scale: float
    """tau: what y is multiplied by."""
    x_centre: FloatArray
    """(2,): where the centre of the turns lies in x."""
    y_centre: FloatArray
    """(2,): the same point in y, which is mapped there by every turn."""
    floor: float
    """A length in the units of x: its square is added to all squared distances."""
    mirrors: bool
    """Whether mirror images are covered as well."""
    angle: float
    """The best angle, in radians; y is turned counterclockwise by it."""
    mirrored: bool
    """Whether y is mirrored first: its second coordinate, from the centre on, changes its sign."""
    value: float
    """The sum under the best turn that was found, with the matching that is best there."""
    permutation: IntArray
    """(n,): that matching; -1 for an x without a partner."""
    bound: float
    """No turn has a matching of a smaller sum than this: proven."""
    apart: float
    """Angles are other ones from this distance on, in radians; so are all of the mirror image."""
    other_bound: float
    """No other turn has a matching of a smaller sum than this: proven."""
    other_value: float
    """The least sum of another turn that was seen; NaN if all of them were ruled out before."""
    other_angle: float
    """Its angle."""
    other_mirrored: bool
    """Whether it is of the mirror image."""
    is_closed: bool
    """Whether all was proven that was wanted; if not, arcs ran out."""
    start: IntArray
    """(k,): arcs that cover all angles, in parts of 2**-50 of a whole turn."""
    width: IntArray
    """(k,): how wide they are, in the same parts."""
    of_mirror: NDArray[np.bool_]
    """(k,): whether they are of the mirror image."""
    duals: FloatArray
    """(k, 2, l): dual variables of the larger set, l points, at both ends of each arc."""

    @property
    def map(self) -> Similarity:
        """The map from y to x of the best turn."""
        return self._map_by(self.angle, self.mirrored)

    @property
    def other_map(self) -> Similarity:
        """The map from y to x of the other turn that was seen."""
        return self._map_by(self.other_angle, self.other_mirrored)

    def _map_by(self, angle: float, mirrored: bool) -> Similarity:
        cosine, sine = math.cos(angle), math.sin(angle)
        up = -1.0 if mirrored else 1.0
        rotation = np.array([[cosine, -sine * up], [sine, cosine * up]])
        return Similarity(self.scale, rotation, self.x_centre - self.scale * (rotation @ self.y_centre))

    @property
    def margin(self) -> float:
        """By how much more the logarithms of all other turns add up to, at least; negative if unknown."""
        return self.other_bound - self.value

    def __repr__(self) -> str:
        """Give one line."""
        return (
            f"<TurnProof: {math.degrees(self.angle):.3f} degrees{', mirrored' * self.mirrored}, sum "
            f"{self.value:.6f}, none below {self.bound:.6f}; from {math.degrees(self.apart):.1f} degrees on"
            f"{' or mirrored' * self.mirrors} none below {self.other_bound:.6f}; {self.start.size:,} arcs>"
        )
