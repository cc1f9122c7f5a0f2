"""Maps that pairs with weights determine: one scale, a scale for each column, a turn."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.maps import Affine, AnyMap, ColumnMap, Similarity
from lslmatch.similarity.procrustes import Rules, fit_pairs

#: Columns of pairs that are correlated as much as this tell the sign of their scale.
_TELLS_SIGN = 0.5


class Family(NamedTuple):
    """Maps of one kind, and how they follow from pairs."""

    fewest: Callable[[int], int]
    """From how many pairs on they follow, by the dimension."""
    fit: Callable[[FloatArray, FloatArray, FloatArray, AnyMap | None], AnyMap | None]
    """From points of x, those of y, weights, and a map before, which columns without spread keep."""


def _fit_scale(a: FloatArray, b: FloatArray, weight: FloatArray, before: AnyMap | None) -> AnyMap | None:
    """Standardise the pairs."""
    (a_apart, a_mean), (b_apart, b_mean) = _centred(a, weight), _centred(b, weight)
    sizes = [
        float(_spread(part.reshape(-1, 1), np.repeat(weight, part.shape[1]))[0])
        for part in (a_apart, b_apart)
    ]
    if not min(sizes) > 0.0:
        return before
    scale = sizes[0] / sizes[1]
    return _in_range(Affine(scale, a_mean - scale * b_mean)) or before


def _fit_columns(a: FloatArray, b: FloatArray, weight: FloatArray, before: AnyMap | None) -> AnyMap | None:
    """Standardise each column of the pairs by itself."""
    (a_apart, a_mean), (b_apart, b_mean) = _centred(a, weight), _centred(b, weight)
    a_size, b_size = _spread(a_apart, weight), _spread(b_apart, weight)
    spread = (a_size > 0.0) & (b_size > 0.0)
    if before is None and not spread.all():
        return None
    assert before is None or isinstance(before, ColumnMap)
    scales = np.ones(a_size.size) if before is None else before.scales.copy()
    share = weight / weight.sum()
    for k in np.flatnonzero(spread).tolist():
        agree = float(share @ (a_apart[:, k] / a_size[k] * (b_apart[:, k] / b_size[k])))
        sign = math.copysign(1.0, agree if abs(agree) > _TELLS_SIGN else scales[k])
        scales[k] = sign * a_size[k] / b_size[k]
    return _in_range(ColumnMap(scales, a_mean - scales * b_mean)) or before


def _fit_turn(
    a: FloatArray,
    b: FloatArray,
    weight: FloatArray,
    before: AnyMap | None,
    mirror: bool = True,
    scale: float | None = None,
) -> AnyMap | None:
    """Turn the pairs onto each other, by weighted least squares."""
    (a_apart, a_mean), (b_apart, b_mean) = _centred(a, weight), _centred(b, weight)
    units = [float(np.abs(part).max()) for part in (a_apart, b_apart)]
    if not min(units) > 0.0:
        return before
    held = None if scale is None else scale * units[1] / units[0]
    turn = fit_pairs(
        a_apart / units[0], b_apart / units[1], np.arange(len(a)), weight, Rules(mirror, held)
    ).turn
    found = turn.scale * units[0] / units[1] if scale is None else scale
    return _in_range(Similarity(found, turn.rotation, a_mean - found * (turn.rotation @ b_mean))) or before


def _centred(points: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give points from their weighted mean on, and that mean; a common offset costs no digits."""
    apart = points - points[0]
    mean = weight @ apart / weight.sum()
    return apart - mean, points[0] + mean


def _spread(apart: FloatArray, weight: FloatArray) -> FloatArray:
    """Give the weighted root mean square of each column, without overflow."""
    greatest = np.abs(apart).max(axis=0)
    unit = np.where(greatest > 0.0, greatest, 1.0)
    found: FloatArray = greatest * np.sqrt(weight @ (apart / unit) ** 2 / weight.sum())
    return found


def _in_range(found: AnyMap) -> AnyMap | None:
    is_finite = np.isfinite(found.shift).all() and 0.0 < found.scale < math.inf
    return found if is_finite else None


ONE_SCALE = Family(lambda d: 2, _fit_scale)
EACH_COLUMN = Family(lambda d: 3, _fit_columns)
TURNED = Family(lambda d: d + 1, _fit_turn)
ROTATED = Family(lambda d: d + 1, functools.partial(_fit_turn, mirror=False))
RIGID = Family(lambda d: d + 1, functools.partial(_fit_turn, mirror=False, scale=1.0))
