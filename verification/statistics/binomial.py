"""The decision about a probability claim: supported, refuted, inconclusive or vacuous.

Trials are added until claim and controls are decided, or the largest number of them is reached. So the
tests are those of :mod:`verification.statistics.evidence`, which may be looked at as often as one likes.

Suppose that every claim is true, with a rate of at most half of what is allowed, and every control false,
with a rate of at least twice that in one of its cells. Then the whole suite ends other than green with
probability at most :data:`SUITE_ERROR`. Half of that is shared out evenly among :data:`STATEMENTS` claims,
for refuting a true one. The other half goes to the claims and :data:`CONTROLS` controls that the largest
number of trials leaves open. Shares do not depend on what a run includes, so ``--only`` cannot change a
verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from verification.engine.tally import MULTIPLES
from verification.statistics import evidence
from verification.statistics.decisions import CellCount, Decision

SUITE_ERROR = 1e-3
STATEMENTS = 80
CONTROLS = 180

#: Error level of one claim: of ever refuting it if it is true, and of ever supporting it if it is false.
CLAIM_LEVEL = SUITE_ERROR / 2 / STATEMENTS
#: Probability that the largest number of trials leaves a claim or a control undecided.
MISS = SUITE_ERROR / 2 / (STATEMENTS + CONTROLS)


class Sensitivity(NamedTuple):
    """The rates, as multiples of what is allowed, that the number of trials must tell from the bound."""

    supported_below: float
    refuted_above: float


#: What the first look tells apart: the specification's factor of two in the quick profile, a coarser one
#: where seconds matter. Whatever the first look leaves open gets more trials.
SENSITIVITY = {
    "smoke": Sensitivity(0.1, 5.0),
    "quick": Sensitivity(0.5, 2.0),
    "full": Sensitivity(0.7, 1.4),
}
#: The largest number of trials is the first look's, doubled this often, or more if that is needed to tell
#: apart the rates of :data:`LAST_SENSITIVITY`, in every profile.
DOUBLINGS = 4
LAST_SENSITIVITY = Sensitivity(0.5, 2.0)


class Count(NamedTuple):
    """Violations in a cell, and the rate that is allowed."""

    violations: int
    trials: int
    allowed: float


class CellLimit(NamedTuple):
    """What the tests say of one cell, adjusted over all cells of the claim."""

    upper_limit: float
    """Valid after any number of looks, at the level of the cell's place in Holm's order."""
    is_below: bool
    """The rate is significantly at most what is allowed."""
    is_above: bool
    """The rate is significantly more than what is allowed."""


def decide_probability(counts: Sequence[CellCount], column: str) -> Decision:
    """Decide a probability claim over its whole grid; a violation is an event, or a value above 1."""
    testable = [item for item in counts if item.cell.allowed is not None and item.cell.allowed < 1]
    trials = sum(item.tally.trials for item in testable)
    if not testable:
        return Decision("vacuous", "every cell allows a probability of 1 or more, or has no admissible delta")
    table = [Count(c.tally.violations(column), c.tally.trials, c.cell.allowed or 0.0) for c in testable]
    verdict, limits = decide_counts(table)
    reaches = [_reach(item, column, len(testable)) for item in testable]
    critical = max(
        range(len(table)),
        key=lambda k: (reaches[k].slack, limits[k].upper_limit / max(table[k].allowed, 1e-300)),
    )
    more = _more_trials(table, limits) if verdict == "inconclusive" else None
    detail = (
        f"closest cell {testable[critical].cell.name}: {table[critical].violations} violations in "
        f"{table[critical].trials:,} trials, upper limit {limits[critical].upper_limit:.3g} against "
        f"{table[critical].allowed:.3g} allowed"
    )
    exact = all(count.allowed == 0 for count in table)
    if exact:
        wrong = sum(count.violations for count in table)
        detail = f"an exact statement: {wrong or 'no'} violations in {trials:,} trials"
    if verdict == "refuted":
        above = [c.cell.name for c, limit in zip(testable, limits, strict=True) if limit.is_above]
        detail = f"more violations than allowed in {', '.join(above)}; {detail}"
    if more:
        detail += f"; about {more:,} more trials would decide it"
    rows = {id(c): (limit, reach) for c, limit, reach in zip(testable, limits, reaches, strict=True)}
    undecided = [
        item.cell.name
        for item, limit in zip(testable, limits, strict=True)
        if exact or not (limit.is_below or limit.is_above)
    ]
    return Decision(
        verdict,
        detail,
        trials=trials,
        violations=sum(count.violations for count in table),
        allowed=table[critical].allowed,
        upper_limit=None if exact else limits[critical].upper_limit,
        slack=max(reach.slack for reach in reaches) if verdict == "supported" and not exact else None,
        caught=None if exact else max(reach.caught for reach in reaches),
        cells=tuple(_cell_row(item, column, rows.get(id(item))) for item in counts),
        more_trials=more,
        undecided=() if verdict == "refuted" else tuple(undecided),
    )


def decide_events(counts: Sequence[CellCount], column: str) -> Decision:
    """Decide like :func:`decide_probability` where a trial only says yes or no, which has no slack factor."""
    return replace(decide_probability(counts, column), slack=None, caught=None)


def decide_counts(table: Sequence[Count], level: float = CLAIM_LEVEL) -> tuple[str, list[CellLimit]]:
    """Decide several binomial counts together at error level `level`.

    An allowed rate of 0 is an exact claim: one violation refutes it.
    """
    limits = _limits(table, level)
    if any(limit.is_above for limit in limits):
        return "refuted", limits
    if all(limit.is_below for limit in limits):
        return "supported", limits
    return "inconclusive", limits


def trials_needed(allowed: float, cells: int, sensitivity: Sensitivity, level: float = CLAIM_LEVEL) -> int:
    """Give the trials a cell needs to be told apart from its allowed rate, among `cells` of them.

    Enough to support the claim if the true rate is at most `sensitivity.supported_below` times
    `allowed`, and to refute it if it is at least `sensitivity.refuted_above` times that (at most 1),
    except with probability :data:`MISS`.
    """
    return _trials_needed(float(allowed), cells, sensitivity, level)


def largest_number_of_trials(allowed: float, cells: int, first: int) -> int:
    """Give the trials after which a cell counts as undecided, of which the first look takes `first`."""
    return max(first << DOUBLINGS, trials_needed(allowed, cells, LAST_SENSITIVITY))


class Reach(NamedTuple):
    """What the trials of one cell say about multiples of its bound."""

    slack: float
    """The smallest multiple that they support."""
    caught: float
    """The largest multiple that they refute; 0 if they refute none."""


def _reach(item: CellCount, column: str, cells: int) -> Reach:
    """Find both multiples, each cell by itself at its share of the level."""
    allowed = item.cell.allowed or 0.0
    if allowed == 0:
        return Reach(0.0, 0.0)
    needed = math.log(cells / CLAIM_LEVEL)

    def first(holds: Callable[[int], bool]) -> int:
        low, high = 0, len(MULTIPLES)  # exceedances fall with the multiple, so bisection finds the place
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle + 1, high)
        return low

    trials = item.tally.trials
    counts = [item.tally.violations(column, multiple) for multiple in range(len(MULTIPLES))]
    supported = first(lambda m: evidence.log_evidence_below(counts[m], trials, allowed) >= needed)
    spared = first(lambda m: evidence.log_evidence_above(counts[m], trials, allowed) < needed)
    return Reach(
        float(MULTIPLES[supported]) if supported < len(MULTIPLES) else math.inf,
        float(MULTIPLES[spared - 1]) if spared else 0.0,
    )


def _limits(table: Sequence[Count], level: float) -> list[CellLimit]:
    below = np.array([_p_value(count, "less") for count in table])
    above = np.array([_p_value(count, "greater") for count in table])
    is_below, is_above = _holm(below, level), _holm(above, level)
    place = np.empty(len(table), int)
    place[np.argsort(below, kind="stable")] = np.arange(len(table))
    limits = []
    for k, (violations, trials, allowed) in enumerate(table):
        exact = allowed == 0
        limits.append(
            CellLimit(
                evidence.upper_limit(violations, trials, level / (len(table) - place[k])),
                violations == 0 if exact else bool(is_below[k]),
                violations > 0 if exact else bool(is_above[k]),
            )
        )
    return limits


def _holm(p_values: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """Say which hypotheses Holm's method rejects: in ascending order, those before the first that fails.

    (That of statsmodels collects garbage in every call, which takes longer than all the rest of a decision.)
    """
    order = np.argsort(p_values)
    fails = p_values[order] > level / np.arange(len(order), 0, -1)
    rejected = np.ones(len(order), bool)
    rejected[order[np.logical_or.accumulate(fails)]] = False
    return rejected


def _p_value(count: Count, alternative: str) -> float:
    if count.allowed == 0:
        return 0.0 if (count.violations == 0) == (alternative == "less") else 1.0
    test = evidence.log_evidence_below if alternative == "less" else evidence.log_evidence_above
    return math.exp(-max(test(*count), 0.0))


@cache
def _trials_needed(allowed: float, cells: int, sensitivity: Sensitivity, level: float) -> int:
    step = level / cells
    low, high = sensitivity.supported_below * allowed, min(1.0, sensitivity.refuted_above * allowed)

    def enough(trials: int) -> bool:
        most = evidence.most_that_supports(trials, allowed, step)
        least = evidence.least_that_refutes(trials, allowed, step)
        return bool(
            binom.cdf(most, trials, low) >= 1 - MISS and binom.sf(least - 1, trials, high) >= 1 - MISS
        )

    upper = 16
    while not enough(upper):
        upper *= 2
    lower = upper // 2
    while upper - lower > max(1, upper // 200):
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if enough(middle) else (middle, upper)
    return upper


def _more_trials(table: Sequence[Count], limits: Sequence[CellLimit]) -> int | None:
    """Estimate the trials that would decide the undecided cells if their observed rates are the true ones."""
    total = 0
    for count, limit in zip(table, limits, strict=True):
        if limit.is_below or limit.is_above or count.allowed == 0:
            continue
        rate = (count.violations + 0.5) / (count.trials + 1)
        gap = abs(rate - count.allowed)
        if gap == 0:
            return None
        # A normal test at the same level, 4.9 standard deviations, with as many again for its power.
        needed = math.ceil((9.8 / gap) ** 2 * max(rate * (1 - rate), count.allowed * (1 - count.allowed)))
        total += max(needed - count.trials, count.trials)
    return total or None


def _cell_row(item: CellCount, column: str, found: tuple[CellLimit, Reach] | None) -> dict[str, object]:
    cell, tally = item.cell, item.tally
    row: dict[str, object] = {"name": cell.name, "role": cell.role, "parameters": dict(cell.parameters)}
    row |= {"allowed": cell.allowed, "trials": tally.trials, "violations": tally.violations(column)}
    row |= {"upper_limit": None, "vacuous": found is None}
    if found is not None and cell.allowed:
        limit, reach = found
        row |= {"upper_limit": limit.upper_limit, "slack": reach.slack, "caught": reach.caught}
    return row
