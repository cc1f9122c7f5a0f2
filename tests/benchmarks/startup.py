"""How long until the first answer: imports, and the first match with and without compiled kernels."""

import importlib
import tempfile
import time

from tests.benchmarks import isolated


def measure(small=100, large=3000, cold=True):
    """Measure in fresh processes; without `cold`, kernels that were compiled before are always used.

    Returns seconds: the import of numba alone and of the library (numba included), and the first match
    of `small` and of `large` points, cold (every kernel is compiled) and warm (kernels are read from disk).
    """
    found = {f"import {module}": fresh("import_seconds", module) for module in ("numba", "lslmatch")}
    for label, n in (("small", small), ("large", large)):
        with tempfile.TemporaryDirectory() as empty:
            environment = {"NUMBA_CACHE_DIR": empty} if cold else {}
            for state in ("cold", "warm"):
                found[f"first {label} match, {state}"] = fresh("first_match_seconds", n, **environment)
    found["compilation"] = found["first large match, cold"] - found["first large match, warm"]
    return found


def fresh(function, argument, **environment):
    outcome = isolated.call(
        f"tests.benchmarks.startup:{function}", argument, seconds=300, environment=environment
    )
    if outcome.failure:
        raise RuntimeError(f"{function}({argument!r}) ran out of {outcome.failure}")
    return outcome.value


def import_seconds(module):
    start = time.perf_counter()
    importlib.import_module(module)
    return time.perf_counter() - start


def first_match_seconds(n):
    """Time the first match of n points without signal, for which every stage of the solver is needed."""
    import numpy as np

    import lslmatch

    x, y = np.random.default_rng(0).standard_normal((2, n, 3))
    start = time.perf_counter()
    lslmatch.match(x, y)
    return time.perf_counter() - start


def compilation(runs=(100, 1000, "demo")):
    """Measure what is compiled for the first time: processor time, in units of compiling `_yardstick`.

    Both are taken in the same fresh process, so that neither the machine nor other work on it counts.
    """
    found = {}
    for run in runs:
        with tempfile.TemporaryDirectory() as empty:
            seconds, unit = fresh("first_run_seconds", run, NUMBA_CACHE_DIR=empty)
        found["demo" if run == "demo" else f"first match of {run:,} points"] = seconds / unit
    return found


def first_run_seconds(run):
    """Give the processor time of a first run, and then that of compiling the yardstick."""
    import contextlib
    import io

    import numba
    import numpy as np

    import lslmatch
    from lslmatch.cli.main import main

    numba.njit(lambda value: value + 1)(1)  # What Numba does once is not the library's.
    x, y = np.random.default_rng(0).standard_normal((2, 10 if run == "demo" else run, 3))
    start = time.process_time()
    if run == "demo":
        with contextlib.redirect_stdout(io.StringIO()):
            main(["demo"])
    else:
        lslmatch.match(x, y)
    middle = time.process_time()
    numba.njit(_yardstick)(x, y)
    return middle - start, time.process_time() - middle


def _yardstick(x, y):
    """Do what kernels do: loops, slices, conditions. To be left as it is: all is measured by it."""
    n, d = x.shape
    best, first = x[:, 0].copy(), y[0].copy()
    for i in range(n):
        row = x[i]
        for j in range(len(y)):
            total = 0.0
            for k in range(d):
                total += (row[k] - y[j, k]) ** 2
            if total < best[i] or i == j:
                best[i] = max(total, first[j % d])
    return best
