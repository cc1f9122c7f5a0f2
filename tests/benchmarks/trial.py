"""One contestant on one case, timed alone in its process."""

import time

from tests.benchmarks.instances import Case, draw
from tests.benchmarks.isolated import peak_bytes
from tests.benchmarks.peers import OURS, prepare


def try_once(case, contestant):
    """Return seconds and peak memory of a call after a smaller one, or where that is cheap after itself."""
    case = Case(*case)
    if contestant == OURS:  # compile, or load what was compiled
        prepare(OURS, draw(case._replace(n=min(case.n, 2000))))()
    call = prepare(contestant, draw(case))
    seconds = _timed(call)
    if seconds < 2.0:
        seconds = _timed(call)
    return seconds, peak_bytes()


def _timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
