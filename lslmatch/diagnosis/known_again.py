"""What known pairs say of the rest: each is left out in turn, and the rest is matched again without it.

A known pair that was left out is like any other pair: whether it is found again says how many of the others
are right, with no model behind it. The other known pairs stay, as they taught the map that is judged.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lslmatch._progress import tell
from lslmatch._validation import check_point_pair
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.diagnosis.outcome import KnownAgain
from lslmatch.matching import match
from lslmatch.results import MatchResult

#: Known pairs from which on their share comes first.
ENOUGH_KNOWN = 10
#: Known pairs from which on they are left out at all, and into how many parts they are cut.
_FEWEST, _PARTS = 3, 10
#: Pairs of points up to which the rest is matched again, and under a linear map.
_MOST_ENTRIES, _MOST_ENTRIES_LINEAR = 1 << 24, 1 << 20


def find_known_again(x: Any, y: Any, result: MatchResult, workers: int) -> KnownAgain | None:
    """Leave known pairs out in turn, and count those that are found again; None if that takes too long."""
    given = result.given
    if given is None or len(given.known) < _FEWEST or result.row_dual is None:
        return None
    x, y = check_point_pair(x, y, given.alignment or result.matrix_map)
    most = _MOST_ENTRIES if result.regression is None else _MOST_ENTRIES_LINEAR
    if len(x) * len(y) > most:
        return None
    covariance: Any = given.covariance
    if not covariance:
        assert result.covariance is not None
        covariance = result.covariance.matrix
    parts, found = min(len(given.known), _PARTS), 0
    for part in range(parts):
        tell("known pairs left out", part, parts)
        out = np.arange(len(given.known)) % parts == part
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AlignmentWarning)
            again = match(
                x,
                y,
                objective=result.criterion,
                alignment=given.alignment or result.map,
                covariance=covariance,
                noise=result.noise,
                known=given.known[~out],
                groups=None if given.x_group is None else (given.x_group, given.y_group),
                forbidden=given.forbidden,
                workers=workers,
            )
        rows, cols = given.known[out].T
        found += int(np.count_nonzero(again.permutation[rows] == cols))
    return KnownAgain(found, len(given.known), _interval(found, len(given.known)))


def _interval(found: int, asked: int) -> tuple[float, float]:
    """Give the exact 95 % interval of a share."""
    from scipy.special import betaincinv  # takes longer than the rest of the import

    low = float(betaincinv(found, asked - found + 1, 0.025)) if found else 0.0
    high = float(betaincinv(found + 1, asked - found, 0.975)) if found < asked else 1.0
    return low, high
