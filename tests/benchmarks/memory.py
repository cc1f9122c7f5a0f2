"""Peak memory and time of single large matches, each in its own process, with the certificate checked."""

import time

import lslmatch
from tests.benchmarks import isolated
from tests.benchmarks.instances import Case, draw
from tests.benchmarks.peers import OURS

CASES = (
    Case("above", 30_000, 12),
    Case("near", 30_000, 12),
    Case("nosignal", 30_000, 12),
    Case("above", 100_000, 10),
)


def measure(cases, limit, report):
    results = []
    for case in cases:
        # Compilation has a peak of its own: leave it to another process, which fills the cache on disk.
        isolated.call("tests.benchmarks.trial:try_once", _smaller(case), OURS, seconds=limit)
        outcome = isolated.call("tests.benchmarks.memory:measure_one", case, seconds=limit)
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
    return {
        "seconds": seconds,
        "peak_bytes": peak,
        "before_bytes": before,
        "matrix_bytes": 8 * case.n**2,
        "violation": lslmatch.check_certificate(x, y, result),
    }


def _smaller(case):
    return case._replace(n=min(case.n, 2000))


def describe(found):
    if found["failure"]:
        return f"{found['case']}: ran out of {found['failure']}"
    return (
        f"{found['case']}: {found['seconds']:.1f} s, peak {found['peak_bytes'] / 1e9:.2f} GB "
        f"({found['before_bytes'] / 1e9:.2f} GB before the match; the matrix would take "
        f"{found['matrix_bytes'] / 1e9:.1f} GB), certificate violated by {found['violation']:.1e}"
    )
