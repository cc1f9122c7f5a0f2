"""The decision about a probability claim: supported, refuted, inconclusive or vacuous.

The whole suite refutes a true claim, or lets a control of twice the allowed rate survive, with probability at
most :data:`SUITE_ERROR`. Half of that is shared out evenly among :data:`STATEMENTS` claims, half among
:data:`CONTROLS` controls, whether or not a run includes them all, so that ``--only`` cannot change a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from verification.engine.tally import MULTIPLES, ONE
from verification.statistics.decisions import CellCount, Decision

SUITE_ERROR = 1e-3
STATEMENTS = 50
CONTROLS = 100

#: Error level of one claim: of refuting it if it is true, and of supporting it if it is false.
CLAIM_LEVEL = SUITE_ERROR / 2 / STATEMENTS
#: Probability that the power calculation leaves for the wrong outcome.
MISS = SUITE_ERROR / 2 / CONTROLS


class Sensitivity(NamedTuple):
    """The rates, as multiples of what is allowed, that the number of trials must tell from the bound."""

    supported_below: float
    refuted_above: float


#: The specification's factor of two in the quick profile; a coarser one where seconds matter.
SENSITIVITY = {
    "smoke": Sensitivity(0.1, 5.0),
    "quick": Sensitivity(0.5, 2.0),
    "full": Sensitivity(0.7, 1.4),
}


class Count(NamedTuple):
    """Violations in a cell, and the rate that is allowed."""

    violations: int
    trials: int
    allowed: float


class CellLimit(NamedTuple):
    """What the tests say of one cell, adjusted over all cells of the claim."""

    upper_limit: float
    """Clopper-Pearson, at the level of the cell's place in Holm's order."""
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
    critical = max(range(len(table)), key=lambda k: limits[k].upper_limit / max(table[k].allowed, 1e-300))
    more = _more_trials(table, limits) if verdict == "inconclusive" else None
    detail = (
        f"closest cell {testable[critical].cell.name}: {table[critical].violations} violations in "
        f"{table[critical].trials:,} trials, upper limit {limits[critical].upper_limit:.3g} against "
        f"{table[critical].allowed:.3g} allowed"
    )
    if all(count.allowed == 0 for count in table):
        wrong = sum(count.violations for count in table)
        detail = f"an exact statement: {wrong or 'no'} violations in {trials:,} trials"
    if verdict == "refuted":
        above = [c.cell.name for c, limit in zip(testable, limits, strict=True) if limit.is_above]
        detail = f"more violations than allowed in {', '.join(above)}; {detail}"
    if more:
        detail += f"; about {more:,} more trials would decide it"
    rows = {id(c): limit for c, limit in zip(testable, limits, strict=True)}
    return Decision(
        verdict,
        detail,
        trials=trials,
        violations=sum(count.violations for count in table),
        allowed=table[critical].allowed,
        upper_limit=limits[critical].upper_limit,
        slack=slack_factor(testable, column) if verdict == "supported" else None,
        cells=tuple(_cell_row(item, column, rows.get(id(item))) for item in counts),
        more_trials=more,
    )


def decide_events(counts: Sequence[CellCount], column: str) -> Decision:
    """Decide like :func:`decide_probability` where a trial only says yes or no, which has no slack factor."""
    return replace(decide_probability(counts, column), slack=None)


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


def slack_factor(counts: Sequence[CellCount], column: str) -> float:
    """Give the smallest of :data:`MULTIPLES` that the bound can be multiplied with and stay supported."""
    low, high = 0, ONE  # exceedances fall with the multiple, so bisection finds where support begins
    while low < high:
        middle = (low + high) // 2
        table = [
            Count(c.tally.violations(column, middle), c.tally.trials, c.cell.allowed or 0.0) for c in counts
        ]
        if decide_counts(table)[0] == "supported":
            high = middle
        else:
            low = middle + 1
    return float(MULTIPLES[low])


def _limits(table: Sequence[Count], level: float) -> list[CellLimit]:
    below = np.array([_p_value(count, "less") for count in table])
    above = np.array([_p_value(count, "greater") for count in table])
    is_below, is_above = _holm(below, level), _holm(above, level)
    place = np.empty(len(table), int)
    place[np.argsort(below, kind="stable")] = np.arange(len(table))
    limits = []
    for k, (violations, trials, allowed) in enumerate(table):
        # A two-sided interval at twice the level has the one-sided limit as its upper end.
        step = level / (len(table) - place[k])
        upper = float(proportion_confint(violations, trials, alpha=2 * step, method="beta")[1])
        exact = allowed == 0
        limits.append(
            CellLimit(
                1.0 if violations == trials else upper,
                violations == 0 if exact else bool(is_below[k]),
                violations > 0 if exact else bool(is_above[k]),
            )
        )
    return limits


def _holm(p_values: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """Say which hypotheses Holm's method rejects.

    Two cases need no ordering, and are most of them: statsmodels collects garbage in every call, which
    takes longer than all the rest of a decision.
    """
    if p_values.min() > level:
        return np.zeros(len(p_values), bool)
    if p_values.max() <= level / len(p_values):
        return np.ones(len(p_values), bool)
    rejected: NDArray[np.bool_] = multipletests(p_values, alpha=level, method="holm")[0]
    return rejected


def _p_value(count: Count, alternative: str) -> float:
    if count.allowed == 0:
        return 0.0 if (count.violations == 0) == (alternative == "less") else 1.0
    return float(binomtest(count.violations, count.trials, count.allowed, alternative=alternative).pvalue)


@cache
def _trials_needed(allowed: float, cells: int, sensitivity: Sensitivity, level: float) -> int:
    step = level / cells
    low, high = sensitivity.supported_below * allowed, min(1.0, sensitivity.refuted_above * allowed)

    def enough(trials: int) -> bool:
        most = binom.ppf(step, trials, allowed)  # the first count that is too large to support
        if binom.cdf(most, trials, allowed) > step:
            most -= 1
        least = binom.isf(step, trials, allowed) + 1  # the first count that refutes
        if binom.sf(least - 1, trials, allowed) > step:
            least += 1
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


def _cell_row(item: CellCount, column: str, limit: CellLimit | None) -> dict[str, object]:
    cell, tally = item
    row: dict[str, object] = {"name": cell.name, "role": cell.role, "parameters": dict(cell.parameters)}
    row |= {"allowed": cell.allowed, "trials": tally.trials, "violations": tally.violations(column)}
    row["upper_limit"] = None if limit is None else limit.upper_limit
    row["vacuous"] = limit is None
    return row
