"""A recovery trial: match, insist on the certificate, compare with the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

import lslmatch
from lslmatch._jit import kernel
from lslmatch.results import MatchResult
from verification.engine.trials import TrialError

#: The largest violation of the optimality conditions that rounding explains: of logarithms, and of squares in
#: units of the mean square.
CERTIFICATE_TOLERANCE = 1e-7


class UncertifiedError(TrialError):
    """A matching that is not proven optimal: an error of the solver, never evidence about a theorem."""


def certified_match(x: Any, y: Any, **options: Any) -> MatchResult:
    """Match two sets, and raise :class:`UncertifiedError` unless the result is proven optimal."""
    result = lslmatch.match(x, y, **options)
    require_certificate(x, y, result, options.get("objective", "lsl"))
    return result


def require_certificate(x: Any, y: Any, result: MatchResult, objective: str = "lsl") -> None:
    """Raise :class:`UncertifiedError` unless a matching is proven optimal for the objective asked for."""
    if objective != "greedy" and result.criterion != objective:
        raise UncertifiedError(
            f"the matching has no certificate for {objective!r}: it is by {result.criterion!r}"
        )
    try:
        violation = np.inf
        isotropic = result.covariance is None or result.covariance.is_isotropic
        complete = len(x) == len(y) and bool((result.permutation >= 0).all())
        if isotropic and complete and result.criterion == "lsl":
            # A compiled loop: the library's own check takes several times as long, which for a few points is
            # most of a trial.
            violation = certificate_violation(x, y, result)
        if not violation <= CERTIFICATE_TOLERANCE:
            # The library carries rounding errors, which count where points nearly coincide.
            violation = lslmatch.check_certificate(x, y, result)
            if result.criterion == "lss":
                violation /= np.square(x - x.mean(axis=0)).sum(axis=1).mean()
    except ValueError as error:
        raise UncertifiedError(f"the matching has no valid certificate: {error}") from None
    if not violation <= CERTIFICATE_TOLERANCE:
        raise UncertifiedError(f"the certificate of the matching is violated by {violation:g}")


def certificate_violation(x: Any, y: Any, result: MatchResult) -> float:
    """Give what :func:`lslmatch.check_certificate` gives for two sets of equal size matched by "lsl".

    Squared distances below the library's floor for coincident points count as that floor. Distances are
    rounded here, so that points which nearly coincide may seem to violate the certificate.
    """
    row_dual, col_dual = result.row_dual, result.col_dual
    if row_dual is None or col_dual is None:
        raise ValueError("result must have dual variables")
    if not np.array_equal(np.sort(result.permutation), np.arange(len(x))):
        raise ValueError("result.permutation must be a permutation")
    mean = x.mean(axis=0)
    x, moved = x - mean, result.scale * y + (result.shift - mean)
    # If all points coincide every cost is 0, so that distances may be raised to 1.
    floor = (np.square(x).sum() + np.square(moved).sum()) / (2 * len(x)) * 2.0**-104 or 1.0
    squares = ((x - moved[result.permutation]) ** 2).sum(axis=1)
    slack = np.abs(row_dual + col_dual[result.permutation] - np.log(np.maximum(squares, floor))).max()
    # u + v - log(D) is largest where exp(u) exp(v) / D is: one logarithm instead of n^2.
    centre = col_dual.mean()
    largest = _largest_ratio(
        x, np.ascontiguousarray(moved.T), np.exp(row_dual + centre), np.exp(col_dual - centre), floor
    )
    return max(float(slack), float(np.log(largest)))


@kernel
def _largest_ratio(x, moved, row_factor, col_factor, floor):
    """Give the largest row_factor[i] col_factor[j] / max(squared distance, floor); `moved` is (d, n)."""
    n, d = x.shape
    squares = np.empty(n)
    worst = 0.0
    for i in range(n):
        for j in range(n):
            squares[j] = 0.0
        for k in range(d):
            for j in range(n):
                difference = x[i, k] - moved[k, j]
                squares[j] += difference * difference
        largest = 0.0
        for j in range(n):
            largest = max(largest, col_factor[j] / max(squares[j], floor))
        worst = max(worst, row_factor[i] * largest)
    return worst
