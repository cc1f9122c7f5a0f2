"""Trying one input: an answer must be proven, and an input may be refused only if it is out of range."""

import math
import time
import warnings
from typing import NamedTuple

import numpy as np

import lslmatch
from tests.stress.real_sizes.cases import draw_case
from tests.stress.real_sizes.extended import LONG
from tests.stress.real_sizes.judge import judge

#: Up to so many pairs a share of the answers is compared with SciPy's.
_SCIPY_PAIRS, _SCIPY_SHARE = 90_000, 0.1
#: Squares of coordinates beyond these powers of ten, and of those beside noise, may be out of range.
_GREATEST_UNIT, _GREATEST_RATIO = 148, 120
#: Of the points of both sets, if nonzero but below 2**-400 of the greatest, this share is refused.
_MOSTLY = 0.5
#: Sets of which a common offset leaves this share have lost digits if some coordinates are below that share.
_CANCELLED, _LOST = LONG(2.0) ** -880, LONG(2.0) ** -940

PROVEN, REFUSED = "proven", "refused"


class Outcome(NamedTuple):
    """What became of an input."""

    index: int
    kind: str
    size: str
    pairs: int
    what: str
    """"proven", "refused", or what is wrong."""
    words: str
    case: str
    seconds: float

    @property
    def is_finding(self):
        """Whether it is neither proven nor refused for a reason."""
        return self.what not in (PROVEN, REFUSED)


def case_of(seed, index):
    """Draw the case of a seed and an index."""
    return draw_case(np.random.default_rng([seed, index]))


def try_index(seed, index):
    """Match one input and judge the answer."""
    start = time.perf_counter()
    case = case_of(seed, index)
    what, words = try_case(case, with_scipy=index % round(1 / _SCIPY_SHARE) == 0)
    pairs = len(case.x) * len(case.y)
    return Outcome(index, case.kind, case.size, pairs, what, words, str(case), time.perf_counter() - start)


def try_case(case, with_scipy=False):
    """Say what became of a case, and the rest in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # These are answers, not faults.
            warnings.simplefilter("ignore", lslmatch.AlignmentWarning)
            warnings.simplefilter("ignore", lslmatch.ColumnScaleWarning)
            try:
                result = lslmatch.match(case.x, case.y, **case.options)
            except ValueError as error:
                return (REFUSED if may_be_refused(case) else "refused without a reason"), str(error)
            certificate = lslmatch.check_certificate(case.x, case.y, result)
    except Warning as warning:
        return "warning", f"{type(warning).__name__}: {warning}"
    except Exception as error:  # any other is a finding
        return "exception", f"{type(error).__name__}: {error}"
    with_scipy = with_scipy and len(case.x) * len(case.y) <= _SCIPY_PAIRS
    found = judge(case.x, case.y, result, with_scipy)
    words = f"{found}, certificate {certificate:.2g}"
    if not found.is_proven:
        return "wrong", words
    if not certificate <= found.greatest:
        return "certificate", words
    return PROVEN, words


def may_be_refused(case):
    """Say whether numbers of a case exceed the range of doubles, or of what can be told apart."""
    extents = [_extent(points) for points in (case.x, case.y)]
    alignment = case.options["alignment"]
    if alignment == "standardize":
        if 0 in extents or abs(_power(extents[0] / extents[1])) > 2 * _GREATEST_UNIT:
            return True
        scale = extents[0] / extents[1]
    else:
        scale = LONG(1.0 if alignment == "identity" else alignment.scale)
    sizes = [
        factor * np.abs(points).max(axis=1) for factor, points in ((1, LONG(case.x)), (scale, LONG(case.y)))
    ]
    limit = max(part.max() for part in sizes) * LONG(2.0) ** -400
    if all(((part > 0) & (part < limit)).mean() >= _MOSTLY for part in sizes):
        return True
    extent = max(extents[0], scale * extents[1])
    greatest = max(part.max() for part in sizes)
    if extent < greatest * _CANCELLED and any(
        _least(factor * points) < greatest * _LOST
        for factor, points in ((1, LONG(case.x)), (scale, LONG(case.y)))
    ):
        return True
    if case.options["objective"] == "lss":
        return abs(_power(extent)) > _GREATEST_UNIT
    if case.options["objective"] == "lsns":
        levels = np.concatenate([case.options["noise"][0], scale * case.options["noise"][1]])
        ends = levels.min(), levels.max()
        return ends[0] == 0 or any(abs(_power(extent / end)) > _GREATEST_RATIO for end in ends)
    return False


def _extent(points):
    return np.ptp(LONG(points), axis=0).max()


def _least(points):
    return np.abs(points).min(where=points != 0, initial=np.inf)


def _power(value):
    return float(np.log10(value)) if value > 0 else math.inf
