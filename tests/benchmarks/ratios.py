"""From timings to ratios, and the gate: has any ratio fallen by more than a quarter?

A ratio is the time of the fastest peer for that instance over the library's, both minima of the same run.
Absolute times drift between machines and days; ratios much less.
"""

import math

from tests.benchmarks.instances import Case
from tests.benchmarks.peers import OURS, PEERS, PRODUCT, PRODUCT_IN_PLACE

#: The share of a ratio that may be lost.
ALLOWED_LOSS = 0.25
#: A median of more than this times the least time is not steady.
STEADY = 1.5


def least_seconds(report):
    """Collect the least time of each contestant for each case from a report of pytest-benchmark."""
    seconds = {}
    for entry in report["benchmarks"]:
        case = Case(*entry["extra_info"]["case"])
        times = seconds.setdefault(case, {})
        name = entry["extra_info"]["contestant"]
        times[name] = min(times.get(name, math.inf), entry["stats"]["min"])
    return seconds


def unsteady(report):
    """Name the tests whose median was far above their least time, with the quotient of the two.

    Other work on the machine does that, and not evenly: threads of a matrix product wait for each other, so
    a busy machine slows the peers several times more than the library and flatters every ratio.
    """
    quotients = {
        entry["name"]: entry["stats"]["median"] / entry["stats"]["min"] for entry in report["benchmarks"]
    }
    return {name: quotient for name, quotient in quotients.items() if quotient > STEADY}


def merge(seconds, again):
    """Take the lesser times of two runs: whatever disturbs a timing makes it longer."""
    merged = {case: dict(times) for case, times in seconds.items()}
    for case, times in again.items():
        for name, value in times.items():
            merged[case][name] = min(merged[case].get(name, math.inf), value)
    return merged


def best_peer(times):
    return min((name for name in times if name in PEERS), key=times.get)


def ratio(times):
    return times[best_peer(times)] / times[OURS]


def product_multiple(times, product=PRODUCT):
    """Give the library's time as a multiple of the bare matrix product's, None where it was not timed."""
    return times[OURS] / times[product] if product in times else None


def summary(seconds):
    """Give the geometric mean and the worst of the ratios of each group, and the greatest multiples."""
    summed = {}
    for group in ("match", "dense", "other"):
        ratios = [ratio(times) for case, times in seconds.items() if case.group == group]
        if ratios:
            summed[group] = {"mean": geometric_mean(ratios), "worst": min(ratios), "cases": len(ratios)}
    for product in (PRODUCT, PRODUCT_IN_PLACE):
        multiples = [product_multiple(times, product) for times in seconds.values() if product in times]
        if multiples:
            summed[product] = {"mean": geometric_mean(multiples), "worst": max(multiples)}
    return summed


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def losses(seconds, baseline):
    """Name the cases whose ratio lost more than the allowed share of the one in the baseline."""
    return [
        case
        for case, times in seconds.items()
        if case in baseline and ratio(times) < (1.0 - ALLOWED_LOSS) * ratio(baseline[case])
    ]


def longer(compilation, baseline):
    """Name what takes longer to compile, in units of the yardstick, than a loss of ratio would be allowed."""
    return [
        what
        for what, units in compilation.items()
        if what in baseline and units * (1.0 - ALLOWED_LOSS) > baseline[what]
    ]
