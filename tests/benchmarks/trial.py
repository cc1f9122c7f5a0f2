"""One contestant on one case, timed alone in its process."""

import time

from tests.benchmarks.instances import Case, draw
from tests.benchmarks.isolated import peak_bytes
from tests.benchmarks.peers import OURS, installed_peers, prepare


def try_all(case):
    """Return the seconds of the library and of every peer, one after the other in this process."""
    case = Case(*case)
    return {name: try_once(case, name)[0] for name in [OURS, *installed_peers(case)]}


def try_once(case, contestant):
    """Return seconds and peak memory of a call after a smaller one, or where that is cheap after itself."""
    case = Case(*case)
    if contestant == OURS:  # compile, or load what was compiled
        smaller = case._replace(n=min(case.n, 2000), m=min(case.m, 5000))
        prepare(OURS, draw(smaller), case.objective)()
    call = prepare(contestant, draw(case), case.objective)
    seconds = _timed(call)
    if seconds < 2.0:
        seconds = _timed(call)
    return seconds, peak_bytes()


def _timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
