"""A proof that no other angle is better, for a result of :func:`match` of two sets in the plane."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_count, check_point_pair, check_positive
from lslmatch.maps import Similarity
from lslmatch.plane.arcs import WHOLE, Arc, plane_of
from lslmatch.plane.branching import Leaf, Proof, Turned, Wanted, blur, is_within, prove, turned_from
from lslmatch.results import MatchResult
from lslmatch.turn_proof import TurnProof

#: The floor: a share of the median distance of nearest points, and of the usual distance of neighbours.
_OF_DISTANCE, _OF_SPACING = 0.1, 0.01
#: What is to be shown of a pair, in nats: that no turn is better by more than the first, all others worse by
#: the second; or than the best of them by no more than the third.
_TOLERANCE, _MARGIN, _LOOSE = 1e-6, 0.3, 0.01
#: Other turns begin at the angle that moves points by about two spacings, but no farther away than this.
_SPACINGS, _FARTHEST = 2.0, math.pi / 8.0
#: What rounding may do to a sum, for each pair; the tolerance is so many times as much at least.
_BLURRED, _ROUNDINGS = 1e-3, 40.0
#: Arcs, unless another number is asked for.
_MOST_ARCS = 100_000


def prove_everywhere(
    x: Any,
    y: Any,
    result: MatchResult,
    *,
    floor: float | None = None,
    tolerance: float = _TOLERANCE,
    most_arcs: int = _MOST_ARCS,
) -> MatchResult:
    """Prove that in the plane no other angle, mirrored or not, has a matching of a smaller sum.

    The sum is that of the logarithms of squared distances, to each of which the square of a floor was added.
    All angles are covered by branch and bound; the scale and the point about which y is turned stay those of
    the result. That the pairs are right is not proven, nor that no other scale is better.

    Parameters
    ----------
    x : array_like of shape (n, 2)
        The first set that was matched.
    y : array_like of shape (m, 2)
        The second set.
    result : MatchResult
        What :func:`match` returned for them under a map that is a :class:`Similarity`.
    floor : float, optional
        A length in the units of `x`. By default a tenth of the median distance of a point to its nearest
        partner, and at least a hundredth of the usual distance between neighbours.
    tolerance : float, default 1e-6
        By how much for each pair the sum of another turn might still be less, besides what rounding does.
    most_arcs : int, default 100,000
        How many arcs are looked at before the proof is given up; then `TurnProof.bound` says how far it came.

    Returns
    -------
    MatchResult
        The same with the proof in the field `everywhere`. Its best turn is that of the result but for
        rounding and the floor; where it is another one, the result was not the best: match again with
        ``alignment=result.everywhere.map``.

    Raises
    ------
    ValueError
        If the sets are not in the plane, or the map is no similarity.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import check_certificate, match, prove_everywhere
    >>> x = np.random.default_rng(1).normal(size=(30, 2))
    >>> y = x[::-1] @ np.array([[0.0, -1.0], [1.0, 0.0]])  # turned by 90 degrees
    >>> result = prove_everywhere(x, y, match(x, y, alignment="similarity"))
    >>> round(float(np.degrees(result.everywhere.angle)), 6)
    90.0
    >>> check_certificate(x, y, result, everywhere=True) < 1e-9
    True
    """
    x, y = check_point_pair(x, y, result.matrix_map)
    if x.shape[1] != 2:
        raise ValueError(
            f"x must be in the plane: angles are covered there only; got {x.shape[1]} dimensions"
        )
    if not isinstance(result.matrix_map, Similarity):
        raise ValueError("result must have a map that turns: match with alignment='similarity'")
    if floor is not None:
        floor = check_positive(floor, "floor")
    most = check_count(most_arcs, "most_arcs", 1)
    tolerance = check_positive(tolerance, "tolerance")
    return result._replace(everywhere=prove_turn(x, y, result.matrix_map, floor, tolerance, most))


def prove_turn(
    x: FloatArray,
    y: FloatArray,
    found: Similarity,
    floor: float | None = None,
    tolerance: float = _TOLERANCE,
    most_arcs: int = _MOST_ARCS,
    mirrors: bool = True,
) -> TurnProof:
    """Prove which turn is best at the scale of a map, about the middle of y; `x` and `y` are checked."""
    y_centre = np.median(y, axis=0)
    x_centre = found.apply(y_centre[None])[0]
    a, b = x - x_centre, (y - y_centre) * found.scale
    is_swapped = len(a) > len(b)
    if is_swapped:
        a, b = b, a
    size = float(np.median(np.abs(b).max(axis=1))) or float(np.abs(b).max()) or 1.0
    unit = math.frexp(size)[1]
    if floor is None:
        floor = _usual_floor(x, found.apply(y), size)
    with np.errstate(all="ignore"):
        plane = plane_of(np.ldexp(a, -unit), np.ldexp(b, -unit), math.ldexp(floor, -unit) ** 2)
    largest = float(np.abs(plane.b).max() + np.abs(plane.a).max())
    if not largest < 1e150:
        raise ValueError("x and y must have moderate coordinates: their squares exceed the range of float64")
    n = len(a)
    mirrored = found.is_mirrored
    angle = math.atan2(found.rotation[1, 0], found.rotation[0, 0])
    start = turned_from(plane, -angle if is_swapped and not mirrored else angle, mirrored)
    rounding = blur(plane, start)
    if not rounding < _BLURRED * n:
        raise ValueError(
            "x and y must have moderate coordinates: beside those that are far out others lose their digits"
        )
    wanted = Wanted(
        tolerance * n + _ROUNDINGS * rounding,
        min(_SPACINGS / math.sqrt(n), _FARTHEST),
        _MARGIN * n,
        _LOOSE * n,
        most_arcs,
        mirrors,
    )
    proof = prove(plane, start, wanted)
    return _record(proof, wanted, is_swapped, len(x), 2.0 * unit * math.log(2.0) * n)._replace(
        scale=found.scale, x_centre=x_centre, y_centre=y_centre, floor=floor
    )


def _usual_floor(x: FloatArray, mapped: FloatArray, size: float) -> float:
    """Give a floor that pairs with little noise are above, and coincidences by chance are not below."""
    nearest = [float(np.hypot(*(mapped - point).T).min()) for point in x[:: -(-len(x) // 500)]]
    return max(_OF_DISTANCE * float(np.median(nearest)), _OF_SPACING * size / math.sqrt(len(x)))


def _record(proof: Proof, wanted: Wanted, is_swapped: bool, n: int, offset: float) -> TurnProof:
    """Say it of turns of y, in the units of x; what depends on these is filled in by the caller."""
    best, other, leaves = proof.best, proof.other, proof.leaves
    room = 0.1 * wanted.tolerance
    others = [leaf.bound for leaf in leaves if not is_within(leaf.arc, best, wanted.apart)]
    partner = best.partner
    if is_swapped:
        partner = np.full(n, -1, np.intp)
        partner[best.partner] = np.arange(best.partner.size)
    return TurnProof(
        scale=1.0,
        x_centre=np.zeros(2),
        y_centre=np.zeros(2),
        floor=1.0,
        mirrors=wanted.mirrors,
        angle=_of_y(best, is_swapped),
        mirrored=best.mirrored,
        value=best.value + 0.5 * room + offset,
        permutation=partner,
        bound=min(leaf.bound for leaf in leaves) - room + offset,
        apart=wanted.apart,
        other_bound=min(others, default=math.inf) - room + offset,
        other_value=math.nan if other is None else other.value + offset,
        other_angle=math.nan if other is None else _of_y(other, is_swapped),
        other_mirrored=other is not None and other.mirrored,
        is_closed=proof.is_closed,
        start=np.array([_arc_of_y(leaf.arc, is_swapped).start for leaf in leaves], np.intp),
        width=np.array([leaf.arc.width for leaf in leaves], np.intp),
        of_mirror=np.array([leaf.arc.mirrored for leaf in leaves]),
        duals=np.array([_duals_of_y(leaf, is_swapped) for leaf in leaves]),
    )


def _of_y(turned: Turned, is_swapped: bool) -> float:
    """Give the angle by which y is turned; a mirror image that is mirrored and turned back is itself."""
    return -turned.angle % math.tau if is_swapped and not turned.mirrored else turned.angle


def _arc_of_y(arc: Arc, is_swapped: bool) -> Arc:
    if not is_swapped or arc.mirrored:
        return arc
    return arc._replace(start=WHOLE - arc.start - arc.width)


def _duals_of_y(leaf: Leaf, is_swapped: bool) -> tuple[FloatArray, FloatArray]:
    if not is_swapped or leaf.arc.mirrored:
        return leaf.low, leaf.high
    return leaf.high, leaf.low
