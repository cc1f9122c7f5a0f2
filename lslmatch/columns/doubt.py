"""Whether a matching by one scale for all columns should be believed, and what to say if not.

Two things go wrong with one scale. Columns have other units in the second set: then the pairs contradict it,
or wrong pairs hide that they would. Or one column has a unit so small that its numbers outweigh all others:
then its noise decides, although the others would tell pairs apart.

A first look costs a microsecond: slopes, standard deviations and spreads of the columns. Only if these are
odd is a scale for each column learned beside it, and compared.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from lslmatch._jit import is_ready, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.columns.learning import Learner, is_better, learn_columns
from lslmatch.columns.slopes import Slopes, find_slopes
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.learned import isotropic_surprises
from lslmatch.geometry.powers import least_exponent
from lslmatch.request import Request
from lslmatch.results import MatchResult
from lslmatch.summary import number, percent

#: Pairs that are needed.
LEAST_PAIRS = 12
#: Pairs that a first look asks, at most.
_ASKED = 64
#: Standard errors beyond which a first look finds slopes, and standard deviations, odd.
_ODD_SLOPES, _ODD_SPREADS = 3.0, 6.0
#: A column with this share of the spread outweighs all others.
OUTWEIGHS = 0.9
#: Standard errors by which columns must predict their pairs better than one scale does, and how certain they
#: must be of them, as a share of a guess.
_BETTER, _SURE = 4.0, 1 / 4
#: Numbers (pairs of points times columns) up to which columns are learned for a comparison: that takes some
#: sixty matchings, where :func:`lslmatch.match` takes one.
_MOST_NUMBERS = 1 << 20
#: Columns that are named at most.
_NAMED = 4
#: Logarithms of scales that are named, at most: those of numbers in the range of float64.
_FARTHEST = 700.0
#: Matchings of a process after which the first look is compiled: the first of all need not wait for that.
_MANY = 20
#: Counts matchings without a first look.
_without = itertools.count(1)


class ColumnScaleWarning(UserWarning):
    """One scale for all columns does not suit the pairs that were found with it."""


def doubt_one_scale(
    x: FloatArray, y: FloatArray, result: MatchResult, names: tuple[str, ...] | None = None
) -> str:
    """Say why one scale for all columns seems wrong; empty if it does not."""
    if x.shape[1] == 1 or min(len(x), len(y)) < LEAST_PAIRS:
        return ""
    look = is_odd if is_ready(is_odd) or next(_without) > _MANY else _is_odd_by_arrays
    return _reason(x, y, result, names) if look(x, y, result.permutation) else ""


def better_columns(x: FloatArray, y: FloatArray, result: MatchResult) -> Learner | None:
    """Learn a scale for each column, if that predicts its pairs clearly better than one scale does."""
    if len(x) * len(y) * x.shape[1] > _MOST_NUMBERS:
        return None
    learned = learn_columns(x, y, ("diagonal",), None, 1)
    if learned is None or not learned.cross_entropy < _SURE * math.log(len(x) * len(y)):
        return None
    one = isotropic_surprises(x, y, result, 1)
    if one.size != learned.surprises.size:
        return None
    gain = one - learned.surprises
    better = gain.mean() > _BETTER * gain.std() / math.sqrt(gain.size)
    return learned if better else None


def _reason(x: FloatArray, y: FloatArray, result: MatchResult, names: tuple[str, ...] | None) -> str:
    slopes = find_slopes(x, y, result.permutation)
    if slopes is not None and slopes.contradict:
        return f"the pairs contradict one scale for all columns: {_scales(slopes, names)}"
    learned = better_columns(x, y, result)
    if learned is None:
        return ""
    spread = spread_shares(x)
    most = int(spread.argmax())
    found = find_slopes(x, y, learned.permutation)
    if found is not None and found.contradict:
        return f"columns have units of their own: {_scales(found, names)}"
    if spread[most] > OUTWEIGHS and _better_than_another_scale(x, y, learned):
        return (
            f"{_name(most, names)} holds {percent_of(spread[most])} of the spread, and outweighs all others, "
            "by which pairs are told apart better"
        )
    return ""


def _better_than_another_scale(x: FloatArray, y: FloatArray, learned: Learner) -> bool:
    """Say whether columns are also better than the scale that points without a partner do not disturb.

    Where sets differ in size, moments are wrong for another reason than units of columns.
    """
    robust = match_isotropic(x, y, Request(alignment="robust"))
    return is_better(learned.surprises, isotropic_surprises(x, y, robust, 1), _BETTER)


def spread_shares(x: FloatArray) -> FloatArray:
    """Give what each column has of the sum of all variances."""
    # In a unit in which no sum overflows.
    apart = np.ldexp(x, -least_exponent(x))
    apart -= apart[0].copy()
    apart -= apart.mean(axis=0)
    squares: FloatArray = ((apart / (np.abs(apart).max() or 1.0)) ** 2).sum(axis=0)
    return squares / (squares.sum() or 1.0)


def percent_of(share: float) -> str:
    """Give a share near 1 with enough digits to tell it from 1."""
    if share > 0.995:
        digits = min(max(math.ceil(-math.log10(max(1.0 - share, 1e-9))) - 2, 1), 6)
        return f"{math.floor(share * 100 * 10**digits) / 10**digits:.{digits}f} %"
    return percent(share)


def _scales(slopes: Slopes, names: tuple[str, ...] | None) -> str:
    """Name the columns that differ most, with their scales."""
    told = np.flatnonzero(np.isfinite(slopes.low) & np.isfinite(slopes.high))
    middle = np.zeros(slopes.low.size)
    middle[told] = np.clip((slopes.low[told] + slopes.high[told]) / 2.0, -_FARTHEST, _FARTHEST)
    order = told[np.argsort(middle[told])]
    if order.size > _NAMED:
        half = _NAMED // 2
        order = np.concatenate([order[:half], order[-half:]])
    order = np.sort(order)
    parts = [f"{_name(k, names)} {number(float(np.exp(middle[k])))}" for k in order.tolist()]
    return "scale of " + ", of ".join(parts)


def _name(k: int, names: tuple[str, ...] | None) -> str:
    return f"column {k}" if names is None else names[k]


@kernel
def is_odd(x, y, permutation):
    """Say whether slopes, standard deviations or spreads of the columns of some pairs are odd."""
    d = x.shape[1]
    step = x.shape[0] // _ASKED + 1
    seen, least, greatest = 0, np.inf, -np.inf
    for i in range(0, x.shape[0], step):
        seen += permutation[i] >= 0
    if seen < LEAST_PAIRS:
        return False
    error = 1.0 / math.sqrt(seen)
    total, largest, low, high = 0.0, 0.0, -np.inf, np.inf
    for k in range(d):
        origin, other, started = 0.0, 0.0, False
        sum_x, sum_y, xx, yy, xy = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(0, x.shape[0], step):
            j = permutation[i]
            if j >= 0:
                if not started:
                    origin, other, started = x[i, k], y[j, k], True
                a, b = x[i, k] - origin, y[j, k] - other
                sum_x += a
                sum_y += b
                xx += a * a
                yy += b * b
                xy += a * b
        xx -= sum_x * sum_x / seen
        yy -= sum_y * sum_y / seen
        xy -= sum_x * sum_y / seen
        total += xx
        largest = max(largest, xx)
        if xx > 0.0 and yy > 0.0:
            ratio = 0.5 * math.log(xx / yy)
            least, greatest = min(least, ratio), max(greatest, ratio)
            correlation = xy / math.sqrt(xx * yy)
            if correlation > 0.0:
                rest = (
                    _ODD_SLOPES * math.sqrt(max(1.0 - correlation * correlation, 0.0)) * error / correlation
                )
                low = max(low, ratio + math.log(correlation) - rest)
                high = min(high, ratio - math.log(correlation) + rest)
    if low > high + 1e-9:
        return True
    return largest > OUTWEIGHS * total or greatest - least > _ODD_SPREADS * error


@np.errstate(all="ignore")
def _is_odd_by_arrays(x: FloatArray, y: FloatArray, permutation: IntArray) -> bool:
    """Do the same without a kernel."""
    rows = np.arange(0, len(x), len(x) // _ASKED + 1)
    rows = rows[permutation[rows] >= 0]
    if rows.size < LEAST_PAIRS:
        return False
    a, b = (part - part[0] for part in (x[rows], y[permutation[rows]]))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    xx, yy, xy = (a * a).sum(axis=0), (b * b).sum(axis=0), (a * b).sum(axis=0)
    largest = xx.max() > OUTWEIGHS * xx.sum()
    told = (xx > 0.0) & (yy > 0.0)
    if largest or not told.any():
        return bool(largest)
    ratio = 0.5 * np.log(xx[told] / yy[told])
    if np.ptp(ratio) > _ODD_SPREADS / math.sqrt(rows.size):
        return True
    correlation = xy[told] / np.sqrt(xx[told] * yy[told])
    ratio, correlation = ratio[correlation > 0.0], correlation[correlation > 0.0]
    if not correlation.size:
        return False
    rest = _ODD_SLOPES * np.sqrt(np.maximum(1.0 - correlation**2, 0.0) / rows.size) / correlation
    low, high = ratio + np.log(correlation) - rest, ratio - np.log(correlation) + rest
    return bool(low.max() > high.min() + 1e-9)
