"""Peak memory and time of single large matches, each in its own process, with the certificate checked."""

import time

import numpy as np

import lslmatch
from benchmarks import isolated
from benchmarks.instances import Case, draw
from benchmarks.peers import OURS

CASES = (
    Case("above", 30_000, 12),
    Case("near", 30_000, 12),
    Case("nosignal", 30_000, 12),
    Case("above", 100_000, 10),
)
#: Points whose costs to all others are compared with the duals: every pair would take hours.
_CHECKED_ROWS = 200


def measure(cases, limit, report):
    results = []
    for case in cases:
        # Compilation has a peak of its own: leave it to another process, which fills the cache on disk.
        isolated.call("benchmarks.trial:try_once", _smaller(case), OURS, seconds=limit)
        outcome = isolated.call("benchmarks.memory:measure_one", case, seconds=limit)
        results.append({"case": case.name, "failure": outcome.failure, **(outcome.value or {})})
        report(results[-1])
    return results


def measure_one(case):
    """Match once; `before` is the peak of the process with its imports and data, before the match."""
    case = Case(*case)
    x, y = draw(case)
    lslmatch.match(*draw(_smaller(case)))  # loads what was compiled
    before = isolated.peak_bytes()
    start = time.perf_counter()
    result = lslmatch.match(x, y)
    seconds = time.perf_counter() - start
    peak = isolated.peak_bytes()
    rows = np.random.default_rng(0).permutation(case.n)[:_CHECKED_ROWS]
    return {
        "seconds": seconds,
        "peak_bytes": peak,
        "before_bytes": before,
        "matrix_bytes": 8 * case.n**2,
        "violation": sampled_violation(x, y, result, rows),
        "checked_rows": rows.size,
    }


def _smaller(case):
    return case._replace(n=min(case.n, 2000))


def sampled_violation(x, y, result, rows):
    """Check the certificate of an LSL matching of equally many points: duals on some rows, the rest on all.

    Returns the largest violation of u[i] + v[j] <= cost(i, j) over the given rows i and all j, and of
    equality over all matched pairs; infinite if the matching is none.
    """
    n = len(x)
    if not np.array_equal(np.sort(result.permutation), np.arange(n)):
        return float("inf")
    moved = result.scale * y + result.shift
    matched = np.log(((x - moved[result.permutation]) ** 2).sum(axis=1))
    worst = float(np.abs(matched - result.row_dual - result.col_dual[result.permutation]).max())
    for i in rows:
        slack = np.log(((x[i] - moved) ** 2).sum(axis=1)) - result.row_dual[i] - result.col_dual
        worst = float(np.maximum(worst, -slack.min()))  # keeps a NaN, unlike max
    return worst


def describe(found):
    if found["failure"]:
        return f"{found['case']}: ran out of {found['failure']}"
    return (
        f"{found['case']}: {found['seconds']:.1f} s, peak {found['peak_bytes'] / 1e9:.2f} GB "
        f"({found['before_bytes'] / 1e9:.2f} GB before the match; the matrix would take "
        f"{found['matrix_bytes'] / 1e9:.1f} GB), certificate violated by {found['violation']:.1e} "
        f"(all matched pairs; {found['checked_rows']} rows against all columns)"
    )
