"""Evidence about a rate that may be looked at after every trial: e-processes and what follows from them.

For a rate q above p the likelihood ratio of q to p is a supermartingale whenever the true rate is at most p,
and so is its mean over a distribution of q above p. By Ville's inequality such a process, which starts at 1,
ever reaches 1/level with probability at most `level`. So trials may be added until a question is decided, for
any reason, and the error rates stand. The same holds with q below p for true rates of at least p.

The distribution of q is a beta distribution with mean p, cut at p, which makes the mean a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaln


def log_evidence_above(events: int, trials: int, rate: float) -> float:
    """Give the logarithm of the evidence against "the true rate is at most `rate`".

    Examples
    --------
    >>> log_evidence_above(0, 0, 0.1)
    0.0
    >>> log_evidence_above(40, 100, 0.1) > 25
    True
    """
    return _log_evidence(events, trials, rate, above=True)


def log_evidence_below(events: int, trials: int, rate: float) -> float:
    """Give the logarithm of the evidence against "the true rate is at least `rate`".

    Examples
    --------
    >>> log_evidence_below(0, 0, 0.1)
    0.0
    >>> log_evidence_below(1, 100, 0.1) > 5
    True
    """
    return _log_evidence(events, trials, rate, above=False)


def upper_limit(events: int, trials: int, level: float) -> float:
    """Give the largest rate that the evidence does not reject at `level`, valid however long one sampled.

    Examples
    --------
    >>> 0.05 < upper_limit(0, 100, 0.01) < 0.1
    True
    >>> upper_limit(5, 5, 0.01)
    1.0
    """
    needed = -math.log(level)

    def excess(rate: float) -> float:
        return log_evidence_below(events, trials, rate) - needed

    largest = 1 - 1e-12
    if events == trials or excess(largest) < 0:
        return 1.0
    return float(brentq(excess, max(events / trials, 1e-12), largest, xtol=1e-14, rtol=1e-9))


def most_that_supports(trials: int, rate: float, level: float) -> int:
    """Give the largest count that rejects "at least `rate`" at `level`; -1 if even 0 does not."""
    return _last(lambda k: log_evidence_below(k, trials, rate) >= -math.log(level), math.floor(trials * rate))


def least_that_refutes(trials: int, rate: float, level: float) -> int:
    """Give the smallest count that rejects "at most `rate`" at `level`; `trials` + 1 if none does."""
    # Counted from the other end: k trials without the event.
    rest = trials - math.ceil(trials * rate)
    spared = _last(lambda k: log_evidence_above(trials - k, trials, rate) >= -math.log(level), rest)
    return trials - spared


def _last(holds: Callable[[int], bool], most: int) -> int:
    """Give the last number from 0 to `most` with a property that holds up to there; -1 if there is none."""
    if not holds(0):
        return -1
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _log_evidence(events: int, trials: int, rate: float, *, above: bool) -> float:
    # Mean `rate`, and half an event's worth of weight on the rarer side.
    weight = 0.5 / min(rate, 1 - rate)
    a, b = weight * rate, weight * (1 - rate)
    a_now, b_now = a + events, b + trials - events
    side = betaincc if above else betainc
    kept, kept_now = float(side(a, b, rate)), float(side(a_now, b_now, rate))
    if kept_now == 0.0:
        return -math.inf
    mixed = float(betaln(a_now, b_now) - betaln(a, b))
    return mixed + math.log(kept_now / kept) - events * math.log(rate) - (trials - events) * math.log1p(-rate)
