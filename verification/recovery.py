"""A recovery trial: match, insist on the certificate, compare with the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

import lslmatch
from lslmatch._jit import kernel
from lslmatch.results import MatchResult

#: The largest violation of the optimality conditions, in units of the logarithm, that rounding explains.
CERTIFICATE_TOLERANCE = 1e-7

#: From this many points on the certificate is checked by the compiled loop below, which is faster.
_MANY = 200


class UncertifiedError(RuntimeError):
    """A matching that is not proven optimal: an error of the solver, never evidence about a theorem."""


def certified_match(x: Any, y: Any, **options: Any) -> MatchResult:
    """Match two sets by LSL, and raise :class:`UncertifiedError` unless the result is proven optimal."""
    result = lslmatch.match(x, y, **options)
    try:
        if len(x) < _MANY or result.row_dual is None:
            violation = lslmatch.check_certificate(x, y, result)
        else:
            violation = certificate_violation(x, y, result)
    except ValueError as error:
        raise UncertifiedError(f"the matching has no valid certificate: {error}") from None
    if not violation <= CERTIFICATE_TOLERANCE:
        raise UncertifiedError(f"the certificate of the matching is violated by {violation:g}")
    return result


def certificate_violation(x: Any, y: Any, result: MatchResult) -> float:
    """Give what :func:`lslmatch.check_certificate` gives for two sets of equal size matched by "lsl"."""
    if not np.array_equal(np.sort(result.permutation), np.arange(len(x))):
        raise ValueError("result.permutation must be a permutation")
    moved = result.scale * y + result.shift
    return float(_largest_violation(x, moved, result.row_dual, result.col_dual, result.permutation))


@kernel
def _largest_violation(x, y, row_dual, col_dual, permutation):
    n, d = x.shape
    worst = 0.0
    for i in range(n):
        for j in range(n):
            squares = 0.0
            for k in range(d):
                difference = x[i, k] - y[j, k]
                squares += difference * difference
            excess = row_dual[i] + col_dual[j] - np.log(squares)
            worst = max(worst, abs(excess) if permutation[i] == j else excess)
    return worst
