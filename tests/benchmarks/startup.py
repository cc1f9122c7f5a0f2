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
